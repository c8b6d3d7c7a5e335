import { failingDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  test("a user signs in with e-mail address and password and sees on the first page which job waits for them", async () => {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, waitingDefinition);
    await submitAndWait(owner.api, workflowId);
    const page = await browser.newPage();
    await signInAt(page, `${service.baseUrl}/`, owner);
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    expect(page.url()).toBe(owner.url);
    await expect.poll(() => page.title()).toBe("Home · Stepwell");
    const waiting = page.getByRole("region", { name: "Jobs that wait" });
    await waiting.getByRole("cell", { name: "approved" }).waitFor();
    const count = page.getByRole("region", { name: "Jobs now" }).getByRole("link", { name: "Waiting" });
    await expect.poll(() => count.innerText()).toMatch(/Waiting\s+1/);
  });

  inWholeMatrix(() => {
    test("no token is stored where another script or another user of the browser can find it", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, owner.url, owner);
      const kept = (await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
      )) as string;
      expect(kept).not.toMatch(/eyJ|refresh|token/i);
      const cookies = await page.context().cookies();
      expect(cookies.filter(({ httpOnly }) => !httpOnly)).toEqual([]);
    });
  });

  inWholeMatrix(() => {
    test("one click signs a user out, and no requested address ever contained a token", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      const addresses: string[] = [];
      const tokens = new Set<string>();
      page.on("framenavigated", (frame) => addresses.push(frame.url()));
      page.on("request", (request) => {
        const { authorization = "", referer = "" } = request.headers();
        addresses.push(request.url(), referer);
        if (authorization !== "") tokens.add(authorization.replace("Bearer ", ""));
      });
      await signInAt(page, owner.url, owner);
      await page.getByRole("button", { name: /^Account of/ }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByLabel("Password").waitFor();
      expect((await owner.client.call<{ sessions: unknown[] }>("ListSessions")).body.sessions).toEqual([]);
      expect(tokens.size).toBeGreaterThan(0);
      for (const token of tokens) expect(addresses.filter((address) => address.includes(token))).toEqual([]);
      expect(addresses.filter((address) => /eyJ|id_token/.test(address))).toEqual([]);
      const { body } = await owner.client.call<{ activities: { action: string }[] }>("ListAccountActivity");
      expect(body.activities[0]).toMatchObject({ action: "signed-out" });
    });

    test("a deep link reaches its page after the sign-in, and a reload asks for no password", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, failingDefinition);
      const { name } = (await owner.api.call<{ name: string }>("GetWorkflow", { params: { workflowId } })).body;
      const page = await browser.newPage();
      const url = `${owner.url}/workflows/${workflowId}`;
      await signInAt(page, url, owner);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(page.url()).toBe(url);
      await page.reload();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(page.url()).toBe(url);
    });

    test("a dialog over the page says that the session was ended elsewhere, and after the next sign-in the user is on that page again", async () => {
      browser.expectFault(/401|400/);
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows`, owner);
      const { body } = await owner.client.call<{ sessions: { sessionId: string }[] }>("ListSessions");
      const [{ sessionId } = { sessionId: "" }] = body.sessions;
      await owner.client.call("EndSession", { params: { sessionId } });
      await page.getByRole("link", { name: "Home" }).click();
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      await page.getByRole("button", { name: "Sign in again" }).click();
      await page.getByLabel("E-mail").fill(owner.email);
      await page.getByLabel("Password").fill(rightPassword);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    });

    test("a user who goes back after the sign-out does not see the earlier page", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, owner.url, owner);
      await page.evaluate("globalThis.wasHere = true");
      // In tests, the browser does not keep pages to go back to. So this page stays open, and gets the event that says that it was kept.
      const home = `${service.baseUrl}/`;
      await page.route(home, (route) => route.fulfill({ status: 204 }));
      await page.getByRole("button", { name: /^Account of/ }).click();
      const left = page.waitForResponse(home);
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await left;
      await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
      await expect.poll(() => page.evaluate("globalThis.wasHere").catch(() => true)).toBe(undefined);
    });

    test("a browser that stores nothing for the page shows why the sign-in fails", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await page.addInitScript(`Object.defineProperty(window, "sessionStorage", {
        get() { throw new DOMException("Access is denied for this document.", "SecurityError"); },
      });`);
      await page.goto(owner.url);
      await page.getByRole("heading", { name: "The sign-in did not work" }).waitFor();
      await page.getByText("Access is denied for this document.").waitFor();
    });

    test("a user who cancels the sign-in is asked again, and an unknown path has a page that says so", async () => {
      browser.expectFault(/404/);
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await page.goto(`${owner.url}/nothing-here`);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("E-mail").fill(owner.email);
      await page.getByLabel("Password").fill(rightPassword);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
      await page.goto(`${service.baseUrl}/app/nothing/%E0%A4%A`);
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    });
  });
});

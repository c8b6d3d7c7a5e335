import { noopStep, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, registerVersion, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** Text that was typed but not sent must survive everything that the service and the network do meanwhile. */
onOneStore((home) => {
  const service = useService(home);

  test("an unsaved definition stays in the editor if its original cannot be loaded again", async () => {
    browser.expectFault(/500/);
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, waitingDefinition);
    const page = await browser.newPage();
    await page.clock.install();
    await signInAt(page, `${owner.url}/workflows/${workflowId}/edit`, owner);
    const editor = page.getByRole("textbox", { name: "Definition" });
    await editor.click();
    await page.keyboard.type("mine");
    await lookAgainAndFail(page, "**/workflows/**");
    expect(await editor.innerText()).toContain("mine");
  });

  test("a typed input stays when another version is chosen", async () => {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, waitingDefinition);
    const order = { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] };
    const definition = { workflowName: "test", steps: [noopStep("only", null)], definitions: { any: order } };
    await registerVersion(owner.api, workflowId, JSON.stringify(definition));
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
    await page.getByRole("button", { name: "Submit a job" }).click();
    const dialog = page.getByRole("dialog");
    const input = dialog.getByLabel("Input as JSON");
    await input.fill('{"sku": "A-17", "typed":');
    await dialog.getByLabel("Run").selectOption("Version 2");
    await dialog.getByRole("radio", { name: "JSON" }).waitFor();
    expect(await input.inputValue()).toBe('{"sku": "A-17", "typed":');
    await input.fill("");
    await dialog.getByRole("radio", { name: "Form" }).click();
    await dialog.getByRole("button", { name: "Submit job" }).click();
    const sku = dialog.getByLabel("sku");
    await sku.and(page.locator(":focus")).waitFor();
    await sku.fill("A-17");
    await dialog.getByLabel("Run").selectOption("Version 1");
    await expect.poll(() => input.inputValue()).toBe('{\n  "sku": "A-17"\n}');
  });

  inWholeMatrix(() => {
    test("a user whose session ends while they type in the editor can continue to type", async () => {
      browser.expectFault(/40[01]/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}/edit`, owner);
      const editor = page.getByRole("textbox", { name: "Definition" });
      await editor.click();
      await page.keyboard.type("mine");
      await endSessions(owner);
      await page.keyboard.type(" again");
      await page.getByRole("button", { name: "Stay on this page" }).click();
      await expect.poll(() => editor.evaluate((element) => element.matches(":focus"))).toBe(true);
      await page.keyboard.type(" and more");
      await expect.poll(() => editor.innerText()).toContain("mine again and more");
    });

    test("a typed input stays if its version cannot be loaded again", async () => {
      browser.expectFault(/500/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const page = await browser.newPage();
      await page.clock.install();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("button", { name: "Submit a job" }).click();
      const input = page.getByRole("dialog").getByLabel("Input as JSON");
      await input.fill('{"typed": true}');
      await lookAgainAndFail(page, "**/versions/*");
      expect(await input.inputValue()).toBe('{"typed": true}');
    });

    test("an input goes to the chosen version, even if another version is registered meanwhile", async () => {
      const owner = await newOwner(service);
      const { workflowId, versionId } = await deploy(owner.api, waitingDefinition);
      await registerVersion(owner.api, workflowId, waitingDefinition);
      const page = await browser.newPage();
      await page.clock.install();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("button", { name: "Submit a job" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Run").selectOption("Version 1");
      await dialog.getByLabel("Input as JSON").fill('{"typed": true}');
      await registerVersion(owner.api, workflowId, waitingDefinition);
      const listed = page.waitForResponse("**/versions?*");
      await lookAgain(page);
      await listed;
      await dialog.getByRole("option", { name: "Version 3" }).waitFor({ state: "attached" });
      await dialog.getByRole("button", { name: "Submit job" }).click();
      await page.waitForURL(/\/jobs\//);
      const { body } = await owner.api.call("GetJob", { params: { jobId: page.url().split("/").at(-1) ?? "" } });
      expect(body).toMatchObject({ workflowVersion: { versionId }, input: { typed: true } });
    });

    test("a typed payload stays if the job's explanation cannot be loaded for a while", async () => {
      browser.expectFault(/500/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const { jobId } = await submitAndWait(owner.api, workflowId);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Send approved with a payload" }).click();
      const payload = page.getByRole("dialog").getByLabel("Payload");
      await payload.fill('{"by": "Ada"}');
      await page.route("**/explain", (route) => route.fulfill({ status: 500 }));
      await page.waitForResponse("**/explain");
      await page.getByRole("alert", { includeHidden: true }).waitFor({ state: "attached" });
      expect(await payload.inputValue()).toBe('{"by": "Ada"}');
    });

    test("text that was typed into a job's page stays when the session ends", async () => {
      browser.expectFault(/40[01]/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const { jobId } = await submitAndWait(owner.api, workflowId);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Send an event" }).click();
      const payload = page.getByRole("dialog").getByLabel("Payload");
      await payload.fill('{"by": "Ada"}');
      await endSessions(owner);
      await page.context().setOffline(true);
      await page.context().setOffline(false);
      await page.getByRole("button", { name: "Stay on this page" }).click();
      expect(await payload.inputValue()).toBe('{"by": "Ada"}');
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Sign in again" }).click();
      await page.getByLabel("Password").waitFor();
    });
  });
});

async function endSessions({ client }: Owner): Promise<void> {
  const { body } = await client.call<{ sessions: { sessionId: string }[] }>("ListSessions");
  for (const { sessionId } of body.sessions) await client.call("EndSession", { params: { sessionId } });
}

/** Acts as a person who returns to the tab when its content is old. */
async function lookAgain(page: Page): Promise<void> {
  await page.clock.fastForward(70_000);
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
}

async function lookAgainAndFail(page: Page, pattern: string): Promise<void> {
  let failures = 0;
  await page.route(pattern, (route) => {
    failures += 1;
    return route.request().method() === "GET" ? route.fulfill({ status: 500 }) : route.continue();
  });
  await lookAgain(page);
  await expect.poll(() => failures).toBeGreaterThan(0);
  await page.clock.runFor(1_000);
}

import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { testBrowser } from "./support/browser.ts";
import { choose, press, tabTo } from "./support/keyboard.ts";
import { deploy, newOwner, type Owner, submitAndWait } from "./support/people.ts";

const browser = testBrowser();
const functions = await FunctionServer.start();
afterAll(() => functions.stop());

/** These tests use only keys: no pointer, and no focus that is set by a script. The store makes no difference to them. */
describe("by keyboard alone", () => {
  const service = useService(postgresHome, functions.environment);

  async function signIn({ email }: Owner): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`${service.baseUrl}/`);
    await tabTo(page.getByLabel("E-mail"));
    await page.keyboard.type(email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(rightPassword);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    return page;
  }

  function statusOf(page: Page, status: string) {
    return page.getByRole("main").getByRole("status").filter({ hasText: status });
  }

  test("a user can sign in, find a waiting job, approve it and see it succeed", async () => {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, waitingDefinition);
    await submitAndWait(owner.api, workflowId);
    const page = await signIn(owner);
    await press(page.getByRole("region", { name: "Jobs that wait" }).getByRole("row").getByRole("link"));
    await press(page.getByRole("button", { name: "Send approved", exact: true }));
    await statusOf(page, "Succeeded").waitFor();
  });

  test("Enter, the space bar and the down arrow open a menu, also after it was open before", async () => {
    const page = await signIn(await newOwner(service));
    const button = page.getByRole("button", { name: "Theme" });
    await tabTo(button);
    const focused = page.locator("[role^=menuitem]:focus");
    for (const key of ["ArrowDown", "Enter", "Space", "ArrowDown"]) {
      await page.keyboard.press(key);
      await focused.waitFor();
      await page.keyboard.press("Escape");
      await button.and(page.locator(":focus")).waitFor();
    }
  });

  inWholeMatrix(() => {
    test("a definition can be edited, registered and tagged, and a job of it submitted", async () => {
      const owner = await newOwner(service);
      await deploy(owner.api, waitingDefinition);
      const page = await signIn(owner);
      await press(page.getByRole("link", { name: "Workflows" }));
      await press(page.getByRole("main").getByRole("row").nth(1).getByRole("link").first());
      await press(page.getByRole("link", { name: "Edit", exact: true }));
      await tabTo(page.getByRole("textbox", { name: "Definition" }));
      await page.keyboard.press("Control+A");
      await page.keyboard.press("Delete");
      await page.keyboard.insertText(straightDefinition);
      await page.locator("[data-step=second]").waitFor();
      await page.getByText("The definition is valid").waitFor();
      // Closes the list of completions, if it is open. Tab then leaves the editor.
      await page.keyboard.press("Escape");
      await press(page.getByRole("button", { name: "Register version" }));
      const registered = page.getByRole("dialog", { name: "Version 2 is registered" });
      await press(registered.getByRole("button", { name: "Point a tag at it" }));
      await press(page.getByRole("button", { name: "Point $LIVE at version 2" }));
      await page.getByText("$LIVE points at version 2 now").waitFor();
      await press(registered.getByRole("button", { name: "Submit a job" }));
      await press(page.getByRole("button", { name: "Submit job" }));
      await page.waitForURL(/\/jobs\//);
      await statusOf(page, "Succeeded").waitFor();
    });

    test("a failed job can be found, resumed, and seen to succeed", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, callingDefinition("held"));
      const { body } = await owner.api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
      (await functions.nextCall(body.jobId)).fail();
      const page = await signIn(owner);
      await press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }));
      await tabTo(page.getByLabel("Status"));
      await choose(page.getByLabel("Status"), "Failed");
      await page.waitForURL(/status=FAILED/);
      await press(page.getByRole("row", { name: /Failed/ }).getByRole("link"));
      await press(page.getByRole("button", { name: "Resume" }));
      (await functions.nextCall(body.jobId)).succeed();
      await statusOf(page, "Succeeded").waitFor();
    });

    test("a token can be created, copied, and revoked", async () => {
      const owner = await newOwner(service);
      const page = await signIn(owner);
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await press(page.getByRole("link", { name: "Settings" }));
      await press(page.getByRole("button", { name: "Create token" }));
      const form = page.getByRole("dialog", { name: "Create an API token" });
      await tabTo(form.getByLabel("Name"));
      await page.keyboard.type("pipeline");
      await tabTo(form.getByLabel("workflow:read", { exact: true }));
      await page.keyboard.press("Space");
      await press(form.getByRole("button", { name: "Create token" }));
      const shown = page.getByRole("dialog", { name: "The token pipeline" });
      await press(shown.getByRole("button", { name: "Copy", exact: true }));
      await shown.getByRole("button", { name: "Copied" }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^stw_/);
      await page.keyboard.press("Escape");
      await press(page.getByRole("link", { name: "pipeline" }));
      await press(page.getByRole("button", { name: "Revoke" }));
      await press(page.getByRole("dialog", { name: "Revoke pipeline?" }).getByRole("button", { name: "Revoke" }));
      await page.getByText("pipeline is revoked").waitFor();
    });
  });
});

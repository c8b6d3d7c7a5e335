import { readFileSync } from "node:fs";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();
const approval = readFileSync(new URL("../../../../examples/order-approval/workflow.json", import.meta.url), "utf8");

onOneStore((home) => {
  const service = useService(home);

  async function editing(options: { colorScheme?: "light" | "dark"; width?: number } = {}) {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, approval);
    const page = await browser.newPage(options);
    await signInAt(page, `${owner.url}/workflows/${workflowId}/edit`, owner);
    await page.getByText("The definition is valid").waitFor();
    return { owner, workflowId, page };
  }

  test("a definition can be edited, corrected, registered and tagged, and a job submitted, by keyboard alone", async () => {
    const { owner, workflowId, page } = await editing();
    const text = page.getByRole("textbox", { name: "Definition" });
    await text.focus();
    await toLine(page, "transitionToStep", 2);
    await page.keyboard.press("End");
    // Replaces the target `ship` by `pack`, a step that does not exist yet.
    for (let count = 0; count < '"ship"'.length; count += 1) await page.keyboard.press("Backspace");
    // Now the value is missing, so the brace on the next line is the mistake.
    await page.getByRole("button", { name: /^Go to line \d+, column 5$/ }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+End");
    expect(await page.evaluate(selectedInEditor)).toMatch(/^\}/);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("End");
    await page.keyboard.type('"pack');
    await page.getByText("1 error", { exact: true }).waitFor();
    await page.getByText(/there is no step pack/).waitFor();
    await page.locator(".graph-step-missing", { hasText: "pack" }).waitFor();
    expect(await page.getByRole("button", { name: "Register version" }).isDisabled()).toBe(true);

    await page.getByRole("button", { name: /^Go to \/steps\/1\/transitionToStep, line \d+, column 7$/ }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(activeInEditor)).toBe(true);
    await toLine(page, '"name": "ship"', 1);
    await page.keyboard.press("End");
    for (let count = 0; count < '"ship",'.length; count += 1) await page.keyboard.press("Backspace");
    await page.keyboard.type('"pack",');
    await page.getByText("The definition is valid").waitFor();
    await page.locator("[data-step=pack]").waitFor();

    await press(page, "Register version");
    const registered = page.getByRole("dialog", { name: "Version 2 is registered" });
    await registered.waitFor();
    await registered.getByRole("button", { name: "Point a tag at it" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("$LIVE: version 1 → version 2").waitFor();
    await press(page, "Point $LIVE at version 2");
    await page.getByText("$LIVE points at version 2 now").waitFor();
    await registered.getByRole("button", { name: "Submit a job" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("sku").focus();
    await page.keyboard.type("A-17");
    await page.getByLabel("count").focus();
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/jobs\//);
    await page.locator("[data-step=pack]").waitFor();

    const live = await owner.api.call("GetTaggedWorkflowVersion", { params: { workflowId, tag: "$LIVE" } });
    expect(live.body).toMatchObject({ versionNumber: 2, definition: approval.replaceAll('"ship"', '"pack"') });
    const { body } = await owner.api.call("GetJob", { params: { jobId: page.url().split("/").at(-1) ?? "" } });
    expect(body).toMatchObject({ input: { sku: "A-17", count: 2 }, workflowVersion: { versionNumber: 2 } });
  });

  inWholeMatrix(() => {
    test("an expression can be completed in place, and an error in it is marked at the wrong word", async () => {
      const { page } = await editing();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await toLine(page, '"transitionToStep": "ship"', 1);
      await page.keyboard.press("End");
      await page.keyboard.press("Shift+Home");
      const after = '", "then": "ship" }], "else": "decline" }';
      await page.keyboard.insertText(`"transitionToStep": { "choose": [{ "if": "output.${after}`);
      for (let count = 0; count < after.length; count += 1) await page.keyboard.press("ArrowLeft");
      await page.keyboard.type("appr");
      // The list ignores keys at the moment when it opens, so the choice is clicked.
      await page.getByRole("option", { name: /^approved/ }).click();
      await page.keyboard.type(" = true");
      await page.getByText(/equality is written/).waitFor();
      expect(await page.locator(".cm-lintRange-error").allInnerTexts()).toEqual(["= true"]);
      for (let count = 0; count < "= true".length; count += 1) await page.keyboard.press("Backspace");
      await page.keyboard.type("== true");
      await page.getByText("The definition is valid").waitFor();
      await page.locator("text.graph-edge-label", { hasText: "output.approved == true" }).waitFor();
    });

    test("the editor says that a definition could not be checked, and checks it again on request", async () => {
      browser.expectFault(/500/);
      const { page } = await editing();
      await page.route("**/versions/validate", (route) => route.fulfill({ status: 500 }));
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await page.keyboard.type(" ");
      await page.getByRole("status").getByText("Could not be checked").waitFor();
      await page.unroute("**/versions/validate");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("The definition is valid").waitFor();
    });

    test("a user who leaves without registering is asked first", async () => {
      const { page } = await editing();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await page.keyboard.type(" ");
      await page.getByText("not registered").waitFor();
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await page
        .getByRole("dialog", { name: "Leave without registering?" })
        .getByRole("button", { name: "Stay" })
        .click();
      expect(page.url()).toMatch(/\/edit$/);
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
      await page.waitForURL(/\/jobs$/);
    });

    test("a new workflow begins with a sample that runs unchanged", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows`, owner);
      await page.getByRole("button", { name: "New workflow" }).click();
      await page.getByLabel("Name").fill("onboarding");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/edit$/);
      await page.getByText("The definition is valid").waitFor();
      await page.getByRole("button", { name: "Register version" }).click();
      await page
        .getByRole("dialog", { name: "Version 1 is registered" })
        .getByRole("button", { name: "Submit a job" })
        .click();
      await page.getByLabel("Input as JSON").fill('{"who": "Ada"}');
      await page.getByRole("button", { name: "Submit job" }).click();
      await page.getByRole("button", { name: "Send approved", exact: true }).click();
      await page.getByText(/^The job succeeded/).waitFor();
    });

    test("a tag can be moved only if its present version is known", async () => {
      const { page } = await editing();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route("**/tags?*", async (route) => {
        await released;
        await route.continue();
      });
      await page.getByRole("button", { name: "Register version" }).click();
      await page.getByRole("button", { name: "Point a tag at it" }).click();
      const move = page.getByRole("button", { name: "Point $LIVE at version 2" });
      expect(await move.isDisabled()).toBe(true);
      release();
      await page.getByText("$LIVE: version 1 → version 2").waitFor();
      await move.click();
      await page.getByText("$LIVE points at version 2 now").waitFor();
    });

    test("text that is typed while a version is being registered does not count as registered", async () => {
      const { page } = await editing();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route("**/versions", async (route) => {
        await released;
        await route.continue();
      });
      await page.getByRole("button", { name: "Register version" }).click();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await page.keyboard.type(" ");
      await page.getByText("not registered").waitFor();
      release();
      await page.getByRole("dialog", { name: "Version 2 is registered" }).waitFor();
      await page.getByText("not registered").waitFor();
    });

    test("an input that does not fit is reported at its field, and is sent again when it is corrected", async () => {
      browser.expectFault(/400/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, approval);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("button", { name: "Submit a job" }).click();
      const count = page.getByLabel("count");
      await page.getByLabel("sku").fill("A");
      await page.getByRole("button", { name: "Submit job" }).click();
      await page.getByText("Required").waitFor();
      await count.fill("many");
      await page.getByText("Not a whole number").waitFor();
      await count.fill("0");
      await page.getByRole("button", { name: "Submit job" }).click();
      await page.locator(".field-problem", { hasText: "must be 1 or more" }).waitFor();
      await page.getByRole("radio", { name: "JSON" }).click();
      expect(JSON.parse(await page.getByLabel("Input as JSON").inputValue())).toEqual({ sku: "A", count: 0 });
      await page.getByLabel("Input as JSON").fill('{"sku": "A", "count": 1}');
      await page.getByRole("button", { name: "Submit job" }).click();
      await page.getByText(/has waited .* for the event manager-approved/).waitFor();
    });

    test("typed text replaces a selection, also within quotes, and violates no content security policy", async () => {
      const { page } = await editing();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await toLine(page, '"name": "ship"', 1);
      await page.keyboard.press("Home");
      await page.keyboard.press("Shift+End");
      await page.keyboard.type("x");
      await page.keyboard.press("Shift+ArrowLeft");
      await page.keyboard.type('"name');
      await page.keyboard.press("ArrowRight");
      await page.keyboard.type(': "pack",');
      await expect.poll(() => lines(page)).toContain('      "name": "pack",');
      await page.keyboard.press("Shift+ArrowUp");
      await page.keyboard.press("Shift+ArrowUp");
      await page.keyboard.type("y");
      await page.keyboard.press("Control+z");
      await expect.poll(() => lines(page)).toContain('      "name": "pack",');
    });

    test("completion knows the steps, the executors and the parts of a step", async () => {
      const { page } = await editing();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await toLine(page, "transitionToStep", 1);
      await page.keyboard.press("End");
      await page.keyboard.press("Backspace");
      for (let count = 0; count < "approve".length; count += 1) await page.keyboard.press("Backspace");
      await page.keyboard.type("sh");
      await page.getByRole("option", { name: "ship" }).waitFor();
      await page.keyboard.press("Enter");
      await expect.poll(() => lines(page)).toContain('      "transitionToStep": "ship"');
    });

    test("the graph leads to the step that it shows, even while an earlier step has no name yet", async () => {
      const { page } = await editing();
      const text = page.getByRole("textbox", { name: "Definition" });
      const names = [undefined, "first", "second"];
      await text.focus();
      await page.keyboard.press("Control+A");
      await page.keyboard.press("Delete");
      const steps = names.map((name) => ({ name, transitionToStep: null }));
      await page.keyboard.insertText(JSON.stringify({ steps }, null, 1));
      await page.locator("[data-step=second]").click();
      await page.keyboard.type("#");
      expect(await text.innerText()).toMatch(/#\s*"name": "second"/);
    });

    test("one choice inserts a whole step", async () => {
      const { page } = await editing();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await toLine(page, '"steps": [', 1);
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+Space");
      await page.getByRole("option", { name: /Step: Wait for events/ }).click();
      await expect.poll(async () => (await lines(page)).join("\n")).toContain('"eventIds": ["eventId"]');
      await page
        .locator("[data-step=name]")
        .or(page.getByText("The text is not valid JSON at the moment"))
        .first()
        .waitFor();
    });

    test("Tab leaves the editor", async () => {
      const { page } = await editing();
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await page.keyboard.press("Tab");
      expect(await page.evaluate(activeInEditor)).toBe(false);
    });

    test.each(["light", "dark"] as const)("the editor follows the accessibility rules in %s", async (colorScheme) => {
      const { owner, workflowId, page } = await editing({ colorScheme });
      await page.getByRole("textbox", { name: "Definition" }).focus();
      await toLine(page, "transitionToStep", 1);
      await page.keyboard.press("End");
      await page.keyboard.press("Backspace");
      await page.keyboard.type("x");
      await page.getByText(/error/).first().waitFor();
      await expectAccessible(page, `the editor in ${colorScheme}`);
      await page.keyboard.press("Control+Space");
      await page.keyboard.press("Escape");
      const other = await browser.newPage({ colorScheme });
      await signInAt(other, `${owner.url}/workflows/${workflowId}`, owner);
      await other.getByRole("button", { name: "Submit a job" }).click();
      await other.getByLabel("sku").waitFor();
      await expectAccessible(other, `the form of a job in ${colorScheme}`);
    });

    test("the editor is no wider than a telephone", async () => {
      const { page } = await editing({ width: 360 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    });
  });
});

/** The condition is a string because it is evaluated in the page. */
const activeInEditor = "document.activeElement?.shadowRoot?.activeElement?.getAttribute('aria-label') === 'Definition'";

/** This is also text, since it runs in the page. */
const selectedInEditor = "(document.activeElement?.shadowRoot?.getSelection?.() ?? getSelection()).toString()";

/** Moves the cursor to the n-th line that contains this text. */
async function toLine(page: Page, text: string, count: number): Promise<void> {
  await page.keyboard.press("Control+Home");
  const index = (await lines(page)).flatMap((line, at) => (line.includes(text) ? [at] : []))[count - 1];
  if (index === undefined) throw new Error(`No line has ${text}.`);
  for (let down = 0; down < index; down += 1) await page.keyboard.press("ArrowDown");
}

async function lines(page: Page): Promise<string[]> {
  return (await page.locator(".cm-line").allInnerTexts()).map((line) => line.replace("\n", ""));
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name }).focus();
  await page.keyboard.press("Enter");
}

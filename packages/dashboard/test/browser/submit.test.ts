import { noopStep } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  /** Opens the form for a job whose input has this schema. */
  async function form(any: object, definitions: object = {}): Promise<{ owner: Owner; page: Page; dialog: Locator }> {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, definitionWith(any, definitions));
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
    await page.getByRole("button", { name: "Submit a job" }).click();
    return { owner, page, dialog: page.getByRole("dialog") };
  }

  async function submitted({ owner, page }: { owner: Owner; page: Page }): Promise<unknown> {
    await page.getByRole("button", { name: "Submit job" }).click();
    await page.waitForURL(/\/jobs\//);
    const jobId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const { body } = await owner.api.call<{ input: unknown }>("GetJob", { params: { jobId } });
    return body.input;
  }

  test("a job whose answer was lost can be submitted again, and remains one job", async () => {
    browser.expectFault(/ERR_FAILED/);
    const { owner, page, dialog } = await form({ type: "object" });
    await page.route(
      "**/jobs",
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await dialog.getByLabel("Input as JSON").fill('{"sku": "A-17"}');
    await page.getByRole("button", { name: "Submit job" }).click();
    await dialog.getByText("The service is out of reach").waitFor();
    expect(await submitted({ owner, page })).toEqual({ sku: "A-17" });
    const { body } = await owner.api.call<{ jobs: unknown[] }>("ListJobs");
    expect(body.jobs).toHaveLength(1);
  });

  inWholeMatrix(() => {
    test("a dialog in which something was typed closes only when Escape is pressed twice, and says so", async () => {
      const { page, dialog } = await form({ type: "object" });
      const asking = dialog.getByText("Press Escape again");
      const input = dialog.getByLabel("Input as JSON");
      await input.fill('{"sku": "A-17"}');
      await page.keyboard.press("Escape");
      await asking.waitFor();
      await expectAccessible(page, "a dialog that asks before it closes");
      await input.fill('{"sku": "A-18"}');
      await asking.waitFor({ state: "detached" });
      await page.keyboard.press("Escape");
      await asking.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Submit a job" }).click();
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    });

    test("what was typed stays when another version cannot be loaded", async () => {
      browser.expectFault(/500/);
      const sku = { type: "string" };
      const { owner, page, dialog } = await form({ type: "object", properties: { sku } });
      const workflowId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      const { body } = await owner.api.call<{ versionId: string }>("RegisterWorkflowVersion", {
        params: { workflowId },
        body: { definition: definitionWith({ type: "object", properties: { sku, count: { type: "integer" } } }) },
      });
      await page.reload();
      await page.getByRole("button", { name: "Submit a job" }).click();
      await dialog.getByLabel("sku").fill("A-17");
      await page.route(`**/versions/${body.versionId}`, (route) => route.fulfill({ status: 500 }));
      await dialog.getByLabel("Run", { exact: true }).selectOption(`version ${body.versionId}`);
      await dialog.getByRole("alert").waitFor();
      expect(await dialog.getByLabel("sku").inputValue()).toBe("A-17");
      await page.unroute(`**/versions/${body.versionId}`);
      await dialog.getByRole("button", { name: "Try again" }).click();
      await dialog.getByRole("alert").waitFor({ state: "detached" });
      await dialog.getByLabel("count").fill("3");
      expect(await submitted({ owner, page })).toEqual({ sku: "A-17", count: 3 });
    });

    test("a form supports unions, nulls, dates and lists, chooses no value for the user, and shows each problem at its field", async () => {
      const properties = {
        colour: { enum: ["red", "blue"] },
        note: { type: ["string", "null"] },
        due: { type: "string", format: "date-time" },
        payment: {
          oneOf: [
            { properties: { type: { const: "card" }, number: { type: "string" } }, required: ["type", "number"] },
            { properties: { type: { const: "bill" }, days: { type: "integer" } }, required: ["type", "days"] },
          ],
        },
      };
      const { owner, page, dialog } = await form({ type: "object", properties, required: Object.keys(properties) });
      await page.getByRole("button", { name: "Submit job" }).click();
      const colour = dialog.getByLabel("colour");
      await colour.and(page.locator(":focus")).waitFor();
      const problem = (await colour.getAttribute("aria-describedby")) ?? "";
      expect(await page.locator(`[id="${problem}"]`).innerText()).toBe("Required");
      await colour.selectOption("blue");
      await dialog.getByLabel("note").selectOption("null");
      await dialog.getByLabel("due").fill("2026-03-01T12:30");
      await dialog.getByLabel("payment").selectOption("type: bill");
      await dialog.getByLabel("days").fill("30");
      await expectAccessible(page, "the form of a job's input");
      const due = await page.evaluate("new Date('2026-03-01T12:30').toISOString()");
      expect(await submitted({ owner, page })).toEqual({
        colour: "blue",
        note: null,
        due,
        payment: { type: "bill", days: 30 },
      });
    });

    test("a removed entry of a list does not change the others", async () => {
      const counts = { type: "array", items: { type: "integer" } };
      const { owner, page, dialog } = await form({ type: "object", properties: { counts }, required: ["counts"] });
      for (const [index, count] of ["1", "20", "300"].entries()) {
        await dialog.getByRole("button", { name: "Add Entry" }).click();
        await dialog.getByLabel(`counts ${index + 1}`, { exact: true }).fill(count);
      }
      await dialog.getByRole("button", { name: "Remove counts 1" }).click();
      expect(await dialog.getByLabel("counts 1", { exact: true }).inputValue()).toBe("20");
      expect(await dialog.getByLabel("counts 2", { exact: true }).inputValue()).toBe("300");
      expect(await submitted({ owner, page })).toEqual({ counts: [20, 300] });
    });

    test("a recursive schema has its form at once", async () => {
      const self = { $ref: "#/definitions/any" };
      const names = Array.from({ length: 40 }, (_, index) => `child${index}`);
      const properties = { label: { type: "string" }, ...Object.fromEntries(names.map((name) => [name, self])) };
      const { owner, page, dialog } = await form({ type: "object", properties, required: ["label"] });
      await dialog.getByLabel("label").fill("root");
      await dialog.getByRole("button", { name: "Add child7" }).click();
      await dialog.getByRole("group", { name: "child7" }).getByLabel("label").fill("leaf");
      expect(await submitted({ owner, page })).toEqual({ label: "root", child7: { label: "leaf" } });
    });
  });
});

/** A definition whose input has this schema. */
function definitionWith(any: object, definitions: object = {}): string {
  const steps = [noopStep("only", null)];
  return JSON.stringify({ workflowName: "test", steps, definitions: { any, ...definitions } });
}

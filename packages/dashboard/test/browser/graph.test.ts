import { definitionOf, noopStep, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { expectWithin } from "./support/best.ts";
import { testBrowser } from "./support/browser.ts";
import { walk } from "./support/keyboard.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** A chain of steps. The failure of nearly every step leads to the last step, which waits. */
const many = 500;
const large = definitionOf(
  ...Array.from({ length: many }, (_, index) => {
    const isLast = index === many - 1;
    if (isLast) return waitStep(`s${index}`, ["end"], null);
    return { ...noopStep(`s${index}`, `s${index + 1}`), ...(index < 450 && { onFailure: `s${many - 1}` }) };
  }),
);

const branching = definitionOf(
  noopStep("prepare", "approve"),
  { ...waitStep("approve", ["approved"], "ship"), onFailure: "remind", timeoutSeconds: 3_600 },
  noopStep("ship", null),
  noopStep("remind", "approve"),
);

onOneStore((home) => {
  const service = useService(home);

  async function openJob(definition: string, colorScheme: "light" | "dark" = "light") {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, definition);
    const { jobId } = await submitAndWait(owner.api, workflowId);
    const page = await browser.newPage({ colorScheme });
    return { owner, workflowId, jobId, page };
  }

  test("a choice shows its conditions beside its lines and in the list, and the way of the job is marked", async () => {
    const choose = [
      { if: "has(input.isUrgent) && input.isUrgent", then: "hurry" },
      { if: "has(input.isCancelled)", then: null },
    ];
    const choosing = definitionOf(
      { ...noopStep("look", null), transitionToStep: { choose, else: "wait" } },
      noopStep("hurry", null),
      waitStep("wait", ["ready"], null),
    );
    const { owner, jobId, page } = await openJob(choosing, "dark");
    await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
    const labels = page.locator("text.graph-edge-label");
    await labels.filter({ hasText: "has(input.isUrgent) && in…" }).waitFor();
    await labels.filter({ hasText: "has(input.isCancelled)" }).waitFor();
    await page.locator("text.graph-edge-label-taken", { hasText: "else" }).waitFor();
    expect(await page.locator(".graph-edge-label-taken").count()).toBe(1);
    const ways = "if has(input.isUrgent) && input.isUrgent: hurry, if has(input.isCancelled): the end, else wait";
    expect(await page.locator("[data-step=look]").getAttribute("aria-description")).toBe(`Leads to: ${ways}`);
    await page.locator("[data-step=look]").focus();
    await walk(page, "ArrowDown", "hurry");
    await walk(page, "ArrowUp", "look");
    await walk(page, "ArrowDown", "wait");
    await expectAccessible(page, "a job whose way was chosen");
    await page.getByRole("cell", { name: "attempt 1, continues with wait" }).waitFor();
    await page.getByRole("radio", { name: "List" }).click();
    await page.getByRole("cell", { name: ways }).waitFor();
  });

  inWholeMatrix(() => {
    test("a job of 500 steps is drawn in under a second, at its current step, and updates without a jump", async () => {
      const { owner, workflowId, jobId, page } = await openJob(large);
      // The page that is opened first also loads the scripts. So the page of another job is opened before the measured one.
      await signInAt(page, `${owner.url}/jobs/${(await submitAndWait(owner.api, workflowId)).jobId}`, owner);
      await page.locator(`[data-step=s${many - 1}]`).waitFor();
      await expectWithin(1_000, async () => {
        await goTo(page, `${owner.url}/jobs`);
        await page.getByRole("row").nth(1).waitFor();
        return await page.evaluate<number>(`new Promise((resolve) => {
      const began = performance.now();
      const look = () => {
        const step = document.querySelector("[data-step=s${many - 1}]");
        if (location.pathname.endsWith(${JSON.stringify(jobId)}) && step !== null) {
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
        } else requestAnimationFrame(look);
      };
      history.pushState(null, "", ${JSON.stringify(`${owner.url}/jobs/${jobId}`)});
      dispatchEvent(new PopStateEvent("popstate"));
      look();
    })`);
      });
      expect(await page.locator("[data-step]").count(), "steps drawn").toBeLessThan(40);

      await page.getByRole("button", { name: "Send end", exact: true }).click();
      await page
        .locator(`[data-step=s${many - 1}]`)
        .getByText("Succeeded")
        .waitFor();
      await page.getByRole("button", { name: "Show all", exact: true }).click();
      await expect.poll(() => page.locator("[data-step]").count()).toBeGreaterThan(45);
    });

    test("arrow keys follow the transitions between steps, and Enter shows a step", async () => {
      const { owner, jobId, page } = await openJob(branching);
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("[data-step=approve]").waitFor();
      // Tab reaches only one step of the graph: the selected one.
      expect(await page.locator("[data-step][tabindex='0']").count()).toBe(1);
      await page.locator("[data-step=approve]").focus();
      await walk(page, "ArrowRight", "remind");
      await walk(page, "ArrowDown", "approve");
      await walk(page, "ArrowDown", "ship");
      await walk(page, "ArrowUp", "approve");
      await walk(page, "ArrowUp", "prepare");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "prepare" }).waitFor();
      expect(page.url()).toContain("step=prepare");
      // With Control or Alt, the same keys belong to the browser, so the graph ignores them.
      await page.keyboard.press("Control+End");
      expect(await page.evaluate("document.activeElement.dataset.step")).toBe("prepare");
      await walk(page, "End", "remind");
      await page.keyboard.press("Enter");
      await page.getByText("The job has not reached this step.").waitFor();
    });

    test("a step has the title of its executor from the service, in the graph and in the list", async () => {
      const { owner, jobId, page } = await openJob(branching);
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("[data-step=approve]", { hasText: "Wait for events" }).waitFor();
      await page.locator("[data-step=ship]", { hasText: "No-op" }).waitFor();
      await page.getByRole("radio", { name: "List" }).click();
      await page.getByRole("row", { name: /approve.*Wait for events/ }).waitFor();
    });

    test("a transition for only some errors has their names beside it, and in the list", async () => {
      const onFailure = [
        { on: ["Timeout", "Late"], then: "remind" },
        { on: ["OutputMismatch"], then: "mend" },
      ];
      const byError = definitionOf(
        { ...waitStep("approve", ["approved"], null), onFailure },
        noopStep("remind", null),
        noopStep("mend", null),
      );
      const { owner, jobId, page } = await openJob(byError);
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("text.graph-edge-label-failure", { hasText: "Timeout +1" }).waitFor();
      await page.locator("text.graph-edge-label-failure", { hasText: "OutputMismatch" }).waitFor();
      await page.getByRole("radio", { name: "List" }).click();
      await page.getByRole("row", { name: /approve.*on Timeout or Late remind, on OutputMismatch mend/ }).waitFor();
    });

    test("a step shows its type if the executors cannot be loaded", async () => {
      browser.expectFault(/500/);
      const { owner, jobId, page } = await openJob(branching);
      await page.route("**/executors", (route) => route.fulfill({ status: 500 }));
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("[data-step=approve]", { hasText: "/service/waitForEventIds" }).waitFor();
    });

    test("a page whose drawing code cannot be loaded shows everything else, and the steps as a list", async () => {
      browser.expectFault(/ERR_FAILED|Failed to fetch|GraphCanvas|ChartCanvas/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const { jobId } = await submitAndWait(owner.api, workflowId);
      const page = await browser.newPage();
      await page.route(/\/(Graph|Chart)Canvas-.*\.js/, (route) => route.abort());
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("table", { name: "Steps of the workflow" }).waitFor();
      await page.getByRole("button", { name: "Send approved", exact: true }).click();
      await page.getByText(/^The job succeeded/).waitFor();
      await page.getByRole("link", { name: "Home" }).click();
      await page.getByText("The chart could not be loaded").first().waitFor();
      await page.getByRole("region", { name: "Jobs that wait" }).waitFor();
    });

    test("arrow keys reach all of 500 steps, wherever they are", async () => {
      const { owner, jobId, page } = await openJob(large);
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator(`[data-step=s${many - 1}]`).focus();
      await walk(page, "Home", "s0");
      for (let index = 1; index <= 12; index += 1) await walk(page, "ArrowDown", `s${index}`);
      await walk(page, "ArrowRight", `s${many - 1}`);
    });

    test("a version is drawn too, and the keyboard can zoom", async () => {
      const { owner, workflowId, page } = await openJob(branching);
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("link", { name: "Version 1" }).click();
      const step = page.locator("[data-step=approve]");
      await step.waitFor();
      const width = async () => (await step.boundingBox())?.width ?? 0;
      const before = await width();
      await page.getByRole("button", { name: "Zoom out" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(width).toBeLessThan(before * 0.95);
      await page.getByRole("button", { name: "Show all", exact: true }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(width).toBeGreaterThan(before * 0.95);
      await expectAccessible(page, "a version");
    });

    test.each(["light", "dark"] as const)(
      "the list shows the same facts as the graph, and the choice is remembered, in %s",
      async (colorScheme) => {
        const { owner, jobId, page } = await openJob(branching, colorScheme);
        await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
        await page.getByRole("radio", { name: "List" }).focus();
        await page.keyboard.press("Enter");
        const list = page.getByRole("table", { name: "Steps of the workflow" });
        await list.getByRole("row", { name: /approve.*Waiting.*ship, on failure remind/ }).waitFor();
        await list.getByRole("row", { name: /remind.*Not reached.*approve/ }).waitFor();
        await list.getByRole("button", { name: "prepare" }).click();
        await page.getByRole("heading", { name: "prepare" }).waitFor();
        await expectAccessible(page, `the list of steps in ${colorScheme}`);
        await page.reload();
        await list.waitFor();
      },
    );
  });
});

async function goTo(page: Page, url: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(url)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}

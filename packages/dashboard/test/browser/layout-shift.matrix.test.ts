import { failingDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** This bound is half of what Core Web Vitals call good. */
const mostShift = 0.05;

// The look of a page does not depend on the store.
describe("while they load", () => {
  const service = useService(postgresHome);

  async function expectNoJump(width: number): Promise<void> {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, waitingDefinition);
    const failing = await deploy(owner.api, failingDefinition);
    const { jobId } = await submitAndWait(owner.api, workflowId);
    await submitAndWait(owner.api, failing.workflowId);
    const page = await browser.newPage({ width });
    await signInAt(page, owner.url, owner);
    await page.addInitScript(watchShifts);
    for (const [path, shown] of pagesOf(workflowId, jobId)) {
      await page.goto(owner.url + path);
      for (const part of shown(page)) await part.first().waitFor();
      const { shift, sources } = await shiftsOf(page);
      expect(shift, `${path}: ${sources.join("; ")}`).toBeLessThan(mostShift);
    }
  }

  test("no page jumps while it loads", async () => await expectNoJump(1_280));

  inWholeMatrix(() => {
    test("no page jumps while it loads on a telephone", async () => await expectNoJump(360));

    test.each([
      ["job", "the definition", "**/workflows/*/versions/*", 1_280],
      ["job", "the definition", "**/workflows/*/versions/*", 360],
      ["job", "the permissions", "**/permissions/me", 360],
      ["workflow", "the permissions", "**/permissions/me", 360],
    ] as const)(
      "the page of a %s does not jump if the answer with %s (%s) comes last, on %d px",
      async (of, _, url, width) => {
        const owner = await newOwner(service);
        const { workflowId } = await deploy(owner.api, waitingDefinition);
        const { jobId } = await submitAndWait(owner.api, workflowId);
        const path = of === "job" ? `/jobs/${jobId}` : `/workflows/${workflowId}`;
        const shown = new Map(pagesOf(workflowId, jobId)).get(path);
        const page = await browser.newPage({ width });
        await signInAt(page, owner.url, owner);
        await page.addInitScript(watchShifts);
        const release = Promise.withResolvers<void>();
        await page.route(url, async (route) => {
          await release.promise;
          await route.continue();
        });
        const answered = page.waitForResponse(of === "job" ? `**/jobs/${jobId}*` : `**/workflows/${workflowId}`);
        await page.goto(owner.url + path);
        await answered;
        // Gives the page time to draw what it has. If the definition is held back, the explanation must be drawn without it.
        if (url.includes("versions")) await page.getByText(/^`?approve`? has waited/).waitFor();
        else for (let frame = 0; frame < 30; frame += 1) await page.evaluate("new Promise(requestAnimationFrame)");
        release.resolve();
        for (const part of shown?.(page) ?? []) await part.first().waitFor();
        const { shift, sources } = await shiftsOf(page);
        expect(shift, sources.join("; ")).toBeLessThan(mostShift);
      },
    );
  });
});

async function shiftsOf(page: Page): Promise<{ shift: number; sources: readonly string[] }> {
  return await page.evaluate("shiftsOfPage()");
}

type Shown = (page: Page) => readonly Locator[];

/** The pages, each with the elements that appear last. */
function pagesOf(workflowId: string, jobId: string): readonly (readonly [string, Shown])[] {
  return [
    ["", (page) => [page.locator(".chart canvas"), page.getByText(/InputMismatch/)]],
    ["/workflows", (page) => [page.getByText(/v1/)]],
    [
      `/workflows/${workflowId}`,
      (page) => [page.locator(".chart canvas"), page.getByRole("link", { name: "Version 1" })],
    ],
    ["/jobs", (page) => [page.getByText("2 jobs", { exact: true }), page.getByText("Up to date")]],
    [
      `/jobs/${jobId}`,
      (page) => [
        page.locator("[data-step=approve]"),
        page.getByRole("button", { name: "Send approved" }),
        page.getByRole("table", { name: "Entries of this job's history, in order" }),
      ],
    ],
    ["/settings", (page) => [page.getByText("No API token yet")]],
  ];
}

/**
 * This is text, since it runs in the page. It adds up all shifts that do not follow an input of the user, so it is stricter than Core Web Vitals,
 * which count only the worst five seconds.
 */
const watchShifts = `
  const shifts = [];
  const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  globalThis.shiftsOfPage = async () => {
    await frame();
    await frame();
    shifts.push(...observer.takeRecords());
    const shift = shifts.filter(({ hadRecentInput }) => !hadRecentInput).reduce((sum, { value }) => sum + value, 0);
    const sources = shifts.flatMap(({ value, sources }) => sources.map(({ node, previousRect, currentRect }) =>
      [value.toFixed(3), node?.nodeName, node?.className, "from", previousRect.x, previousRect.y, "to", currentRect.x, currentRect.y].join(" ")));
    return { shift, sources };
  };
`;

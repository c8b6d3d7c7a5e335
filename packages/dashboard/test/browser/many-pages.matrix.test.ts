import { randomUUID } from "node:crypto";
import { definitionOf, noopStep, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { HttpProxy } from "@stepwell/testing/proxies/http-proxy.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { expectWithin } from "./support/best.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** There are more pages than the six connections that a browser opens to one host over HTTP/1.1. */
const pageCount = scope === "all" ? 12 : 7;
const live = "Live";
const polling = "Asks every 2 seconds";

/** Waits for an approval again and again. */
const loop = definitionOf(
  { ...waitStep("approve", ["approved"], "again"), onFailure: "finish" },
  noopStep("again", "approve"),
  noopStep("finish", null),
);

onOneStore((home) => {
  const service = useService(home);

  test("more pages of jobs than a browser has connections are all live over one stream, and an approval on each appears in under a second", async () => {
    const { pages } = await openJobs(service, pageCount);
    await expectConnection(pages, live);
    await expectApprovals(pages);
    await expect.poll(() => pages.reduce((sum, { openStreams }) => sum + openStreams(), 0)).toBe(1);
  });

  test("the page of a job that does not exist says so, and does not request a stream again and again", async () => {
    browser.expectFault(/404/);
    const owner = await newOwner(service);
    const page = await browser.newPage();
    let requests = 0;
    page.on("request", (request) => {
      if (isStream(request)) requests += 1;
    });
    await page.clock.install();
    await signInAt(page, `${owner.url}/jobs/${randomUUID()}`, owner);
    await page.getByText("There is nothing at this address", { exact: false }).first().waitFor();
    const atFirst = requests;
    for (let minute = 0; minute < 10; minute += 1) {
      await page.clock.runFor(60_000);
      await page.waitForLoadState("networkidle");
    }
    expect([atFirst, requests]).toEqual([1, 1]);
  });

  inWholeMatrix(() => {
    test("if a proxy holds the stream back, the page says so, polls instead, and shows an approval in under a second", async () => {
      const { pages } = await openJobs(service, 1, async (page) => {
        await page.route("**/stream?*", () => {});
      });
      await pages[0]?.page.getByText("Live updates do not reach this page.").waitFor();
      await expectApprovals(pages);
    });

    test("many pages behind a buffering proxy poll, and an approval on each appears in under a second", async () => {
      const [port, proxyPort] = [await findFreePort(), await findFreePort()];
      const baseUrl = `http://127.0.0.1:${proxyPort}`;
      const behind = new TestService(home, { STEPWELL_PORT: String(port), STEPWELL_BASE_URL: baseUrl });
      await behind.start();
      const proxy = await HttpProxy.before(`http://127.0.0.1:${port}`, proxyPort);
      try {
        const { pages } = await openJobs(behind, pageCount);
        await expectConnection(pages, polling);
        await expectApprovals(pages);
      } finally {
        await browser.closePages();
        await proxy.stop();
        await behind.stop();
      }
    });

    test("if the page with the stream is closed or hidden, another one takes over and misses nothing", async () => {
      const { owner, pages } = await openJobs(service, 3);
      await expectConnection(pages, live);
      const leading = () => pages.findIndex(({ openStreams }) => openStreams() === 1);
      const first = leading();
      await pages[first]?.page.close();
      for (const [index, { page, jobId }] of pages.entries()) {
        if (index === first) continue;
        await owner.api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
        await visitOf(page, 2).waitFor({ state: "attached" });
      }
      const rest = pages.filter((_, index) => index !== first);
      await expect.poll(() => rest.filter(({ openStreams }) => openStreams() === 1).length).toBe(1);
      const second = rest.find(({ openStreams }) => openStreams() === 1) as OpenJob;
      const third = rest.find((one) => one !== second) as OpenJob;
      await setVisibility(second.page, "hidden");
      await expect.poll(() => third.openStreams(), { timeout: 5_000 }).toBe(1);
      await expect.poll(() => second.openStreams()).toBe(0);
      for (const { jobId } of [second, third])
        await owner.api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
      await visitOf(third.page, 3).waitFor({ state: "attached" });
      await setVisibility(second.page, "visible");
      await visitOf(second.page, 3).waitFor({ state: "attached" });
    });

    test("the stream ends when its user signs out, and the other pages report the end of the session", async () => {
      browser.expectFault(/40[01]/);
      const { pages } = await openJobs(service, 2);
      await expectConnection(pages, live);
      const [one, other] = pages as [OpenJob, OpenJob];
      await one.page.getByRole("button", { name: /^Account of/ }).click();
      await one.page.getByRole("menuitem", { name: "Sign out" }).click();
      await one.page.getByLabel("Password").waitFor();
      await other.page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      await expect.poll(() => service.running.engine.gauges().waitingRequests).toBe(0);
    });

    test("each page has its own stream in a browser without locks", async () => {
      const { pages } = await openJobs(service, 2, async (page) => {
        await page.addInitScript("delete Object.getPrototypeOf(navigator).locks;");
      });
      await expectConnection(pages, live);
      await expect.poll(() => pages.map(({ openStreams }) => openStreams())).toEqual([1, 1]);
      await expectApprovals(pages);
    });

    test("a job's page is drawn before its history has loaded", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const { jobId } = await submitAndWait(owner.api, workflowId, { order: 7 });
      const page = await browser.newPage();
      await page.route(/\/stream\?|\/history/, () => {});
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("[data-step=approve]").getByText("Waiting").waitFor();
      await page.getByRole("region", { name: "Job input" }).getByText("7").waitFor();
      await page.getByRole("button", { name: "Send approved", exact: true }).waitFor();
    });
  });
});

interface OpenJob {
  readonly page: Page;
  readonly jobId: string;
  readonly openStreams: () => number;
}

/** Pages of one browser, each with a job that waits for an approval again and again. */
async function openJobs(
  service: TestService,
  count: number,
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<{ owner: Owner; pages: readonly OpenJob[] }> {
  const owner = await newOwner(service);
  const { workflowId } = await deploy(owner.api, loop);
  const open = async (page: Page, show: (url: string) => Promise<unknown>): Promise<OpenJob> => {
    const { jobId } = await submitAndWait(owner.api, workflowId);
    const openStreams = countStreams(page);
    await prepare(page);
    await show(`${owner.url}/jobs/${jobId}`);
    return { page, jobId, openStreams };
  };
  const first = await browser.newPage();
  const pages = [await open(first, (url) => signInAt(first, url, owner))];
  // The pages are opened one after another. A machine with two processors that loaded a dozen at a time would exceed the time limit of a navigation.
  while (pages.length < count) {
    const tab = await browser.newTab(first);
    pages.push(await open(tab, (url) => tab.goto(url)));
  }
  return { owner, pages };
}

function countStreams(page: Page): () => number {
  const open = new Set<unknown>();
  page.on("request", (request) => isStream(request) && open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  return () => open.size;
}

function isStream(request: Request): boolean {
  return /\/stream(\?|$)/.test(request.url());
}

async function expectConnection(pages: readonly OpenJob[], connection: string): Promise<void> {
  await Promise.all(pages.map(({ page }) => page.getByText(connection, { exact: true }).waitFor()));
}

/** Approves on each page. Each approval begins the next visit of the step that waits for one. */
async function expectApprovals(pages: readonly OpenJob[]): Promise<void> {
  for (const { page } of pages) {
    let visit = 1;
    // A browser draws a hidden page only once a second, and a click would wait for that.
    await page.bringToFront();
    await expectWithin(1_000, async () => {
      const approve = page.getByRole("button", { name: "Send approved", exact: true });
      await approve.waitFor();
      // The button belongs to the previous visit until the page has read the position of the job again.
      if (visit > 1) for (let asked = 0; asked < 2; asked += 1) await page.waitForResponse("**/explain");
      const beganAt = performance.now();
      await approve.click();
      visit += 1;
      await visitOf(page, visit).waitFor({ state: "attached" });
      return performance.now() - beganAt;
    });
  }
}

function visitOf(page: Page, visit: number) {
  return page.getByRole("combobox", { name: "Visit" }).getByRole("option", { name: `Visit ${visit}`, exact: true });
}

/** In tests, the browser treats all its pages as visible, so the test sets the visibility itself. */
async function setVisibility(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
     document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`,
  );
}

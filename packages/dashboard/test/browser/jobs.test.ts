import {
  definitionOf,
  failingDefinition,
  straightDefinition,
  waitingDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { statement } from "../../../server/src/store/home/database.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { expectWithin } from "./support/best.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** Inserts finished jobs, one second apart, directly into the store. Submitting them one by one would take minutes. */
const insertJobs = statement<never>(
  "test_insert_finished_jobs",
  "organization",
  `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch, state,
     input, submitted_by, created_at, started_at, updated_at, finished_at)
   SELECT $1::uuid, ('01900000-' || lpad(to_hex(number / 65536), 4, '0') || '-7' || lpad(to_hex(number / 16 % 4096), 3, '0')
       || '-8000-' || lpad(to_hex(number), 12, '0'))::uuid,
     $2::uuid, 'many', $3::uuid, 1, 'SUCCEEDED', 5, 0, '{}', '{}', '{"type":"service","id":"test"}',
     made_at, made_at, made_at, made_at
   FROM generate_series(1, $4::integer) AS number,
     LATERAL (SELECT timestamptz '2026-01-01T00:00:00Z' + number * interval '1 second' AS made_at) AS made`,
);

onOneStore((home) => {
  const service = useService(home);

  async function busyOwner() {
    const owner = await newOwner(service);
    const waiting = await deploy(owner.api, waitingDefinition);
    const failing = await deploy(owner.api, failingDefinition);
    const straight = await deploy(owner.api, straightDefinition);
    const jobIds: string[] = [];
    for (const { workflowId } of [waiting, failing, straight]) {
      jobIds.push((await submitAndWait(owner.api, workflowId)).jobId);
    }
    return { owner, waiting, failing, straight, jobIds };
  }

  test("filters are in the address, and an address with filters shows the matching jobs", async () => {
    const { owner, waiting } = await busyOwner();
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/jobs`, owner);
    await expect.poll(() => statuses(page)).toEqual(["Succeeded", "Failed", "Waiting"]);
    await page.getByText("3 jobs", { exact: true }).waitFor();

    await page.getByLabel("Status").selectOption("Waiting");
    await expect.poll(() => statuses(page)).toEqual(["Waiting"]);
    expect(new URL(page.url()).search).toBe("?status=RUNNING&isWaiting=true");
    await page.getByText("1 job", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByLabel("Waits for the event").fill("approved");
    await expect.poll(() => statuses(page)).toEqual(["Waiting"]);
    await page.getByLabel("Waits for the event").fill("nothing");
    await page.getByText("No job matches the filters").waitFor();
    await page.getByRole("main").getByRole("button", { name: "Clear filters" }).last().click();
    await page.getByLabel("Order").selectOption("Oldest first");
    await expect.poll(() => statuses(page)).toEqual(["Waiting", "Failed", "Succeeded"]);

    const linked = `${owner.url}/jobs?workflowId=${waiting.workflowId}&versionId=${waiting.versionId}`;
    await goTo(page, `${linked}&createdAfter=2020-01-01T00%3A00%3A00.000Z&status=nonsense`);
    await expect.poll(() => statuses(page)).toEqual(["Waiting"]);
    await expect.poll(() => page.getByLabel("Version").inputValue()).toBe(waiting.versionId);
    await page.getByLabel("Submitted until").fill("2020-06-01T00:00");
    await page.getByText("No job matches the filters").waitFor();
    expect(page.url()).toContain("createdBefore=2020-0");
  });

  inWholeMatrix(() => {
    test("recently typed filters are cleared with the others, and do not come back", async () => {
      const { owner } = await busyOwner();
      const page = await browser.newPage();
      await page.clock.install();
      await signInAt(page, `${owner.url}/jobs?status=FAILED`, owner);
      await expect.poll(() => statuses(page)).toEqual(["Failed"]);
      const clear = page.getByRole("button", { name: "Clear filters" });
      await clear.click();
      await expect.poll(() => clear.isDisabled()).toBe(true);
      // The page's clock is stopped, so the typed text is not in the address yet.
      await page.clock.pauseAt(Date.now() + 60_000);
      await page.getByLabel("Status").selectOption("Failed");
      await page.getByLabel("Waits for the event").fill("approved");
      await clear.click();
      await page.clock.runFor(1_000);
      expect(new URL(page.url()).search).toBe("");
      expect(await page.getByLabel("Waits for the event").inputValue()).toBe("");
      await page.getByLabel("Waits for the event").fill("approved");
      expect(await clear.isEnabled()).toBe(true);
      await clear.click();
      await page.clock.runFor(1_000);
      expect(new URL(page.url()).search).toBe("");
    });

    test("new jobs are announced without a reload, no row moves, and a changed job is updated in its row", async () => {
      const { owner, waiting, jobIds } = await busyOwner();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs`, owner);
      await page.getByText("Up to date").waitFor();
      await page.evaluate("globalThis.wasHere = true");
      const before = await tops(page);
      await submitAndWait(owner.api, waiting.workflowId);
      await submitAndWait(owner.api, waiting.workflowId);
      await owner.api.call("SendJobEvent", { params: { jobId: jobIds[0] ?? "" }, body: { eventId: "approved" } });
      await page.getByText("2 new jobs").waitFor();
      await expect.poll(() => statuses(page)).toEqual(["Succeeded", "Failed", "Succeeded"]);
      expect(await tops(page)).toEqual(before);

      await page.getByRole("button", { name: "Show" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => statuses(page)).toEqual(["Waiting", "Waiting", "Succeeded", "Failed", "Succeeded"]);
      await page.getByText("Up to date").waitFor();
      expect(await page.evaluate("globalThis.wasHere")).toBe(true);
    });
  });

  inWholeMatrix(() => {
    test("the list is unchanged after a visit to a job, and a job's page leads to the next job of the list and can run the job again", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, straightDefinition);
      const submissions = Array.from({ length: 130 }, () =>
        owner.api.call("SubmitJob", { body: { workflowId, inputJson: {} } }),
      );
      await Promise.all(submissions);
      const { jobId } = await submitAndWait(owner.api, workflowId, { sku: "A-17" });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs?workflowId=${workflowId}`, owner);
      const rows = page.getByRole("main").getByRole("row");
      await rows.nth(1).waitFor();
      // The list is scrolled beyond its first page, which has 100 rows.
      await expect
        .poll(async () => {
          await page.evaluate("scrollTo(0, 105 * 40)");
          return await page.evaluate("scrollY");
        })
        .toBe(4_200);
      // This row is in the middle of the window. A click on a row at the edge of the window could scroll the list first.
      await page.locator('[aria-rowindex="112"]').getByRole("link").click();
      await page.getByRole("link", { name: "Next job" }).waitFor();
      const address = new URL(page.url()).pathname;
      await page.getByRole("link", { name: "Next job" }).click();
      await expect.poll(() => new URL(page.url()).pathname).not.toBe(address);
      await expect.poll(() => page.title()).toMatch(/^Succeeded · .+ · [0-9a-f]{6} · Stepwell$/);
      await page.getByRole("link", { name: "Previous job" }).click();
      await expect.poll(() => new URL(page.url()).pathname).toBe(address);
      await page.goBack();
      await page.waitForURL(/\/jobs\?workflowId=/);
      await expect.poll(() => page.evaluate("scrollY")).toBe(4_200);
      await page.locator(`a[href="${address}"]`).waitFor();

      await page.evaluate("scrollTo(0, 0)");
      await page.locator(`a[href$="${jobId}"]`).click();
      await page.getByRole("button", { name: "Run again" }).click();
      const input = page.getByRole("dialog").getByLabel("Input as JSON");
      expect(JSON.parse(await input.inputValue())).toEqual({ sku: "A-17" });
      await page.getByRole("button", { name: "Submit job" }).click();
      await expect.poll(() => new URL(page.url()).pathname.endsWith(jobId)).toBe(false);
      await page.getByRole("region", { name: "Job input" }).getByText('"A-17"').waitFor();
    });

    test("100,000 jobs can be listed and scrolled without lag, and are counted up to a limit", async () => {
      const owner = await newOwner(service);
      const { workflowId, versionId } = await deploy(owner.api, straightDefinition);
      const { database } = service.running;
      await database.query(insertJobs, [owner.organizationId, workflowId, versionId, 100_000]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs`, owner);
      await page.getByText("more than 10,000 jobs", { exact: true }).waitFor();
      await page.evaluate(watchLongFrames);
      await page.mouse.move(600, 500);
      // The longest frame is the longest time for which the page did not answer.
      await expectWithin(400, async () => {
        await page.evaluate("globalThis.longestFrameMs = 0");
        for (let turns = 0; turns < 40; turns += 1) {
          await page.mouse.wheel(0, 1_500);
          const left = () => page.evaluate("document.documentElement.scrollHeight - scrollY - innerHeight");
          await expect.poll(left, { interval: 20, timeout: 15_000 }).toBeGreaterThan(100);
        }
        return await page.evaluate<number>("globalThis.longestFrameMs");
      });
      const shown = await page.evaluate("Math.round(scrollY / 40)");
      expect(shown, "rows scrolled past").toBeGreaterThan(1_000);
      expect(await page.getByRole("row").count(), "rows drawn").toBeLessThan(120);
      expect(await page.getByRole("row").nth(20).getByRole("link").getAttribute("href")).toMatch(/\/jobs\/01900000-/);
    });

    test("a job that no longer matches the filters stays in its place with a note until the reader removes it", async () => {
      const { owner, jobIds } = await busyOwner();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs?status=RUNNING`, owner);
      await expect.poll(() => statuses(page)).toEqual(["Waiting"]);
      await owner.api.call("CancelJob", { params: { jobId: jobIds[0] ?? "" } });
      await page.getByText("1 no longer listed").waitFor();
      expect(await page.getByTitle("This job no longer matches the filters").count()).toBe(1);
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByText("No job matches the filters").waitFor();
    });

    test("the number of running jobs on the first page links to the running jobs that do not wait", async () => {
      const { owner } = await busyOwner();
      const page = await browser.newPage();
      await signInAt(page, owner.url, owner);
      await page.getByRole("link", { name: /^Running/ }).click();
      await page.waitForURL("**/jobs?status=RUNNING&isWaiting=false");
      await page.getByText("No job matches the filters").waitFor();
    });

    test("an address that is typed by hand finds an event with any name", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, definitionOf(waitStep("wait", ["42", "true"], null)));
      await submitAndWait(owner.api, workflowId);
      await submitAndWait(owner.api, (await deploy(owner.api, waitingDefinition)).workflowId);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs?awaitingEventId=42`, owner);
      await page.getByText("1 job", { exact: true }).waitFor();
      expect(await page.getByLabel("Waits for the event").inputValue()).toBe("42");
      await page.getByLabel("Waits for the event").fill("true");
      await page.waitForURL("**/jobs?awaitingEventId=true");
      await expect.poll(() => statuses(page)).toEqual(["Waiting"]);
    });

    test("a list that is no longer updated does not claim to be live", async () => {
      browser.expectFault(/500|ERR_INTERNET_DISCONNECTED/);
      const { owner } = await busyOwner();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs`, owner);
      await page.getByText("Up to date", { exact: true }).waitFor();
      await page.route("**/jobs?pageSize=100", (route) => route.fulfill({ status: 500 }));
      await page.getByText(/^Not up to date/).waitFor();
      await page.unroute("**/jobs?pageSize=100");
      await page.getByText("Up to date", { exact: true }).waitFor();
      await page.context().setOffline(true);
      await page.getByText(/^Not up to date/).waitFor();
      expect(await statuses(page)).toHaveLength(3);
    });

    test("a workflow can be chosen however many there are", async () => {
      const owner = await newOwner(service);
      const names = Array.from({ length: 101 }, (_, index) => `flow-${String(index).padStart(3, "0")}`);
      for (const name of names) await owner.api.call("RegisterWorkflow", { body: { name } });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs`, owner);
      for (const name of [names.at(0), names.at(-1)])
        await page.getByRole("option", { name: name ?? "" }).waitFor({ state: "attached" });
    });

    test("a next page that fails to load is requested again by the reader, and not automatically again and again", async () => {
      browser.expectFault(/500/);
      const owner = await newOwner(service);
      const { workflowId, versionId } = await deploy(owner.api, straightDefinition);
      await service.running.database.query(insertJobs, [owner.organizationId, workflowId, versionId, 130]);
      const page = await browser.newPage();
      let asked = 0;
      const nextPages = /\/jobs\?.*pageToken=/;
      await page.route(nextPages, (route) => {
        asked += 1;
        return route.fulfill({ status: 500 });
      });
      await signInAt(page, `${owner.url}/jobs`, owner);
      await page.getByText("130 jobs", { exact: true }).waitFor();
      await page.mouse.move(600, 500);
      await page.mouse.wheel(0, 100_000);
      await expect.poll(() => asked).toBeGreaterThan(0);
      await page.waitForResponse("**/jobs?pageSize=100");
      await page.waitForResponse("**/jobs?pageSize=100");
      expect(asked).toBe(1);
      await page.unroute(nextPages);
      await page.getByRole("button", { name: "Load more" }).click();
      await page.getByText("130 rows, all shown").waitFor();
    });

    test.each(["light", "dark"] as const)(
      "the list of jobs follows the accessibility rules in %s",
      async (colorScheme) => {
        const { owner, waiting } = await busyOwner();
        const page = await browser.newPage({ colorScheme });
        await signInAt(page, `${owner.url}/jobs?workflowId=${waiting.workflowId}`, owner);
        await expect.poll(() => statuses(page)).toEqual(["Waiting"]);
        await submitAndWait(owner.api, waiting.workflowId);
        await page.getByText("1 new job").waitFor();
        await expectAccessible(page, `jobs in ${colorScheme}`);
        await goTo(page, `${owner.url}/jobs?awaitingEventId=nothing`);
        await page.getByText("No job matches the filters").waitFor();
        await expectAccessible(page, `no jobs in ${colorScheme}`);
      },
    );

    test("the list of jobs is no wider than a telephone, and explains the first step if there are no jobs yet", async () => {
      const { owner } = await busyOwner();
      const beginner = await newOwner(service, "New");
      const page = await browser.newPage({ width: 360 });
      await signInAt(page, `${owner.url}/jobs`, owner);
      await expect.poll(() => statuses(page)).toHaveLength(3);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      const other = await browser.newPage({ width: 360 });
      await signInAt(other, `${beginner.url}/jobs`, beginner);
      await other.getByText("npx stepwell submit").waitFor();
      expect(await other.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    });
  });
});

async function statuses(page: Page): Promise<string[]> {
  return await page.locator("tbody tr td:nth-child(2)").allInnerTexts();
}

async function tops(page: Page): Promise<unknown> {
  return await page.evaluate(
    "[...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().top)",
  );
}

async function goTo(page: Page, url: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(url)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}

/** This is text, since it runs in the page. */
const watchLongFrames = `new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longestFrameMs = Math.max(globalThis.longestFrameMs, duration);
}).observe({ type: "longtask" });`;

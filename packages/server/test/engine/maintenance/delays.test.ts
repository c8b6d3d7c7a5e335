import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, delayStep, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { FunctionServer, functionStep } from "@stepwell/testing/functions/function-server.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { afterAll, expect, test, vi } from "vitest";

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

/** The tolerance in milliseconds for a busy machine, far below the 30 s between two polls of the service (`STEPWELL_POLL_MS`). */
const slackMs = 5_000;
const polling = { interval: 20, timeout: 10_000 };

interface Entry {
  readonly type: string;
  readonly at: string;
  readonly step?: string;
  readonly next?: string;
  readonly delayEndsAt?: string;
  readonly error?: { readonly code: string; readonly type?: string };
}

async function historyOf(api: Client, jobId: string): Promise<Entry[]> {
  const { body } = await api.call<{ entries: Entry[] }>("GetJobHistory", { params: { jobId } });
  return body.entries;
}

async function submit(api: Client, workflowId: string): Promise<string> {
  const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  return body.jobId;
}

interface Shown extends JobBody {
  readonly timeoutAt?: string;
  readonly error?: { readonly code: string; readonly type?: string; readonly step: string };
}

async function finished(api: Client, jobId: string): Promise<Shown> {
  const { body } = await api.call<Shown>("GetJob", { params: { jobId }, query: { waitSeconds: 30 } });
  return body;
}

async function shown(api: Client, jobId: string): Promise<Shown> {
  const { body } = await api.call<Shown>("GetJob", { params: { jobId } });
  return body;
}

function msBetween(from: string | undefined, to: string | undefined): number {
  return Date.parse(to ?? "") - Date.parse(from ?? "");
}

function entryOf(entries: readonly Entry[], type: string): Entry | undefined {
  return entries.find((entry) => entry.type === type);
}

/*
 * These tests are about time. scenarios.test.ts tests what is committed after a delay or a timeout, on both homes. timers.test.ts tests at which time
 * a node wakes for a retry or for the timeout of a wait.
 */
onOneStore((home) => {
  // The poll is too rare here. The service handles a timer in time only if it is notified when the timer is set.
  const service = useService(home, { ...functions.environment, STEPWELL_POLL_MS: "30000" });

  test("a job sleeps in a delay, and continues at the end of the delay", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      definitionOf(delayStep("pause", { seconds: 0.5 }, "end"), noopStep("end", null)),
    );
    const jobId = await submit(api, workflowId);
    const sleeping = await shown(api, jobId);
    expect(sleeping.currentStep).toMatchObject({ name: "pause", status: "successful_but_incomplete" });

    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
    const entries = await historyOf(api, jobId);
    const { at, delayEndsAt } = entryOf(entries, "step.delayed") ?? {};
    expect(sleeping.currentStep).toMatchObject({ delayEndsAt });
    expect(msBetween(at, delayEndsAt)).toBe(500);
    const lateMs = msBetween(delayEndsAt, entryOf(entries, "step.succeeded")?.at);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(timeLimit(slackMs));
  });

  test("a delay until a past time causes no wait", async () => {
    const { api } = await service.newOrganization();
    const until = "2020-02-29T12:00:00+02:00";
    const { workflowId } = await deploy(api, definitionOf(delayStep("pause", { until }, null)));
    expect(await submitAndWait(api, workflowId)).toMatchObject({ status: "SUCCEEDED" });
  });

  test("a cancelled delay continues where it was when the job is resumed", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(delayStep("pause", { seconds: 1.5 }, null)));
    const jobId = await submit(api, workflowId);
    await api.call("CancelJob", { params: { jobId } });
    expect(await shown(api, jobId)).toMatchObject({
      status: "CANCELLED",
      steps: [{ status: "successful_but_incomplete" }],
    });
    await api.call("ResumeJob", { params: { jobId } });

    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
    const ends = (await historyOf(api, jobId)).filter(({ type }) => type === "step.delayed");
    expect(new Set(ends.map(({ delayEndsAt }) => delayEndsAt)).size).toBe(1);
  });

  test("an explanation says until when a job sleeps, and until when it can run", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, timed(60, delayStep("pause", { seconds: 3_600 }, null)));
    const jobId = await submit(api, workflowId);
    const { delayEndsAt } = entryOf(await historyOf(api, jobId), "step.delayed") ?? {};
    const { timeoutAt } = await shown(api, jobId);
    const { body } = await api.call("ExplainJob", { params: { jobId } });
    expect(body).toMatchObject({ state: "delayed", facts: { step: "pause", delayEndsAt, jobTimeoutAt: timeoutAt } });
  });

  // The tests run side by side, because each of them waits for a second.
  test.concurrent.each([
    ["waits", waitStep("a", ["go"], null)],
    ["sleeps", delayStep("a", { seconds: 3_600 }, null)],
    ["has its call under way", functionStep("a", "held", null)],
    ["pauses between two attempts", functionStep("a", "held", null, { retry: { initialIntervalSeconds: 3_600 } })],
  ])("a job that %s at its timeout fails with Timeout, in time, and continues when it is resumed", async (_, step) => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, timed(1, step));
    const jobId = await submit(api, workflowId);
    const { timeoutAt } = await shown(api, jobId);
    if ("retry" in step) (await functions.nextCall(jobId)).fail();

    const ended = await finished(api, jobId);
    expect(ended).toMatchObject({
      status: "FAILED",
      error: { code: "Timeout", type: "JobTimeout", step: "a" },
      steps: [{ status: "failure", error: { code: "Timeout" } }],
    });
    expect(ended).not.toHaveProperty("timeoutAt");
    const entries = await historyOf(api, jobId);
    expect(msBetween(entryOf(entries, "job.started")?.at, timeoutAt)).toBe(1_000);
    const lateMs = msBetween(timeoutAt, entryOf(entries, "job.failed")?.at);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(timeLimit(slackMs));

    await api.call("ResumeJob", { params: { jobId } });
    const again = await vi.waitFor(async () => {
      const resumed = await shown(api, jobId);
      expect(resumed).toMatchObject({ currentStep: { name: "a", attempts: 2 } });
      return resumed;
    }, polling);
    expect(msBetween(timeoutAt, again.timeoutAt)).toBeGreaterThan(0);
    await api.call("CancelJob", { params: { jobId } });
    expect(await shown(api, jobId)).not.toHaveProperty("timeoutAt");
  });

  test("the outcome of a call that the job's timeout aborted has no effect", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, timed(0.5, functionStep("a", "held", null)));
    const jobId = await submit(api, workflowId);
    const call = await functions.nextCall(jobId);
    expect(await finished(api, jobId)).toMatchObject({ status: "FAILED", error: { type: "JobTimeout" } });
    call.succeed();
    const { workflowId: other } = await deploy(api, definitionOf(noopStep("end", null)));
    await submitAndWait(api, other);
    expect((await historyOf(api, jobId)).at(-1)).toMatchObject({ type: "job.failed" });
  });

  test("a failure leads to the step for its error", async () => {
    const { api } = await service.newOrganization();
    const onFailure = [{ on: ["OutOfStock"], then: "reorder" }, { then: "tell" }];
    const definition = definitionOf(
      functionStep("reserve", "held", null, { onFailure, retry: { on: ["Timeout"] } }),
      noopStep("reorder", null),
      noopStep("tell", null),
    );
    const { workflowId } = await deploy(api, definition);
    for (const [type, next] of [
      ["OutOfStock", "reorder"],
      ["Broken", "tell"],
    ] as const) {
      const jobId = await submit(api, workflowId);
      (await functions.nextCall(jobId)).fail(type);
      expect(await finished(api, jobId)).toMatchObject({
        status: "SUCCEEDED",
        steps: [{ attempts: 1 }, { name: next }],
      });
      expect(entryOf(await historyOf(api, jobId), "step.failed")).toMatchObject({ next, error: { type } });
    }
  });
});

onOneStore((home) => {
  const service = useService(home, {
    ...functions.environment,
    STEPWELL_POLL_MS: "50",
    STEPWELL_MAX_CALLS: "1",
    STEPWELL_MAX_QUEUED_CALLS: "1",
  });

  test("a job's timeout comes in time even while its call waits and no other call finds room", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(functionStep("a", "held", null)));
    const { workflowId: hasty } = await deploy(api, timed(0.5, functionStep("a", "held", null)));
    const first = await submit(api, workflowId);
    const queued = await submit(api, hasty);
    const pending = await submit(api, workflowId);

    expect(await finished(api, queued)).toMatchObject({ status: "FAILED", error: { type: "JobTimeout" } });
    for (const jobId of [first, pending]) {
      (await functions.nextCall(jobId)).succeed();
      expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
    }
    expect(functions.callsOf(queued)).toEqual([]);
  });
});

/** Makes a definition with a timeout of the whole job. */
function timed(timeoutSeconds: number, ...steps: object[]): string {
  return JSON.stringify({ ...JSON.parse(definitionOf(...steps)), timeoutSeconds });
}

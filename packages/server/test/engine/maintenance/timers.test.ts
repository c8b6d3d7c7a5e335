import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore, onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { afterAll, expect, test } from "vitest";

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

/** The tolerance for a busy machine in milliseconds, a tenth of the time until the next poll. */
const slackMs = 3_000;

/** Makes a definition that waits for `approved`, and fails when that does not arrive in time. */
function impatientDefinition(timeoutSeconds: number): string {
  return definitionOf(withTimeout(waitStep("approve", ["approved"], null), timeoutSeconds));
}

function withTimeout(step: object, timeoutSeconds: number): object {
  return { ...step, timeoutSeconds };
}

interface Entry {
  readonly type: string;
  readonly at: string;
  readonly retryAt?: string;
  readonly timeoutAt?: string;
}

async function historyOf(api: Client, jobId: string): Promise<Entry[]> {
  const { body } = await api.call<{ entries: Entry[] }>("GetJobHistory", { params: { jobId } });
  return body.entries;
}

async function submit(api: Client, workflowId: string): Promise<{ readonly jobId: string }> {
  const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  return body;
}

async function finished(api: Client, jobId: string): Promise<JobBody> {
  const { body } = await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
  return body;
}

/** Returns how long after the planned time the next entry of this type came. */
function delayMs(entries: readonly Entry[], planned: string | undefined, type: string): number {
  const due = Date.parse(planned ?? "");
  const happened = entries
    .map((entry) => ({ ...entry, at: Date.parse(entry.at) }))
    .find((entry) => entry.type === type && entry.at >= due);
  return (happened?.at ?? Number.NaN) - due;
}

onEveryStore((home) => {
  // The service polls so rarely that it handles a timer in time only because it is notified when the timer is set.
  const service = useService(home, { ...functions.environment, STEPWELL_POLL_MS: "30000" });

  test("a retry comes when it is due, whatever the poll interval", async () => {
    const { api } = await service.newOrganization();
    const retry = { maxAttempts: 2, initialIntervalSeconds: 0.5, jitter: false };
    const { workflowId } = await deploy(api, callingDefinition("held", { retry }));
    const { jobId } = await submit(api, workflowId);

    (await functions.nextCall(jobId)).fail();
    (await functions.nextCall(jobId)).succeed();

    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", steps: [{ attempts: 2 }] });
    const entries = await historyOf(api, jobId);
    const failure = entries.find((entry) => entry.type === "step.attemptFailed");
    expect(delayMs(entries, failure?.retryAt, "step.attemptStarted")).toBeLessThan(timeLimit(slackMs));
  });

  test("a wait that reaches its timeout fails the job, in time", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, impatientDefinition(0.3));
    const { jobId } = await submitAndWait(api, workflowId);

    expect(await finished(api, jobId)).toMatchObject({
      status: "FAILED",
      error: { code: "Timeout", step: "approve" },
    });
    const entries = await historyOf(api, jobId);
    const wait = entries.find((entry) => entry.type === "step.waiting");
    expect(delayMs(entries, wait?.timeoutAt, "step.failed")).toBeLessThan(timeLimit(slackMs));
  });

  test("a resumed job runs at once", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, callingDefinition("held"));
    const { jobId } = await submit(api, workflowId);
    (await functions.nextCall(jobId)).fail();
    expect(await finished(api, jobId)).toMatchObject({ status: "FAILED" });

    const resumedAt = performance.now();
    await api.call("ResumeJob", { params: { jobId } });
    const again = await functions.nextCall(jobId);

    expect(again.receivedAt - resumedAt).toBeLessThan(timeLimit(slackMs));
    expect(again).toMatchObject({ attempt: 2 });
    again.succeed();
    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
  });

  test("a chain of steps that is too long for one commit continues in the next one at once", async () => {
    const { api } = await service.newOrganization();
    const names = Array.from({ length: 450 }, (_, index) => `step-${index}`);
    const chain = names.map((name, index) => noopStep(name, names[index + 1] ?? null));
    const { workflowId } = await deploy(api, definitionOf(...chain));

    const begunAt = performance.now();
    expect(await submitAndWait(api, workflowId)).toMatchObject({ status: "SUCCEEDED" });
    expect(performance.now() - begunAt).toBeLessThan(timeLimit(3 * slackMs));
  });
});

/* Only the engine knows whether it has capacity for a call, so the store makes no difference here. */
onOneStore((home) => {
  const service = useService(home, {
    ...functions.environment,
    STEPWELL_POLL_MS: "50",
    STEPWELL_MAX_CALLS: "1",
    STEPWELL_MAX_QUEUED_CALLS: "1",
  });

  test("jobs beyond the bound of calls stay pending and run in their order when there is room", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, callingDefinition("held"));
    for (let count = 0; count < 4; count += 1) await submit(api, workflowId);

    const { jobs } = (await api.call<{ jobs: JobBody[] }>("ListJobs", { query: { order: "oldest" } })).body;
    expect(jobs.map((job) => job.status)).toEqual(["RUNNING", "RUNNING", "PENDING", "PENDING"]);

    for (const { jobId } of jobs) {
      (await functions.nextCall(jobId)).succeed();
      expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", steps: [{ attempts: 1 }] });
    }
  });

  test("a wait's timeout comes in time even while all calls are in use", async () => {
    const { api } = await service.newOrganization();
    const calling = await deploy(api, callingDefinition("held"));
    const impatient = await deploy(api, impatientDefinition(0.2));
    const taking = [];
    for (let count = 0; count < 3; count += 1) taking.push(await submit(api, calling.workflowId));

    const { jobId } = await submit(api, impatient.workflowId);

    expect(await finished(api, jobId)).toMatchObject({ status: "FAILED", error: { code: "Timeout" } });
    for (const job of taking) (await functions.nextCall(job.jobId)).succeed();
    for (const job of taking) await finished(api, job.jobId);
  });
});

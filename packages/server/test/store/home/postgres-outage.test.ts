import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep, straightDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { newDatabase, type OwnDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";

/** The service of these tests uses a PostgreSQL server that the tests can make unreachable. */

const commitTimeoutMs = 800;
/** Extra time, so that no test fails because the machine is busy. */
const slackMs = 5_000;

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

let database: OwnDatabase;
let proxy: TcpProxy;
let service: TestService;

beforeAll(async () => {
  database = await newDatabase("newest");
  proxy = await TcpProxy.before(database.url);
  service = await startService();
});

afterAll(async () => {
  await service.stop();
  await proxy.stop();
  await database.remove();
});

async function startService(settings: Record<string, string> = {}): Promise<TestService> {
  const store = { environment: { DATABASE_URL: proxy.url }, remove: async () => {} };
  const started = new TestService(
    { name: "postgres", prepare: async () => store },
    {
      ...functions.environment,
      STEPWELL_COMMIT_TIMEOUT_MS: String(commitTimeoutMs),
      STEPWELL_DATABASE_TIMEOUT_MS: String(commitTimeoutMs),
      STEPWELL_LEASE_MS: "1000",
      STEPWELL_HEARTBEAT_MS: "100",
      STEPWELL_POLL_MS: "50",
      STEPWELL_DRAIN_SECONDS: "0",
      STEPWELL_LOG_LEVEL: "silent",
      ...settings,
    },
  );
  await started.start();
  return started;
}

async function isReady(): Promise<void> {
  await service.client(undefined).call("GetReadiness", { status: 200 });
}

async function isNotReady(): Promise<void> {
  const { body } = await service.client(undefined).refused("GetReadiness", "UnavailableError");
  expect(body.detail).toContain("The store has not answered this node");
}

async function until(fact: () => Promise<void>): Promise<void> {
  await vi.waitFor(fact, { timeout: 10_000, interval: 50 });
}

describe.each(["refuse", "freeze"] as const)("while the database is out of reach (%s)", (kind) => {
  let api: Client;
  let workflowId: string;
  let waiting: JobBody;

  beforeEach(async () => {
    ({ api } = await service.newOrganization());
    ({ workflowId } = await deploy(api, definitionOf(waitStep("approve", ["approved"], null))));
    waiting = await submitAndWait(api, workflowId);
  });

  afterEach(async () => {
    await proxy.pass();
    await until(isReady);
  });

  test("every request is answered 503 with Retry-After in time", async () => {
    const { jobId } = waiting;
    const requests = [
      ["SubmitJob", { body: { workflowId } }],
      ["SubmitJob", { body: { workflowId }, headers: { "idempotency-key": randomUUID() } }],
      ["SendJobEvent", { params: { jobId }, body: { eventId: "approved" } }],
      ["CancelJob", { params: { jobId } }],
      ["GetJob", { params: { jobId } }],
      ["GetJobHistory", { params: { jobId } }],
      ["ListJobs", {}],
      ["GetWorkflow", { params: { workflowId } }],
      ["RegisterWorkflow", { body: { name: randomUUID() } }],
      ["ListOrganizations", {}],
    ] as const;

    await proxy[kind]();
    const begunAt = performance.now();
    const answers = await Promise.all(
      requests.map(async ([operationId, options]) => {
        const { headers } = await api.refused(operationId, "UnavailableError", options);
        return { operationId, afterMs: performance.now() - begunAt, retryAfter: Number(headers.get("retry-after")) };
      }),
    );

    for (const { operationId, afterMs, retryAfter } of answers) {
      expect(afterMs, operationId).toBeLessThan(commitTimeoutMs + timeLimit(slackMs));
      expect(retryAfter, operationId).toBeGreaterThan(0);
    }
  });

  test("the service reports that it is not ready, stays alive, and recovers by itself", async () => {
    await proxy[kind]();

    await until(isNotReady);
    await service.client(undefined).call("GetLiveness", { status: 200 });

    await proxy.pass();

    await until(isReady);
    const sent = await api.call("SendJobEvent", { params: { jobId: waiting.jobId }, body: { eventId: "approved" } });
    expect(sent.body).toMatchObject({ outcome: "matched" });
  });

  test("timers that become due during the outage fire when the database is back", async () => {
    const retry = { maxAttempts: 2, initialIntervalSeconds: 0.1 };
    const calling = await deploy(api, callingDefinition("held", { retry }));
    const { body: job } = await api.call<JobBody>("SubmitJob", { body: { workflowId: calling.workflowId } });
    const call = await functions.nextCall(job.jobId);

    await proxy[kind]();
    call.fail();
    await until(isNotReady);
    await proxy.pass();

    (await functions.nextCall(job.jobId)).succeed();
    await until(isReady);
    const { body } = await api.call<JobBody>("GetJob", { params: { jobId: job.jobId }, query: { waitSeconds: 20 } });
    expect(body).toMatchObject({ status: "SUCCEEDED", steps: [{ attempts: 2 }] });
  });

  test("a node that is told to stop ends its process", async () => {
    const leaving = await startService();
    const organization = await leaving.newOrganization();
    const calling = await deploy(organization.api, callingDefinition("held"));
    const body = { workflowId: calling.workflowId };
    const { body: job } = await organization.api.call<JobBody>("SubmitJob", { body });
    await functions.nextCall(job.jobId);

    await proxy[kind]();
    const begunAt = performance.now();
    await leaving.stop();

    expect(performance.now() - begunAt).toBeLessThan(3 * commitTimeoutMs + timeLimit(slackMs));
  });
});

test("a node stops even if a transaction never returns its connection", async () => {
  const leaving = await startService();
  void leaving.running.database.transaction(() => new Promise(() => {}));
  await leaving.stop();
});

test("every job is accepted once and the process survives while connections break again and again", async () => {
  const { api } = await service.newOrganization();
  const { workflowId } = await deploy(api, straightDefinition);
  const keys = Array.from({ length: 40 }, () => randomUUID());
  let acceptedCount = 0;

  async function submitUntilAccepted(key: string): Promise<string> {
    const headers = { "idempotency-key": key };
    for (;;) {
      const { status, body } = await api.callAny<JobBody>("SubmitJob", { body: { workflowId }, headers });
      if (status === 201) {
        acceptedCount += 1;
        // The connections break while the other requests are at work.
        if (acceptedCount % 4 === 0) proxy.drop();
        return body.jobId;
      }
      expect(status).toBe(503);
    }
  }

  async function submitAll(some: readonly string[]): Promise<string[]> {
    const jobIds: string[] = [];
    for (const key of some) jobIds.push(await submitUntilAccepted(key));
    return jobIds;
  }

  const quarters = [0, 10, 20, 30].map((start) => keys.slice(start, start + 10));
  const jobIds = await Promise.all(quarters.map(submitAll));
  await until(isReady);

  const { body } = await api.call<{ jobs: JobBody[] }>("ListJobs", { query: { workflowId, pageSize: 200 } });
  expect(body.jobs.map((job) => job.jobId).sort()).toEqual(jobIds.flat().sort());
  expect(body.jobs.map((job) => job.status)).toEqual(keys.map(() => "SUCCEEDED"));
});

test("a statement that is stuck until the server ends its session is repeated", async () => {
  const patient = await startService({ STEPWELL_DATABASE_TIMEOUT_MS: "300", STEPWELL_COMMIT_TIMEOUT_MS: "10000" });
  onTestFinished(() => patient.stop());
  const { api } = await patient.newOrganization();
  const { workflowId } = await deploy(api, straightDefinition);

  const stuck = proxy.onNext("insert_job_history", "stuck");
  const answer = api.call<JobBody>("SubmitJob", { body: { workflowId }, status: 201 });
  await stuck;

  const { jobId } = (await answer).body;
  const { body } = await api.call<{ jobs: JobBody[] }>("ListJobs", { query: { workflowId } });
  expect(body.jobs.map((job) => [job.jobId, job.status])).toEqual([[jobId, "SUCCEEDED"]]);
});

describe("a commit without an answer", () => {
  const fates = ["answer-swallowed", "lost", "late"] as const;

  // These tests check the outcome of a commit, and not how soon it is known.
  let patient: TestService;
  beforeAll(async () => {
    patient = await startService({ STEPWELL_COMMIT_TIMEOUT_MS: "10000" });
  });
  afterAll(() => patient.stop());

  /**
   * Breaks the connection at the COMMIT of the change that `request` asks for, in the way that `fate` names. Returns the final answer to the caller.
   */
  async function duringCommit<Result>(fate: (typeof fates)[number], request: () => Promise<Result>): Promise<Result> {
    const met = proxy.onNext("COMMIT", fate, "insert_job_history");
    const answer = request();
    const commit = await met;
    if (fate === "late") {
      await until(somebodyWaitsForALock);
      await commit.deliver();
    }
    return await answer;
  }

  async function somebodyWaitsForALock(): Promise<void> {
    const { rowCount } = await onServer(database.url, (client) =>
      client.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"),
    );
    expect(rowCount).toBeGreaterThan(0);
  }

  test.each(fates)("creates one job, and its caller is answered (%s)", async (fate) => {
    const { api } = await patient.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);

    const { body } = await duringCommit(fate, () =>
      api.call<{ jobId: string }>("SubmitJob", { body: { workflowId }, status: 201 }),
    );

    const { body: list } = await api.call<{ jobs: JobBody[] }>("ListJobs", { query: { workflowId } });
    expect(list.jobs.map((job) => [job.jobId, job.status])).toEqual([[body.jobId, "SUCCEEDED"]]);
    const entries = await historyOf(api, body.jobId);
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.filter((entry) => entry.type === "job.submitted")).toHaveLength(1);
  });

  test.each(fates)("counts an event once, even if the job could accept it again (%s)", async (fate) => {
    const { api } = await patient.newOrganization();
    const { workflowId } = await deploy(api, loopDefinition);
    const { jobId } = await submitAndWait(api, workflowId);

    const { body } = await duringCommit(fate, () =>
      api.call("SendJobEvent", { params: { jobId }, body: { eventId: "tick" } }),
    );

    expect(body).toMatchObject({ outcome: "matched" });
    const { body: kept } = await api.call<{ events: unknown[] }>("ListJobEvents", { params: { jobId } });
    expect(kept.events).toHaveLength(1);
    const entries = await historyOf(api, jobId);
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.at(-1)).toMatchObject({ type: "step.waiting", visit: 2 });
  });
});

/** A definition that waits for the same event again and again. */
const loopDefinition = definitionOf(
  { ...waitStep("wait", ["tick"], "again"), timeoutSeconds: 3_600, onFailure: "finish" },
  noopStep("again", "wait"),
  noopStep("finish", null),
);

async function historyOf(api: Client, jobId: string): Promise<{ sequence: number; type: string }[]> {
  const { body } = await api.call<{ entries: { sequence: number; type: string }[] }>("GetJobHistory", {
    params: { jobId },
  });
  return body.entries;
}

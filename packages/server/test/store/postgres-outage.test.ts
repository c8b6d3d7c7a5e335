import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client } from "../support/client.ts";
import { definitionOf, noopStep, straightDefinition, waitStep } from "../support/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "../support/flow.ts";
import { onServer } from "../support/postgres-server.ts";
import { TestService } from "../support/service.ts";
import { newDatabase, type OwnDatabase } from "./own-database.ts";
import { TcpProxy } from "./tcp-proxy.ts";

/** A service whose PostgreSQL can be taken out of its reach. */

const patienceMs = 1_000;
/** What a busy machine takes on top: a test must not fail for that. */
const slackMs = 2_000;

let database: OwnDatabase;
let proxy: TcpProxy;
let service: TestService;

beforeAll(async () => {
  database = await newDatabase("newest");
  proxy = await TcpProxy.before(database.url);
  const store = { environment: { DATABASE_URL: proxy.url }, remove: database.remove };
  service = new TestService(
    { name: "postgres", prepare: async () => store },
    {
      STEPWELL_STORE_PATIENCE_MS: String(patienceMs),
      STEPWELL_DATABASE_TIMEOUT_MS: String(patienceMs),
      STEPWELL_LEASE_MS: "1000",
      STEPWELL_HEARTBEAT_MS: "100",
      STEPWELL_POLL_MS: "50",
      STEPWELL_LOG_LEVEL: "fatal",
    },
  );
  await service.start();
});

afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});

async function isReady(): Promise<void> {
  await service.client(undefined).call("GetReadiness", { status: 200 });
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
    await proxy[kind]();
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

    const begunAt = performance.now();
    const answers = await Promise.all(
      requests.map(async ([operationId, options]) => {
        const { headers } = await api.refused(operationId, "UnavailableError", options);
        return { operationId, afterMs: performance.now() - begunAt, retryAfter: Number(headers.get("retry-after")) };
      }),
    );

    for (const { operationId, afterMs, retryAfter } of answers) {
      expect(afterMs, operationId).toBeLessThan(patienceMs + slackMs);
      expect(retryAfter, operationId).toBeGreaterThan(0);
    }
  });
});

describe("a commit whose answer does not come", () => {
  const fates = ["answer-swallowed", "lost", "late"] as const;

  /** Breaks the connection on the COMMIT of what `request` asks for, by its fate, and answers what the caller is told in the end. */
  async function duringCommit<Result>(fate: (typeof fates)[number], request: () => Promise<Result>): Promise<Result> {
    const met = proxy.onNext("COMMIT", fate);
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

  test.each(fates)("makes one job, and its caller is answered (%s)", async (fate) => {
    const { api } = await service.newOrganization();
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

  test.each(fates)("counts an event once, also where the job would take it again (%s)", async (fate) => {
    const { api } = await service.newOrganization();
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

/** Waits for the same event again and again. */
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

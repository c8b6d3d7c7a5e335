import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client } from "../support/client.ts";
import { definitionOf, straightDefinition, waitStep } from "../support/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "../support/flow.ts";
import { onServer } from "../support/postgres-server.ts";
import { TestService } from "../support/service.ts";
import { newDatabase, type OwnDatabase } from "./own-database.ts";
import { TcpProxy } from "./tcp-proxy.ts";

/** A service whose PostgreSQL can be taken out of its reach. */

const patienceMs = 700;
/** What a busy machine takes on top: a test must not fail for that. */
const slackMs = 1_300;

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

test("x", () => {
  void straightDefinition;
  void onServer;
});

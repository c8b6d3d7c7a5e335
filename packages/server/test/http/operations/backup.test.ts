import { randomBytes, randomUUID } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@stepwell/testing/client.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { ScriptedServer } from "@stepwell/testing/functions/scripted-server.ts";
import { PostgresCluster } from "@stepwell/testing/postgres/postgres-cluster.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { layEmbeddedStore, type PreparedStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, inject, onTestFinished, test } from "vitest";
import { childJob, delay, forEach, httpCall, type StepSketch, task, textOf, wait } from "../../core/job/jobs.ts";
import { PlainWorker, type PolledTask } from "../tasks/tasks.ts";

const settings = {
  STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "127.0.0.1",
  STEPWELL_HEARTBEAT_MS: "100",
  STEPWELL_LEASE_MS: "1000",
  STEPWELL_POLL_MS: "50",
};

async function serviceOn(store: PreparedStore): Promise<TestService> {
  const service = new TestService({ name: "postgres", prepare: async () => store }, settings);
  await service.start();
  return service;
}

const eachWay = 2;
const items = [1, 2, 3];
const ways = ["waits", "sleeps", "calls", "worker", "family", "fans"];

/**
 * Jobs that wait, sleep or call, or that have a task, a child job or branches. A server holds the calls of these jobs, and a worker some of their
 * tasks.
 */
class JobsUnderWay {
  readonly server: ScriptedServer;
  readonly organizationId: string;
  readonly token: string;
  readonly #workflows: Readonly<Record<string, string>>;
  readonly jobIds = new Map<string, string>();
  held: readonly PolledTask[] = [];

  static async begin(service: TestService, server: ScriptedServer): Promise<JobsUnderWay> {
    const { api, organizationId, owner } = await service.newOrganization();
    const definitions: Record<string, readonly StepSketch[]> = {
      waits: [wait("approve", ["approved"], "end"), delay("end", { seconds: 0.01 }, null)],
      sleeps: [delay("sleep", { seconds: 1.5 }, null)],
      calls: [httpCall("call", { method: "POST", url: server.endpoint.href }, null)],
      worker: [task("work", null, { config: { queue: "q", heartbeatSeconds: 600 } })],
      family: [childJob("begin", "waits", null)],
      fans: [forEach("each", { items, step: "approve" }, null), wait("approve", ["approved"], null)],
    };
    const workflows: Record<string, string> = {};
    for (const [name, steps] of Object.entries(definitions)) {
      workflows[name] = (await deploy(api, textOf(steps), name)).workflowId;
    }
    const jobs = new JobsUnderWay(server, organizationId, owner.token, workflows);
    await jobs.submitAll(api);
    jobs.held = await new PlainWorker(api).poll(1, 20);
    await expect.poll(() => server.requests.length).toBe(eachWay);
    await expect.poll(() => jobs.countOf(api, { workflowId: workflows.waits ?? "" })).toBe(2 * eachWay);
    return jobs;
  }

  private constructor(
    server: ScriptedServer,
    organizationId: string,
    token: string,
    workflows: Readonly<Record<string, string>>,
  ) {
    this.server = server;
    this.organizationId = organizationId;
    this.token = token;
    this.#workflows = workflows;
  }

  /** Submits each job under a key of its own. A second call, as by a client that never got its answers, expects the same jobs. */
  async submitAll(api: Client): Promise<void> {
    for (const way of ways) {
      for (let number = 0; number < eachWay; number += 1) {
        const key = `${way}-${number}`;
        const body = { workflowId: this.#workflows[way], inputJson: { number } };
        const options = { body, headers: { "idempotency-key": key } };
        const { jobId } = (await api.call<{ jobId: string }>("SubmitJob", options)).body;
        expect(this.jobIds.get(key) ?? jobId).toBe(jobId);
        this.jobIds.set(key, jobId);
      }
    }
  }

  idsOf(way: string): readonly string[] {
    return [...this.jobIds].filter(([key]) => key.startsWith(way)).map(([, jobId]) => jobId);
  }

  async countOf(api: Client, query: Record<string, string>): Promise<number> {
    const { body } = await api.call<{ totalCount: number }>("ListJobs", {
      query: { includeTotal: true, jobHierarchy: "ALL", ...query },
    });
    return body.totalCount;
  }

  /** Does everything that the jobs wait for. */
  async goOn(api: Client): Promise<void> {
    const approve = async (jobId: string) =>
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    const { jobs } = (
      await api.call<{ jobs: { jobId: string }[] }>("ListJobs", {
        query: { jobHierarchy: "ALL", workflowId: this.#workflows.waits ?? "" },
      })
    ).body;
    for (const { jobId } of jobs) await approve(jobId);
    // Each event is for one branch.
    for (const jobId of this.idsOf("fans")) for (const _item of items) await approve(jobId);
    const worker = new PlainWorker(api);
    // The worker that held tasks at the time of the backup has continued them, and does not know of the restore.
    for (const one of this.held) await worker.complete(one, {});
    for (let left = eachWay - this.held.length; left > 0; left -= 1) await worker.complete(await worker.next(), {});
  }

  /** Expects that every job has succeeded, with each step once, and that there are no other jobs. */
  async expectAllEnded(api: Client): Promise<void> {
    const count = ways.length * eachWay + eachWay;
    await expect.poll(() => this.countOf(api, { status: "SUCCEEDED" }), { timeout: 20_000 }).toBe(count);
    expect(await this.countOf(api, {})).toBe(count);
    for (const jobId of this.jobIds.values()) {
      const { entries } = (
        await api.call<{ entries: { type: string; step?: string; branch?: string; visit?: number }[] }>(
          "GetJobHistory",
          { params: { jobId } },
        )
      ).body;
      const ended = entries
        .filter(({ type }) => type === "step.succeeded")
        .map(({ step, branch, visit }) => `${branch}/${step}:${visit}`);
      expect(ended.length).toBeGreaterThan(0);
      expect(new Set(ended).size).toBe(ended.length);
    }
    // The server was called again under the same keys, as after a crash of the service.
    const keys = this.server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(eachWay);
    expect(keys.length).toBeGreaterThan(eachWay);
  }
}

/** A server that answers no request until it is told to. */
async function silentServer() {
  let answers = false;
  const server = await ScriptedServer.start((response) => {
    if (answers) response.end("ok");
  });
  return Object.assign(server, {
    answerFromNowOn: () => {
      answers = true;
    },
  });
}

inWholeMatrix(() => {
  test("a base backup of a PostgreSQL server in use can be restored: all running jobs end, and nothing exists or happens twice", async () => {
    await using server = await silentServer();
    const password = randomBytes(16).toString("hex");
    const urlAt = (port: number, database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
    const [port, otherPort] = [await findFreePort(), await findFreePort()];
    const original = await PostgresCluster.create({ port, password, settings: ["fsync=off"] });
    onTestFinished(() => original.remove());
    await original.start();
    await onServer(urlAt(port, "postgres"), (client) => client.query("CREATE DATABASE stepwell"));
    const before = await serviceOn({ environment: { DATABASE_URL: urlAt(port, "stepwell") }, remove: async () => {} });
    const jobs = await JobsUnderWay.begin(before, server);

    const restored = await original.backUp(otherPort);
    onTestFinished(() => restored.remove());
    // What happens from here until the node stops is not in the backup. It is lost, together with the original PostgreSQL server.
    const lost = before.client(jobs.token, { organizationId: jobs.organizationId });
    for (const jobId of jobs.idsOf("waits").slice(0, 1)) {
      await lost.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
      await expect.poll(async () => (await lost.call("GetJob", { params: { jobId } })).body.status).toBe("SUCCEEDED");
    }
    await before.stop();

    server.answerFromNowOn();
    await restored.start();
    const after = await serviceOn({
      environment: { DATABASE_URL: urlAt(otherPort, "stepwell") },
      remove: async () => {},
    });
    const api = after.client(jobs.token, { organizationId: jobs.organizationId });
    await jobs.submitAll(api);
    await jobs.goOn(api);
    await jobs.expectAllEnded(api);
    await after.stop();
  }, 60_000);
});

test("a copy of the embedded store's directory, made while it is stopped, can be restored: all running jobs end, and nothing exists or happens twice", async () => {
  await using server = await silentServer();
  const [directory, copy] = [1, 2].map(() => join(inject("scratchDirectory"), randomUUID()));
  const storeIn = (path = "") => ({
    environment: { STEPWELL_DATA_DIR: path },
    remove: () => rm(path, { recursive: true }),
  });
  await layEmbeddedStore(directory ?? "");
  const before = await serviceOn({ ...storeIn(directory), remove: async () => {} });
  const jobs = await JobsUnderWay.begin(before, server);
  await before.stop();
  await cp(directory ?? "", copy ?? "", { recursive: true });
  await rm(directory ?? "", { recursive: true });

  server.answerFromNowOn();
  const after = await serviceOn(storeIn(copy));
  const api = after.client(jobs.token, { organizationId: jobs.organizationId });
  await jobs.submitAll(api);
  await jobs.goOn(api);
  await jobs.expectAllEnded(api);
  await after.stop();
}, 60_000);

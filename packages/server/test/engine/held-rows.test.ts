import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, straightDefinition, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import type { TestOrganization } from "@stepwell/testing/service.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BegunCalls } from "../../src/engine/calls/begun-calls.ts";
import { PlainWorker, taskDefinition } from "../http/tasks/tasks.ts";
import { byWayOf, useCluster } from "./node/cluster.ts";

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

// The deadline is far shorter than the time that a statement may take, so a command that waited for a row would be too late.
const cluster = useCluster(2, {
  ...functions.environment,
  STEPWELL_DATABASE_TIMEOUT_MS: "60000",
  STEPWELL_COMMIT_TIMEOUT_MS: "2500",
  STEPWELL_POLL_MS: "50",
});

let own: TestOrganization;
let other: TestOrganization;
/** The workflow of `own`, which waits for `approved`. */
let waiting: { workflowId: string };
/** The workflow of `other`, which runs through without waiting. */
let straight: { workflowId: string };

beforeAll(async () => {
  own = await cluster.node(0).newOrganization();
  other = await cluster.node(0).newOrganization();
  waiting = await deploy(own.api, waitingDefinition);
  straight = await deploy(other.api, straightDefinition);
});

/** Locks rows with these statements, as a forgotten session does, until they are released or the test ends. */
async function hold(...statements: readonly (readonly [text: string, values: readonly unknown[]])[]) {
  const session = new pg.Client({ connectionString: cluster.databaseUrl });
  await session.connect();
  let isHeld = true;
  const letGo = async () => {
    if (isHeld) await session.end();
    isHeld = false;
  };
  onTestFinished(letGo);
  await session.query("BEGIN");
  for (const [text, values] of statements) await session.query(text, [...values]);
  return letGo;
}

const holdJob = (jobId: string) => hold(["SELECT FROM job WHERE job_id = $1 FOR UPDATE", [jobId]]);

async function send(api: Client, jobId: string, eventId: string): Promise<void> {
  await api.call("SendJobEvent", { params: { jobId }, body: { eventId } });
}

async function answerOf(request: Promise<unknown>): Promise<string> {
  return await request.then(() => "done", String);
}

/** Submits jobs of the other organization, one after the other, and checks that each succeeds. */
async function neighbourGoesOn(): Promise<void> {
  for (let count = 0; count < 20; count += 1) {
    expect(await submitAndWait(other.api, straight.workflowId)).toMatchObject({ status: "SUCCEEDED" });
  }
}

async function statusOf(jobId: string): Promise<string> {
  return (await own.api.call<JobBody>("GetJob", { params: { jobId } })).body.status;
}

test("a job whose row another session holds delays no other job, and continues when the row is released", async () => {
  const { jobId } = await submitAndWait(own.api, waiting.workflowId);
  const letGo = await holdJob(jobId);

  const late = answerOf(send(own.api, jobId, "approved"));
  await neighbourGoesOn();
  expect(await late).toContain("pg_stat_activity");
  expect(await statusOf(jobId)).toBe("RUNNING");

  const inTime = send(own.api, jobId, "approved");
  await letGo();
  await inTime;
  expect(await statusOf(jobId)).toBe("SUCCEEDED");
});

test("a job that does not exist is not mistaken for one whose row is held", async () => {
  await expect(send(own.api, cluster.node(0).running.engine.newId(), "approved")).rejects.toThrow("404");
});

test("a timer of a job whose row is held delays no other timer, and ends its wait when the row is released", async () => {
  const impatient = definitionOf({ ...waitStep("approve", ["approved"], null), timeoutSeconds: 3 });
  const [ofOwn, ofOther] = [await deploy(own.api, impatient), await deploy(other.api, impatient)];
  const held = await submitAndWait(own.api, ofOwn.workflowId);
  const letGo = await holdJob(held.jobId);

  const free = await submitAndWait(other.api, ofOther.workflowId);
  const ended = await other.api.call<JobBody>("GetJob", { params: { jobId: free.jobId }, query: { waitSeconds: 20 } });
  expect(ended.body.status).toBe("FAILED");
  expect(await statusOf(held.jobId)).toBe("RUNNING");

  await letGo();
  await expect.poll(() => statusOf(held.jobId), { timeout: 20_000 }).toBe("FAILED");
});

test("heartbeats of tasks whose rows are held are refused soon, and delay no job and no request of others", async () => {
  const { workflowId } = await deploy(own.api, taskDefinition());
  const worker = new PlainWorker(own.api);
  const task = await submitAndTake(workflowId, worker);
  const letGo = await hold(["SELECT FROM job_call WHERE queue = 'q' FOR UPDATE", []]);

  const begun = performance.now();
  const late = Array.from({ length: 200 }, () => answerOf(worker.heartbeat(task)));
  for (let count = 0; count < 20; count += 1) {
    await other.api.call("GetWorkflow", { params: { workflowId: straight.workflowId } });
  }
  await neighbourGoesOn();
  for (const answer of await Promise.all(late)) expect(answer).toContain("503");
  expect(performance.now() - begun).toBeLessThan(timeLimit(10_000));

  const inTime = worker.heartbeat(task);
  await letGo();
  await inTime;
  await worker.complete(task, {});
  expect(await answerOf(worker.heartbeat(task))).toContain("409");
});

async function submitAndTake(workflowId: string, worker: PlainWorker) {
  await own.api.call("SubmitJob", { body: { workflowId, inputJson: {} } });
  return await worker.next();
}

test("an idempotency key that another transaction claims delays no other command", async () => {
  const key = `claimed-elsewhere-${randomUUID()}`;
  const letGo = await hold([
    `INSERT INTO idempotency_key (organization_id, idempotency_key, request_hash, claim_id, created_at)
     VALUES ($1, $2, '\\x00', gen_random_uuid(), now())`,
    [own.organizationId, key],
  ]);
  const submit = () =>
    own.api.call<JobBody>("SubmitJob", {
      body: { workflowId: waiting.workflowId },
      headers: { "Idempotency-Key": key },
    });

  const late = answerOf(submit());
  await neighbourGoesOn();
  expect(await late).toContain("503");

  const inTime = submit();
  await letGo();
  expect((await inTime).body.status).toBe("PENDING");
});

test("an organization whose row is held starts no job meanwhile, and delays no other organization", async () => {
  const letGo = await hold(["SELECT FROM organization WHERE organization_id = $1 FOR UPDATE", [own.organizationId]]);

  const late = answerOf(submitAndWait(own.api, waiting.workflowId));
  await neighbourGoesOn();
  expect(await late).toContain("pg_stat_activity");

  const inTime = submitAndWait(own.api, waiting.workflowId);
  await letGo();
  expect(await inTime).toMatchObject({ status: "RUNNING" });
});

test("a call whose row is held delays the start of no other call", { timeout: 20_000 }, async () => {
  const { database, engine } = cluster.node(0).running;
  const { organizationId } = own;
  const jobs = await Promise.all([1, 2, 3].map(() => submitAndWait(own.api, waiting.workflowId)));
  const calls = jobs.map(({ jobId }) => ({ organizationId, jobId, branch: "", step: "call", visit: 1, epoch: 7 }));
  const [first, held, last] = calls;
  if (first === undefined || held === undefined || last === undefined) throw new Error("There are three jobs.");
  await onServer(cluster.databaseUrl, (client) =>
    client.query(
      `INSERT INTO job_call SELECT organization_id, job_id, '', version_id, 'call', 1, 7, $1, false, now() FROM job WHERE job_id = ANY($2)`,
      [engine.nodeId, jobs.map(({ jobId }) => jobId)],
    ),
  );
  await hold(["UPDATE job_call SET ready_at = now() WHERE job_id = $1", [held.jobId]]);

  const begun = new BegunCalls(database, engine.nodeId);
  const noted = await Promise.allSettled([first, held, last].map((call) => begun.note(call)));

  expect(noted.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual([true, "failed", true]);
});

test("a call whose row is held delays no other call, and its outcome counts when the row is released", async () => {
  const { workflowId } = await deploy(own.api, callingDefinition("held"));
  const { body } = await own.api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  const call = await functions.nextCall(body.jobId);
  const letGo = await hold(["SELECT FROM job_call WHERE job_id = $1 FOR UPDATE", [body.jobId]]);

  call.succeed({ by: "the first attempt" });
  await neighbourGoesOn();
  expect(await statusOf(body.jobId)).toBe("RUNNING");

  await letGo();
  await expect.poll(() => statusOf(body.jobId), { timeout: 20_000 }).toBe("SUCCEEDED");
  expect(functions.callsOf(body.jobId)).toHaveLength(1);
});

test("simultaneous events for one job on two nodes are all kept", async () => {
  const { jobId } = await submitAndWait(own.api, waiting.workflowId);
  const [here, there] = [cluster.node(0), cluster.node(1)].map((node) => byWayOf(node, own));
  if (here === undefined || there === undefined) throw new Error("There are two nodes.");
  const sendAll = async (api: typeof here, name: string) => {
    for (let count = 0; count < 40; count += 1) await send(api, jobId, `${name} ${count}`);
  };

  await Promise.all([sendAll(here, "here"), sendAll(here, "here too"), sendAll(there, "there")]);
  await send(there, jobId, "approved");

  const { body } = await here.call<{ entries: { type: string }[] }>("GetJobHistory", {
    params: { jobId },
    query: { pageSize: 200 },
  });
  expect(body.entries.filter(({ type }) => type === "event.received")).toHaveLength(121);
});

import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody } from "@stepwell/testing/flow.ts";
import {
  callingDefinition,
  type FunctionCall,
  FunctionServer,
  functionStep,
} from "@stepwell/testing/functions/function-server.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import type { TestService } from "@stepwell/testing/service.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { type FirstOrganization, firstOrganization, type NodeProcess } from "./child-node.ts";
import { byWayOf, Cluster, nodeIdOf, useCluster } from "./cluster.ts";

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

const leaseMs = 2_000;
const settings = {
  ...functions.environment,
  STEPWELL_LEASE_MS: String(leaseMs),
  STEPWELL_HEARTBEAT_MS: "200",
  STEPWELL_POLL_MS: "50",
  STEPWELL_DRAIN_SECONDS: "0",
};
const cluster = useCluster(2, settings);
/** The time for finding a dead node and taking over its jobs on a busy machine, in addition to the lease. */
const takeoverSlackMs = 5_000;

async function submit(api: Client, workflowId: string): Promise<string> {
  const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  return body.jobId;
}

/**
 * Submits jobs by way of this node until the node itself makes the call of one, and returns this call. On a busy machine, the node's lease may have run
 * out, and then another node makes the call.
 */
async function callMadeBy(
  node: TestService | NodeProcess,
  organization: FirstOrganization,
  workflowId: string,
): Promise<FunctionCall> {
  for (;;) {
    const jobId = await submit(byWayOf(node, organization), workflowId);
    const call = await functions.nextCall(jobId);
    if ((await ownerOf(jobId)).nodeId === nodeIdOf(node)) return call;
    call.succeed();
  }
}

async function finished(api: Client, jobId: string): Promise<JobBody> {
  const { body } = await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
  return body;
}

async function historyTypes(api: Client, jobId: string): Promise<string[]> {
  const { body } = await api.call<{ entries: { type: string }[] }>("GetJobHistory", { params: { jobId } });
  return body.entries.map((entry) => entry.type);
}

/** Returns which node holds the job's call, and under which epoch. */
async function ownerOf(jobId: string): Promise<{ nodeId: string; epoch: number }> {
  const { rows } = await onServer(cluster.databaseUrl, (client) =>
    client.query(`SELECT node_id AS "nodeId", epoch FROM job_call WHERE job_id = $1`, [jobId]),
  );
  return rows[0];
}

/** Makes this node the holder of the call in the store. The node itself learns nothing of it, and need not exist. */
async function giveTo(nodeId: string, jobId: string): Promise<void> {
  await onServer(cluster.databaseUrl, (client) =>
    client.query("UPDATE job_call SET node_id = $1 WHERE job_id = $2", [nodeId, jobId]),
  );
}

async function untilIdle(node: TestService): Promise<void> {
  await vi.waitFor(() => expect(node.running.engine.gauges().runningCalls).toBe(0), { timeout: 10_000, interval: 20 });
}

test("another node takes over the call of a dead node, under the same idempotency key, and does not touch the calls of living nodes", async () => {
  const organization = await cluster.node(0).newOrganization();
  const { api } = organization;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const dying = await cluster.addProcess();
  const steady = await submit(api, workflowId);
  const first = await callMadeBy(dying, organization, workflowId);
  const { jobId } = first;

  await dying.kill();
  const killedAt = performance.now();

  const second = await functions.nextCall(jobId);
  expect(second.receivedAt - killedAt).toBeLessThan(leaseMs + timeLimit(takeoverSlackMs));
  expect(second).toMatchObject({ attempt: 2, idempotencyKey: first.idempotencyKey });
  second.succeed({ by: "second" });
  expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", output: { by: "second" } });
  expect(await historyTypes(api, jobId)).toContain("step.interrupted");
  // The node of this call is alive, so the call may take longer than any lease.
  (await functions.nextCall(steady)).succeed();
  expect(await finished(api, steady)).toMatchObject({ status: "SUCCEEDED" });
  expect(functions.callsOf(steady)).toHaveLength(1);
});

test("a node that was stopped for longer than its lease begins none of its queued calls and overwrites nothing", async () => {
  const organization = await cluster.node(0).newOrganization();
  const { api } = organization;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const stopped = await cluster.addProcess({ STEPWELL_MAX_CALLS: "1" });
  const viaStopped = byWayOf(stopped, organization);
  const late = await callMadeBy(stopped, organization, workflowId);
  const underWay = late.jobId;
  const queued = await submit(viaStopped, workflowId);

  stopped.pause();
  const successors = await Promise.all([functions.nextCall(underWay), functions.nextCall(queued)]);
  late.succeed({ by: "the stopped node" });
  for (const successor of successors) successor.succeed({ by: "the successor" });
  for (const jobId of [underWay, queued]) await finished(api, jobId);
  stopped.goOn();

  // The node makes one call at a time, so this call begins only after the other two are finished.
  const afterwards = await submit(viaStopped, workflowId);
  (await functions.nextCall(afterwards)).succeed();
  await finished(api, afterwards);
  for (const jobId of [underWay, queued]) {
    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", output: { by: "the successor" } });
  }
  expect(functions.callsOf(underWay)).toHaveLength(2);
  expect(functions.callsOf(queued)).toHaveLength(1);
  await stopped.kill();
});

inWholeMatrix(() => {
  test("a node that was stopped for longer than its lease continues its jobs if no other node took them", async () => {
    const lonely = new Cluster(settings);
    await lonely.start(0);
    onTestFinished(() => lonely.stop());
    const stopped = await lonely.addProcess({ STEPWELL_MAX_CALLS: "1" });
    const api = byWayOf(stopped, firstOrganization(stopped));
    const { workflowId } = await deploy(api, callingDefinition("held"));
    const underWay = await submit(api, workflowId);
    const queued = await submit(api, workflowId);
    const call = await functions.nextCall(underWay);

    stopped.pause();
    await vi.waitFor(() => expectNoHeartbeat(lonely.databaseUrl), { timeout: 10_000, interval: 50 });
    stopped.goOn();
    call.succeed();

    const next = await functions.nextCall(queued);
    expect(next).toMatchObject({ attempt: 1 });
    next.succeed();
    for (const jobId of [underWay, queued]) expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
  });
});

async function expectNoHeartbeat(databaseUrl: string): Promise<void> {
  const { rowCount } = await onServer(databaseUrl, (client) =>
    client.query("SELECT FROM node WHERE heartbeat_at > clock_timestamp() - $1::integer * interval '1 millisecond'", [
      leaseMs,
    ]),
  );
  expect(rowCount).toBe(0);
}

test("the outcome of a call that another node has taken over has no effect", async () => {
  const organization = await cluster.node(0).newOrganization();
  const { api } = organization;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const first = await callMadeBy(cluster.node(0), organization, workflowId);
  const { jobId } = first;

  await giveTo(cluster.node(1).running.engine.nodeId, jobId);
  const second = await functions.nextCall(jobId);
  first.succeed({ by: "first" });
  await untilIdle(cluster.node(0));

  expect(await ownerOf(jobId)).toMatchObject({ nodeId: cluster.node(1).running.engine.nodeId });
  second.succeed({ by: "second" });
  expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", output: { by: "second" } });
  expect((await historyTypes(api, jobId)).filter((type) => type === "step.succeeded")).toHaveLength(1);
});

inWholeMatrix(() => {
  test("an event that comes through another node does not move the call or the job to that node", async () => {
    const organization = await cluster.node(0).newOrganization();
    const { api } = organization;
    const definition = definitionOf(functionStep("call", "held", "wait"), waitStep("wait", ["approved"], null));
    const { workflowId } = await deploy(api, definition);
    const jobId = await submit(api, workflowId);
    const call = await functions.nextCall(jobId);
    const owner = await ownerOf(jobId);

    const elsewhere = byWayOf(cluster.node(1), organization);
    const sent = await elsewhere.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });

    expect(sent.body).toMatchObject({ outcome: "buffered" });
    expect(owner.nodeId).toBe(cluster.node(0).running.engine.nodeId);
    expect(await ownerOf(jobId)).toEqual(owner);
    call.succeed();
    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
    expect(functions.callsOf(jobId)).toHaveLength(1);
  });
});

test("a job that is cancelled by another node stays cancelled, whatever its call answers", async () => {
  const organization = await cluster.node(0).newOrganization();
  const { api } = organization;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const jobId = await submit(api, workflowId);
  const call = await functions.nextCall(jobId);

  await byWayOf(cluster.node(1), organization).call("CancelJob", { params: { jobId } });
  call.succeed();
  await untilIdle(cluster.node(0));

  expect(await finished(api, jobId)).toMatchObject({ status: "CANCELLED", output: null });
  expect((await historyTypes(api, jobId)).at(-1)).toBe("job.cancelled");
});

test("a node that stops hands back all its calls, and those that have not begun keep their attempt number", async () => {
  const organization = await cluster.node(0).newOrganization();
  const { api } = organization;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const leaving = await cluster.addNode({ STEPWELL_MAX_CALLS: "1" });
  const first = await callMadeBy(leaving, organization, workflowId);
  const underWay = first.jobId;
  const queued = await submit(byWayOf(leaving, organization), workflowId);

  await cluster.stopNode(leaving);

  const again = await functions.nextCall(underWay);
  expect(again).toMatchObject({ attempt: 2, idempotencyKey: first.idempotencyKey });
  const begun = await functions.nextCall(queued);
  expect(begun).toMatchObject({ attempt: 1 });
  again.succeed();
  begun.succeed();
  for (const jobId of [underWay, queued]) {
    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED" });
    expect(await historyTypes(api, jobId)).toContain("step.handedBack");
  }
});

inWholeMatrix(() => {
  test("a node that stops waits for its calls until its grace period ends", async () => {
    const organization = await cluster.node(0).newOrganization();
    const { api } = organization;
    const { workflowId } = await deploy(api, callingDefinition("held"));
    const leaving = await cluster.addNode({ STEPWELL_DRAIN_SECONDS: "20" });
    const jobId = await submit(byWayOf(leaving, organization), workflowId);
    const call = await functions.nextCall(jobId);

    const left = cluster.stopNode(leaving);
    call.succeed({ by: "the leaving node" });
    await left;

    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", output: { by: "the leaving node" } });
    expect(functions.callsOf(jobId)).toHaveLength(1);
  });
});

inWholeMatrix(() => {
  test("a node that stops hands over the call that follows a finished one", async () => {
    const organization = await cluster.node(0).newOrganization();
    const { api } = organization;
    const steps = definitionOf(functionStep("first", "held", "second"), functionStep("second", "held", null));
    const { workflowId } = await deploy(api, steps);
    const leaving = await cluster.addNode({ STEPWELL_DRAIN_SECONDS: "20" });
    const [passedOn, kept] = [
      await submit(byWayOf(leaving, organization), workflowId),
      await submit(byWayOf(leaving, organization), workflowId),
    ];
    const calls = await Promise.all([functions.nextCall(passedOn), functions.nextCall(kept)]);

    const left = cluster.stopNode(leaving);
    calls[0].succeed();
    // The leaving node still waits for its other call at this time.
    (await functions.nextCall(passedOn)).succeed({ by: "another node" });

    expect(await finished(api, passedOn)).toMatchObject({ status: "SUCCEEDED", output: { by: "another node" } });
    calls[1].succeed();
    (await functions.nextCall(kept)).succeed();
    expect(await finished(api, kept)).toMatchObject({ status: "SUCCEEDED" });
    await left;
  });
});

inWholeMatrix(() => {
  test("a step whose node is lost eight times fails the job as Interrupted", async () => {
    const { api } = await cluster.node(0).newOrganization();
    const { workflowId } = await deploy(api, callingDefinition("held"));
    const jobId = await submit(api, workflowId);

    for (let attempt = 1; attempt <= 8; attempt += 1) {
      expect(await functions.nextCall(jobId)).toMatchObject({ attempt });
      await giveTo(randomUUID(), jobId);
    }

    expect(await finished(api, jobId)).toMatchObject({
      status: "FAILED",
      error: { code: "Interrupted", step: "call", attempt: 8 },
    });
    expect(functions.callsOf(jobId)).toHaveLength(8);
  });
});

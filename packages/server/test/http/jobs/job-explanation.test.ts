import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import {
  definitionOf,
  noopStep,
  straightDefinition,
  waitingDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, expect, test, vi } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

interface Explained {
  readonly state: string;
  readonly sentence: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

async function explained(api: Client, jobId: string): Promise<Explained> {
  return (await api.call<Explained>("ExplainJob", { params: { jobId } })).body;
}

async function submitCall(api: Client, functionName: string, more: object = {}): Promise<string> {
  const { workflowId } = await deploy(api, callingDefinition(functionName, more));
  return (await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } })).body.jobId;
}

/** The time that a busy machine may need. */
const waitOptions = { timeout: 10_000 };

async function untilState(api: Client, jobId: string, state: string): Promise<Explained> {
  return await vi.waitFor(async () => {
    const found = await explained(api, jobId);
    expect(found.state).toBe(state);
    return found;
  }, waitOptions);
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

onOneStore((home) => {
  const service = useService(home, functions.environment);

  test("a waiting job lists its missing events, and which of the received ones were probably intended", async () => {
    const { api } = await service.newOrganization();
    const steps = [
      waitStep("approve", ["manager-approved", "stock-reserved"], "ship"),
      waitStep("ship", ["shipped"], null),
    ];
    const { workflowId } = await deploy(api, definitionOf(...steps));
    const { jobId } = await submitAndWait(api, workflowId);
    for (const eventId of ["stock-reserved", "manager-aproved", "unrelated", "shipped"]) {
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId } });
    }
    const { state, sentence, facts } = await explained(api, jobId);
    expect(state).toBe("waitingForEvents");
    expect(sentence).toMatch(
      /^`approve` has waited \S+ s for the event `manager-approved` \(1 of 2 came\)\. The event `manager-aproved` came \S+ s ago, but no step waits for it: did the sender mean `manager-approved`\?$/,
    );
    expect(facts).toEqual({
      since: time,
      step: "approve",
      visit: 1,
      attempt: 1,
      eventIds: ["manager-approved", "stock-reserved"],
      missingEventIds: ["manager-approved"],
      missingCount: 1,
      misspelledEvents: [{ eventId: "manager-aproved", meantEventId: "manager-approved", receivedAt: time }],
      bufferedEventIds: ["shipped"],
      operations: ["SendJobEvent", "CancelJob"],
    });
  });

  test("a wait with a timeout says when it ends", async () => {
    const { api } = await service.newOrganization();
    const wait = { ...waitStep("approve", ["approved"], null), timeoutSeconds: 3_600, onFailure: "remind" };
    const { workflowId } = await deploy(api, definitionOf(wait, noopStep("remind", null)));
    const { jobId } = await submitAndWait(api, workflowId);
    const { sentence, facts } = await explained(api, jobId);
    expect(sentence).toMatch(/; in (1 h|59 min \d+ s) it gives up and `remind` takes over\.$/);
    expect(facts.timeoutAt).toEqual(time);
  });

  test("a running call shows its start and its node, and that the node is alive", async () => {
    const { api } = await service.newOrganization();
    const jobId = await submitCall(api, "held", { timeoutSeconds: 60 });
    const call = await functions.nextCall(jobId);
    const { state, sentence, facts } = await explained(api, jobId);
    expect(state).toBe("calling");
    expect(sentence).toMatch(
      /^Attempt 1 of `call` has been under way for \S+ s on node `.+`, whose last heartbeat was \S+ s ago; the attempt is given up in .+\.$/,
    );
    expect(facts).toMatchObject({
      node: { nodeId: service.running.engine.nodeId, isAlive: true, heartbeatAt: time },
      timeoutAt: time,
      operations: ["CancelJob"],
    });
    call.succeed();
    expect((await untilState(api, jobId, "succeeded")).facts.operations).toEqual([]);
  });

  test("a job whose attempt failed shows the reason, and the start of the next attempt", async () => {
    const { api } = await service.newOrganization();
    const retry = { maxAttempts: 5, initialIntervalSeconds: 60, jitter: false };
    const jobId = await submitCall(api, "broken", { retry });
    const { sentence, facts } = await untilState(api, jobId, "retrying");
    expect(sentence).toMatch(
      /^Attempt 2 of 5 of `call` starts in (1 min|\d\d s)\. Attempt 1 failed \S+ s ago with Broken: It broke\.$/,
    );
    expect(facts).toMatchObject({
      attempt: 2,
      maxAttempts: 5,
      nextAttemptAt: time,
      lastError: { code: "ExecutorError", type: "Broken", message: "It broke." },
    });
  });

  test("a failed job shows where and why it failed, and what to do", async () => {
    const { api } = await service.newOrganization();
    const jobId = await submitCall(api, "broken");
    const { sentence, facts } = await untilState(api, jobId, "failed");
    expect(sentence).toMatch(
      /^The job failed \S+ s ago: attempt 1 of `call` ended with Broken: It broke\. Fix what `call` calls, then resume the job: it continues with `call`\.$/,
    );
    expect(facts).toMatchObject({ error: { code: "ExecutorError", step: "call" }, operations: ["ResumeJob"] });
  });

  test("a cancelled job shows the name of the user or API token that cancelled it", async () => {
    const { api, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const byUser = (await submitAndWait(api, workflowId)).jobId;
    const byToken = (await submitAndWait(api, workflowId)).jobId;
    const body = { name: "the cleaner", permissions: ["job:cancel"] };
    const { token, tokenId } = (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
    await api.call("CancelJob", { params: { jobId: byUser } });
    await api.as(token).call("CancelJob", { params: { jobId: byToken } });

    const first = await explained(api, byUser);
    expect(first.sentence).toMatch(
      /^The job was cancelled \S+ s ago by the user `A user`, at `approve`\. If you resume it, it continues from there\.$/,
    );
    expect(first.facts.cancelledBy).toEqual({ type: "user", id: owner.userId, name: "A user" });
    const second = await explained(api, byToken);
    expect(second.sentence).toContain("by the API token `the cleaner`");
    expect(second.facts.cancelledBy).toEqual({ type: "apiToken", id: tokenId, name: "the cleaner" });
  });

  test("a job that succeeded is explained as such", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const { state, sentence } = await explained(api, jobId);
    expect(state).toBe("succeeded");
    expect(sentence).toMatch(/^The job succeeded \S+ s ago, \S+ s after it was submitted\.$/);
  });
});

onOneStore((home) => {
  const narrow = { STEPWELL_MAX_CALLS_PER_ORGANIZATION: "1", STEPWELL_MAX_QUEUED_CALLS: "1" };
  const service = useService(home, { ...functions.environment, ...narrow });

  test("a waiting call is explained as such, and a job that finds no room shows how full the service is", async () => {
    const { api } = await service.newOrganization();
    const begun = await submitCall(api, "held");
    const call = await functions.nextCall(begun);
    const queued = await submitCall(api, "held");
    const pending = await submitCall(api, "held");

    const inLine = await explained(api, queued);
    expect(inLine.state).toBe("queued");
    expect(inLine.sentence).toMatch(
      /^Attempt 1 of `call` has waited for its turn for \S+ s on node `.+`: the organization has 2 calls there, of which at most 1 run at the same time\.$/,
    );
    const outside = await explained(api, pending);
    expect(outside.state).toBe("roomFull");
    expect(outside.sentence).toMatch(
      /there has been no room for its call for \S+ s: its organization has 2 calls under way or queued/,
    );
    expect(outside.facts).toMatchObject({ step: "call", callCount: 2, maxCallsPerNode: 1, operations: ["CancelJob"] });

    call.succeed();
    for (const jobId of [queued, pending]) (await functions.nextCall(jobId)).succeed();
    await untilState(api, pending, "succeeded");
  });
});

// The lease is so long that no node takes a job over while a test reads it.
const cluster = useCluster(2, { ...functions.environment, STEPWELL_LEASE_MS: "600000" });

test("a job whose node is lost says that another node takes it over", async () => {
  const organization = await cluster.node(0).newOrganization();
  const jobId = await submitCall(organization.api, "held");
  await functions.nextCall(jobId);
  const elsewhere = cluster.node(1).client(organization.owner.token, { organizationId: organization.organizationId });
  expect((await explained(elsewhere, jobId)).state).toBe("calling");

  const nodeId = randomUUID();
  await onServer(cluster.databaseUrl, async (client) => {
    const sql = "INSERT INTO node VALUES ($1, 'the dead one', now(), now() - interval '14 minutes')";
    await client.query(sql, [nodeId]);
    await client.query("UPDATE job_call SET node_id = $1 WHERE job_id = $2", [nodeId, jobId]);
  });
  const silent = await explained(elsewhere, jobId);
  expect(silent.state).toBe("nodeLost");
  expect(silent.sentence).toMatch(
    /^The node `the dead one`, which holds attempt 1 of `call`, has sent no heartbeat for 14 min.*: another node takes the call over soon\.$/,
  );
  expect(silent.facts.node).toEqual({ nodeId, name: "the dead one", isAlive: false, heartbeatAt: time });

  await onServer(cluster.databaseUrl, (client) => client.query("DELETE FROM node WHERE node_id = $1", [nodeId]));
  const gone = await explained(elsewhere, jobId);
  expect(gone.sentence).toBe("The node that holds attempt 1 of `call` is gone: another node takes the call over soon.");
});

import { randomUUID } from "node:crypto";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { expect, test, vi } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { applyBatch, type BatchContext } from "../../../src/engine/commit/batch.ts";
import { Turns } from "../../../src/engine/commit/turns.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { claimOrganization, deleteOrganization } from "../../../src/store/access/organizations.ts";
import { happening, submission } from "../commands.ts";
import { byWayOf, useCluster } from "../node/cluster.ts";

const cluster = useCluster(2);
const resumed = { type: "job.resumed", by: { type: "service", id: "test" } } as const;

test.each(["submitted", "resumed"])(
  "an organization is not deleted while a job of it is being %s on another node",
  async (how) => {
    const organization = await cluster.node(0).newOrganization();
    const { organizationId, api } = organization;
    const { engine, database } = cluster.node(0).running;
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await api.call("CancelJob", { params: { jobId } });
    const command =
      how === "submitted"
        ? submission(engine, { organizationId, workflowId })
        : happening({ organizationId, jobId }, resumed);

    const deletion = await database.transaction(async (transaction) => {
      await applyBatch(transaction, [command], batchContext());
      const asked = byWayOf(cluster.node(1), organization).callAny("DeleteOrganization", {});
      await untilOneWaitsForALock();
      return { asked };
    });

    expect((await deletion.asked).status).toBe(409);
    expect((await api.call("GetJob", { params: { jobId: command.jobId } })).body.status).not.toBe("CANCELLED");
  },
);

test.each(["SubmitJob", "ResumeJob"])(
  "%s finds nothing in an organization that another node is deleting",
  async (operation) => {
    const organization = await cluster.node(0).newOrganization();
    const { organizationId, api } = organization;
    const { engine, database } = cluster.node(0).running;
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await api.call("CancelJob", { params: { jobId } });

    const begun = await database.transaction(async (transaction) => {
      await claimOrganization(transaction, organizationId);
      await deleteOrganization(transaction, organizationId, engine.now());
      const there = byWayOf(cluster.node(1), organization);
      const asked =
        operation === "SubmitJob"
          ? there.callAny(operation, { body: { workflowId } })
          : there.callAny(operation, { params: { jobId } });
      await untilOneIsQueued();
      return { asked };
    });

    expect((await begun.asked).status).toBe(404);
    const unfinished = "SELECT 1 FROM job WHERE organization_id = $1 AND finished_at IS NULL";
    const { rows } = await onServer(cluster.databaseUrl, (client) => client.query(unfinished, [organizationId]));
    expect(rows).toEqual([]);
  },
);

function batchContext(): BatchContext {
  const config = readConfig({});
  const executors = executorCatalog(config);
  const { engine } = cluster.node(0).running;
  return {
    plans: new Plans(executors, config),
    limits: {
      maxStepRuns: config.maxStepRunsPerJob,
      maxEvents: config.maxEventsPerJob,
      maxOutputBytes: config.maxOutputBytes,
      maxCarriedBytes: config.maxCarriedBytes,
    },
    nodeId: engine.nodeId,
    now: engine.now(),
    commitId: randomUUID(),
    idempotencyHours: config.idempotencyHours,
    maxBytes: config.maxBatchBytes,
    maxDescendantsPerJob: config.maxDescendantsPerJob,
    turn: new Turns().begin(new Map()),
    hasRoomForCall: () => true,
    storeFullError: () => undefined,
    beginsAtOnce: () => true,
  };
}

/** Waits until the queue has a command that needs the organization. The command is tried again and again. */
async function untilOneIsQueued(): Promise<void> {
  const { engine } = cluster.node(1).running;
  await vi.waitFor(() => expect(engine.gauges().queuedFacts).toBe(1), { timeout: 4_000, interval: 20 });
}

async function untilOneWaitsForALock(): Promise<void> {
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'";
  await vi.waitFor(
    async () => {
      const { rows } = await onServer(cluster.databaseUrl, (client) => client.query(waiting));
      expect(rows).toHaveLength(1);
    },
    { timeout: 4_000, interval: 20 },
  );
}

import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { failingDefinition, straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore, postgresHome } from "@stepwell/testing/stores.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { applyBatch } from "../../../src/engine/commit/batch.ts";
import { Turns } from "../../../src/engine/commit/turns.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { metricRollupsDuty } from "../../../src/engine/maintenance/metric-rollups.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { type Database, statement } from "../../../src/store/home/database.ts";
import { findLastUncounted } from "../../../src/store/jobs/uncounted-history.ts";
import { submission } from "../../engine/commands.ts";
import { type Durations, type ExpectedMetrics, metricsOfHistory } from "./history-metrics.ts";

interface Metric {
  readonly points: readonly { readonly at: string; readonly value: number | null }[];
  readonly incompleteBefore?: string;
}

/** Actions: submit a job, do something to an existing one, or run the duty. `which` chooses the job, however many there are. */
const deeds = fc.array(
  fc.record({
    what: fc.constantFrom("straight", "waiting", "failing", "approve", "cancel", "resume", "fold"),
    which: fc.nat(),
  }),
  { minLength: 25, maxLength: 40 },
);

onEveryStore((home) => {
  const service = useService(home);

  test("rollups give the same counts as the history for any jobs, folded or not, by one node or two", async () => {
    await fc.assert(
      fc.asyncProperty(deeds, fc.context(), async (chosen, told) => {
        const { api, organizationId } = await service.newOrganization();
        const { database } = service.running;
        const workflows = {
          straight: await deploy(api, straightDefinition),
          waiting: await deploy(api, waitingDefinition),
          failing: await deploy(api, failingDefinition),
        };
        const jobIds: string[] = [];
        const act = async ({ what, which }: { what: string; which: number }) => {
          const params = { jobId: jobIds[which % jobIds.length] ?? randomUUID() };
          told.log(`${what} begins, ${params.jobId}`);
          if (what === "straight" || what === "waiting" || what === "failing") {
            jobIds.push((await submitAndWait(api, workflows[what].workflowId)).jobId);
          } else if (what === "approve") {
            await api.callAny("SendJobEvent", { params, body: { eventId: "approved" } });
          } else if (what === "cancel") await api.callAny("CancelJob", { params });
          else if (what === "resume") await api.callAny("ResumeJob", { params });
          else await foldTwice(database);
          told.log(`${what} has ended, ${params.jobId}`);
        };
        const left = [...chosen];
        while (left.length > 0) await Promise.all(left.splice(0, 5).map(act));
        const workflowIds = [null, workflows.waiting.workflowId, workflows.failing.workflowId];
        const expectAll = async () => {
          for (const workflowId of workflowIds) await expectMetrics(api, database, organizationId, workflowId);
        };
        await settled(database, organizationId);
        told.log("all jobs stand");
        await expectAll();
        await foldTwice(database);
        told.log("all is folded");
        await expectAll();
        // The history alone must give the same answers, whether an earlier release wrote it before the store was migrated (`null`), or a node of that
        // release writes it while this release runs (`false`).
        for (const counted of [null, false] as const) {
          await forgetCounts(database, organizationId, counted);
          await untilCounted(database);
          told.log(`the history is counted, which was ${counted}`);
          await expectAll();
        }
      }),
      // A failure is reported without shrinking, which would exceed the time limit of the test. If a run hangs, the report says how far it came.
      { numRuns: scope === "all" ? 4 : 2, endOnFailure: true, timeout: 100_000 },
    );
  }, 120_000);

  test("history that an earlier release wrote is counted once, in slices, and then the answer is no longer marked incomplete", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { database } = service.running;
    const { workflowId } = await deploy(api, waitingDefinition);
    for (let count = 0; count < 3; count += 1) await submitAndWait(api, workflowId);
    const { jobId } = await submitAndWait(api, workflowId);
    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    await api.call("GetJob", { params: { jobId }, query: { waitSeconds: 10 } });
    await foldTwice(database);
    await forgetCounts(database, organizationId, null);
    // Jobs continue during the count.
    await submitAndWait(api, workflowId);
    await untilCounted(database);
    await expectMetrics(api, database, organizationId, null);
    expect((await metric(api, { metric: "jobs_submitted" })).incompleteBefore).toBeUndefined();
    await untilCounted(database);
    await expectMetrics(api, database, organizationId, workflowId);
  });

  test("history that a node of an earlier release writes beside this one is missing until it is counted, and the answer can say so", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { database } = service.running;
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await submitAndWait(api, workflowId);
    // The transaction is rolled back, so that no duty counts this history.
    const forgetting = database.transaction(async (transaction) => {
      const text = "UPDATE job_history SET counted = false WHERE organization_id = $1 AND job_id = $2";
      const forget = { name: text, scope: "organization", text, planned: "each-time" } as const;
      await transaction.query(forget, [organizationId, jobId]);
      expect(await findLastUncounted(transaction, organizationId)).toMatchObject({ jobId });
      throw new RolledBack();
    });
    await expect(forgetting).rejects.toBeInstanceOf(RolledBack);
    expect(await findLastUncounted(database, organizationId)).toBeUndefined();
  });

  test("deleted jobs stay counted, and a deleted organization has no metrics", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { database } = service.running;
    const { workflowId } = await deploy(api, straightDefinition);
    for (let count = 0; count < 3; count += 1) await submitAndWait(api, workflowId);
    // When the jobs are deleted, the rollups already include the counts of some of them, and not those of the others.
    await foldTwice(database);
    await submitAndWait(api, workflowId);
    const expected = await metricsOfHistory(database, organizationId, null);
    for (const text of ["DELETE FROM job_history", "DELETE FROM job"]) {
      const deletion = { name: text, scope: "organization", planned: "each-time" } as const;
      await database.query({ ...deletion, text: `${text} WHERE organization_id = $1` }, [organizationId]);
    }
    await foldTwice(database);
    await expectAnswers(api, null, expected);
    await api.call("DeleteOrganization", {});
    await foldTwice(database);
    await api.refused("GetMetrics", "NotFoundError", { query: { metric: "jobs_submitted" } });
  });
});

class RolledBack extends Error {}

describe("on a PostgreSQL server", () => {
  const service = useService(postgresHome);

  test("a commit that began before a fold, and ends after it, is counted", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { database, engine } = service.running;
    const { workflowId } = await deploy(api, straightDefinition);
    const config = readConfig({});
    const context = {
      plans: new Plans(executorCatalog(config), config),
      limits: { maxStepRuns: 100, maxEvents: 100, maxOutputBytes: 100_000, maxCarriedBytes: 1_000_000 },
      nodeId: engine.nodeId,
      now: engine.now() - 3_600_000,
      commitId: randomUUID(),
      idempotencyHours: 24,
      maxBytes: 100_000,
      maxDescendantsPerJob: 0,
      turn: new Turns().begin(new Map()),
      hasRoomForCall: () => true,
      storeFullError: () => undefined,
      beginsAtOnce: () => true,
    };
    await database.transaction(async (transaction) => {
      await applyBatch(transaction, [submission(engine, { organizationId, workflowId })], context);
      await submitAndWait(api, workflowId);
      await foldTwice(database);
      await submitAndWait(api, workflowId);
      await foldTwice(database);
    });
    await expectMetrics(api, database, organizationId, workflowId);
    await foldTwice(database);
    await expectMetrics(api, database, organizationId, workflowId);
  });
});

async function metric(api: Client, query: Record<string, string>): Promise<Metric> {
  return (await api.call<Metric>("GetMetrics", { query })).body;
}

/** Runs the duty twice at the same time, as two nodes would. */
async function foldTwice(database: Database): Promise<void> {
  await Promise.all([metricRollupsDuty(database).runOnce(), metricRollupsDuty(database).runOnce()]);
}

const findUnsettled = statement<{ jobId: string }>(
  "test_find_unsettled",
  "organization",
  `SELECT job_id AS "jobId" FROM job WHERE organization_id = $1 AND (status = 'PENDING' OR (status = 'RUNNING' AND awaiting_event_ids IS NULL))`,
);

/** Waits until no job changes by itself, so that the history and the answers can be compared. */
async function settled(database: Database, organizationId: string): Promise<void> {
  await expect.poll(() => database.query(findUnsettled, [organizationId]), { timeout: 10_000 }).toEqual([]);
}

async function untilCounted(database: Database): Promise<void> {
  await expect.poll(() => metricRollupsDuty(database).runOnce(), { timeout: 20_000 }).toBeUndefined();
}

/**
 * Removes all counts. If `counted` is null, the history then looks like history from before the migration, which is a backlog. If it is false, the
 * history looks like history that nodes of an earlier release wrote after the migration.
 */
async function forgetCounts(database: Database, organizationId: string, counted: false | null): Promise<void> {
  const nobody = "ffffffff-ffff-ffff-ffff-ffffffffffff";
  const texts = [
    "DELETE FROM metric_change WHERE organization_id = $1",
    "DELETE FROM metric_rollup WHERE organization_id = $1",
    `UPDATE job_history SET counted = ${counted} WHERE organization_id = $1`,
  ];
  if (counted === null) {
    texts.push(
      `INSERT INTO metric_backlog (organization_id, before_job_id, before_sequence) VALUES ($1, '${nobody}', 0)`,
    );
  }
  await database.transaction(async (transaction) => {
    for (const text of texts) {
      await transaction.query({ name: text, scope: "organization", text, planned: "each-time" }, [organizationId]);
    }
  });
}

async function expectMetrics(
  api: Client,
  database: Database,
  organizationId: string,
  workflowId: string | null,
): Promise<void> {
  await expectAnswers(api, workflowId, await metricsOfHistory(database, organizationId, workflowId));
}

/** Expects equal counts by hours and by days, and by days also equal averages and maxima, and quantiles within 5 %. */
async function expectAnswers(api: Client, workflowId: string | null, expected: ExpectedMetrics): Promise<void> {
  const only = workflowId === null ? {} : { workflowId };
  const { job_duration_seconds, step_duration_seconds, ...counts } = expected;
  for (const bucket of ["hour", "day"]) {
    for (const [name, count] of Object.entries(counts)) {
      const { points } = await metric(api, { metric: name, bucket, ...only });
      expect([name, points.reduce((sum, { value }) => sum + (value ?? 0), 0)]).toEqual([name, count]);
    }
  }
  await expectDurations(api, "job_duration_seconds", only, job_duration_seconds);
  await expectDurations(api, "step_duration_seconds", only, step_duration_seconds);
}

/**
 * Expects the durations to match. The jobs of a test fall on one day, unless it runs at midnight: then each day has a part of the durations, and only
 * the maximum can be compared.
 */
async function expectDurations(api: Client, name: string, only: object, expected: Durations): Promise<void> {
  const values = async (aggregation: string) => {
    const { points } = await metric(api, { metric: name, aggregation, bucket: "day", ...only });
    return points.flatMap(({ value }) => value ?? []);
  };
  const maxima = await values("max");
  expect(maxima.length === 0 ? null : Math.max(...maxima)).toEqual(expected.max);
  if (maxima.length !== 1) return;
  for (const aggregation of ["avg", "p50", "p95", "p99"] as const) {
    const [value = Number.NaN] = await values(aggregation);
    const wanted = expected[aggregation] ?? Number.NaN;
    const share = aggregation === "avg" ? 1e-9 : 0.05;
    expect(Math.abs(value - wanted), `${name} ${aggregation}: ${value}, not ${wanted}`).toBeLessThanOrEqual(
      share * Math.max(wanted, 1e-6),
    );
  }
}

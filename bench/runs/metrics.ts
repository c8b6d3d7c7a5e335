import { randomUUID } from "node:crypto";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { seedJobs } from "@stepwell/testing/seeded-jobs.ts";
import { readConfig } from "../../packages/server/src/config.ts";
import { summarizeDurations } from "../../packages/server/src/core/job/metrics/duration-class.ts";
import { metricRollupsDuty } from "../../packages/server/src/engine/maintenance/metric-rollups.ts";
import { openStore } from "../../packages/server/src/open-store.ts";
import { insertOrganization } from "../../packages/server/src/store/access/organizations.ts";
import type { Database } from "../../packages/server/src/store/home/database.ts";
import { type MetricRange, readMetric } from "../../packages/server/src/store/jobs/metrics.ts";
import { median, rounded } from "../samples.ts";

export interface MetricsResult {
  readonly bench: "metrics";
  readonly store: StoreKind;
  /** Rows of rollups that stand for 10 million jobs of 20 workflows in 30 days. */
  readonly rollupRows: number;
  /** The times to read 30 days of a metric of durations: for all workflows by the hour, for all by the day, and for one workflow by the hour. */
  readonly hoursMs: number;
  readonly daysMs: number;
  readonly hoursOfWorkflowMs: number;
  /** Jobs whose history the rollups do not include yet. */
  readonly jobs: number;
  readonly countedJobsPerSecond: number;
}

const days = 30;
const dayMs = 86_400_000;
const workflowCount = 20;
const repetitions = 9;

/** Measures the store itself, without HTTP: the statements, and the processing of their rows. */
export async function runMetricsBench(
  homes: StoreHomes,
  jobs: number,
  progress: (line: string) => void,
): Promise<MetricsResult> {
  const home = await homes.fresh();
  const database = await openStore(readConfig({ ...home.environment, STEPWELL_DATABASE_TIMEOUT_MS: "600000" }));
  try {
    const counting = await measureCounting(database, jobs, progress);
    const reading = await measureReading(database);
    progress(`metrics: ${reading.hoursMs} ms by hours, ${reading.daysMs} ms by days`);
    return { bench: "metrics", store: homes.kind, ...reading, jobs, ...counting };
  } finally {
    await database.close();
    await home.discard();
  }
}

async function measureCounting(database: Database, jobs: number, progress: (line: string) => void) {
  const organizationId = await newOrganization(database);
  const workflow = { workflowId: randomUUID(), versionId: randomUUID() };
  await seedJobs(database, { organizationId, ...workflow, jobCount: jobs, until: Date.now(), days, withHistory: true });
  await database.upkeep.vacuum("job");
  await database.upkeep.vacuum("job_history");
  progress(`metrics: ${jobs} jobs are there to be counted`);
  const duty = metricRollupsDuty(database);
  const begun = performance.now();
  while ((await duty.runOnce()) !== undefined);
  const seconds = (performance.now() - begun) / 1000;
  return { countedJobsPerSecond: Math.round(jobs / seconds) };
}

export async function measureReading(database: Database) {
  const organizationId = await newOrganization(database);
  const to = Math.ceil(Date.now() / dayMs) * dayMs;
  const workflowIds = await seedRollups(database, organizationId, to);
  await database.upkeep.vacuum("metric_rollup");
  const range = { organizationId, from: to - days * dayMs, to, workflowIds: null };
  const count = "SELECT count(*)::integer AS count FROM metric_rollup WHERE organization_id = $1";
  const query = { name: "count_rollups", scope: "organization", text: count, planned: "each-time" } as const;
  const [rows] = await database.query<{ count: number }>(query, [organizationId]);
  return {
    rollupRows: rows?.count ?? 0,
    hoursMs: await medianMs(database, { ...range, bucketSeconds: 3_600 }),
    daysMs: await medianMs(database, { ...range, bucketSeconds: 86_400 }),
    hoursOfWorkflowMs: await medianMs(database, {
      ...range,
      bucketSeconds: 3_600,
      workflowIds: workflowIds.slice(0, 1),
    }),
  };
}

async function medianMs(database: Database, range: MetricRange): Promise<number> {
  const samples: number[] = [];
  for (let run = 0; run < repetitions; run += 1) {
    const begun = performance.now();
    const rows = await Array.fromAsync(readMetric(database.reader(range.organizationId), range, "jobDuration"));
    const summaries = rows.map(({ classes }) => summarizeDurations(classes));
    if (summaries.length !== (range.to - range.from) / 1000 / range.bucketSeconds)
      throw new Error("A bucket is missing.");
    samples.push(performance.now() - begun);
  }
  return rounded(median(samples));
}

/**
 * Writes rollups for each hour and each day. Every hour and every day has 60 classes of durations. The longest durations are about 300 times as
 * long as the shortest. In each class, each workflow has 12 jobs.
 */
export async function seedRollups(database: Database, organizationId: string, to: number): Promise<string[]> {
  const workflowIds = Array.from({ length: workflowCount }, () => randomUUID());
  const text = `
    INSERT INTO metric_rollup (organization_id, workflow_id, measure, bucket_seconds, bucket, duration_class, count, total_ms, max_ms)
    SELECT $1::uuid, workflow_id, 'jobDuration', bucket_seconds, bucket, class, share, share * 1000, 1100
    FROM unnest($2::uuid[], $3::bigint[]) AS workflow (workflow_id, share)
    CROSS JOIN (VALUES (3600), (86400)) AS span (bucket_seconds)
    CROSS JOIN LATERAL generate_series($4::bigint / bucket_seconds, $5::bigint / bucket_seconds - 1) AS bucket
    CROSS JOIN generate_series(40, 99) AS class`;
  const all = "00000000-0000-0000-0000-000000000000";
  const shares = [workflowCount * 12, ...workflowIds.map(() => 12)];
  const values = [organizationId, [all, ...workflowIds], shares, to / 1000 - days * 86_400, to / 1000];
  await database.query({ name: "seed_rollups", scope: "organization", text, planned: "each-time" }, values);
  return workflowIds;
}

async function newOrganization(database: Database): Promise<string> {
  const organizationId = randomUUID();
  const now = Date.now();
  const organization = { organizationId, name: "bench", displayName: "bench", createdAt: now, updatedAt: now };
  await database.transaction((transaction) => insertOrganization(transaction, organization));
  return organizationId;
}

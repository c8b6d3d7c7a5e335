import type { Queryable } from "../../server/src/store/home/database.ts";

export interface Seed {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly versionId: string;
  readonly jobCount: number;
  /** The jobs are spread over the days before this time. */
  readonly until: number;
  readonly days: number;
  readonly withHistory: boolean;
}

/**
 * Writes jobs that ran through two steps and succeeded. With `withHistory`, also writes their histories, as a release without rollups wrote them.
 * Everything is written directly into the store, since submitting so many jobs would take minutes.
 */
export async function seedJobs(db: Queryable, seed: Seed): Promise<void> {
  const { organizationId, workflowId, versionId, jobCount, until, days, withHistory } = seed;
  const stepMs = Math.max(1, Math.floor((days * 86_400_000) / jobCount));
  for (let first = 0; first < jobCount; first += maxJobsAtOnce) {
    const last = Math.min(jobCount, first + maxJobsAtOnce) - 1;
    const values = [organizationId, workflowId, versionId, first, last, until - stepMs * jobCount, stepMs];
    await run(db, insertJobs, values);
    if (withHistory) await run(db, insertHistory, values);
  }
  if (withHistory) await run(db, insertBacklog, [organizationId]);
}

async function run(db: Queryable, text: string, values: readonly unknown[]): Promise<void> {
  await db.query({ name: text, scope: "organization", text, planned: "each-time" }, values);
}

/** One statement must end within the time limit of the service, also on a slow machine. */
const maxJobsAtOnce = 5_000;

/** Makes the backlog that the migration leaves for the rollups. */
const insertBacklog = `
  INSERT INTO metric_backlog (organization_id, before_job_id, before_sequence)
  VALUES ($1, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0)`;

/** The id of a job is a UUID of version 7 with the time of the job. The row's number makes it unique. */
const seeded = `
  SELECT n, at, at + ((n % 97) * 250) AS finished_ms,
    (lpad(to_hex(at), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid AS job_id
  FROM (
    SELECT n, $6::bigint + $7::bigint * n AS at
    FROM generate_series($4::integer, $5::integer) AS n
  ) AS numbered
  WHERE $2::uuid IS NOT NULL AND $3::uuid IS NOT NULL`;

const insertJobs = `
  INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch, state, input,
    submitted_by, created_at, started_at, updated_at, finished_at)
  SELECT $1::uuid, job_id, $2::uuid, 'seeded', $3::uuid, 1, 'SUCCEEDED', 7, 1, '{"status":"SUCCEEDED"}', '{}', '{"type":"service","id":"seed"}',
    to_timestamp(at / 1000.0), to_timestamp(at / 1000.0), to_timestamp(finished_ms / 1000.0), to_timestamp(finished_ms / 1000.0)
  FROM (${seeded}) AS seeded`;

const insertHistory = `
  INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries, counted)
  SELECT $1::uuid, job_id, part.first_sequence, part.last_sequence, job_id, to_timestamp(part.at / 1000.0), part.entries, NULL
  FROM (${seeded}) AS seeded
  CROSS JOIN LATERAL (VALUES
    (1, 3, seeded.at, json_build_array(
      json_build_object('sequence', 1, 'at', seeded.at, 'type', 'job.submitted'),
      json_build_object('sequence', 2, 'at', seeded.at, 'type', 'job.started'),
      json_build_object('sequence', 3, 'at', seeded.at, 'type', 'step.started', 'step', 'a', 'visit', 1, 'input', json_build_object('same', 'jobInput')))),
    (4, 7, seeded.finished_ms, json_build_array(
      json_build_object('sequence', 4, 'at', seeded.finished_ms, 'type', 'step.succeeded', 'step', 'a', 'visit', 1, 'attempt', 1),
      json_build_object('sequence', 5, 'at', seeded.finished_ms, 'type', 'step.started', 'step', 'b', 'visit', 1, 'input', json_build_object('same', 'jobInput')),
      json_build_object('sequence', 6, 'at', seeded.finished_ms, 'type', 'step.succeeded', 'step', 'b', 'visit', 1, 'attempt', 1),
      json_build_object('sequence', 7, 'at', seeded.finished_ms, 'type', 'job.succeeded')))
  ) AS part (first_sequence, last_sequence, at, entries)`;

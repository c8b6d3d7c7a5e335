import { randomUUID } from "node:crypto";
import { said } from "@stepwell/testing/notes.ts";
import type { Queryable } from "../../../src/store/home/database.ts";

export interface DueRows {
  readonly organizationId: string;
  readonly versionId: string;
  /** Whether the version must be inserted, too, with the rows that it needs. */
  readonly isNewVersion?: boolean;
  readonly count: number;
  /** Whether the jobs wait for events and their timeout has come. If not, they are pending. */
  readonly isWait: boolean;
  readonly dueAt: number;
  /** The step with which a pending job continues, as after a resume. */
  readonly resumeAt?: string;
}

/** Writes jobs of a version, with timers that are due, and returns the ids of the jobs. */
export async function insertDueJobs(
  target: Queryable,
  { organizationId, versionId, isNewVersion = true, count, isWait, dueAt, resumeAt }: DueRows,
): Promise<string[]> {
  const workflowId = randomUUID();
  const at = new Date(dueAt).toISOString();
  if (isNewVersion) {
    await target.query(said(insertOrganization), [organizationId, at]);
    await target.query(said(insertWorkflow), [organizationId, workflowId, at]);
    await target.query(said(insertVersion), [organizationId, versionId, workflowId, at]);
  }
  const progress = { stepRunCount: 0, visits: {}, properties: {}, bufferedEvents: {}, eventCount: 0 };
  const resumePoint = resumeAt === undefined ? null : { phase: "next", name: resumeAt, previousOutput: {} };
  const state = JSON.stringify({ status: "PENDING", progress, resumeAt: resumePoint, wakeAt: dueAt });
  const rows = await target.query(said<{ jobId: string }>(insertJobs), [
    organizationId,
    workflowId,
    versionId,
    isWait ? "RUNNING" : "PENDING",
    at,
    isWait ? ["approved"] : null,
    state,
    count,
  ]);
  const entries = [{ type: "job.submitted", sequence: 1, at: dueAt, by: submittedBy }];
  await target.query(said(insertHistory), [organizationId, versionId, JSON.stringify(entries)]);
  return rows.map(({ jobId }) => jobId);
}

export interface VersionRows {
  readonly organizationId: string;
  readonly count: number;
  /** Left out for versions that have no job. */
  readonly timer?: { readonly at: number; readonly isWait: boolean };
}

/** Writes versions of one workflow. If `timer` is given, writes for each version one job that has this timer. Returns the ids of the jobs. */
export async function insertVersions(
  target: Queryable,
  { organizationId, count, timer }: VersionRows,
): Promise<string[]> {
  const workflowId = randomUUID();
  const at = new Date(0).toISOString();
  await target.query(said(insertOrganization), [organizationId, at]);
  await target.query(said(insertWorkflow), [organizationId, workflowId, at]);
  await target.query(said(insertManyVersions), [organizationId, workflowId, at, count]);
  if (timer === undefined) return [];
  const values = [organizationId, workflowId, new Date(timer.at).toISOString(), timer.isWait];
  const rows = await target.query(said<{ jobId: string }>(insertJobOfEach), values);
  return rows.map(({ jobId }) => jobId);
}

const submittedBy = { type: "service", id: "test" };

const insertOrganization = `INSERT INTO organization (organization_id, name, display_name, created_at, updated_at)
  VALUES ($1, $1::uuid::text, 'test', $2, $2) ON CONFLICT DO NOTHING`;
const insertWorkflow = `INSERT INTO workflow (organization_id, workflow_id, name, created_by, created_at)
  VALUES ($1, $2, $2::uuid::text, '{}', $3)`;
const insertVersion = `INSERT INTO workflow_version (organization_id, version_id, workflow_id, version_number, definition, created_by, created_at)
  VALUES ($1, $2, $3, 1, '{}', '{}', $4)`;
const insertJobs = `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence,
    lease_epoch, wake_at, awaiting_event_ids, state, input, submitted_by, created_at, started_at, updated_at)
  SELECT $1::uuid, gen_random_uuid(), $2::uuid, 'test', $3::uuid, 1, $4::text, 1, 0, $5::timestamptz, $6::text[], $7::json, '{}', '${JSON.stringify(submittedBy)}',
    $5::timestamptz, CASE WHEN $4::text = 'RUNNING' THEN $5::timestamptz END, $5::timestamptz
  FROM generate_series(1, $8::integer)
  RETURNING job_id AS "jobId"`;
const insertManyVersions = `INSERT INTO workflow_version (organization_id, version_id, workflow_id, version_number, definition, created_by, created_at)
  SELECT $1::uuid, gen_random_uuid(), $2::uuid, n, '{}', '{}', $3::timestamptz FROM generate_series(1, $4::integer) AS n`;
const insertJobOfEach = `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence,
    lease_epoch, wake_at, awaiting_event_ids, state, input, submitted_by, created_at, started_at, updated_at)
  SELECT organization_id, gen_random_uuid(), workflow_id, 'test', version_id, version_number, 'RUNNING', 1, 0, $3::timestamptz,
    CASE WHEN $4::boolean THEN ARRAY['approved'] END, '{}', '{}', '${JSON.stringify(submittedBy)}', created_at, created_at, created_at
  FROM workflow_version WHERE organization_id = $1::uuid AND workflow_id = $2::uuid
  RETURNING job_id AS "jobId"`;
const insertHistory = `INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries)
  SELECT organization_id, job_id, 1, 1, gen_random_uuid(), created_at, $3::json FROM job WHERE organization_id = $1 AND version_id = $2`;

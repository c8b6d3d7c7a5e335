import type { Actor, JobError, JobStatus, Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { JobKey } from "./jobs.ts";

export interface JobSearch {
  readonly organizationId: string;
  readonly status: JobStatus | null;
  readonly workflowId: string | null;
  readonly versionId: string | null;
  readonly versionNumber: number | null;
  /** From this instant on. */
  readonly createdAfter: Timestamp | null;
  /** Up to this instant, without it. */
  readonly createdBefore: Timestamp | null;
  readonly awaitingEventId: string | null;
  /** Only jobs that wait for events now, or only those that do not. */
  readonly isWaiting: boolean | null;
  /** Only jobs of these workflows; null: of all. */
  readonly workflowIds: readonly string[] | null;
}

export interface JobRow {
  readonly jobId: string;
  readonly status: JobStatus;
  readonly workflowId: string;
  readonly workflowName: string;
  readonly versionId: string;
  readonly versionNumber: number;
  readonly tag: string | null;
  readonly submittedBy: Actor;
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly updatedAt: Timestamp;
  readonly finishedAt: Timestamp | null;
  /** Those that it waits for and that are not there yet. */
  readonly awaitingEventIds: readonly string[] | null;
  /** Of a job that is RUNNING. */
  readonly stepName: string | null;
  /** Of a job that is FAILED. */
  readonly error: JobError | null;
}

/** In the order of their submission: from before `fromJobId` the newest first, or from after it the oldest. */
export async function listJobs(
  db: Queryable,
  search: JobSearch,
  order: "newest" | "oldest",
  fromJobId: string | null,
  limit: number,
): Promise<JobRow[]> {
  const statement = order === "newest" ? listNewestJobRows : listOldestJobRows;
  return await db.query(statement, [...searchValues(search), fromJobId, limit]);
}

export async function countJobs(db: Queryable, search: JobSearch): Promise<number> {
  const [row] = await db.query(countJobRows, searchValues(search));
  return row?.count ?? 0;
}

/** Ids are in the order of their time, so a range of times is also a range of the primary key. */
const matches = `
   organization_id = $1
     AND ($2::text IS NULL OR status = $2)
     AND ($3::uuid IS NULL OR workflow_id = $3)
     AND ($4::uuid IS NULL OR version_id = $4)
     AND ($5::timestamptz IS NULL OR (created_at >= $5 AND job_id >= $6::uuid))
     AND ($7::timestamptz IS NULL OR (created_at < $7 AND job_id <= $8::uuid))
     AND ($9::text IS NULL OR awaiting_event_ids @> ARRAY[$9])
     AND ($10::uuid[] IS NULL OR workflow_id = ANY($10))
     AND ($11::boolean IS NULL OR (awaiting_event_ids IS NOT NULL) = $11)
     AND ($12::integer IS NULL OR version_number = $12)`;

/** A state may be large, and one path into it costs a walk through it: one for each row at most. */
const columns = `
   job_id AS "jobId", status, workflow_id AS "workflowId", workflow_name AS "workflowName", version_id AS "versionId",
     version_number AS "versionNumber", tag, submitted_by AS "submittedBy", created_at AS "createdAt", started_at AS "startedAt",
     updated_at AS "updatedAt", finished_at AS "finishedAt", awaiting_event_ids AS "awaitingEventIds",
     CASE WHEN status = 'RUNNING' THEN coalesce(short_state, state) #>> '{step,name}' END AS "stepName",
     CASE WHEN status = 'FAILED' THEN coalesce(short_state, state) -> 'error' END AS error`;

const listNewestJobRows = statement<JobRow>(
  "list_newest_jobs",
  "organization",
  `SELECT ${columns}
   FROM job
   WHERE ${matches} AND ($13::uuid IS NULL OR job_id < $13)
   ORDER BY job_id DESC
   LIMIT $14`,
  "each-time",
);

const listOldestJobRows = statement<JobRow>(
  "list_oldest_jobs",
  "organization",
  `SELECT ${columns}
   FROM job
   WHERE ${matches} AND ($13::uuid IS NULL OR job_id > $13)
   ORDER BY job_id
   LIMIT $14`,
  "each-time",
);

const countJobRows = statement<{ count: number }>(
  "count_jobs",
  "organization",
  `SELECT count(*) AS count FROM job WHERE ${matches}`,
  "each-time",
);

function searchValues(search: JobSearch): unknown[] {
  const { createdAfter, createdBefore } = search;
  return [
    search.organizationId,
    search.status,
    search.workflowId,
    search.versionId,
    createdAfter === null ? null : new Date(createdAfter).toISOString(),
    createdAfter === null ? null : firstIdAt(createdAfter - idSlackMs),
    createdBefore === null ? null : new Date(createdBefore).toISOString(),
    createdBefore === null ? null : lastIdAt(createdBefore + idSlackMs),
    search.awaitingEventId,
    search.workflowIds,
    search.isWaiting,
    search.versionNumber,
  ];
}

/** A job's id is made when its request comes, its `created_at` when it is committed, and nodes' clocks differ a little. */
export const idSlackMs = 60_000;

/** The least and the greatest id (UUID version 7) that can have been made at a time. */
export function firstIdAt(at: Timestamp): string {
  return idAt(at, "0000-0000-000000000000");
}

export function lastIdAt(at: Timestamp): string {
  return idAt(at, "ffff-ffff-ffffffffffff");
}

function idAt(at: Timestamp, rest: string): string {
  const hex = Math.max(0, at).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${rest}`;
}

/** What a job runs. All of it stays as it was when the job was submitted. */
export interface VersionOfJob {
  readonly workflowId: string;
  readonly versionId: string;
  readonly versionNumber: number;
  /** By which the version was chosen. */
  readonly tag: string | null;
}

/** Undefined when there is no such job. */
export async function findVersionOfJob(db: Queryable, key: JobKey): Promise<VersionOfJob | undefined> {
  const [row] = await db.query(findVersionOfJobRow, [key.organizationId, key.jobId]);
  return row;
}

const findVersionOfJobRow = statement<VersionOfJob>(
  "find_version_of_job",
  "organization",
  `SELECT workflow_id AS "workflowId", version_id AS "versionId", version_number AS "versionNumber", tag
   FROM job
   WHERE organization_id = $1 AND job_id = $2`,
);

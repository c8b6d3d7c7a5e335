import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { DueVersion } from "./due-versions.ts";
import { type JobKey, type LeftOut, leftOutValues } from "./jobs.ts";

/** A job whose timer is due. It is only a candidate: once its row is locked, the state machine decides whether there is anything to do. */
export interface DueJob extends JobKey {
  readonly versionId: string;
  /**
   * Whether the job waits for events. Its due timer is then treated as the timeout of the wait, which needs no room for a call. In a job with
   * branches, the timer may belong to another branch.
   */
  readonly isWait: boolean;
}

/** Finds jobs whose timer is due, beginning with the one that has been due longest. */
export async function findDueJobs(db: Queryable, now: Timestamp, limit: number): Promise<DueJob[]> {
  return await db.query(findDueJobRows, [new Date(now).toISOString(), limit]);
}

const dueJobColumns = `organization_id AS "organizationId", job_id AS "jobId", version_id AS "versionId", awaiting_event_ids IS NOT NULL AS "isWait"`;

const findDueJobRows = statement<DueJob>(
  "find_due_jobs",
  "maintenance",
  `SELECT ${dueJobColumns}
   FROM job
   WHERE wake_at <= $1
   ORDER BY wake_at
   LIMIT $2`,
);

/**
 * Finds jobs whose whole time is up, beginning with the one whose time was up first. Ending a job needs no call, so these jobs need no room on the
 * node.
 */
export async function findTimedOutJobs(
  db: Queryable,
  now: Timestamp,
  leftOut: LeftOut,
  limit: number,
): Promise<JobKey[]> {
  return await db.query(findTimedOutJobRows, [new Date(now).toISOString(), ...leftOutValues(leftOut), limit]);
}

const findTimedOutJobRows = statement<JobKey>(
  "find_timed_out_jobs",
  "maintenance",
  `SELECT organization_id AS "organizationId", job_id AS "jobId"
   FROM job
   WHERE timeout_at <= $1 AND finished_at IS NULL AND version_id <> ALL($2::uuid[]) AND job_id <> ALL($3::uuid[])
     AND organization_id <> ALL($4::uuid[])
   ORDER BY timeout_at
   LIMIT $5`,
  "once",
  { restMs: 5_000 },
);

/**
 * Finds the due jobs of these versions, in turn: of each organization first the job that has been due longest, then the next job of each, and so on.
 * For each version, at most `share` jobs that wait for events and at most `share` other jobs are read, however many are due.
 */
export async function findDueJobsInTurn(
  db: Queryable,
  now: Timestamp,
  versions: readonly DueVersion[],
  leftOutJobIds: readonly string[],
  { share, limit }: { readonly share: number; readonly limit: number },
): Promise<DueJob[]> {
  if (versions.length === 0) return [];
  return await db.query(findDueJobRowsInTurn, [
    new Date(now).toISOString(),
    versions.map(({ organizationId }) => organizationId),
    versions.map(({ versionId }) => versionId),
    versions.map(({ withWaits }) => withWaits),
    versions.map(({ withSteps }) => withSteps),
    leftOutJobIds,
    share,
    limit,
  ]);
}

/**
 * Selects the due jobs of one version as a range of the index. If the condition named the version with `=`, PostgreSQL would see that the rows
 * need only the order by time. Then it might search the due jobs of all organizations in the order of their times.
 */
const isDueOfVersion = `organization_id = asked_organization_id AND wake_at IS NOT NULL AND job_id <> ALL($6::uuid[])
        AND (version_id, wake_at) >= (asked_version_id, '-infinity'::timestamptz) AND (version_id, wake_at) <= (asked_version_id, $1)`;

const findDueJobRowsInTurn = statement<DueJob>(
  "find_due_jobs_in_turn",
  "maintenance",
  `SELECT ${dueJobColumns}
   FROM unnest($2::uuid[], $3::uuid[], $4::boolean[], $5::boolean[]) AS asked (asked_organization_id, asked_version_id, with_waits, with_steps)
   CROSS JOIN LATERAL (
     (SELECT organization_id, job_id, version_id, awaiting_event_ids, wake_at
      FROM job
      WHERE with_waits AND ${isDueOfVersion} AND awaiting_event_ids IS NOT NULL
      ORDER BY version_id, wake_at
      LIMIT $7)
     UNION ALL
     (SELECT organization_id, job_id, version_id, awaiting_event_ids, wake_at
      FROM job
      WHERE with_steps AND ${isDueOfVersion} AND awaiting_event_ids IS NULL
      ORDER BY version_id, wake_at
      LIMIT $7)
   ) AS due
   ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY wake_at), wake_at
   LIMIT $8`,
);

/** Finds the earliest timer that is not due yet; null when there is none. */
export async function findNextWake(db: Queryable, now: Timestamp): Promise<Timestamp | null> {
  const rows = await db.query(findNextWakeRow, [new Date(now).toISOString()]);
  const times = rows.flatMap(({ wakeAt }) => wakeAt ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

const findNextWakeRow = statement<{ wakeAt: Timestamp | null }>(
  "find_next_wake",
  "maintenance",
  `SELECT least(
     (SELECT wake_at FROM job WHERE wake_at > $1 ORDER BY wake_at LIMIT 1),
     (SELECT timeout_at FROM job WHERE timeout_at > $1 AND finished_at IS NULL ORDER BY timeout_at LIMIT 1)
   ) AS "wakeAt"`,
  "once",
  { times: ["wakeAt"] },
);

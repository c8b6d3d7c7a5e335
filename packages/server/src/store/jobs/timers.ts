import type { Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { JobKey } from "./jobs.ts";

/**
 * Jobs whose timer is due, the longest due first, and that need no room in a crowd: waits whose time is up, and jobs of organizations
 * that are not named. Candidates only: the guard is the state machine's, under the row's lock.
 */
export async function findDueJobs(
  db: Queryable,
  now: Timestamp,
  crowdedOrganizationIds: readonly string[],
  limit: number,
): Promise<JobKey[]> {
  return await db.query(findDueJobRows, [new Date(now).toISOString(), crowdedOrganizationIds, limit]);
}

const findDueJobRows = statement<JobKey>(
  "find_due_jobs",
  "maintenance",
  `SELECT organization_id AS "organizationId", job_id AS "jobId"
   FROM job
   WHERE wake_at <= $1 AND (awaiting_event_ids IS NOT NULL OR organization_id <> ALL($2::uuid[]))
   ORDER BY wake_at
   LIMIT $3`,
);

/** The other due jobs: those of the named organizations that may need a call. */
export async function findCrowdedJobs(
  db: Queryable,
  now: Timestamp,
  crowdedOrganizationIds: readonly string[],
  limit: number,
): Promise<JobKey[]> {
  return await db.query(findCrowdedJobRows, [new Date(now).toISOString(), crowdedOrganizationIds, limit]);
}

const findCrowdedJobRows = statement<JobKey>(
  "find_crowded_jobs",
  "maintenance",
  `SELECT organization_id AS "organizationId", job_id AS "jobId"
   FROM job
   WHERE wake_at <= $1 AND awaiting_event_ids IS NULL AND organization_id = ANY($2::uuid[])
   ORDER BY wake_at
   LIMIT $3`,
);

/** The earliest timer that is not due yet; null when there is none. */
export async function findNextWake(db: Queryable, now: Timestamp): Promise<Timestamp | null> {
  const [row] = await db.query(findNextWakeRow, [new Date(now).toISOString()]);
  return row?.wakeAt ?? null;
}

const findNextWakeRow = statement<{ wakeAt: Timestamp }>(
  "find_next_wake",
  "maintenance",
  `SELECT wake_at AS "wakeAt" FROM job WHERE wake_at > $1 ORDER BY wake_at LIMIT 1`,
);

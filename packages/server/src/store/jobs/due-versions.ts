import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { VersionKey } from "../workflows/versions.ts";

/** A version with jobs that are due and may be woken. The fields say of which kinds these jobs are. */
export interface DueVersion extends VersionKey {
  /** Whether jobs are due that wait for events. */
  readonly withWaits: boolean;
  /** Whether other jobs are due, which may need a call. */
  readonly withSteps: boolean;
}

/** The versions and organizations that a search for due versions leaves out. */
export interface LeftOutVersions {
  readonly versionIds: readonly string[];
  /** The organizations of which the search leaves out the jobs that may need a call. */
  readonly fullOrganizationIds: readonly string[];
}

export interface DueVersions {
  readonly versions: readonly DueVersion[];
  /** The version after which the next search continues; undefined when no versions are left. */
  readonly last: VersionKey | undefined;
}

/**
 * The largest number of versions that one search looks at in each of its two indexes. With this number, a search reads some 1,200 pages; on a Citus
 * cluster, it reads some 1,200 for each shard. The embedded store does nothing else during a search. A search of 500 versions took up to 80 ms on a
 * busy machine.
 */
const maxLookedAt = 200;

/**
 * Finds versions with due jobs of all organizations, in the order of their keys. Begins after the key `after`, or with the first version when there
 * is no key. The search goes through the versions that have a timer, from one to the next by the indexes, and looks only at the earliest timer of
 * each. So it takes no longer when a version has many jobs, or when many versions without a timer are registered.
 */
export async function findDueVersions(
  db: Queryable,
  now: Timestamp,
  { versionIds, fullOrganizationIds }: LeftOutVersions,
  after: VersionKey | undefined,
  limit: number,
): Promise<DueVersions> {
  const rows = await db.query(findDueVersionRows, [
    new Date(now).toISOString(),
    after?.organizationId ?? noId,
    after?.versionId ?? noId,
    versionIds,
    fullOrganizationIds,
    maxLookedAt,
    limit,
  ]);
  // The statement searches twice: for jobs that wait for events, and for other jobs. On a Citus cluster it does so on each server. Each search may
  // stop at its limit. After the first version at which a search stopped, rows may be missing, so the versions after it are left to the next call.
  const end = rows.findIndex(({ isEnd }) => isEnd);
  const complete = (end < 0 ? rows : rows.slice(0, end + 1)).map(({ isEnd: _, ...version }) => version);
  return {
    versions: complete.filter(({ withWaits, withSteps }) => withWaits || withSteps),
    last: end >= 0 || rows.length === limit ? complete.at(-1) : undefined,
  };
}

const noId = "00000000-0000-0000-0000-000000000000";

/**
 * The part of a WITH RECURSIVE that goes from version to version. It ends after $6 versions, or once it has found $7 that are due. A version that
 * is not wanted counts as one of the $6 versions. If `isWanted` were a condition of the subquery that finds the next version, the subquery would read
 * each job of every version that is not wanted.
 */
function versionsWithTimers(name: string, isMeant: string, isWanted: string): string {
  return `${name} AS (
     SELECT 0 AS place, 0 AS due_count, false AS is_due, $2::uuid AS organization_id, $3::uuid AS version_id
     UNION ALL
     SELECT ${name}.place + 1, ${name}.due_count + next.is_due::integer, next.is_due, next.organization_id, next.version_id
     FROM ${name}
     CROSS JOIN LATERAL (
       SELECT job.organization_id, job.version_id, job.wake_at <= $1 AND ${isWanted} AS is_due
       FROM job
       WHERE job.wake_at IS NOT NULL AND ${isMeant} AND (job.organization_id, job.version_id) > (${name}.organization_id, ${name}.version_id)
       ORDER BY job.organization_id, job.version_id, job.wake_at
       LIMIT 1
     ) AS next
     WHERE ${name}.place < $6::integer AND ${name}.due_count < $7::integer
   )`;
}

const isNotParked = "job.version_id <> ALL($4::uuid[])";
const waits = versionsWithTimers("wait", "job.awaiting_event_ids IS NOT NULL", isNotParked);
const steps = versionsWithTimers(
  "step",
  "job.awaiting_event_ids IS NULL",
  `${isNotParked} AND job.organization_id <> ALL($5::uuid[])`,
);

const findDueVersionRows = statement<DueVersion & { readonly isEnd: boolean }>(
  "find_due_versions",
  "maintenance",
  `WITH RECURSIVE ${waits}, ${steps}
   SELECT organization_id AS "organizationId", version_id AS "versionId", bool_or(is_due AND is_wait) AS "withWaits",
     bool_or(is_due AND NOT is_wait) AS "withSteps", bool_or(is_end) AS "isEnd"
   FROM (
     SELECT *, true AS is_wait, place = $6 OR due_count = $7 AS is_end FROM wait
     UNION ALL
     SELECT *, false, place = $6 OR due_count = $7 FROM step
   ) AS looked_at
   WHERE is_due OR is_end
   GROUP BY organization_id, version_id
   ORDER BY organization_id, version_id
   LIMIT $7`,
  "once",
  { order: ["organizationId", "versionId"] },
);

import type { ChildOutcome } from "../../core/job/fact.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts, everyPairJoined, type Grouped, organizationsOf } from "../home/key-parts.ts";
import type { JobKey } from "./jobs.ts";

/**
 * A notice that one job, `senderJobId`, owes another, `jobId`. It belongs to the parent's call that `branch`, `step`, `visit` and `epoch` name.
 */
export interface JobNotice extends JobKey {
  readonly senderJobId: string;
  readonly branch: string;
  readonly step: string;
  readonly visit: number;
  readonly epoch: number;
  /** For a parent: the outcome of its child. For a child it is null, which means that the parent does not wait any more. */
  readonly outcome: ChildOutcome | null;
}

/** Writes notices in the transaction of the changes that cause them. A notice replaces an earlier one with the same key. */
export async function insertNotices(
  transaction: Transaction,
  { nodeId, at }: { readonly nodeId: string; readonly at: Timestamp },
  notices: readonly JobNotice[],
): Promise<void> {
  if (notices.length === 0) return;
  const rows = notices.map(({ organizationId, jobId, senderJobId, ...notice }) => ({
    organization_id: organizationId,
    job_id: jobId,
    sender_job_id: senderJobId,
    ...notice,
  }));
  const values = [JSON.stringify(rows), organizationsOf(notices), nodeId, new Date(at).toISOString()];
  const written = await transaction.query(insertNoticeRows, values);
  if (written.length !== notices.length)
    throw new Error(`Only ${written.length} of ${notices.length} notices were written.`);
}

// A null outcome is stored as SQL's NULL, because json_to_recordset turns JSON null into it.
const insertNoticeRows = statement<{ jobId: string }>(
  "insert_job_notices",
  "organization",
  `INSERT INTO job_notice (organization_id, job_id, sender_job_id, epoch, branch, step, visit, outcome, node_id, said_at)
   SELECT organization.organization_id, job_id, sender_job_id, epoch, branch, step, visit, outcome, $3::uuid, $4::timestamptz
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, sender_job_id uuid, epoch integer, branch text, step text,
     visit integer, outcome json)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   ON CONFLICT (organization_id, job_id, sender_job_id, epoch) DO UPDATE
   SET outcome = excluded.outcome, node_id = excluded.node_id, said_at = excluded.said_at
   RETURNING job_id AS "jobId"`,
);

/** Which notices a node should deliver: those that it wrote, and those that other nodes wrote more than `lateMs` ago. */
export interface NoticeSearch {
  readonly nodeId: string;
  readonly lateMs: number;
  readonly leftOutJobIds: readonly string[];
  readonly limit: number;
  /**
   * The bound on the bytes of all notices together. On a Citus cluster, each Citus worker has this bound for its own notices. The first notice
   * is found even if it is larger than the bound.
   */
  readonly maxBytes: number;
}

export interface FoundNotices {
  readonly notices: readonly JobNotice[];
  /** Whether these are all the notices that this node should deliver. */
  readonly isAll: boolean;
}

/** Finds the oldest notices of all organizations. */
export async function findNotices(db: Queryable, search: NoticeSearch): Promise<FoundNotices> {
  const { nodeId, lateMs, leftOutJobIds, limit, maxBytes } = search;
  const rows = await db.query(findNoticeRows, [nodeId, lateMs, leftOutJobIds, limit, maxBytes]);
  return { notices: rows.map(({ isAll: _, ...notice }) => notice), isAll: rows.every(({ isAll }) => isAll) };
}

const isOwnOrLate =
  "(node_id = $1 OR said_at < now() - $2::integer * interval '1 millisecond') AND job_id <> ALL($3::uuid[])";

const noticeColumns = `organization_id AS "organizationId", job_id AS "jobId", sender_job_id AS "senderJobId", epoch, branch, step, visit, outcome`;

const outcomeBytes = "octet_length(coalesce(outcome::text, ''))";

/** Each worker of a Citus cluster answers this search by itself. So each row says whether its worker has no further notices. */
const findNoticeRows = statement<JobNotice & { readonly isAll: boolean }>(
  "find_job_notices",
  "maintenance",
  `SELECT ${noticeColumns}, found_count < $4 AND (found_count = 1 OR found_bytes <= $5) AS "isAll"
   FROM (
     SELECT found.*, count(*) OVER () AS found_count, sum(${outcomeBytes}) OVER () AS found_bytes,
       row_number() OVER in_order AS place, sum(${outcomeBytes}) OVER in_order AS bytes_so_far
     FROM (
       SELECT * FROM job_notice
       WHERE ${isOwnOrLate}
       ORDER BY said_at
       LIMIT $4
     ) AS found
     WINDOW in_order AS (ORDER BY said_at, job_id, sender_job_id, epoch ROWS UNBOUNDED PRECEDING)
   ) AS measured
   WHERE place = 1 OR bytes_so_far <= $5
   ORDER BY place`,
);

/**
 * Finds notices of up to `organizationCount` organizations, at most `limit` of each. The organizations are in the order of their ids, beginning
 * after the id `after`. The notices come in turn: the first of each organization, then the second of each, and so on. The search goes from one
 * organization to the next by the index, so it does not read all notices of an organization to find the next organization.
 */
export async function findNoticesInTurn(
  db: Queryable,
  { nodeId, lateMs, leftOutJobIds, limit, maxBytes }: NoticeSearch,
  after: string | undefined,
  organizationCount: number,
): Promise<JobNotice[]> {
  const from = after ?? "00000000-0000-0000-0000-000000000000";
  return await db.query(findNoticeRowsInTurn, [
    nodeId,
    lateMs,
    leftOutJobIds,
    limit,
    maxBytes,
    from,
    organizationCount,
  ]);
}

const findNoticeRowsInTurn = statement<JobNotice>(
  "find_job_notices_in_turn",
  "maintenance",
  `WITH RECURSIVE turn AS (
     (SELECT 1 AS place, organization_id FROM job_notice WHERE organization_id > $6::uuid ORDER BY organization_id LIMIT 1)
     UNION ALL
     SELECT turn.place + 1, next.organization_id
     FROM turn
     CROSS JOIN LATERAL (
       SELECT job_notice.organization_id FROM job_notice
       WHERE job_notice.organization_id > turn.organization_id
       ORDER BY job_notice.organization_id LIMIT 1
     ) AS next
     WHERE turn.place < $7::integer
   )
   SELECT ${noticeColumns}
   FROM (
     SELECT ranked.*, row_number() OVER in_order AS place, sum(octet_length(coalesce(outcome::text, ''))) OVER in_order AS bytes_so_far
     FROM (
       SELECT found.*, row_number() OVER (PARTITION BY found.organization_id ORDER BY found.job_id, found.sender_job_id, found.epoch) AS rank
       FROM turn
       CROSS JOIN LATERAL (
         SELECT * FROM job_notice
         WHERE job_notice.organization_id = turn.organization_id AND ${isOwnOrLate}
         ORDER BY job_id, sender_job_id, epoch
         LIMIT $4
       ) AS found
     ) AS ranked
     WINDOW in_order AS (ORDER BY rank, organization_id ROWS UNBOUNDED PRECEDING)
   ) AS measured
   WHERE place = 1 OR bytes_so_far <= $5
   ORDER BY place`,
);

export async function deleteNotices(db: Grouped, notices: readonly JobNotice[]): Promise<void> {
  await askInParts(
    notices,
    (part) =>
      db.query(deleteNoticeRows, [
        organizationsOf(part),
        part.map(({ jobId }) => jobId),
        part.map(({ organizationId }) => organizationId),
        part.map(({ senderJobId }) => senderJobId),
        part.map(({ epoch }) => epoch),
      ]),
    everyPairJoined,
    db,
  );
}

const deleteNoticeRows = statement<never>(
  "delete_job_notices",
  "organization",
  `DELETE FROM job_notice
   USING unnest($3::uuid[], $2::uuid[], $4::uuid[], $5::integer[]) AS delivered (organization_id, job_id, sender_job_id, epoch)
   WHERE job_notice.organization_id = ANY($1::uuid[]) AND job_notice.job_id = ANY($2::uuid[])
     AND job_notice.organization_id = delivered.organization_id AND job_notice.job_id = delivered.job_id
     AND job_notice.sender_job_id = delivered.sender_job_id AND job_notice.epoch = delivered.epoch`,
);

import type { HistoryEntry } from "../../core/job/history.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { JobKey } from "./jobs.ts";
import { mostBytes } from "./most-bytes.ts";

/** The entries that one commit added to a job's history. */
export interface HistoryCommit {
  readonly firstSequence: number;
  readonly entries: readonly HistoryEntry[];
}

/**
 * Reads at most `limit` commits in their order, beginning with the commit that has the entry after `sequence`. That commit may begin with earlier
 * entries. Fewer commits are read when they are large, but the first is always read.
 */
export async function readCommitsAfter(
  db: Queryable,
  { organizationId, jobId }: JobKey,
  sequence: number,
  limit: number,
): Promise<HistoryCommit[]> {
  return await db.query(readCommitsAfterRows, [organizationId, jobId, sequence, limit, maxSliceSize]);
}

/**
 * Reads the commits that begin before the entry `sequence`, newest first, with the same bounds as `readCommitsAfter`. The newest of them may also
 * have this entry and later ones.
 */
export async function readCommitsBefore(
  db: Queryable,
  { organizationId, jobId }: JobKey,
  sequence: number,
  limit: number,
): Promise<HistoryCommit[]> {
  return await db.query(readCommitsBeforeRows, [organizationId, jobId, sequence, limit, maxSliceSize]);
}

/** The bound in bytes on the entries that one statement reads. It keeps each statement short, so that no reader blocks the others. */
const maxSliceSize = 4_000_000;

/** Selects the rows of `commits`, in the same order, up to and including the row with which their total size reaches the bound. */
const withinBound = (commits: string, order: "" | " DESC", bound: string) => `
   SELECT first_sequence AS "firstSequence", entries
   FROM (
     SELECT first_sequence, entries, sum(bytes) OVER (ORDER BY first_sequence${order}) - bytes AS bytes_before
     FROM (${commits}) AS found
   ) AS measured
   WHERE bytes_before < ${bound}
   ORDER BY first_sequence${order}`;

const readCommitsAfterRows = statement<HistoryCommit>(
  "read_history_after",
  "organization",
  withinBound(
    `SELECT first_sequence, entries, ${mostBytes("entries")} AS bytes
     FROM job_history
     WHERE organization_id = $1 AND job_id = $2 AND first_sequence >= coalesce((
       SELECT max(reached.first_sequence) FROM job_history AS reached
       WHERE reached.organization_id = $1 AND reached.job_id = $2 AND reached.first_sequence <= $3 + 1), 0)
       AND last_sequence > $3
     ORDER BY first_sequence
     LIMIT $4`,
    "",
    "$5",
  ),
);

const readCommitsBeforeRows = statement<HistoryCommit>(
  "read_history_before",
  "organization",
  withinBound(
    `SELECT first_sequence, entries, ${mostBytes("entries")} AS bytes
     FROM job_history
     WHERE organization_id = $1 AND job_id = $2 AND first_sequence < $3
     ORDER BY first_sequence DESC
     LIMIT $4`,
    " DESC",
    "$5",
  ),
);

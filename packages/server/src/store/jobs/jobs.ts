import type { HistoryEntry } from "../../core/job/history.ts";
import type { Job, Timestamp } from "../../core/job/job-state.ts";
import { type Database, isUniqueViolation, type Queryable, statement, type Transaction } from "../home/database.ts";
import {
  assignmentsOf,
  changedPartOf,
  namesOf,
  plainJobColumns,
  typesOf,
  updatedColumns,
  type WrittenJob,
  writtenColumns,
  writtenPartOf,
} from "./job-columns.ts";

export type { WrittenJob } from "./job-columns.ts";

import { askInParts } from "./key-parts.ts";

/** Names one job. Every look-up carries the organization, so that it goes to one shard and tenants cannot mix. */
export interface JobKey {
  readonly organizationId: string;
  readonly jobId: string;
}

/**
 * Locks the jobs' rows in the order of their keys, so that two transactions never wait for each other, and answers those that exist.
 * Throws `TooMuchAtOnceError` when several jobs hold more than `maxBytes` together: some hundred of a few MiB each are gigabytes.
 */
export async function lockJobs(transaction: Transaction, keys: readonly JobKey[], maxBytes: number): Promise<Job[]> {
  if (keys.length === 0) return [];
  const locked = await askInParts(keys, (part) => transaction.query(lockJobRows, keyArrays(part)));
  const large = locked.filter((job) => job.largeBytes !== null);
  if (large.length === 0) return locked;
  const bytes = large.reduce((sum, job) => sum + (job.largeBytes ?? 0), 0);
  if (large.length > 1 && bytes > maxBytes) throw new TooMuchAtOnceError(large.length, bytes);
  const contents = await askInParts(large, (part) => transaction.query(readJobContents, keyArrays(part)));
  const contentOf = new Map(contents.map((content) => [content.jobId, content]));
  return locked.map((job) => ({ ...job, ...contentOf.get(job.jobId) }));
}

/** The same in smaller portions is fine. */
export class TooMuchAtOnceError extends Error {
  constructor(jobCount: number, bytes: number) {
    super(`${jobCount} jobs with ${bytes} bytes are too much for one transaction.`);
    this.name = "TooMuchAtOnceError";
  }
}

const jobColumns = `${plainJobColumns}, state, input`;

/** As it is stored, perhaps compressed to a hundredth. Most jobs are smaller and come with their row. */
const isSmall = "pg_column_size(state) + pg_column_size(input) <= 4096";

/** Of a large job the state and the input are null, and `largeBytes` says how much they are. */
const lockJobRows = statement<Job & { largeBytes: number | null }>(
  "lock_jobs",
  "organization",
  `SELECT ${plainJobColumns}, CASE WHEN ${isSmall} THEN state END AS state, CASE WHEN ${isSmall} THEN input END AS input,
     CASE WHEN NOT (${isSmall}) THEN octet_length(state::text) + octet_length(input::text) END AS "largeBytes"
   FROM job
   WHERE organization_id = ANY($1::uuid[]) AND job_id = ANY($2::uuid[])
   ORDER BY organization_id, job_id
   FOR UPDATE`,
);

const readJobContents = statement<Pick<Job, "jobId" | "state" | "input">>(
  "read_job_contents",
  "organization",
  `SELECT job_id AS "jobId", state, input
   FROM job
   WHERE organization_id = ANY($1::uuid[]) AND job_id = ANY($2::uuid[])`,
);

/** Writes new jobs. A job id that exists already is a defect of ours and fails the transaction. */
export async function insertJobs(transaction: Transaction, jobs: readonly WrittenJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await transaction.query(insertJobRows, [JSON.stringify(jobs.map(writtenPartOf))]);
}

const insertJobRows = statement<never>(
  "insert_jobs",
  "organization",
  `INSERT INTO job (${namesOf(writtenColumns)})
   SELECT ${namesOf(writtenColumns)}
   FROM json_to_recordset($1) AS new (${typesOf(writtenColumns)})`,
);

export interface JobUpdate {
  readonly before: Job;
  readonly after: WrittenJob;
}

/** Writes changed jobs; the row must still be as it was loaded. Throws when one is not: the lock was not held. */
export async function updateJobs(transaction: Transaction, updates: readonly JobUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  const keyed = updates.map(({ before, after }) => {
    const { organizationId, jobId } = after;
    const found = { sequence_before: before.sequence, lease_epoch_before: before.leaseEpoch };
    const changed = { organization_id: organizationId, job_id: jobId, ...changedPartOf(after), ...found };
    return { organizationId, jobId, changed };
  });
  const written = await askInParts(keyed, (part) =>
    transaction.query(updateJobRows, [JSON.stringify(part.map(({ changed }) => changed)), ...keyArrays(part)]),
  );
  if (written.length !== updates.length) {
    throw new Error(`${updates.length - written.length} of ${updates.length} jobs changed under their lock.`);
  }
}

const updateJobRows = statement<{ jobId: string }>(
  "update_jobs",
  "organization",
  `UPDATE job
   SET ${assignmentsOf(updatedColumns, "changed")}, begun_epoch = coalesce(changed.begun_epoch, job.begun_epoch)
   FROM json_to_recordset($1) AS changed (organization_id uuid, job_id uuid, ${typesOf(updatedColumns)}, begun_epoch integer,
     sequence_before integer, lease_epoch_before integer)
   WHERE job.organization_id = ANY($2::uuid[]) AND job.job_id = ANY($3::uuid[])
     AND job.organization_id = changed.organization_id AND job.job_id = changed.job_id
     AND job.sequence = changed.sequence_before AND job.lease_epoch = changed.lease_epoch_before
   RETURNING job.job_id AS "jobId"`,
);

export interface HistoryRow extends JobKey {
  readonly entries: readonly HistoryEntry[];
  /** Whether the same commit writes what the entries add to metrics. What does not is counted later, from the history. */
  readonly counted: boolean;
}

/** One row per job and commit. `commitId` is the same for the whole commit: by it one can ask later whether it landed. */
export async function insertHistory(
  transaction: Transaction,
  rows: readonly HistoryRow[],
  commitId: string,
  committedAt: Timestamp,
): Promise<void> {
  const written = rows.flatMap(({ organizationId, jobId, entries, counted }) => {
    const first = entries[0];
    if (first === undefined) return [];
    return {
      organization_id: organizationId,
      job_id: jobId,
      first_sequence: first.sequence,
      last_sequence: first.sequence + entries.length - 1,
      entries,
      counted,
    };
  });
  if (written.length === 0) return;
  await transaction.query(insertHistoryRows, [JSON.stringify(written), commitId, new Date(committedAt).toISOString()]);
}

const insertHistoryRows = statement<never>(
  "insert_job_history",
  "organization",
  `INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries, counted)
   SELECT organization_id, job_id, first_sequence, last_sequence, $2::uuid, $3::timestamptz, entries, counted
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, first_sequence integer, last_sequence integer, entries json,
     counted boolean)`,
);

/** Jobs with their whole histories, each as of one instant. Jobs that do not exist are missing from the answer. */
export async function readJobs(
  db: Queryable,
  keys: readonly JobKey[],
): Promise<(Job & { commits: HistoryEntry[][] })[]> {
  return await askInParts(keys, (part) => db.query(readJobRows, keyArrays(part)));
}

const readJobRows = statement<Job & { commits: HistoryEntry[][] }>(
  "read_jobs",
  "organization",
  `SELECT ${jobColumns},
     (SELECT json_agg(entries ORDER BY first_sequence)
      FROM job_history
      WHERE job_history.organization_id = job.organization_id AND job_history.job_id = job.job_id) AS commits
   FROM job
   WHERE organization_id = ANY($1::uuid[]) AND job_id = ANY($2::uuid[])`,
);

/** How far each of these jobs has come: enough to notice a change made by another node. */
export async function readSequences(
  db: Queryable,
  keys: readonly JobKey[],
): Promise<(JobKey & { readonly sequence: number })[]> {
  return await askInParts(keys, (part) => db.query(readSequenceRows, keyArrays(part)));
}

const readSequenceRows = statement<JobKey & { sequence: number }>(
  "read_job_sequences",
  "organization",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", sequence
   FROM job
   WHERE organization_id = ANY($1::uuid[]) AND job_id = ANY($2::uuid[])`,
);

/**
 * Whether the commit that wrote this job's entries from `firstSequence` on is in the store. Its transaction may still be on its way to
 * its end, on a connection that was lost: asking for its row's key, and giving that back, waits for the end.
 */
export async function hasCommit(db: Database, key: JobKey, firstSequence: number, commitId: string): Promise<boolean> {
  const values = [key.organizationId, key.jobId, firstSequence, commitId];
  try {
    await db.transaction(async (transaction) => {
      await transaction.query(takePlaceOfCommit, values);
      throw new PlaceIsFree();
    });
  } catch (error) {
    if (error instanceof PlaceIsFree) return false;
    if (!isUniqueViolation(error)) throw error;
  }
  const rows = await db.query(findCommit, values);
  return rows.length > 0;
}

/** Rolls the question back. */
class PlaceIsFree extends Error {}

const takePlaceOfCommit = statement<never>(
  "take_place_of_commit",
  "organization",
  `INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries)
   VALUES ($1, $2, $3, $3, $4, now(), '[]')`,
);

const findCommit = statement<{ found: number }>(
  "find_commit",
  "organization",
  `SELECT 1 AS found FROM job_history
   WHERE organization_id = $1 AND job_id = $2 AND first_sequence = $3 AND commit_id = $4`,
);

/**
 * The keys as two parameters. Statements that take their rows from JSON name the jobs in an array as well: from the array the planner knows
 * that few rows are meant and goes by the key, where it would otherwise read all jobs of an organization and join.
 */
export function keyArrays(keys: readonly JobKey[]): [string[], string[]] {
  return [[...new Set(keys.map((key) => key.organizationId))], [...new Set(keys.map((key) => key.jobId))]];
}

import type { HistoryEntry } from "../../core/job/history.ts";
import type { Job, JobStatus } from "../../core/job/job-state.ts";
import type { StoredState } from "../../core/job/values/stored-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Database, isUniqueViolation, type Queryable, statement, type Transaction } from "../home/database.ts";
import {
  askInParts,
  askTogether,
  eachAlone,
  everyPairJoined,
  type Grouped,
  keyColumns,
  organizationsOf,
} from "../home/key-parts.ts";
import { requireAllWritten, type Written } from "../home/written.ts";
import {
  assignmentsOf,
  namesOf,
  plainJobColumns,
  typesOf,
  updatedColumns,
  updatedPartOf,
  valuesOf,
  type WrittenJob,
  wholeState,
  writtenColumns,
  writtenPartOf,
} from "./job-columns.ts";
import { isWantedJob, type JobKey, jobIdOf, wantedJobs } from "./job-key.ts";
import { readStates } from "./large-contents.ts";
import { mostBytes } from "./most-bytes.ts";

export type { WrittenJob } from "./job-columns.ts";
export type { JobKey } from "./job-key.ts";

/** Jobs that a search leaves out. */
export interface LeftOutJobs {
  readonly versionIds: readonly string[];
  readonly jobIds: readonly string[];
}

/** Jobs and whole organizations that a search leaves out. */
export interface LeftOut extends LeftOutJobs {
  readonly organizationIds: readonly string[];
}

/** Lists the values of a search's three parameters in this order: version ids, job ids, organization ids. */
export function leftOutValues({ versionIds, jobIds, organizationIds }: LeftOut): readonly unknown[] {
  return [versionIds, jobIds, organizationIds];
}

/** A job as its row has it, without the values that are stored separately. */
export type LockedJob = Omit<Job, "state" | "input"> & {
  readonly state: StoredState;
  /** The input; null when it is large. When a large input is needed, `readInputs` reads it. */
  readonly input: JsonObject | null;
};

export interface LockedJobs {
  readonly locked: readonly LockedJob[];
  /** The jobs whose rows another transaction has locked. Their state is not known now. */
  readonly held: readonly JobKey[];
  /** The lengths of the states that are large. */
  readonly largeStates: readonly LargeState[];
}

export interface LargeState {
  readonly organizationId: string;
  readonly bytes: number;
}

/**
 * Locks the jobs' rows and returns the jobs. A row that another transaction has locked is skipped, and its key is returned in `held`: a transaction
 * that locks a row for long would otherwise keep the jobs of everybody else waiting. Throws `TooMuchAtOnceError` when the large states of several
 * jobs together exceed `maxBytes`, because a few hundred states of a few MiB each make gigabytes.
 */
export async function lockJobs(
  transaction: Transaction,
  keys: readonly JobKey[],
  maxBytes: number,
): Promise<LockedJobs> {
  if (keys.length === 0) return { locked: [], held: [], largeStates: [] };
  const rows = await askTogether(keys, (part) => transaction.query(lockJobRows, keyColumns(part, jobIdOf)), eachAlone);
  const { jobs: locked, largeStates } = await withStates(transaction, rows, maxBytes);
  const found = new Set(locked.map(({ jobId }) => jobId));
  return {
    locked,
    largeStates,
    // A row that was skipped because of its lock still exists. This read comes later, so a job that is missing here too is gone.
    held: await readStandings(
      transaction,
      keys.filter(({ jobId }) => !found.has(jobId)),
    ),
  };
}

/** Reads jobs without locking them, with the same bound as `lockJobs`. Missing jobs are left out. */
export async function readUnlockedJobs(
  db: Grouped,
  keys: readonly JobKey[],
  maxBytes: number,
): Promise<readonly LockedJob[]> {
  const rows = await askInParts(keys, (part) => db.query(readJobRows, keyColumns(part, jobIdOf)), eachAlone, db);
  return (await withStates(db, rows, maxBytes)).jobs;
}

/** Adds the states that are too large to be read with their rows. */
async function withStates(db: Grouped, rows: readonly FoundJob[], maxBytes: number) {
  const large = rows.filter(({ state }) => state === null);
  const states = await readStates(db, large, maxBytes);
  const jobs = rows.map((job): LockedJob => {
    const state = job.state ?? states.get(job.jobId)?.content;
    if (state === undefined) throw new Error(`The state of job ${job.jobId} is not in the store.`);
    return { ...job, state };
  });
  const largeStates = large.map(({ organizationId, jobId }): LargeState => {
    return { organizationId, bytes: states.get(jobId)?.bytes ?? 0 };
  });
  return { jobs, largeStates };
}

const jobColumns = `${plainJobColumns}, ${wholeState} AS state, input`;

/**
 * A small state is read with its row. Most states are small, because only states of earlier releases contain large values. A large input is not read
 * with the row, because most events do not need it.
 */
const isStateSmall = `pg_column_size(${wholeState}) <= 4096`;
const isInputSmall = `${mostBytes("input")} <= 65536`;

type FoundJob = Omit<LockedJob, "state"> & { readonly state: StoredState | null };

const jobRows = (lock: "FOR UPDATE SKIP LOCKED" | "") =>
  `SELECT found.*
   FROM unnest($2::uuid[], $3::uuid[]) AS wanted (wanted_organization_id, wanted_job_id)
   CROSS JOIN LATERAL (
     SELECT ${plainJobColumns}, CASE WHEN ${isStateSmall} THEN ${wholeState} END AS state,
       CASE WHEN ${isInputSmall} THEN input END AS input
     FROM job
     WHERE organization_id = ANY($1::uuid[]) AND organization_id = wanted_organization_id AND job_id = wanted_job_id
     ${lock}
     OFFSET 0
   ) AS found`;

const lockJobRows = statement<FoundJob>("lock_jobs", "organization", jobRows("FOR UPDATE SKIP LOCKED"));
const readJobRows = statement<FoundJob>("read_unlocked_jobs", "organization", jobRows(""));

/** Writes new jobs. An existing job id is a defect of ours, and fails the transaction. */
export async function insertJobs(transaction: Transaction, jobs: readonly WrittenJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const written = await transaction.query(insertJobRows, [
    JSON.stringify(jobs.map(writtenPartOf)),
    organizationsOf(jobs),
  ]);
  requireAllWritten(written, jobs.length, "jobs");
}

const { organization_id: _, ...ownColumns } = writtenColumns;

const insertJobRows = statement<Written>(
  "insert_jobs",
  "organization",
  `INSERT INTO job (organization_id, ${namesOf(ownColumns)})
   SELECT organization.organization_id, ${valuesOf(ownColumns, "new")}
   FROM json_to_recordset($1) AS new (${typesOf(writtenColumns)})
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   RETURNING 1 AS written`,
);

export interface JobUpdate {
  readonly before: Job;
  readonly after: WrittenJob;
}

/** Writes changed jobs. Each row must still be as it was loaded. Throws when one is not, which means that the job was not locked. */
export async function updateJobs(transaction: Transaction, updates: readonly JobUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  const keyed = updates.map(({ before, after }) => {
    const { organizationId, jobId } = after;
    const found = { sequence_before: before.sequence, lease_epoch_before: before.leaseEpoch };
    const changed = { organization_id: organizationId, job_id: jobId, ...updatedPartOf(after), ...found };
    return { organizationId, jobId, changed };
  });
  const written = await askTogether(
    keyed,
    (part) =>
      transaction.query(updateJobRows, [JSON.stringify(part.map(({ changed }) => changed)), ...keyArrays(part)]),
    everyPairJoined,
  );
  if (written.length !== updates.length) {
    throw new Error(
      `${updates.length - written.length} of ${updates.length} jobs changed although this transaction should have locked them.`,
    );
  }
}

const updateJobRows = statement<{ jobId: string }>(
  "update_jobs",
  "organization",
  `UPDATE job
   SET ${assignmentsOf(updatedColumns, "changed")}
   FROM json_to_recordset($1) AS changed (organization_id uuid, job_id uuid, ${typesOf(updatedColumns)}, sequence_before integer,
     lease_epoch_before integer)
   WHERE job.organization_id = ANY($2::uuid[]) AND job.job_id = ANY($3::uuid[])
     AND job.organization_id = changed.organization_id AND job.job_id = changed.job_id
     AND job.sequence = changed.sequence_before AND job.lease_epoch = changed.lease_epoch_before
   RETURNING job.job_id AS "jobId"`,
);

export interface HistoryRow extends JobKey {
  readonly entries: readonly HistoryEntry[];
  /** Whether the same commit also adds the counts of these entries to the metrics. Otherwise the row is counted later, from the history. */
  readonly counted: boolean;
}

/** Makes the JSON text from which a row of the history is written. The text's length is an estimate of the bytes that the row takes in the store. */
export function historyText({ organizationId, jobId, entries, counted }: HistoryRow): string {
  const first = entries[0];
  if (first === undefined) throw new Error("A row of the history has no entries.");
  return JSON.stringify({
    organization_id: organizationId,
    job_id: jobId,
    first_sequence: first.sequence,
    last_sequence: first.sequence + entries.length - 1,
    entries,
    counted,
  });
}

export interface HistoryCommitKey {
  /** The id that all rows of one commit share, so that it can be checked later whether the commit landed. */
  readonly commitId: string;
  readonly committedAt: Timestamp;
}

/** Inserts one row (`historyText`) for each job that the commit changed. `organizationIds` are the organizations of these jobs. */
export async function insertHistory(
  transaction: Transaction,
  { commitId, committedAt }: HistoryCommitKey,
  organizationIds: readonly string[],
  texts: readonly string[],
): Promise<void> {
  if (texts.length === 0) return;
  const values = [`[${texts.join(",")}]`, commitId, new Date(committedAt).toISOString(), organizationIds];
  requireAllWritten(await transaction.query(insertHistoryRows, values), texts.length, "rows of the history");
}

const insertHistoryRows = statement<Written>(
  "insert_job_history",
  "organization",
  `INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries, counted)
   SELECT organization.organization_id, job_id, first_sequence, last_sequence, $2::uuid, $3::timestamptz, entries, counted
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, first_sequence integer, last_sequence integer, entries json,
     counted boolean)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($4::uuid[])
   RETURNING 1 AS written`,
);

/** A job. A small job has its state, its input, and its history by commits. For a large job these fields are null. */
export type SmallJob = Omit<Job, "state" | "input"> & {
  readonly state: StoredState | null;
  readonly input: JsonObject | null;
  readonly commits: HistoryEntry[][] | null;
};

/** Reads each of these jobs as it is at one instant. Missing jobs are left out. */
export async function readSmallJobs(db: Grouped, keys: readonly JobKey[]): Promise<SmallJob[]> {
  return await askInParts(keys, (part) => db.query(readSmallJobRows, keyColumns(part, jobIdOf)), eachAlone, db);
}

const readSmallJobRows = statement<SmallJob>(
  "read_small_jobs",
  "organization",
  `SELECT ${plainJobColumns}, CASE WHEN is_small THEN ${wholeState} END AS state, CASE WHEN is_small THEN input END AS input,
     CASE WHEN is_small THEN (
       SELECT json_agg(entries ORDER BY first_sequence) FROM job_history
       WHERE job_history.organization_id = ANY($1::uuid[]) AND job_history.organization_id = job.organization_id
         AND job_history.job_id = job.job_id) END AS commits
   FROM ${wantedJobs}
   CROSS JOIN LATERAL (
     SELECT *, CASE WHEN ${isStateSmall} AND ${isInputSmall} AND sequence <= 100 THEN (
       SELECT sum(pg_column_size(entries)) <= 4096 FROM job_history
       WHERE job_history.organization_id = ANY($1::uuid[]) AND job_history.organization_id = measured.organization_id
         AND job_history.job_id = measured.job_id) ELSE false END AS is_small
     FROM job AS measured
     WHERE ${isWantedJob}
     OFFSET 0
   ) AS job`,
);

/** Reads a job with its input, however large. Undefined when the job does not exist. */
export async function readJob(
  db: Queryable,
  { organizationId, jobId }: JobKey,
): Promise<(Omit<Job, "state"> & { readonly state: StoredState }) | undefined> {
  const [row] = await db.query(readJobRow, [organizationId, jobId]);
  return row;
}

const readJobRow = statement<Omit<Job, "state"> & { state: StoredState }>(
  "read_job",
  "organization",
  `SELECT ${jobColumns} FROM job WHERE organization_id = $1 AND job_id = $2`,
);

/** Reads a job's input. Undefined when the job does not exist. */
export async function readJobInput(db: Queryable, { organizationId, jobId }: JobKey): Promise<JsonObject | undefined> {
  const [row] = await db.query(readJobInputRow, [organizationId, jobId]);
  return row?.input;
}

const readJobInputRow = statement<Pick<Job, "input">>(
  "read_job_input",
  "organization",
  "SELECT input FROM job WHERE organization_id = $1 AND job_id = $2",
);

/** How far a job has come. It shows whether a request that waits for the job must wait longer, and whether another node has changed the job. */
export interface JobStanding extends JobKey {
  readonly sequence: number;
  readonly status: JobStatus;
  /** True while it waits for events. */
  readonly isWaiting: boolean;
}

/** Reads the standings of jobs. Missing jobs are left out. */
export async function readStandings(db: Queryable, keys: readonly JobKey[]): Promise<JobStanding[]> {
  return await askInParts(keys, (part) => db.query(readStandingRows, keyArrays(part)));
}

const readStandingRows = statement<JobStanding>(
  "read_job_standings",
  "organization",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", sequence, status, awaiting_event_ids IS NOT NULL AS "isWaiting"
   FROM job
   WHERE organization_id = ANY($1::uuid[]) AND job_id = ANY($2::uuid[])`,
);

/**
 * Whether the store has the commit that wrote this job's entries from `firstSequence` on. The commit's transaction may still be ending on a lost
 * connection. So this function first inserts a row with the same key, which waits until that transaction has ended, and rolls the insert back.
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

/** Thrown to roll back the row that was inserted for the check. */
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
 * The keys as two parameters. Statements that take their rows from JSON also name the jobs in an array. The array shows the planner that few rows are
 * wanted. So the planner uses the primary key, and does not read and join all jobs of an organization.
 */
export function keyArrays(keys: readonly JobKey[]): [string[], string[]] {
  return [organizationsOf(keys), [...new Set(keys.map(jobIdOf))]];
}

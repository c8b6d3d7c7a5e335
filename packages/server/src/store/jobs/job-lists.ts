import type { JobError, JobStatus } from "../../core/job/job-state.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, type Reader, statement } from "../home/database.ts";
import { type PlainJob, plainJobColumns, wholeState } from "./job-columns.ts";
import type { JobKey } from "./jobs.ts";
import { mostBytes } from "./most-bytes.ts";

export interface JobSearch {
  readonly organizationId: string;
  readonly status: JobStatus | null;
  readonly workflowId: string | null;
  readonly versionId: string | null;
  readonly versionNumber: number | null;
  /** The earliest time of creation, which is included. */
  readonly createdAfter: Timestamp | null;
  /** The time before which the jobs were created. A job of this very time is not listed. */
  readonly createdBefore: Timestamp | null;
  readonly awaitingEventId: string | null;
  /** True for jobs that wait for events now, false for the others; null for all. */
  readonly isWaiting: boolean | null;
  /** True for jobs that no other job made, false for the others; null for all. */
  readonly isTopLevel: boolean | null;
  /** The job whose children are listed; null for all jobs. */
  readonly parentJobId: string | null;
  /** The workflows whose jobs are listed; null for all. */
  readonly workflowIds: readonly string[] | null;
}

export interface JobRow extends PlainJob {
  readonly status: JobStatus;
  /** The events that the job waits for and that have not arrived yet; null for a job that does not wait for events. */
  readonly awaitingEventIds: readonly string[] | null;
  /** The current step of a RUNNING job; null otherwise. */
  readonly stepName: string | null;
  /** The error of a FAILED job; null otherwise. */
  readonly error: JobError | null;
}

type Order = "newest" | "oldest";

/**
 * Lists jobs in the order of their submission. With "newest" the list begins before `fromJobId`, with the newest job first. With "oldest" it begins
 * after `fromJobId`, with the oldest job first.
 */
export async function listJobs(
  db: Reader,
  search: JobSearch,
  order: Order,
  fromJobId: string | null,
  limit: number,
): Promise<JobRow[]> {
  const narrowed = await narrowToWorkflow(db, search);
  if (narrowed === undefined) return [];
  const asked = statementsFor(narrowed)[order];
  const found: JobRow[] = [];
  for await (const { from, to } of slicesOf(db, narrowed, order, fromJobId)) {
    let [begin, isCut] = [from, true];
    while (isCut) {
      const values = [...searchValues(narrowed), begin, to, limit - found.length, maxStateBytes];
      const rows = await db.query(asked, values);
      found.push(...rows.map(({ foundCount: _, ...job }) => job));
      isCut = rows.length < (rows[0]?.foundCount ?? 0);
      begin = found.at(-1)?.jobId ?? null;
    }
    if (found.length === limit) break;
  }
  return found;
}

/** Counts jobs up to `max`, because counting all of them would mean reading all of them. */
export async function countJobs(db: Reader, search: JobSearch, max: number): Promise<number> {
  const narrowed = await narrowToWorkflow(db, search);
  if (narrowed === undefined) return 0;
  let count = 0;
  for await (const { from, to } of slicesOf(db, narrowed, "newest", null)) {
    const [row] = await db.query(statementsFor(narrowed).count, [...searchValues(narrowed), from, to, max - count]);
    count += row?.count ?? 0;
    if (count === max) break;
  }
  return count;
}

/** Finds a version's workflow, so that the version's jobs are found through the index of the workflow. Undefined when no job can match. */
async function narrowToWorkflow(db: Reader, search: JobSearch): Promise<JobSearch | undefined> {
  const { organizationId, versionId } = search;
  if (versionId === null) return search;
  const [version] = await db.query(findVersionPlace, [organizationId, versionId]);
  if (version === undefined) return undefined;
  const { workflowId, versionNumber } = version;
  const isOther =
    (search.workflowId !== null && search.workflowId.toLowerCase() !== workflowId) ||
    (search.versionNumber !== null && search.versionNumber !== versionNumber);
  return isOther ? undefined : { ...search, workflowId, versionNumber };
}

const findVersionPlace = statement<{ workflowId: string; versionNumber: number }>(
  "find_version_place",
  "organization",
  `SELECT workflow_id AS "workflowId", version_number AS "versionNumber"
   FROM workflow_version
   WHERE organization_id = $1 AND version_id = $2`,
);

/**
 * The jobs between two ids. The job with the first id is not included, the job with the last id is. Null means that the range has no end on this
 * side.
 */
interface Slice {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Yields one slice with all jobs, or slices of `sliceRows` rows each, so that other reads have their turn in between. The first slice is shorter,
 * because it is enough for most pages.
 */
async function* slicesOf(db: Reader, search: JobSearch, order: Order, fromJobId: string | null): AsyncGenerator<Slice> {
  // The children of a job are found without reading other jobs, so they need no slices.
  const sliceRows = search.parentJobId === null ? db.sliceRows : null;
  let from = fromJobId;
  for (let rows = sliceRows === null ? null : Math.ceil(sliceRows / 10); rows !== null; rows = sliceRows) {
    const statement = order === "newest" ? findNewestSliceEnd : findOldestSliceEnd;
    const { organizationId, workflowId, createdAfter, createdBefore } = search;
    const status = search.status === "SUCCEEDED" ? null : search.status;
    const ids = idRange(createdAfter, createdBefore);
    const [end] = await db.query(statement, [organizationId, status, workflowId, ...ids, from, rows - 1]);
    if (end === undefined) break;
    yield { from, to: end.jobId };
    from = end.jobId;
  }
  yield { from, to: null };
}

/** The conditions that can be checked in an index that has the order of the list. */
const walked = `
   organization_id = $1
     AND ($2::text IS NULL OR status = $2)
     AND ($3::uuid IS NULL OR workflow_id = $3)
     AND ($4::uuid IS NULL OR job_id >= $4)
     AND ($5::uuid IS NULL OR job_id <= $5)`;

const findNewestSliceEnd = statement<{ jobId: string }>(
  "find_newest_slice_end",
  "organization",
  `SELECT job_id AS "jobId" FROM job WHERE ${walked} AND ($6::uuid IS NULL OR job_id < $6) ORDER BY job_id DESC LIMIT 1 OFFSET $7`,
  "each-time",
);

const findOldestSliceEnd = statement<{ jobId: string }>(
  "find_oldest_slice_end",
  "organization",
  `SELECT job_id AS "jobId" FROM job WHERE ${walked} AND ($6::uuid IS NULL OR job_id > $6) ORDER BY job_id LIMIT 1 OFFSET $7`,
  "each-time",
);

/** Ids are in the order of their times, so a range of times is also a range of the primary key. */
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
     AND ($12::integer IS NULL OR version_number = $12)
     AND ($13::boolean IS NULL OR (parent IS NULL) = $13)`;

const fromNewest = "($15::uuid IS NULL OR job_id < $15) AND ($16::uuid IS NULL OR job_id >= $16)";
const fromOldest = "($15::uuid IS NULL OR job_id > $15) AND ($16::uuid IS NULL OR job_id <= $16)";

/**
 * The bound in bytes on the states that one statement looks into. Two hundred states of several megabytes would keep the server busy for many
 * seconds. When a statement stops at this bound, another statement continues after its last job.
 */
const maxStateBytes = 8_000_000;

/** A state may be large, and PostgreSQL goes through it once for each path that is read. So at most one path is read for each row. */
const columns = `${plainJobColumns}, status, awaiting_event_ids AS "awaitingEventIds",
     CASE WHEN status = 'RUNNING' THEN ${wholeState} #>> '{step,name}' END AS "stepName",
     CASE WHEN status = 'FAILED' THEN ${wholeState} -> 'error' END AS error`;

/**
 * A search for the children of a job has statements of its own. If one statement served both kinds of searches, with their conditions joined by
 * OR, the planner would read all jobs.
 */
const anyJobs = searchStatements("jobs", "$14::uuid IS NULL");
const childJobs = searchStatements(
  "jobs_of_parent",
  "job_id IN (SELECT child_job.job_id FROM child_job WHERE child_job.organization_id = $1 AND child_job.parent_job_id = $14::uuid)",
);

function searchStatements(name: string, isMeant: string) {
  const list = (order: Order, isBehind: string, direction: "ASC" | "DESC") =>
    statement<JobRow & { foundCount: number }>(
      `list_${order}_${name}`,
      "organization",
      `SELECT ${columns}, found_count AS "foundCount"
       FROM (
         SELECT found.*, count(*) OVER () AS found_count, sum(bytes) OVER (ORDER BY job_id ${direction}) - bytes AS bytes_before
         FROM (
           SELECT *, CASE WHEN status IN ('RUNNING', 'FAILED') THEN ${mostBytes(wholeState)} ELSE 0 END AS bytes
           FROM job
           WHERE ${matches} AND ${isMeant} AND ${isBehind}
           ORDER BY job_id ${direction}
           LIMIT $17
         ) AS found
       ) AS measured
       WHERE bytes_before < $18
       ORDER BY job_id ${direction}`,
      "each-time",
    );
  return {
    newest: list("newest", fromNewest, "DESC"),
    oldest: list("oldest", fromOldest, "ASC"),
    count: statement<{ count: number }>(
      `count_${name}`,
      "organization",
      `SELECT count(*) AS count
       FROM (SELECT 1 FROM job WHERE ${matches} AND ${isMeant} AND ${fromNewest} LIMIT $17) AS counted`,
      "each-time",
    ),
  };
}

function statementsFor({ parentJobId }: JobSearch) {
  return parentJobId === null ? anyJobs : childJobs;
}

function searchValues(search: JobSearch): unknown[] {
  const { createdAfter, createdBefore } = search;
  const [firstId, lastId] = idRange(createdAfter, createdBefore);
  return [
    search.organizationId,
    search.status,
    search.workflowId,
    search.versionId,
    createdAfter === null ? null : new Date(createdAfter).toISOString(),
    firstId,
    createdBefore === null ? null : new Date(createdBefore).toISOString(),
    lastId,
    search.awaitingEventId,
    search.workflowIds,
    search.isWaiting,
    search.versionNumber,
    search.isTopLevel,
    search.parentJobId,
  ];
}

/**
 * The tolerance between the time in an id and `created_at`. The id is made when the request comes, but `created_at` is set when the job is committed.
 * Also, the clocks of nodes differ a little.
 */
const idSlackMs = 60_000;

/** The bounds of the ids (UUID version 7) of jobs that were created in this range. */
function idRange(after: Timestamp | null, before: Timestamp | null): [string | null, string | null] {
  return [after === null ? null : firstIdAt(after - idSlackMs), before === null ? null : lastIdAt(before + idSlackMs)];
}

/** Returns the lowest UUID that begins with the time `at`. No id (UUID version 7) that was made at this time is lower. */
export function firstIdAt(at: Timestamp): string {
  return idAt(at, "0000-0000-000000000000");
}

/** Returns the highest UUID that begins with the time `at`. No id (UUID version 7) that was made at this time is higher. */
export function lastIdAt(at: Timestamp): string {
  return idAt(at, "ffff-ffff-ffffffffffff");
}

function idAt(at: Timestamp, rest: string): string {
  const hex = Math.max(0, at).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${rest}`;
}

/** The version that a job runs. All fields stay as they were when the job was submitted. */
export interface VersionOfJob {
  readonly workflowId: string;
  readonly versionId: string;
  readonly versionNumber: number;
  /** The tag by which the version was chosen. */
  readonly tag: string | null;
}

/** Finds the version of a job. Undefined when the job does not exist. */
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

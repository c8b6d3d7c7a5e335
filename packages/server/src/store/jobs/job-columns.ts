import type { Job } from "../../core/job/job-state.ts";
import type { StoredState } from "../../core/job/values/stored-state.ts";
import type { Timestamp } from "../../core/time.ts";

/*
 * The columns of a job. Each has its type in one of these three lists, and its value in `fixedPartOf` or `updatedPartOf`. The statements that write
 * and read jobs are made from the lists.
 */

/** Columns that are written with the job's first commit and never again. */
const fixedColumns = {
  organization_id: "uuid",
  job_id: "uuid",
  workflow_id: "uuid",
  workflow_name: "text",
  version_id: "uuid",
  version_number: "integer",
  tag: "text",
  input: "json",
  submitted_by: "json",
  parent: "json",
  created_at: "timestamptz",
};

const changingColumns = {
  sequence: "integer",
  lease_epoch: "integer",
  state: "json",
  short_state: "json",
  started_at: "timestamptz",
  updated_at: "timestamptz",
  finished_at: "timestamptz",
};
/** Columns that follow from the state; indexes and constraints need them. */
const derivedColumns = {
  status: "text",
  wake_at: "timestamptz",
  timeout_at: "timestamptz",
  awaiting_event_ids: "text[]",
  call_count: "integer",
};

export const writtenColumns = { ...fixedColumns, ...changingColumns, ...derivedColumns };
export const updatedColumns = { ...changingColumns, ...derivedColumns };

/** A job without the fields that can be large. */
export type PlainJob = Omit<Job, "state" | "input">;

export const plainJobColumns = Object.keys({ ...fixedColumns, ...changingColumns })
  .filter((column) => !["state", "short_state", "input"].includes(column))
  .map((column) => `${column} AS "${fieldOf(column)}"`)
  .join(", ");

/**
 * The state of a job. A state that refers to values by their numbers, or has branches, is stored in a separate column. So earlier releases fail when
 * they read such a job, and do not treat those values and branches as missing.
 */
export const wholeState = "coalesce(short_state, state)";

/** A job as it is written to its row: the state, and in addition the columns for indexes, which follow from the state. */
export interface WrittenJob extends Omit<Job, "state"> {
  readonly state: StoredState;
  readonly wakeAt: Timestamp | null;
  /** The time at which the whole job times out; null when it never does. */
  readonly timeoutAt: Timestamp | null;
  /** The events that a waiting job still needs; null for any other job. */
  readonly awaitingEventIds: readonly string[] | null;
  readonly callCount: number;
}

export function writtenPartOf(job: WrittenJob): Row<typeof writtenColumns> {
  return { ...fixedPartOf(job), ...updatedPartOf(job) };
}

function fixedPartOf(job: Omit<Job, "state">): Row<typeof fixedColumns> {
  return {
    organization_id: job.organizationId,
    job_id: job.jobId,
    workflow_id: job.workflowId,
    workflow_name: job.workflowName,
    version_id: job.versionId,
    version_number: job.versionNumber,
    tag: job.tag,
    input: job.input,
    submitted_by: job.submittedBy,
    // A field that is left out becomes NULL.
    parent: job.parent ?? undefined,
    created_at: isoOrNull(job.createdAt),
  };
}

export function updatedPartOf(job: WrittenJob): Row<typeof updatedColumns> {
  return {
    sequence: job.sequence,
    lease_epoch: job.leaseEpoch,
    state: isShort(job.state) ? null : job.state,
    short_state: isShort(job.state) ? job.state : null,
    started_at: isoOrNull(job.startedAt),
    updated_at: isoOrNull(job.updatedAt),
    finished_at: isoOrNull(job.finishedAt),
    status: job.state.status,
    wake_at: isoOrNull(job.wakeAt),
    timeout_at: isoOrNull(job.timeoutAt),
    awaiting_event_ids: job.awaitingEventIds,
    call_count: job.callCount,
  };
}

/** Whether the state must be stored in the newer column, `short_state`. `wholeState` says why. */
function isShort({ values, branches }: StoredState): boolean {
  return values !== undefined || branches !== undefined;
}

type Row<Columns> = Readonly<Record<keyof Columns, unknown>>;

export function namesOf(columns: object): string {
  return Object.keys(columns).join(", ");
}

export function assignmentsOf(columns: object, source: string): string {
  return Object.keys(columns)
    .map((column) => `${column} = ${recordValue(column, source)}`)
    .join(", ");
}

export function valuesOf(columns: object, source: string): string {
  return Object.keys(columns)
    .map((column) => recordValue(column, source))
    .join(", ");
}

/**
 * Takes the value of a column from a record. When a state is in the newer column, the old column must hold JSON null, but the record has SQL's NULL
 * there.
 */
function recordValue(column: string, source: string): string {
  return column === "state" ? `coalesce(${source}.state, 'null')` : `${source}.${column}`;
}

/** Lists the columns with their types, as a statement describes a record. */
export function typesOf(columns: object): string {
  return Object.entries(columns)
    .map(([column, type]) => `${column} ${type}`)
    .join(", ");
}

function fieldOf(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function isoOrNull(at: Timestamp | null): string | null {
  if (at === null) return null;
  // The times in one commit are often equal, so the text of the previous time is kept, and often serves for the next column too.
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() };
  return latest.text;
}

let latest = { at: 0, text: new Date(0).toISOString() };

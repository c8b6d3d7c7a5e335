import type { StoredState } from "../../core/job/values/stored-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type Statement, statement, type Transaction } from "../home/database.ts";
import { askInParts, eachAlone, type Grouped, keyColumns } from "../home/key-parts.ts";
import { wholeState } from "./job-columns.ts";
import { isWantedJob, type JobKey, jobIdOf, wantedJobs } from "./job-key.ts";

/**
 * Reads the inputs of these jobs, by job id. Throws `TooMuchAtOnceError` when several inputs together exceed `maxBytes`. A single input may be of any
 * size.
 */
export async function readInputs(
  transaction: Transaction,
  keys: readonly JobKey[],
  maxBytes: number,
): Promise<ReadonlyMap<string, LargeRead<JsonObject>>> {
  return await readLarge(transaction, readInputRows, keys, maxBytes);
}

/** Reads the states of these jobs, by job id, with the same bound. */
export async function readStates(
  db: Grouped,
  keys: readonly JobKey[],
  maxBytes: number,
): Promise<ReadonlyMap<string, LargeRead<StoredState>>> {
  return await readLarge(db, readStateRows, keys, maxBytes);
}

async function readLarge<Content>(
  db: Grouped,
  rows: Statement<LargeContent<Content>>,
  keys: readonly JobKey[],
  maxBytes: number,
): Promise<ReadonlyMap<string, LargeRead<Content>>> {
  const found = new Map<string, LargeRead<Content>>();
  if (keys.length === 0) return found;
  let room = keys.length === 1 ? Number.MAX_SAFE_INTEGER : maxBytes;
  const readPart = async (part: readonly JobKey[]) => {
    const contents = await db.query(rows, [...keyColumns(part, jobIdOf), room]);
    for (const { jobId, content, bytes } of contents) {
      // The parts share one bound. Otherwise each part could read as much as is allowed for all parts together.
      room -= bytes;
      if (content === null) throw new TooMuchAtOnceError(keys.length, maxBytes);
      found.set(jobId, { content, bytes });
    }
    return contents;
  };
  await askInParts(keys, readPart, eachAlone, db);
  return found;
}

/** A state or an input, and the length of its text in bytes. */
export interface LargeRead<Content> {
  readonly content: Content;
  readonly bytes: number;
}

interface LargeContent<Content> {
  readonly jobId: string;
  /** The content; null beyond the bound. */
  readonly content: Content | null;
  /** The length of the content's text. */
  readonly bytes: number;
}

/** Thrown when the work is too large to be done at once, but can be done in smaller portions. */
export class TooMuchAtOnceError extends Error {
  constructor(count: number, maxBytes: number, things: "jobs" | "plans" = "jobs") {
    super(`${count} ${things} are too much for one transaction: its bound is ${maxBytes} bytes.`);
    this.name = "TooMuchAtOnceError";
  }
}

const largeContents = (column: string) =>
  `SELECT job_id AS "jobId", CASE WHEN bytes_so_far <= $4 THEN content END AS content, bytes
   FROM (
     SELECT contents.*, sum(bytes) OVER (ORDER BY organization_id, job_id) AS bytes_so_far
     FROM ${wantedJobs}
     CROSS JOIN LATERAL (
       SELECT organization_id, job_id, ${column} AS content, octet_length(${column}::text) AS bytes
       FROM job
       WHERE ${isWantedJob}
       OFFSET 0
     ) AS contents
   ) AS measured`;

const readStateRows = statement<LargeContent<StoredState>>(
  "read_job_states",
  "organization",
  largeContents(wholeState),
);
const readInputRows = statement<LargeContent<JsonObject>>("read_job_inputs", "organization", largeContents("input"));

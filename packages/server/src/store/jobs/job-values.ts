import type { NewValue } from "../../core/job/values/value-book.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts, eachAlone, organizationsOf } from "../home/key-parts.ts";
import { requireAllWritten } from "../home/written.ts";
import type { JobKey } from "./jobs.ts";

export async function insertValues(
  transaction: Transaction,
  jobs: readonly (JobKey & { readonly values: readonly NewValue[] })[],
): Promise<void> {
  const texts: Buffer[] = [];
  let nextByte = 1;
  const rows = jobs.flatMap(({ organizationId, jobId, values }) =>
    values.map(({ valueNumber, bytes, text }) => {
      const encoded = Buffer.from(text);
      texts.push(encoded);
      const firstByte = nextByte;
      nextByte += encoded.length;
      return {
        organization_id: organizationId,
        job_id: jobId,
        value_number: valueNumber,
        bytes,
        first_byte: firstByte,
        byte_count: encoded.length,
      };
    }),
  );
  if (rows.length === 0) return;
  const sent = [JSON.stringify(rows), organizationsOf(jobs), Buffer.concat(texts)];
  const written = await transaction.query(insertValueRows, sent);
  requireAllWritten(written, rows.length, "values");
}

/**
 * The texts of all values are sent as one string of bytes, of which each row takes a part. If they were in the JSON of the rows, PostgreSQL would
 * parse each large value twice. If they were in an array, the driver would escape each quotation mark, on the thread that serves requests.
 */
const insertValueRows = statement<{ valueNumber: number }>(
  "insert_job_values",
  "organization",
  `INSERT INTO job_value (organization_id, job_id, value_number, bytes, value)
   SELECT organization.organization_id, job_id, value_number, bytes,
     convert_from(substring($3::bytea FROM first_byte FOR byte_count), 'UTF8')::json
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, value_number integer, bytes integer, first_byte integer,
     byte_count integer)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   RETURNING value_number AS "valueNumber"`,
);

export interface ValueKey extends JobKey {
  readonly valueNumber: number;
}

export interface ReadValue extends ValueKey {
  readonly bytes: number;
  /** The value as JSON text. */
  readonly text: string;
}

/** Reads these values, in the given order for each job. Reads as many as fit into `maxBytes` together, but always the first `freeCount`. */
export async function readValues(
  db: Queryable,
  wanted: readonly ValueKey[],
  maxBytes: number,
  freeCount = 1,
): Promise<ReadValue[]> {
  if (wanted.length === 0) return [];
  const placed = wanted.map((key, place) => ({ ...key, place }));
  let left = maxBytes;
  const readPart = async (part: readonly (typeof placed)[number][]) => {
    const rows = part.map(({ organizationId, jobId, valueNumber, place }) => ({
      wanted_organization_id: organizationId,
      wanted_job_id: jobId,
      wanted_value_number: valueNumber,
      place,
    }));
    const read = await db.query(readValueRows, [JSON.stringify(rows), organizationsOf(part), left, freeCount]);
    left -= read.reduce((sum, { bytes }) => sum + bytes, 0);
    return read;
  };
  return await askInParts(placed, readPart, eachAlone);
}

/**
 * Reads values of one job as `readValues` does, but only about a megabyte with each statement. A statement that reads 16 MB would keep the server and
 * this node from other work for 100 ms. The user who asked for the values can wait a little longer instead.
 */
export async function readValuesInPortions(
  db: Queryable,
  key: JobKey,
  numbers: readonly number[],
  maxBytes: number,
  freeCount = 1,
): Promise<ReadValue[]> {
  const read: ReadValue[] = [];
  let left = maxBytes;
  let start = 0;
  while (start < numbers.length && (left > 0 || start < freeCount)) {
    const wanted = numbers.slice(start).map((valueNumber) => ({ ...key, valueNumber }));
    const isLast = left <= portionBytes;
    // Except in the last portion, the first value of a portion is read even if it is larger than `portionBytes`. If it is also larger than what is
    // left of `maxBytes`, it is dropped below, unless it is one of the first `freeCount` of all values.
    const freeOfPortion = isLast ? Math.max(0, freeCount - start) : Math.max(1, freeCount - start);
    const portion = await readValues(db, wanted, isLast ? left : portionBytes, freeOfPortion);
    const portionSize = portion.reduce((sum, { bytes }) => sum + bytes, 0);
    if (start >= freeCount && portionSize > left) break;
    read.push(...portion);
    left -= portionSize;
    if (isLast) break;
    const last = portion.at(-1);
    // If nothing was read, the store has no value with the first of these numbers, and that number is skipped.
    start = last === undefined ? start + 1 : numbers.indexOf(last.valueNumber, start) + 1;
  }
  return read;
}

const portionBytes = 1_000_000;

const readValueRows = statement<ReadValue>(
  "read_job_values",
  "organization",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", value_number AS "valueNumber", bytes, value::text AS text
   FROM (
     SELECT found.*, place, sum(bytes) OVER (ORDER BY place) AS bytes_so_far
     FROM json_to_recordset($1) AS wanted (wanted_organization_id uuid, wanted_job_id uuid, wanted_value_number integer, place integer)
     CROSS JOIN LATERAL (
       SELECT organization_id, job_id, value_number, bytes, value
       FROM job_value
       WHERE organization_id = ANY($2::uuid[]) AND organization_id = wanted_organization_id AND job_id = wanted_job_id
         AND value_number = wanted_value_number
       OFFSET 0
     ) AS found
   ) AS measured
   WHERE bytes_so_far <= $3 OR place < $4
   ORDER BY place`,
);

/** Reads `count` values of one job, beginning with the value that has the number `first`, in the order of their numbers. */
export async function readValueRange(
  transaction: Transaction,
  { organizationId, jobId }: JobKey,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<Pick<ReadValue, "valueNumber" | "text">[]> {
  return await transaction.query(readRangeRows, [organizationId, jobId, first, first + count - 1]);
}

const readRangeRows = statement<Pick<ReadValue, "valueNumber" | "text">>(
  "read_job_value_range",
  "organization",
  `SELECT value_number AS "valueNumber", value::text AS text
   FROM job_value
   WHERE organization_id = $1 AND job_id = $2 AND value_number BETWEEN $3 AND $4
   ORDER BY value_number`,
);

import type { EventChange } from "../../core/job/fact.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { type Queryable, type Statement, statement, type Transaction } from "../home/database.ts";
import { askTogether, eachAlone, everyPairJoined, organizationsOf } from "../home/key-parts.ts";
import { requireAllWritten, type Written } from "../home/written.ts";
import { type JobKey, keyArrays } from "./jobs.ts";
import { TooMuchAtOnceError } from "./large-contents.ts";

export async function writeEventChanges(
  transaction: Transaction,
  changes: readonly (JobKey & { readonly changes: readonly EventChange[] })[],
): Promise<void> {
  const rows: EventRows = { kept: new Map(), repeated: new Map(), consumed: [] };
  for (const { changes: ofJob, ...key } of changes) {
    for (const change of ofJob) addRow(rows, key, change);
  }
  const { kept, repeated, consumed } = rows;
  if (kept.size > 0) {
    const written = await transaction.query(insertEvents, [
      JSON.stringify([...kept.values()]),
      organizationsOf(changes),
    ]);
    requireAllWritten(written, kept.size, "events");
  }
  await writeInParts(transaction, countDuplicates, [...repeated.values()]);
  await writeInParts(transaction, consumeEvents, consumed);
}

async function writeInParts(
  transaction: Transaction,
  written: Statement<never>,
  rows: readonly EventRow[],
): Promise<void> {
  const keyed = rows.map((row) => ({ organizationId: row.organization_id, jobId: row.job_id, row }));
  await askTogether(
    keyed,
    (part) => transaction.query(written, [JSON.stringify(part.map(({ row }) => row)), ...keyArrays(part)]),
    everyPairJoined,
  );
}

interface EventRow {
  readonly organization_id: string;
  readonly job_id: string;
}

interface RepeatedRow extends EventRow {
  readonly last_duplicate_at: string;
  readonly count: number;
}

interface EventRows {
  readonly kept: Map<string, object>;
  readonly repeated: Map<string, RepeatedRow>;
  readonly consumed: EventRow[];
}

function addRow({ kept, repeated, consumed }: EventRows, { organizationId, jobId }: JobKey, change: EventChange): void {
  const key = { organization_id: organizationId, job_id: jobId, event_number: change.eventNumber };
  const name = `${jobId} ${change.eventNumber}`;
  const at = new Date(change.at).toISOString();
  if (change.type === "kept") {
    const { eventId: event_id, outcome, sentBy: sent_by, address } = change;
    const addressed = { for_branch: address?.branch, for_step: address?.step, for_visit: address?.visit };
    // The payload is written as text. In a record, JSON null would become SQL's NULL, and a payload of null could not be told from a missing one.
    const payload = change.payload === undefined ? undefined : JSON.stringify(change.payload);
    kept.set(name, { ...key, event_id, payload, outcome, sent_by, received_at: at, ...addressed });
  } else if (change.type === "repeated") {
    repeated.set(name, { ...key, last_duplicate_at: at, count: (repeated.get(name)?.count ?? 0) + 1 });
  } else {
    const { branch: consumed_by_branch, step: consumed_by_step, visit: consumed_by_visit } = change;
    const consumption = { consumed_at: at, consumed_by_branch, consumed_by_step, consumed_by_visit };
    const arrived = kept.get(name);
    // Usually, the event that lets a job continue has just arrived. Then its arrival and its use are written together, as one row.
    if (arrived === undefined) consumed.push({ ...key, ...consumption });
    else kept.set(name, { ...arrived, ...consumption });
  }
}

const insertEvents = statement<Written>(
  "insert_job_events",
  "organization",
  `INSERT INTO job_event (organization_id, job_id, event_number, event_id, payload, outcome, sent_by, received_at, consumed_at,
     consumed_by_branch, consumed_by_step, consumed_by_visit, for_branch, for_step, for_visit)
   SELECT organization.organization_id, job_id, event_number, event_id, payload::json, outcome, sent_by, received_at, consumed_at,
     consumed_by_branch, consumed_by_step, consumed_by_visit, for_branch, for_step, for_visit
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, event_number integer, event_id text, payload text,
     outcome text, sent_by json, received_at timestamptz, consumed_at timestamptz, consumed_by_branch text,
     consumed_by_step text, consumed_by_visit integer, for_branch text, for_step text, for_visit integer)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   RETURNING 1 AS written`,
);

/** A repetition is a write too. Otherwise, with a synchronous standby, it could acknowledge an event that is lost in a failover. */
const countDuplicates = statement<never>(
  "count_duplicate_events",
  "organization",
  `UPDATE job_event
   SET duplicate_count = duplicate_count + repeated.count, last_duplicate_at = repeated.last_duplicate_at
   FROM json_to_recordset($1) AS repeated (organization_id uuid, job_id uuid, event_number integer,
     last_duplicate_at timestamptz, count integer)
   WHERE job_event.organization_id = ANY($2::uuid[]) AND job_event.job_id = ANY($3::uuid[])
     AND job_event.organization_id = repeated.organization_id AND job_event.job_id = repeated.job_id
     AND job_event.event_number = repeated.event_number`,
);

const consumeEvents = statement<never>(
  "consume_job_events",
  "organization",
  `UPDATE job_event
   SET consumed_at = consumed.consumed_at, consumed_by_branch = consumed.consumed_by_branch,
     consumed_by_step = consumed.consumed_by_step, consumed_by_visit = consumed.consumed_by_visit
   FROM json_to_recordset($1) AS consumed (organization_id uuid, job_id uuid, event_number integer, consumed_at timestamptz,
     consumed_by_branch text, consumed_by_step text, consumed_by_visit integer)
   WHERE job_event.organization_id = ANY($2::uuid[]) AND job_event.job_id = ANY($3::uuid[])
     AND job_event.organization_id = consumed.organization_id AND job_event.job_id = consumed.job_id
     AND job_event.event_number = consumed.event_number`,
);

/**
 * Finds the unmatched events that these jobs keep with these ids. A job's state does not list its unmatched events, because there may be up to
 * `maxEventsPerJob` of them.
 */
export async function findKeptEvents(
  db: Queryable,
  wanted: readonly (JobKey & { readonly eventId: string })[],
): Promise<(JobKey & { readonly eventId: string; readonly eventNumber: number })[]> {
  if (wanted.length === 0) return [];
  const findPart = (part: typeof wanted) =>
    db.query(findEvents, [
      organizationsOf(part),
      part.map(({ organizationId }) => organizationId),
      part.map(({ jobId }) => jobId),
      part.map(({ eventId }) => eventId),
    ]);
  return await askTogether(wanted, findPart, eachAlone);
}

const findEvents = statement<JobKey & { eventId: string; eventNumber: number }>(
  "find_kept_events",
  "organization",
  `SELECT event.*
   FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS wanted (wanted_organization_id, wanted_job_id, wanted_event_id)
   CROSS JOIN LATERAL (
     SELECT organization_id AS "organizationId", job_id AS "jobId", event_id AS "eventId", event_number AS "eventNumber"
     FROM job_event
     WHERE organization_id = ANY($1::uuid[]) AND organization_id = wanted_organization_id AND job_id = wanted_job_id
       AND event_id = wanted_event_id AND outcome = 'unmatched'
     OFFSET 0
   ) AS event`,
);

/** A payload of a kept event. `isLeftOut` is true when this payload and the earlier payloads of the same job together exceed the job's share. */
export interface ReadPayload extends JobKey {
  readonly eventNumber: number;
  readonly payload: JsonValue;
  readonly isLeftOut: boolean;
}

/**
 * Reads the payloads of these events, at most `maxBytes` together. Events without a payload are left out. Several jobs get equal shares of the bound.
 * Throws `TooMuchAtOnceError` when there are several jobs and one of them needs more than its share.
 */
export async function readPayloads(
  transaction: Transaction,
  wanted: readonly (JobKey & { readonly eventNumber: number })[],
  maxBytes: number,
): Promise<ReadPayload[]> {
  if (wanted.length === 0) return [];
  const jobCount = new Set(wanted.map(({ jobId }) => jobId)).size;
  const share = Math.floor(maxBytes / jobCount);
  const readPart = (part: typeof wanted) => {
    const rows = part.map(({ organizationId, jobId, eventNumber }) => ({
      wanted_organization_id: organizationId,
      wanted_job_id: jobId,
      wanted_event_number: eventNumber,
    }));
    return transaction.query(readPayloadRows, [JSON.stringify(rows), organizationsOf(part), share]);
  };
  const read = await askTogether(wanted, readPart, eachAlone);
  if (jobCount > 1 && read.some(({ isLeftOut }) => isLeftOut)) throw new TooMuchAtOnceError(jobCount, maxBytes);
  return read;
}

const readPayloadRows = statement<ReadPayload>(
  "read_event_payloads",
  "organization",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", event_number AS "eventNumber",
     CASE WHEN bytes <= $3 THEN payload END AS payload, bytes > $3 AS "isLeftOut"
   FROM (
     SELECT found.*, sum(octet_length(payload::text)) OVER (PARTITION BY organization_id, job_id ORDER BY event_number) AS bytes
     FROM json_to_recordset($1) AS wanted (wanted_organization_id uuid, wanted_job_id uuid, wanted_event_number integer)
     CROSS JOIN LATERAL (
       SELECT organization_id, job_id, event_number, payload
       FROM job_event
       WHERE organization_id = ANY($2::uuid[]) AND organization_id = wanted_organization_id AND job_id = wanted_job_id
         AND event_number = wanted_event_number AND payload IS NOT NULL
       OFFSET 0
     ) AS found
   ) AS measured`,
);

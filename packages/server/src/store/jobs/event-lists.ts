import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { JobKey } from "./jobs.ts";
import { mostBytes } from "./most-bytes.ts";

export interface KeptEvent {
  readonly eventNumber: number;
  readonly eventId: string;
  /** The payload as JSON text; null when the event has none. */
  readonly payload: string | null;
  readonly outcome: "matched" | "buffered" | "unmatched";
  readonly sentBy: Actor;
  readonly receivedAt: Timestamp;
  readonly duplicateCount: number;
  readonly lastDuplicateAt: Timestamp | null;
  /** The branch of the wait that consumed the event; null for the main line, or when no wait has consumed the event. */
  readonly consumedByBranch: string | null;
  readonly consumedByStep: string | null;
  readonly consumedByVisit: number | null;
  readonly consumedAt: Timestamp | null;
  /** The branch for which the event was sent; null for the main line, or when any wait may take the event. */
  readonly branch: string | null;
  /** The step and the visit for which the event was sent; null when any wait may take it. */
  readonly step: string | null;
  readonly visit: number | null;
}

export interface EventSlice {
  readonly events: readonly KeptEvent[];
  /** True when the slice has fewer than `limit` events because their payloads are large, although more events exist. */
  readonly isCut: boolean;
}

/**
 * Reads the events that are kept for a job and came after the event `afterNumber`, in the order in which they came. Reads at most `limit` events, and
 * fewer when their payloads are large. It reads the first of them in any case.
 */
export async function readEventSlice(
  db: Queryable,
  key: JobKey,
  afterNumber: number,
  limit: number,
): Promise<EventSlice> {
  const rows = await db.query(readEventRows, [key.organizationId, key.jobId, afterNumber, limit, maxSliceSize]);
  const events = rows.map(({ foundCount: _, ...event }) => event);
  return { events, isCut: events.length < (rows[0]?.foundCount ?? 0) };
}

/**
 * A statement reads no further event once the upper bounds (`mostBytes`) of the payloads so far add up to this many bytes. A page of 200 payloads of
 * a MiB each would keep the server and this node from other work for seconds.
 */
const maxSliceSize = 4_000_000;

const readEventRows = statement<KeptEvent & { foundCount: number }>(
  "read_job_events",
  "organization",
  `SELECT event_number AS "eventNumber", event_id AS "eventId", payload::text AS payload, outcome, sent_by AS "sentBy",
     received_at AS "receivedAt", duplicate_count AS "duplicateCount", last_duplicate_at AS "lastDuplicateAt",
     consumed_by_branch AS "consumedByBranch", consumed_by_step AS "consumedByStep", consumed_by_visit AS "consumedByVisit",
     consumed_at AS "consumedAt", for_branch AS branch, for_step AS step, for_visit AS visit, found_count AS "foundCount"
   FROM (
     SELECT found.*, count(*) OVER () AS found_count, sum(bytes) OVER (ORDER BY event_number) - bytes AS bytes_before
     FROM (
       SELECT *, coalesce(${mostBytes("payload")}, 0) AS bytes
       FROM job_event
       WHERE organization_id = $1 AND job_id = $2 AND event_number > $3
       ORDER BY event_number
       LIMIT $4
     ) AS found
   ) AS measured
   WHERE bytes_before < $5
   ORDER BY event_number`,
);

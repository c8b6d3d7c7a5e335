import { maxValuesSize } from "../../core/json/json-size.ts";
import type { Queryable } from "../../store/home/database.ts";
import { type KeptEvent, readEventSlice } from "../../store/jobs/event-lists.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { Portion } from "./job-history.ts";

/**
 * Reads the events with numbers above `after` that a job has received. It reads in portions, so that reads and commits of others can run in between.
 * It reads at most `limit` events, and fewer when their payloads are too large for one answer.
 */
export async function readEvents(
  db: Queryable,
  key: JobKey,
  after: number,
  limit: number,
): Promise<Portion<KeptEvent>> {
  const rows: KeptEvent[] = [];
  let room = maxValuesSize;
  for (;;) {
    const { events, isCut } = await readEventSlice(db, key, rows.at(-1)?.eventNumber ?? after, limit - rows.length);
    for (const event of events) {
      const last = rows.at(-1);
      room -= event.payload?.length ?? 0;
      if (room < 0 && last !== undefined) return { rows, moreAfter: last.eventNumber };
      rows.push(event);
    }
    if (!isCut) return { rows };
  }
}

import { v7 } from "uuid";
import type { Timestamp } from "../core/job-state.ts";

/** A new UUID version 7: ids sort by the time at which they were made, so that the newest-first list is the key's own order. */
export function newId(at: Timestamp): string {
  return v7({ msecs: at });
}

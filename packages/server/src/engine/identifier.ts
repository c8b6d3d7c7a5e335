import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import type { Timestamp } from "../core/job-state.ts";

/** A new UUID version 7: ids sort by the time at which they were made, so that the newest-first list is the key's own order. */
export function newId(at: Timestamp): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += idBytes;
  return v7({ msecs: at, random: pool.subarray(used - idBytes, used) });
}

const idBytes = 16;
/** Random bytes are fetched for many ids at once: one by one they cost more than all else about an id. */
const pool = new Uint8Array(256 * idBytes);
let used = pool.length;

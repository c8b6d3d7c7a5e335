import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import type { Timestamp } from "../core/job/job-state.ts";

/**
 * A new UUID version 7: ids sort by the time at which they were made, so that the newest-first list is the key's own order. Ids that this
 * process makes for one and the same millisecond sort in the order in which they were made, as the entries of one transaction must.
 */
export function newId(at: Timestamp): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += idBytes;
  const random = pool.subarray(used - idBytes, used);
  sequence = at === latest ? sequence + 1 : randomStart(random);
  latest = at;
  return v7({ msecs: at, seq: sequence, random });
}

const idBytes = 16;
/** Random bytes are fetched for many ids at once: one by one they cost more than all else about an id. */
const pool = new Uint8Array(256 * idBytes);
let used = pool.length;

let latest: Timestamp = -1;
let sequence = 0;

/** Leaves the highest of the 32 bits free: a millisecond is too short to count up to it. The library takes other bytes of `random`. */
function randomStart([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): number {
  return ((first & 0x7f) << 24) | (second << 16) | (third << 8) | fourth;
}

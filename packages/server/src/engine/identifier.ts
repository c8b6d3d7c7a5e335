import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import type { Timestamp } from "../core/time.ts";

/**
 * Makes a new UUID version 7. Ids sort by the time at which they were made. So a list with the newest first has the reverse order of the primary
 * key. Ids that this process makes in the same millisecond also sort in the order in which they were made. The audit entries of one transaction need
 * this order.
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
/** Random bytes are fetched for many ids at once, because a fetch for each id would cost more than everything else about the id. */
const pool = new Uint8Array(256 * idBytes);
let used = pool.length;

let latest: Timestamp = -1;
let sequence = 0;

/**
 * The highest of the 32 bits stays 0, so that the number cannot overflow while it counts up within a millisecond. The library itself
 * does not use these four bytes of `random`.
 */
function randomStart([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): number {
  return ((first & 0x7f) << 24) | (second << 16) | (third << 8) | fourth;
}

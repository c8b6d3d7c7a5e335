import type { Replacement } from "./replacement.ts";

/** No organization rests after commands that cost much, and each may decide in one batch for as long as it likes. */
export const withoutTurns: readonly Replacement[] = [
  {
    file: "engine/commit/turns.ts",
    text: "const turnMs = commandCounts.size > 1 ? sharedTurnMs : aloneTurnMs;",
    replacement: "const turnMs = Number.POSITIVE_INFINITY;",
  },
  {
    file: "engine/commit/turns.ts",
    text: "if (now <= shareMs || this.#isAlone(organizationId)) return;",
    replacement: "return;",
  },
  {
    file: "engine/commit/turns.ts",
    text: "if (usedMs > costlyMs) this.#rest(organizationId, begun + tookMs, usedMs * restFactor);",
    replacement: "",
  },
];

/** Long reads go through the lane of all requests, where nobody rests and no organization has a turn. */
export const withoutReadLane: readonly Replacement[] = [
  {
    file: "store/home/pool.ts",
    text: "query: queryBy(reads.forRead(organizationId), options),",
    replacement: "query: queryBy(requests, options),",
  },
];

import type { Replacement } from "./replacement.ts";

/** With these replacements, organizations do not rest after expensive commands, and each may use as much time in one batch as it likes. */
export const withoutTurns: readonly Replacement[] = [
  {
    file: "engine/commit/turns.ts",
    text: "const turnMs = jobCounts.size > 1 ? sharedTurnMs : aloneTurnMs;",
    replacement: "const turnMs = Number.POSITIVE_INFINITY;",
  },
  {
    file: "engine/commit/turns.ts",
    text: "if (now <= shareMs || this.#isAlone(organizationId)) return;",
    replacement: "return;",
  },
  {
    file: "engine/commit/turns.ts",
    text: "if (usedMs > costlyMs) this.#rest(organizationId, begun + tookMs, this.#restAfter(organizationId, usedMs));",
    replacement: "",
  },
  {
    file: "engine/commit/turns.ts",
    text: "if (ms <= costlyMs || this.#isAlone(organizationId)) return;",
    replacement: "return;",
  },
];

/** With this replacement, long reads use the lane of the other requests, in which organizations neither rest nor take turns. */
export const withoutReadLane: readonly Replacement[] = [
  {
    file: "store/home/pool.ts",
    text: "query: queryBy(reads.forRead(organizationId), options),",
    replacement: "query: queryBy(requests, options),",
  },
];

import type { Timestamp } from "../time.ts";
import type { AnyCursor } from "./resume-point.ts";

/**
 * The cursors that a timer moves now. Forks come last: they begin more branches, and these must not delay branches that are running already.
 * Apart from this, the cursors keep their order. `resultsToRead` depends on this order when it chooses the fork whose results are read.
 */
export function dueCursors<One extends AnyCursor>(cursors: readonly One[], at: Timestamp): readonly One[] {
  const due = cursors.filter((cursor) => isDue(cursor, at));
  return [...due.filter((cursor) => !isForked(cursor)), ...due.filter(isForked)];
}

function isDue({ stand }: AnyCursor, at: Timestamp): boolean {
  return stand !== null && "wakeAt" in stand && stand.wakeAt != null && stand.wakeAt <= at;
}

function isForked({ stand }: AnyCursor): boolean {
  return stand?.phase === "forked";
}

import type { Timestamp } from "./job-state.ts";
import type { AnyCursor } from "./resume-point.ts";

/**
 * The cursors that a timer moves now. Forks come last: they begin more branches, which must not keep those that are on their way from their turn. The order is
 * otherwise that of the cursors, by which `resultsToRead` chooses the fork whose results are read.
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

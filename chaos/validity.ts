import type { Operation } from "./operation.ts";

export interface Tally {
  readonly operationCount: number;
  readonly okCount: number;
  /** The number of writes that the service acknowledged. */
  readonly acknowledgedCount: number;
  readonly replayedKeyCount: number;
  readonly earlyEventCount: number;
  readonly duplicateEventCount: number;
}

export function tallyOf(operations: readonly Operation[]): Tally {
  const ok = operations.filter(({ outcome }) => outcome.type === "ok");
  const eventOutcomes = ok.flatMap((operation) =>
    operation.type === "sendEvent" && operation.outcome.type === "ok" ? [operation.outcome.answer.outcome] : [],
  );
  return {
    operationCount: operations.length,
    okCount: ok.length,
    acknowledgedCount: ok.filter(({ type }) => type !== "read").length,
    replayedKeyCount: countRepeated(ok.map(keyOf)),
    earlyEventCount: eventOutcomes.filter((outcome) => outcome === "buffered").length,
    duplicateEventCount: eventOutcomes.filter((outcome) => outcome === "duplicate").length,
  };
}

/** The reasons why a campaign proves nothing: a necessary situation did not occur, or too few operations succeeded. Empty if it is valid. */
export function reasonsWhyVoid(tally: Tally, interruptionCount: number): string[] {
  const needed: readonly [number, string][] = [
    [tally.replayedKeyCount, "no key was replayed"],
    [tally.earlyEventCount, "no event came early"],
    [tally.duplicateEventCount, "no event came twice"],
    [interruptionCount, "no fault occurred during a request"],
  ];
  const reasons = needed.filter(([count]) => count === 0).map(([, reason]) => reason);
  const okShare = tally.okCount / tally.operationCount;
  if (tally.operationCount === 0) reasons.push("no operation was recorded");
  else if (okShare < leastOkShare) reasons.push(`only ${Math.round(okShare * 100)} % of the operations succeeded`);
  return reasons;
}

const leastOkShare = 0.7;

function keyOf(operation: Operation): string | null {
  if (operation.type === "submit") return operation.submission.idempotencyKey;
  return operation.type === "sendEvent" ? operation.sending.idempotencyKey : null;
}

function countRepeated(keys: readonly (string | null)[]): number {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const key of keys) {
    if (key === null) continue;
    if (seen.has(key)) repeated.add(key);
    seen.add(key);
  }
  return repeated.size;
}

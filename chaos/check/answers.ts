import { serverErrorMark } from "../caller.ts";
import type { Operation, Outcome } from "../operation.ts";
import { type Finding, violation } from "./finding.ts";

/** Returns a finding for each answer with 5xx except 503, even if the request was carried out. A service in trouble is allowed to answer 503. */
export function checkAnswers(operations: readonly Operation[]): Finding[] {
  return operations.flatMap(({ type, outcome }) => {
    if (outcome.type !== "info" || !outcome.reason.startsWith(serverErrorMark) || isUnavailable(outcome)) return [];
    return [violation(type, outcome.reason)];
  });
}

export function isUnavailable(outcome: Outcome<unknown>): boolean {
  return outcome.type === "info" && outcome.reason.startsWith(`${serverErrorMark} 503`);
}

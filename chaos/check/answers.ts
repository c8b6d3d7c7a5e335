import { serverErrorMark } from "../caller.ts";
import type { Operation, Outcome } from "../operation.ts";
import { type Finding, violation } from "./finding.ts";

/** A service in trouble may answer 503. Any other 5xx is a defect, even if the request was carried out. */
export function checkAnswers(operations: readonly Operation[]): Finding[] {
  return operations.flatMap(({ type, outcome }) => {
    if (outcome.type !== "info" || !outcome.reason.startsWith(serverErrorMark) || isUnavailable(outcome)) return [];
    return [violation(type, outcome.reason)];
  });
}

export function isUnavailable(outcome: Outcome<unknown>): boolean {
  return outcome.type === "info" && outcome.reason.startsWith(`${serverErrorMark} 503`);
}

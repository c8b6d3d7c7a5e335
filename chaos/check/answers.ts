import { serverErrorMark } from "../caller.ts";
import type { Operation } from "../operation.ts";
import { type Finding, violation } from "./finding.ts";

/** A service in trouble may say 503. Any other 5xx is a defect, though what was asked may have happened all the same. */
export function checkAnswers(operations: readonly Operation[]): Finding[] {
  return operations.flatMap(({ type, outcome }) => {
    if (outcome.type !== "info" || !outcome.reason.startsWith(serverErrorMark)) return [];
    if (outcome.reason.startsWith(`${serverErrorMark} 503`)) return [];
    return [violation(type, outcome.reason)];
  });
}

import { isTerminal } from "../operation.ts";
import type { FinalJob } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import type { JobRecord } from "./ledger.ts";

/** What clients saw of a job on its way: a terminal state is final, and an acknowledged cancellation holds. */
export function checkObservations(job: FinalJob, record: JobRecord | undefined): Finding[] {
  if (record === undefined) return [];
  return [...complaints(job, record)].map((detail) => violation(job.jobId, detail));
}

function* complaints(job: FinalJob, { reads, cancels, sendings }: JobRecord): Generator<string> {
  const seen = reads.flatMap(({ outcome, ...read }) => (outcome.type === "ok" ? [{ ...read, ...outcome.answer }] : []));
  for (const { status } of seen) {
    if (isTerminal(status) && status !== job.status) yield `A client saw it ${status}, and now it is ${job.status}.`;
  }
  for (const { outcome } of cancels) {
    if (outcome.type === "ok" && job.status !== "CANCELLED") yield `It was cancelled, and now it is ${job.status}.`;
  }
  for (const { type, outcome } of [...reads, ...cancels]) {
    if (outcome.type !== "rejected") continue;
    if (type === "cancel" && outcome.httpStatus === 409 && isTerminal(job.status)) continue;
    yield `A client's ${type} was refused: ${outcome.httpStatus} ${outcome.code}; the job is ${job.status}.`;
  }
  const sentLate = [...sendings.values()].flatMap(({ attempts }) => attempts);
  const refusals = [...sentLate, ...cancels].filter(({ outcome }) => outcome.type === "rejected");
  const ends = [...seen.filter(({ status }) => isTerminal(status)), ...refusals].map(({ endedAtMs }) => endedAtMs);
  const knownEndMs = Math.min(...ends);
  for (const { status, startedAtMs } of seen) {
    if (startedAtMs > knownEndMs && !isTerminal(status)) yield `A client saw it ${status} after its end was known.`;
  }
}

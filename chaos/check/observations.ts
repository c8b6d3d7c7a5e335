import { type EventSending, isTerminal } from "../operation.ts";
import type { FinalJob } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import { type JobRecord, mayBeResumed } from "./ledger.ts";

/**
 * Checks the states in which clients saw the job, and the answers to their requests. SUCCEEDED must be final. Without a resume, every terminal state
 * must be final, and an acknowledged cancellation must hold.
 */
export function checkObservations(job: FinalJob, record: JobRecord | undefined): Finding[] {
  if (record === undefined) return [];
  return [...complaints(job, record)].map((detail) => violation(job.jobId, detail));
}

function* complaints(job: FinalJob, record: JobRecord): Generator<string> {
  const { reads, cancels, resumes, sendings } = record;
  const seen = reads.flatMap(({ outcome, ...read }) => (outcome.type === "ok" ? [{ ...read, ...outcome.answer }] : []));
  const isFinal = !mayBeResumed(record);
  for (const { status } of seen) {
    const isEnd = status === "SUCCEEDED" || (isFinal && isTerminal(status));
    if (isEnd && status !== job.status) yield `A client saw it ${status}, and now it is ${job.status}.`;
  }
  for (const { outcome } of isFinal ? cancels : []) {
    if (outcome.type === "ok" && job.status !== "CANCELLED") yield `It was cancelled, and now it is ${job.status}.`;
  }
  for (const { type, outcome } of [...reads, ...cancels, ...resumes]) {
    if (outcome.type !== "rejected") continue;
    const isConflict = outcome.httpStatus === 409 && (!isFinal || isTerminal(job.status));
    if (type !== "read" && isConflict) continue;
    yield `A client's ${type} was refused: ${outcome.httpStatus} ${outcome.code}; the job is ${job.status}.`;
  }
  yield* complaintsAboutResumes(job, record);
  if (!isFinal) return;
  const sentLate = [...sendings.values()].filter(isForTheJob).flatMap(({ attempts }) => attempts);
  const refusals = [...sentLate, ...cancels].filter(({ outcome }) => outcome.type === "rejected");
  const ends = [...seen.filter(({ status }) => isTerminal(status)), ...refusals].map(({ endedAtMs }) => endedAtMs);
  const knownEndMs = Math.min(...ends);
  for (const { status, startedAtMs } of seen) {
    if (startedAtMs > knownEndMs && !isTerminal(status)) yield `A client saw it ${status} after its end was known.`;
  }
}

function* complaintsAboutResumes({ entries }: FinalJob, { resumes }: JobRecord): Generator<string> {
  const count = entries.filter(({ type }) => type === "job.resumed").length;
  const least = resumes.filter(({ outcome }) => outcome.type === "ok").length;
  const most = least + resumes.filter(({ outcome }) => outcome.type === "info").length;
  if (count < least || count > most)
    yield `Its history has ${count} resumes, but the answers to clients allow at least ${least} and at most ${most}.`;
}

/** Tells whether the event is for the whole job. An event for a branch is also rejected when only that branch has ended. */
function isForTheJob({ sending }: { readonly sending: EventSending }): boolean {
  return sending.branch === undefined;
}

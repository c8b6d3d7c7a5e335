import { type EventOutcome, type EventSending, isTerminal, type Outcome } from "../operation.ts";
import type { FinalEvent, FinalJob } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import { type JobRecord, mayBeResumed, type SendingRecord } from "./ledger.ts";

/** Checks that each acknowledged event is listed, that no event is listed more often than its requests explain, and that none is wrongly rejected. */
export function checkEvents(job: FinalJob, record: JobRecord | undefined): Finding[] {
  const byNonce = Map.groupBy(job.events, ({ nonce }) => nonce);
  const findings: Finding[] = [];
  for (const nonce of byNonce.keys()) {
    if (nonce !== undefined && record?.sendings.has(nonce)) continue;
    findings.push(violation(job.jobId, `It lists an event that nobody sent: ${JSON.stringify(byNonce.get(nonce))}.`));
  }
  for (const sending of record?.sendings.values() ?? []) {
    const isForgiven = record !== undefined && mayBeResumed(record);
    findings.push(...checkSending(job, sending, byNonce.get(sending.sending.nonce) ?? [], isForgiven));
  }
  return findings;
}

/** Returns a finding for each acknowledged event of a job that does not exist. */
export function findLostEvents(record: JobRecord): Finding[] {
  return [...record.sendings.values()]
    .filter(({ attempts }) => attempts.some(({ outcome }) => outcome.type === "ok"))
    .map(({ sending }) => lost(sending, "is gone with its job"));
}

/** `isForgiven` is true if a client may have resumed the job. The job may then have been over when the event came, so a refusal with 409 is sound. */
function checkSending(
  job: FinalJob,
  { sending, attempts }: SendingRecord,
  listed: readonly FinalEvent[],
  isForgiven: boolean,
): Finding[] {
  const outcomes = attempts.map(({ outcome }) => outcome);
  const { least, most } = timesToBeListed(sending, outcomes);
  const findings: Finding[] = [];
  if (listed.length < least) findings.push(lost(sending, `is listed ${listed.length} times instead of ${least}`));
  if (listed.length > most) {
    const detail = `Event ${sending.eventId} is listed ${listed.length} times instead of at most ${most}.`;
    findings.push({ kind: "duplicated", subject: job.jobId, detail });
  }
  if (outcomes.some(isDuplicate) && !job.events.some(({ eventId }) => eventId === sending.eventId)) {
    findings.push(lost(sending, "called a duplicate, but no event with this id is listed"));
  }
  for (const { outcome } of attempts) {
    if (outcome.type !== "rejected") continue;
    if (outcome.httpStatus === 409 && (isForgiven || isOver(job, sending))) continue;
    const detail = `Event ${sending.eventId} was refused: ${outcome.httpStatus} ${outcome.code}; the job is ${job.status}.`;
    findings.push(violation(job.jobId, detail));
  }
  if (isRefusedAfterAnswer(sending, attempts)) {
    const detail = `Event ${sending.eventId} was answered, and refused when it was repeated under the same key.`;
    findings.push(violation(job.jobId, detail));
  }
  return findings;
}

/** Tells whether the job has ended, or the wait to which the event was sent has ended. */
function isOver({ status, steps }: FinalJob, { branch, step }: EventSending): boolean {
  if (isTerminal(status)) return true;
  const wait = steps.find((run) => run.branch === branch && run.name === step);
  return wait !== undefined && wait.status !== "successful_but_incomplete" && wait.status !== "running";
}

/**
 * Tells whether a request was rejected although its key had already received an answer. Such a request must get the first answer again, even when the
 * job has ended meanwhile.
 */
function isRefusedAfterAnswer({ idempotencyKey }: EventSending, attempts: SendingRecord["attempts"]): boolean {
  if (idempotencyKey === null) return false;
  const answered = attempts.filter(({ outcome }) => outcome.type === "ok").map(({ endedAtMs }) => endedAtMs);
  const firstAnswerMs = Math.min(...answered);
  return attempts.some(({ outcome, startedAtMs }) => outcome.type === "rejected" && startedAtMs > firstAnswerMs);
}

/**
 * Returns how often the event must be listed at least and at most. With a key, every repetition means the same event. Without a key, an event that is
 * sent again may count as a new one, since the first may have been consumed meanwhile.
 */
function timesToBeListed(
  { idempotencyKey }: EventSending,
  outcomes: readonly EventAnswer[],
): { readonly least: number; readonly most: number } {
  const least = outcomes.filter(isKept).length;
  const most = least + outcomes.filter(({ type }) => type === "info").length;
  return idempotencyKey === null ? { least, most } : { least: Math.min(least, 1), most: Math.min(most, 1) };
}

type EventAnswer = Outcome<{ readonly outcome: EventOutcome }>;

function isKept(outcome: EventAnswer): boolean {
  return outcome.type === "ok" && outcome.answer.outcome !== "duplicate";
}

function isDuplicate(outcome: EventAnswer): boolean {
  return outcome.type === "ok" && outcome.answer.outcome === "duplicate";
}

function lost({ jobId, eventId }: EventSending, what: string): Finding {
  return { kind: "lost", subject: jobId, detail: `Event ${eventId} was acknowledged and ${what}.` };
}

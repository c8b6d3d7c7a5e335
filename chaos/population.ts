import { randomUUID } from "node:crypto";
import {
  type EventSending,
  isTerminal,
  type JobKey,
  type JobStatus,
  type Operation,
  type Submission,
} from "./operation.ts";
import { chance, pick, shuffled, wholeBetween } from "./random.ts";
import { type EventTarget, eventsOf, type WorkflowShape } from "./workflows.ts";

/** The next request of a client. */
export type Intent =
  | { readonly type: "submit"; readonly submission: Submission }
  | { readonly type: "sendEvent"; readonly sending: EventSending }
  | { readonly type: "cancel"; readonly job: JobKey }
  | { readonly type: "resume"; readonly job: JobKey }
  | { readonly type: "read"; readonly job: JobKey };

/** One of the campaign's workflows in one of its organizations. */
export interface Workflow {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly shape: WorkflowShape;
}

/** The jobs that the clients know. All clients share this knowledge, and their next requests are chosen from it. */
export class Population {
  readonly #workflows: readonly Workflow[];
  readonly #jobs = new Map<string, KnownJob>();
  /** The list may contain jobs that have ended; they are removed when they are chosen. */
  readonly #live: KnownJob[] = [];
  readonly #ended: KnownJob[] = [];
  /** The jobs that failed or were cancelled, and were not resumed yet. */
  readonly #stopped: KnownJob[] = [];
  /** Submissions with a key, and events. They are sent again unchanged because their answers were lost, or by chance. */
  readonly #repetitions: Intent[] = [];

  constructor(workflows: readonly Workflow[]) {
    this.#workflows = workflows;
  }

  nextIntent(): Intent {
    const repetition = chance(0.4) ? this.#repetitions.shift() : undefined;
    if (repetition !== undefined) return repetition;
    const roll = Math.random();
    const job = roll < 0.25 ? undefined : this.#liveJob();
    if (job === undefined) return this.#submit();
    if (roll < 0.8) return this.#sendNext(job);
    if (roll < 0.86) return send(job, job.sent.length > 0 ? pick(job.sent) : unknownEvent);
    if (roll < 0.88) return send(job, unknownEvent);
    if (roll < 0.94) return { type: "read", job: keyOf(job) };
    if (roll < 0.96) return { type: "cancel", job: keyOf(job) };
    const stopped = roll < 0.98 ? this.#stopped.pop() : undefined;
    if (stopped !== undefined) return { type: "resume", job: keyOf(stopped) };
    return this.#ended.length > 0 ? sendLate(pick(this.#ended)) : { type: "read", job: keyOf(job) };
  }

  /** Yields a request for each event of at most `count` known jobs that have not ended, even if the event was sent before. */
  *remainingEvents(count: number): Generator<Intent> {
    for (const job of shuffled(this.#live.filter(({ hasEnded }) => !hasEnded)).slice(0, count)) {
      // The outcome of an earlier event may be unknown. The second event is then a duplicate, or replaces the first, which never arrived.
      for (const target of eventsOf(job.shape)) yield send(job, target);
    }
  }

  learn(operation: Operation): void {
    if (operation.type === "submit") this.#learnSubmission(operation);
    else if (operation.type === "sendEvent") this.#learnEvent(operation);
    else if (operation.outcome.type === "ok") this.#learnStatus(operation.job, operation.outcome.answer.status);
    else if (operation.type === "resume" && operation.outcome.type === "info") this.#goOn(operation.job);
  }

  #learnSubmission({ submission, outcome }: Extract<Operation, { type: "submit" }>): void {
    const isRepeatable = submission.idempotencyKey !== null;
    if (isRepeatable && (outcome.type === "info" || (outcome.type === "ok" && chance(0.1)))) {
      this.#repetitions.push({ type: "submit", submission });
    }
    if (outcome.type !== "ok" || this.#jobs.has(outcome.answer.jobId)) return;
    const { organizationId, workflowId } = submission;
    const shape = this.#workflows.find((workflow) => workflow.workflowId === workflowId)?.shape;
    if (shape === undefined) throw new Error(`No workflow ${workflowId} was registered.`);
    const { jobId, status } = outcome.answer;
    const job = { organizationId, jobId, shape, hasEnded: false, unsent: shuffled(eventsOf(shape)), sent: [] };
    this.#jobs.set(jobId, job);
    this.#live.push(job);
    this.#learnStatus(job, status);
  }

  #learnEvent({ sending, outcome }: Extract<Operation, { type: "sendEvent" }>): void {
    const job = this.#jobs.get(sending.jobId);
    const { eventId, step, branch } = sending;
    if (outcome.type === "ok") job?.sent.push({ eventId, ...(step && { step }), ...(branch && { branch }) });
    const isRepeated = outcome.type === "info" || (sending.idempotencyKey !== null && chance(0.1));
    if (isRepeated) this.#repetitions.push({ type: "sendEvent", sending });
    // An event for a branch is also rejected when only the branch has ended.
    const isOver = outcome.type === "rejected" && outcome.httpStatus === 409 && branch === undefined;
    if (isOver && job !== undefined) this.#end(job);
  }

  #learnStatus({ jobId }: JobKey, status: JobStatus): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    if (!isTerminal(status)) this.#goOn(job);
    else if (!job.hasEnded && status !== "SUCCEEDED") this.#stopped.push(job);
    if (isTerminal(status)) this.#end(job);
  }

  /** Notes that a job was resumed, or may have been resumed. */
  #goOn({ jobId }: JobKey): void {
    const job = this.#jobs.get(jobId);
    if (!job?.hasEnded) return;
    job.hasEnded = false;
    this.#live.push(job);
  }

  #end(job: KnownJob): void {
    if (job.hasEnded) return;
    job.hasEnded = true;
    this.#ended.push(job);
    // Late events are sent to only some of the ended jobs, so the others need not be kept.
    if (this.#ended.length > 200) this.#ended.shift();
  }

  #submit(): Intent {
    const { organizationId, workflowId } = pick(this.#workflows);
    const nonce = randomUUID();
    const idempotencyKey = chance(0.5) ? `submit-${nonce}` : null;
    const input = { nonce, count: wholeBetween(1, 1_000_000) };
    const intent: Intent = {
      type: "submit",
      submission: { nonce, organizationId, workflowId, input, idempotencyKey },
    };
    // Another client sends the same request at the same moment, as an impatient proxy does.
    if (idempotencyKey !== null && chance(0.05)) this.#repetitions.unshift(intent);
    return intent;
  }

  #sendNext(job: KnownJob): Intent {
    const target = job.unsent.pop();
    // If no event is left to send, the job is read, to learn whether it has ended.
    return target === undefined ? { type: "read", job: keyOf(job) } : send(job, target);
  }

  /** Picks one of the latest jobs half of the time, so that some jobs come to their end while others grow old. */
  #liveJob(): KnownJob | undefined {
    while (this.#live.length > 0) {
      const oldest = chance(0.5) ? Math.max(0, this.#live.length - 40) : 0;
      const index = wholeBetween(oldest, this.#live.length - 1);
      const job = this.#live[index];
      if (job !== undefined && !job.hasEnded) return job;
      const last = this.#live.pop();
      if (last !== undefined && index < this.#live.length) this.#live[index] = last;
    }
    return undefined;
  }
}

interface KnownJob extends JobKey {
  readonly shape: WorkflowShape;
  hasEnded: boolean;
  /** The events that were not sent yet, in random order, so that some of them come before the job reaches the step that waits for them. */
  readonly unsent: EventTarget[];
  readonly sent: EventTarget[];
}

function keyOf({ organizationId, jobId }: JobKey): JobKey {
  return { organizationId, jobId };
}

/** An id for which no workflow waits. */
const unknownEvent: EventTarget = { eventId: "typo" };

function send({ organizationId, jobId }: JobKey, target: EventTarget): Intent {
  const nonce = randomUUID();
  const idempotencyKey = chance(0.3) ? `event-${nonce}` : null;
  return { type: "sendEvent", sending: { nonce, organizationId, jobId, ...target, idempotencyKey } };
}

function sendLate(job: KnownJob): Intent {
  return send(job, job.sent.length > 0 ? pick(job.sent) : unknownEvent);
}

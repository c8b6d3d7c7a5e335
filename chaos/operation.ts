/** A job that a client wants to submit. Its nonce is in the job's input, so that the job can be found even if the answer was lost. */
export interface Submission {
  readonly nonce: string;
  readonly organizationId: string;
  readonly workflowId: string;
  readonly input: JobInput;
  readonly idempotencyKey: string | null;
}

interface JobInput {
  readonly nonce: string;
  readonly count: number;
}

/** An event that a client wants to send. Its nonce is in the event's payload. */
export interface EventSending {
  readonly nonce: string;
  readonly organizationId: string;
  readonly jobId: string;
  readonly eventId: string;
  /** The name of the wait to which the event is sent, if the wait is for one item of a forEach. `branch` is then the branch of the item. */
  readonly step?: string;
  readonly branch?: string;
  readonly idempotencyKey: string | null;
}

export interface JobKey {
  readonly organizationId: string;
  readonly jobId: string;
}

export type JobStatus = "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELLED";

/**
 * The outcome of a request as far as the client knows it. "info" means that the outcome is unknown after a timeout, a lost connection or a 5xx. The
 * request may or may not have been carried out, and the checks allow both.
 */
export type Outcome<Answer> =
  | { readonly type: "ok"; readonly answer: Answer }
  | { readonly type: "rejected"; readonly httpStatus: number; readonly code: string }
  | { readonly type: "info"; readonly reason: string };

interface Timed {
  readonly client: number;
  /** The time on the clock of the chaos process, in milliseconds since its start. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** One request of a client, as it is recorded. A repetition of a submission or event is an operation of its own. */
export type Operation =
  | (Timed & {
      readonly type: "submit";
      readonly submission: Submission;
      readonly outcome: Outcome<{ readonly jobId: string; readonly status: JobStatus }>;
    })
  | (Timed & {
      readonly type: "sendEvent";
      readonly sending: EventSending;
      readonly outcome: Outcome<{ readonly outcome: EventOutcome }>;
    })
  | (Timed & {
      readonly type: "cancel";
      readonly job: JobKey;
      readonly outcome: Outcome<{ readonly status: JobStatus }>;
    })
  | (Timed & {
      readonly type: "resume";
      readonly job: JobKey;
      readonly outcome: Outcome<{ readonly status: JobStatus }>;
    })
  | (Timed & {
      readonly type: "read";
      readonly job: JobKey;
      readonly outcome: Outcome<{ readonly status: JobStatus }>;
    });

export type EventOutcome = "matched" | "buffered" | "unmatched" | "duplicate";

export function isTerminal(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

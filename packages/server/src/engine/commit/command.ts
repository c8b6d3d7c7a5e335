import type { CallName } from "../../core/job/call.ts";
import type { UntimedFact, Verdict } from "../../core/job/fact.ts";
import type { HistoryEntry } from "../../core/job/history.ts";
import type { Actor, Job, ParentStep, Timestamp } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ServiceError } from "../../core/service-error.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { VersionChoice } from "../../store/workflows/versions.ts";

/** A durable change that somebody asks for. Every one goes through the group commit. */
export type Command = SubmitCommand | FactCommand;

interface CommandFields extends JobKey {
  /** The small answer that a caller gets, and gets again under the same idempotency key. */
  readonly answer: (job: Job, verdict: Verdict) => JsonObject;
  readonly idempotency?: { readonly key: string; readonly requestHash: Buffer };
  /** Written with the change, and only if there is one: a repetition that changes nothing leaves no row. */
  readonly audit?: UntimedAuditEntry;
  /** Payload bytes, for the bound on a batch. */
  readonly bytes: number;
}

export interface SubmitCommand extends CommandFields {
  readonly type: "submit";
  readonly workflowId: string;
  readonly choice: VersionChoice;
  readonly input: JsonObject;
  readonly submittedBy: Actor;
  /** Left out for a job that no other job makes. A child that is there already goes on. */
  readonly origin?: ChildOrigin;
}

/** The call by which a parent makes a child. */
export interface ChildOrigin {
  readonly parent: ParentStep;
  readonly call: CallName;
  readonly isAwaited: boolean;
  /** When the parent's attempt is given up; null where that is never. */
  readonly timeoutAt: Timestamp | null;
}

export interface FactCommand extends CommandFields {
  readonly type: "fact";
  readonly fact: UntimedFact;
}

/** An audit entry before it is in a transaction, which gives it its time. */
export type UntimedAuditEntry = Omit<AuditEntry, "organizationId" | "entryId" | "recordedAt">;

/** The outcome of one command. */
export type Outcome =
  | { readonly type: "done"; readonly answer: JsonObject; readonly job: Job; readonly entries: readonly HistoryEntry[] }
  | { readonly type: "replayed"; readonly answer: JsonObject }
  | { readonly type: "rejected"; readonly error: ServiceError }
  /** Another transaction holds what the command is about: nothing was done, and it is tried again. */
  | { readonly type: "held" }
  /** Its organization has had its time in this batch: nothing was done, and it goes into a later one. */
  | { readonly type: "deferred" }
  /** A defect: the state machine threw. */
  | { readonly type: "failed"; readonly error: unknown };

import type { Actor } from "../../core/actor.ts";
import type { CallName } from "../../core/job/call.ts";
import type { UntimedFact, Verdict } from "../../core/job/fact.ts";
import type { HistoryEntry } from "../../core/job/history.ts";
import type { Job, ParentStep } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { VersionChoice } from "../../store/workflows/versions.ts";

/** A new job, or a durable change of a job's state, that somebody asks for. Every such change goes through the group commit. */
export type Command = SubmitCommand | FactCommand;

interface CommandFields extends JobKey {
  /** Makes the answer for the caller. It is stored with the idempotency key, and a repetition gets it again, so it must be small. */
  readonly answer: (job: Job, verdict: Verdict) => JsonObject;
  readonly idempotency?: { readonly key: string; readonly requestHash: Buffer };
  /** The audit entry. It is written only together with a change, so a repetition that changes nothing leaves no row. */
  readonly audit?: UntimedAuditEntry;
  /** The approximate length in bytes of the input, output or payload that the command brings, for the bound on a batch. */
  readonly bytes: number;
}

export interface SubmitCommand extends CommandFields {
  readonly type: "submit";
  readonly workflowId: string;
  readonly choice: VersionChoice;
  readonly input: JsonObject;
  readonly submittedBy: Actor;
  /** The parent's call that makes this job; left out when the job has no parent. If the job exists already, it continues. */
  readonly origin?: ChildOrigin;
}

/** The call by which a parent makes a child. */
export interface ChildOrigin {
  readonly parent: ParentStep;
  readonly call: CallName;
  readonly isAwaited: boolean;
  /** The time at which the parent's attempt times out; null when it never does. */
  readonly timeoutAt: Timestamp | null;
}

export interface FactCommand extends CommandFields {
  readonly type: "fact";
  readonly fact: UntimedFact;
}

/** An audit entry that has no organization, id and time yet. The batch adds them. */
export type UntimedAuditEntry = Omit<AuditEntry, "organizationId" | "entryId" | "recordedAt">;

export type Outcome =
  | { readonly type: "done"; readonly answer: JsonObject; readonly job: Job; readonly entries: readonly HistoryEntry[] }
  | { readonly type: "replayed"; readonly answer: JsonObject }
  | { readonly type: "rejected"; readonly error: ServiceError }
  /** Another transaction holds a row that the command needs: nothing was done, and the command is tried again. */
  | { readonly type: "held" }
  /** The organization has used its time in this batch: nothing was done, and the command goes into a later batch. */
  | { readonly type: "deferred" }
  /** The state machine threw, which is a defect. */
  | { readonly type: "failed"; readonly error: unknown };

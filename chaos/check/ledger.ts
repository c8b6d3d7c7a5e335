import type { EventSending, JobKey, Operation, Submission } from "../operation.ts";

type Of<Type extends Operation["type"]> = Extract<Operation, { type: Type }>;

export interface SubmissionRecord {
  readonly submission: Submission;
  readonly attempts: Of<"submit">[];
}

export interface SendingRecord {
  readonly sending: EventSending;
  readonly attempts: Of<"sendEvent">[];
}

/** The requests of the clients about one job, with the answers. */
export interface JobRecord {
  readonly key: JobKey;
  /** By nonce. */
  readonly sendings: Map<string, SendingRecord>;
  readonly cancels: Of<"cancel">[];
  readonly resumes: Of<"resume">[];
  readonly reads: Of<"read">[];
}

/** Tells whether a client may have resumed the job after it failed or was cancelled. */
export function mayBeResumed({ resumes }: JobRecord): boolean {
  return resumes.some(({ outcome }) => outcome.type !== "rejected");
}

/** All operations of a campaign: those that submit, and all others grouped by job. */
export interface Ledger {
  /** By nonce. */
  readonly submissions: ReadonlyMap<string, SubmissionRecord>;
  /** By job id. */
  readonly jobs: ReadonlyMap<string, JobRecord>;
}

export function ledgerOf(operations: Iterable<Operation>): Ledger {
  const submissions = new Map<string, SubmissionRecord>();
  const jobs = new Map<string, JobRecord>();
  const recordOf = (key: JobKey) =>
    getOrMake(jobs, key.jobId, () => ({ key, sendings: new Map(), cancels: [], resumes: [], reads: [] }));
  for (const operation of operations) {
    switch (operation.type) {
      case "submit": {
        const { submission } = operation;
        getOrMake(submissions, submission.nonce, () => ({ submission, attempts: [] })).attempts.push(operation);
        break;
      }
      case "sendEvent": {
        const { sending } = operation;
        const { sendings } = recordOf(sending);
        getOrMake(sendings, sending.nonce, () => ({ sending, attempts: [] })).attempts.push(operation);
        break;
      }
      case "cancel":
        recordOf(operation.job).cancels.push(operation);
        break;
      case "resume":
        recordOf(operation.job).resumes.push(operation);
        break;
      case "read":
        recordOf(operation.job).reads.push(operation);
        break;
    }
  }
  return { submissions, jobs };
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

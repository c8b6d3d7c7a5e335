import { isDeepStrictEqual } from "node:util";
import type { StepRunKey, Transition } from "../../packages/server/src/core/job/history.ts";
import { isUnder, levelOf, mainLine } from "../branches.ts";
import type { JobStatus } from "../operation.ts";

/**
 * The state of a job as its history describes it. It is derived without the service's own code, so that it is an independent check of the state
 * machine. Only the types of the entries come from the service, so that the compiler reports each new type that is missing here.
 */
export interface Fold {
  readonly status: JobStatus;
  readonly sequence: number;
  readonly hasStarted: boolean;
  readonly steps: readonly StepFold[];
  readonly eventCount: number;
  /** The events that were received but not consumed, by number. */
  readonly kept: ReadonlyMap<number, KeptEvent>;
  /** The branches that have not continued since the latest resume. Each of them may continue from where it stopped. */
  readonly resumed: ReadonlySet<string>;
}

/** The one wait for which an event was sent. */
export interface EventAddress {
  readonly branch: string;
  readonly step: string;
  readonly visit: number;
}

export interface KeptEvent {
  readonly eventId: string;
  readonly address: EventAddress | undefined;
}

export interface StepFold {
  /** The branch's path; empty for the main line. */
  readonly branch: string;
  readonly name: string;
  readonly visit: number;
  readonly attempt: number;
  /** How often the node or the worker that carried out the step was lost. */
  readonly lostCount: number;
  readonly phase: "running" | "betweenAttempts" | "waiting" | "delayed" | "forked" | "succeeded" | "failed";
  /** Why the step failed for good. */
  readonly error?: StepFailure;
  /** The step was under way when its branch or the job ended. No later entry may name it before the job is resumed. */
  readonly isCut?: true;
  /** How many branches the step has. Undefined for a step without branches. */
  readonly branchCount?: number;
  /** The ids for which the step waits or has waited. */
  readonly eventIds: readonly string[];
  /** The ids of the events that it consumed. */
  readonly consumed: readonly string[];
}

interface StepFailure {
  readonly code: string;
  readonly message: string;
  /** The failure of a branch or of a child job that led to this failure. It has a job id only if a child job failed. */
  readonly cause?: { readonly jobId?: string };
}

export type Entry = { readonly sequence: number } & Transition;

/**
 * Throws `NotAPath` at the first entry that cannot follow those before it. For each event that was sent for a single wait, `addresses` has this wait,
 * by the number of the event.
 */
export function foldHistory(entries: readonly Entry[], addresses: Addresses = new Map()): Fold {
  return entries.reduce((fold, entry) => {
    check(entry.sequence === fold.sequence + 1, entry, `follows number ${fold.sequence}`);
    return { ...next(fold, entry, addresses), sequence: entry.sequence };
  }, nothingYet);
}

export type Addresses = ReadonlyMap<number, EventAddress>;

export class NotAPath extends Error {}

const nothingYet: Fold = {
  status: "PENDING",
  sequence: 0,
  hasStarted: false,
  steps: [],
  eventCount: 0,
  kept: new Map(),
  resumed: new Set(),
};

function next(fold: Fold, entry: Entry, addresses: Addresses): Fold {
  check(
    (entry.type === "job.submitted") === (fold.sequence === 0),
    entry,
    "is wrong here: the first entry, and no other, is job.submitted",
  );
  const isLive = fold.status === "PENDING" || fold.status === "RUNNING";
  const isResumable = fold.status === "FAILED" || fold.status === "CANCELLED";
  check(entry.type === "job.resumed" ? isResumable : isLive, entry, `comes while the job is ${fold.status}`);
  const last = latestIn(fold, mainLine);

  switch (entry.type) {
    case "job.submitted":
      return fold;
    case "job.awaited":
      return fold;
    case "job.started":
      check(!fold.hasStarted && fold.status === "PENDING", entry, "is a second start");
      return { ...fold, hasStarted: true, status: "RUNNING" };
    case "job.resumed":
      return { ...fold, status: "PENDING", resumed: new Set(fold.steps.map(({ branch }) => branch)) };
    case "step.started": {
      const branch = entry.branch ?? mainLine;
      const ofBranch = fold.steps.filter((step) => step.branch === branch);
      check(fold.hasStarted, entry, "comes before the job has started");
      check(
        !ofBranch.some((step) => isUnderWay(step) && step.isCut !== true),
        entry,
        "comes while another step is under way in its branch",
      );
      check(isOpen(fold, branch), entry, "comes in a branch that is not open");
      const visit = ofBranch.filter(({ name }) => name === entry.step).length + 1;
      check(entry.visit === visit, entry, `should be visit ${visit}`);
      const at = { branch, name: entry.step, visit };
      const started: StepFold = { ...at, attempt: 1, lostCount: 0, phase: "running", eventIds: [], consumed: [] };
      return { ...leavingResume(fold, branch), status: "RUNNING", steps: [...fold.steps, started] };
    }
    case "step.attemptStarted": {
      // After a resume, a branch continues with the step that failed or was cut off.
      const isResumed = fold.resumed.has(entry.branch ?? mainLine);
      const step = stepOf(
        fold,
        entry,
        isResumed ? ["failed", "running", "betweenAttempts", "waiting", "delayed", "forked"] : ["betweenAttempts"],
        isResumed,
      );
      check(
        entry.attempt === step.attempt || entry.attempt === step.attempt + 1,
        entry,
        `follows attempt ${step.attempt}`,
      );
      const { isCut: _, ...uncut } = step;
      // A fork continues with its existing branches.
      const phase = step.branchCount === undefined ? "running" : "forked";
      const entered = withStep(fold, { ...uncut, attempt: entry.attempt, phase });
      return { ...leavingResume(entered, step.branch), status: "RUNNING" };
    }
    case "step.interrupted": {
      const step = stepOf(fold, entry, ["running"]);
      return withStep(fold, { ...step, phase: "betweenAttempts", lostCount: step.lostCount + 1 });
    }
    case "step.attemptFailed":
    case "step.handedBack":
      return withStep(fold, { ...stepOf(fold, entry, ["running"]), phase: "betweenAttempts" });
    case "step.waiting": {
      const step = stepOf(fold, entry, ["running"]);
      return withStep(fold, { ...step, phase: "waiting", eventIds: entry.eventIds });
    }
    case "step.forked": {
      const { branchCount } = entry;
      return withStep(fold, { ...stepOf(fold, entry, ["running"]), phase: "forked", branchCount });
    }
    case "step.delayed":
      return withStep(fold, { ...stepOf(fold, entry, ["running"]), phase: "delayed" });
    case "step.succeeded": {
      const step = stepOf(fold, entry, ["running", "waiting", "delayed", "forked"]);
      const numbers = entry.consumed ?? [];
      const consumed = numbers.map(
        (number) => fold.kept.get(number) ?? fail(entry, `consumes event ${number}, which is not there`),
      );
      for (const { address } of consumed) {
        check(isFor(address, step), entry, "consumes an event that was sent for another wait");
      }
      check(new Set(numbers).size === numbers.length, entry, "consumes an event twice");
      const kept = new Map([...fold.kept].filter(([number]) => !numbers.includes(number)));
      const eventIds = consumed.map(({ eventId }) => eventId);
      return { ...ended(fold, { ...step, phase: "succeeded", consumed: eventIds }), kept };
    }
    case "step.failed": {
      const step = stepOf(fold, entry, ["running", "betweenAttempts", "waiting", "delayed", "forked"]);
      return ended(fold, { ...step, phase: "failed", error: entry.error });
    }
    case "event.received": {
      check(entry.eventNumber === fold.eventCount + 1, entry, `should be event ${fold.eventCount + 1}`);
      const { eventId, eventNumber } = entry;
      const address = addresses.get(eventNumber);
      check(!isKept(fold, { eventId, address }), entry, "is kept twice, but should have been called a duplicate");
      const isAwaited = fold.steps.some(
        (step) => isWaiting(step) && step.eventIds.includes(eventId) && isFor(address, step),
      );
      check(isAwaited === (entry.outcome === "matched"), entry, isAwaited ? "is awaited" : "is not awaited");
      const kept = new Map(fold.kept).set(eventNumber, { eventId, address });
      return { ...fold, kept, eventCount: entry.eventNumber };
    }
    case "job.succeeded":
      check(last?.phase === "succeeded", entry, "comes before the last step has succeeded");
      return { ...fold, status: "SUCCEEDED" };
    case "job.failed":
      check(fold.hasStarted, entry, "comes before the job has started");
      check(last === undefined || !isUnderWay(last), entry, "comes while a step is under way");
      return { ...fold, status: "FAILED", steps: fold.steps.map(cut) };
    case "job.cancelled":
      return { ...fold, status: "CANCELLED", steps: fold.steps.map(cut) };
    default:
      return fail(entry satisfies never, "is of an unknown type");
  }
}

export function latestIn({ steps }: Pick<Fold, "steps">, branch: string): StepFold | undefined {
  return steps.findLast((step) => step.branch === branch);
}

export function isWaiting({ phase, isCut }: StepFold): boolean {
  return phase === "waiting" && isCut !== true;
}

/** Tells whether an event with this address may end the wait. */
export function isFor(address: EventAddress | undefined, { branch, name, visit }: StepFold): boolean {
  return address === undefined || (address.branch === branch && address.step === name && address.visit === visit);
}

function isUnderWay({ phase }: StepFold): boolean {
  return phase !== "succeeded" && phase !== "failed";
}

/** Returns the latest step of the entry's branch. The entry may name no other step. */
function stepOf(
  fold: Fold,
  entry: Entry & StepRunKey,
  phases: readonly StepFold["phase"][],
  isResumed = false,
): StepFold {
  const step = latestIn(fold, entry.branch ?? mainLine);
  check(step?.name === entry.step && step.visit === entry.visit, entry, "speaks of a step that is not the latest");
  check(phases.includes(step.phase), entry, `comes while the step is ${step.phase}`);
  check(isResumed || step.isCut !== true, entry, "comes after its branch has ended");
  return step;
}

/** Tells whether the fork of the branch is open. For the branch of an item, the fork must also have this item. */
function isOpen(fold: Fold, branch: string): boolean {
  if (branch === mainLine) return true;
  const { parent, fork, key } = levelOf(branch);
  const around = latestIn(fold, parent);
  const isOne = Number.isNaN(Number(key)) || Number(key) < (around?.branchCount ?? 0);
  return around?.name === fork && around.phase === "forked" && around.isCut !== true && isOne;
}

/** Returns the state after the end of this step. The end of a fork also ends everything that still runs in its branches. */
function ended(fold: Fold, step: StepFold): Fold {
  const { steps, ...others } = withStep(fold, step);
  if (step.branchCount === undefined) return { ...others, steps };
  return { ...others, steps: steps.map((one) => (isUnder(one.branch, step.branch, step.name) ? cut(one) : one)) };
}

function cut(step: StepFold): StepFold {
  return isUnderWay(step) ? { ...step, isCut: true } : step;
}

function leavingResume(fold: Fold, branch: string): Fold {
  return { ...fold, resumed: new Set([...fold.resumed].filter((one) => one !== branch)) };
}

function isKept({ kept }: Fold, event: KeptEvent): boolean {
  return [...kept.values()].some((one) => isDeepStrictEqual(one, event));
}

function withStep(fold: Fold, step: StepFold): Fold {
  const isThis = ({ branch, name, visit }: StepFold) =>
    branch === step.branch && name === step.name && visit === step.visit;
  return { ...fold, steps: fold.steps.map((one) => (isThis(one) ? step : one)) };
}

function check(
  holds: boolean,
  entry: { readonly sequence: number; readonly type: string },
  complaint: string,
): asserts holds {
  if (!holds) fail(entry, complaint);
}

function fail(entry: { readonly sequence: number; readonly type: string }, complaint: string): never {
  throw new NotAPath(`Entry ${entry.sequence} (${entry.type}) ${complaint}.`);
}

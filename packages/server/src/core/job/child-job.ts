import { v5 } from "uuid";
import type { JsonValue } from "../json/json.ts";
import { callOf, type Plan } from "../plan/plan.ts";
import { quoted } from "../problem.ts";
import type { Timestamp } from "../time.ts";
import { type CallName, callsOf, idempotencyKeyOf } from "./call.ts";
import type { ChildOutcome } from "./fact.ts";
import type { BranchError, JobState, StepError } from "./job-state.ts";

/** The largest number of levels of jobs below a job that has no parent. */
export const maxDepth = 10;

/** A visit of a step that makes a child job. */
export interface ChildPlace {
  readonly organizationId: string;
  readonly jobId: string;
  readonly branch: string;
  readonly step: string;
  readonly visit: number;
}

/**
 * The id of the child that a visit of a step makes. It is the same for every attempt and on every node, so that there is only one child. It is a UUID
 * version 7, with a hash in the place of the random bits. Lists of jobs are sorted by id, so the id of a child must be greater than its parent's. The
 * time in the id is therefore 1 ms after the start of the visit, or 1 ms after the time in the parent's id if that is later.
 */
export function childIdOf(place: ChildPlace, visitStartedAt: Timestamp): string {
  const time = (Math.max(visitStartedAt, timeIn(place.jobId)) + 1).toString(16).padStart(12, "0");
  const hash = v5(`${place.organizationId}:${idempotencyKeyOf({ ...place, epoch: 0 })}`, childIds).replaceAll("-", "");
  // The 13th digit of a UUID is its version, and the 17th contains its variant.
  const ends = [`7${hash.slice(0, 3)}`, hash.slice(16, 20), `${hash.slice(3, 12)}${hash.slice(20, 23)}`];
  return [time.slice(0, 8), time.slice(8), ...ends].join("-");
}

/** The milliseconds in a UUID version 7. */
function timeIn(id: string): Timestamp {
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}

/** The namespace of the version 5 UUIDs from which `childIdOf` takes its hashes. */
const childIds = "6c1f0c6e-3b8f-4b0e-9d7a-6f4f6f2f1d51";

/** Returns the outcome of an ended job, as its parent gets it. */
export function outcomeOf(jobId: string, state: JobState, output: JsonValue): ChildOutcome {
  switch (state.status) {
    case "SUCCEEDED":
      return { output };
    case "FAILED": {
      const { code, message, type, step, branch } = state.error;
      const named = type === undefined ? {} : { type };
      const place = branch === undefined ? {} : { branch };
      return { error: { code, message, ...named, jobId, step, ...place } };
    }
    case "CANCELLED": {
      const step = state.cursors[0].stand?.name ?? "";
      return { error: { code: "Cancelled", message: "The job was cancelled.", jobId, step } };
    }
    case "PENDING":
    case "RUNNING":
      throw new Error(`Job ${jobId} has not ended.`);
  }
}

/**
 * The failure of a step whose child job has failed or was cancelled. Its type is the type of the child's error, or the error's code if there is no
 * type. So an `on` in the definition can always name the cause.
 */
export function childFailed(step: string, cause: BranchError): StepError {
  const { code, type, jobId = "" } = cause;
  const named = type === undefined ? code : `${code} (${type})`;
  const how =
    code === "Cancelled" ? "was cancelled." : `failed in ${quoted(cause.step)} with ${named}. ${cause.message}`;
  return {
    code: "ChildFailed",
    type: type ?? code,
    message: `The job ${jobId}, which ${quoted(step)} began, ${how}`,
    cause,
  };
}

/** A child for which its parent does not wait any more, and the ended call that waited for it. */
export interface LeftChild extends CallName {
  readonly childId: string;
}

/**
 * Finds the children that a job left between one of its states and a later one: their calls have ended, but not because the children ended. `told`
 * has the epochs of the calls that ended because their child ended.
 */
export function leftChildren(
  plan: Plan,
  job: { readonly organizationId: string; readonly jobId: string },
  before: JobState,
  after: JobState,
  told: ReadonlySet<number>,
): readonly LeftChild[] {
  if (!plan.makesChildren || before.status !== "RUNNING") return [];
  const ended = endedChildCalls(plan, before, after);
  return ended.flatMap((call) => {
    const stand = before.cursors.find(({ branch }) => branch === call.branch)?.stand;
    if (told.has(call.epoch) || stand?.phase !== "calling" || stand.startedAt === undefined) return [];
    return [{ childId: childIdOf({ ...job, ...call }, stand.startedAt), ...call }];
  });
}

function endedChildCalls(plan: Plan, before: JobState, after: JobState): readonly CallName[] {
  const earlier = callsOf(before).filter(({ step }) => isAwaitedChild(plan, step));
  if (earlier.length === 0) return [];
  const left = new Set(callsOf(after).map(({ epoch }) => epoch));
  return earlier.filter(({ epoch }) => !left.has(epoch));
}

function isAwaitedChild(plan: Plan, name: string): boolean {
  const step = plan.steps.get(name);
  const work = step && callOf(step);
  return work?.by === "job" && work.isAwaited;
}

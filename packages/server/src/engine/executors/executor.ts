import type {
  CallKind,
  DelayKind,
  ExecutorCatalog,
  ForkKind,
  JobKind,
  PassKind,
  TaskKind,
  WaitKind,
} from "../../core/definition/executor-kind.ts";
import type { Failure } from "../../core/job/fact.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";

/**
 * Everything that the service knows about an executor is in one value of this type. So a new executor needs only its own file, an entry in the list
 * in `executors/catalog.ts` and a part of docs/executors.md: the API, the dashboard and the tests read that list.
 */
export type Executor = (PassKind | WaitKind | DelayKind | ForkKind | TaskKind | JobKind | CallExecutor) &
  ExecutorDescription;

/** The description of an executor for people, in addition to the descriptions in its config schema. */
export interface ExecutorDescription {
  /** The executor's name in lists and graphs. */
  readonly title: string;
  /** One sentence that says what a step with this executor does. */
  readonly summary: string;
  /** The config fields that the operator of this service does not allow, each with the setting that would allow it. `checkConfig` refuses them. */
  readonly disallowedConfigFields?: ReadonlyMap<string, string>;
}

export interface CallExecutor extends CallKind {
  /**
   * Makes one attempt. Returns the output or the failure as a value. An exception is a defect and counts as an ordinary failure. `signal` is aborted
   * at the attempt's timeout, on cancellation, and when the node stops.
   */
  readonly call: (request: CallRequest, signal: AbortSignal) => Promise<CallResult>;
  /** Closes connections when the node stops. */
  readonly close?: () => void;
}

/** The longest delay in milliseconds that the platform's timers accept, about 24 days. With a longer delay they fire at once. */
export const maxTimerMs = 2 ** 31 - 1;

export interface CallRequest {
  readonly organizationId: string;
  readonly jobId: string;
  readonly stepName: string;
  readonly visit: number;
  readonly attempt: number;
  /**
   * The key `jobId:stepName:visit`, in a branch `jobId:stepName:visit:path`. It is the same for every attempt of a visit, so that the called service
   * can recognize a repetition.
   */
  readonly idempotencyKey: string;
  readonly config: JsonObject;
  readonly input: JsonValue;
  readonly timeoutMs: number;
}

export type CallResult = { readonly type: "succeeded"; readonly output: JsonValue } | CallFailure;

export interface CallFailure extends Failure {
  readonly type: "failed";
}

export function executorMap(executors: readonly Executor[]): ReadonlyMap<string, Executor> & ExecutorCatalog {
  return new Map(executors.map((executor) => [executor.type, executor]));
}

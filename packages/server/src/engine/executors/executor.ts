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
 * An executor is one file that exports one of these: its type, its texts, its config schema and, where it calls the outside, one function.
 * Adding one touches the list in `executors/catalog.ts` and docs/executors.md, and nothing else: the API, the dashboard and the tests take it from
 * that list.
 */
export type Executor = (PassKind | WaitKind | DelayKind | ForkKind | TaskKind | JobKind | CallExecutor) &
  ExecutorDescription;

/** The texts about an executor for people, besides the descriptions in its config schema. */
export interface ExecutorDescription {
  /** Its name in lists and pictures. */
  readonly title: string;
  /** One sentence that says what a step with this executor does. */
  readonly summary: string;
  /** The config fields that this service's operator does not allow, each with the setting that allows it. `checkConfig` refuses them. */
  readonly disallowedConfigFields?: ReadonlyMap<string, string>;
}

export interface CallExecutor extends CallKind {
  /**
   * Makes one attempt. Answers the output or the failure as a value; what it throws is a defect and counts as an ordinary failure.
   * `signal` is aborted at the attempt's timeout, on cancellation, and when the node leaves.
   */
  readonly call: (request: CallRequest, signal: AbortSignal) => Promise<CallResult>;
  /** Frees connections when the node stops. */
  readonly close?: () => void;
}

export interface CallRequest {
  readonly organizationId: string;
  readonly jobId: string;
  readonly stepName: string;
  readonly visit: number;
  readonly attempt: number;
  /** `jobId:stepName:visit`: the same for every attempt of a visit, so that the called side can tell a repetition. */
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

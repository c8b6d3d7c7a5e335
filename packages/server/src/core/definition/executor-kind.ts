import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Problem } from "../problem.ts";
import type { Delay } from "./delay.ts";

/**
 * The part of an executor that `core` knows. For the kind `call`, the engine adds the function that makes the call. All executors together are the
 * catalog against which definitions are checked.
 *
 * - `pass`: the output is the input; nothing outside is called.
 * - `wait`: the step waits for events.
 * - `delay`: the step sleeps, and its output is its input.
 * - `call`: the engine owes the outside a call, and the outcome comes back as a fact.
 * - `task`: the engine owes the outside a call. A worker that asks for tasks makes it.
 * - `job`: the engine owes the outside a call. A child job does the work of the call.
 * - `fork`: other steps of the definition run side by side in branches. The step ends when all branches have ended, or earlier when its
 *   outcome is certain.
 */
export type ExecutorKind = PassKind | WaitKind | DelayKind | CallKind | TaskKind | JobKind | ForkKind;

interface Kind {
  /** The type in definitions, for example "/service/noop". */
  readonly type: string;
  /** The schema for a step's `config`, in the dialect of `schema.ts`. The API and the editor show its descriptions of the fields. */
  readonly configSchema: JsonObject;
  /** The fields of the config whose texts may have expressions, each with the schema that the field must fit when the expressions have values. */
  readonly expressionFields?: Readonly<Record<string, JsonObject>>;
  /**
   * Finds problems that the schema cannot express. Pointers are relative to the config. A text that has an expression is passed in as it was written.
   */
  readonly checkConfig?: (config: JsonObject) => readonly Problem[];
}

export interface PassKind extends Kind {
  readonly behaviour: "pass";
  /** Whether a step is only useful with an `input` template. */
  readonly needsInput?: boolean;
}

export interface WaitKind extends Kind {
  readonly behaviour: "wait";
  /** Called with a config that fits `configSchema` and in which `checkConfig` finds no problem. */
  readonly waitRule: (config: JsonObject) => WaitRule;
}

export interface DelayKind extends Kind {
  readonly behaviour: "delay";
  /** Called with a config that fits `configSchema` and in which `checkConfig` finds no problem. */
  readonly delayOf: (config: JsonObject) => Delay;
}

export interface CallKind extends Kind {
  readonly behaviour: "call";
  /** The schema of every successful answer, if the executor knows it. */
  readonly resultSchema?: JsonObject;
  /**
   * The timeout of one attempt in milliseconds, if the config has one. Called with a config that fits `configSchema` and in which `checkConfig` finds
   * no problem.
   */
  readonly timeoutMsOf?: (config: JsonObject) => number | undefined;
}

export interface TaskKind extends Kind {
  readonly behaviour: "task";
  /** Called with a config that fits `configSchema` and in which `checkConfig` finds no problem. */
  readonly taskTerms: (config: JsonObject) => TaskTerms;
}

/** The terms on which a task is handed out. */
export interface TaskTerms {
  readonly queue: string;
  /** Of the tasks that wait in one queue, those with the highest priority are handed out first. */
  readonly priority: number;
  /** The time for which a worker holds the task after it took the task or last sent a heartbeat. */
  readonly heartbeatMs: number;
}

export interface JobKind extends Kind {
  readonly behaviour: "job";
  /** Called with a config that fits `configSchema` and in which `checkConfig` finds no problem. */
  readonly childTerms: (config: JsonObject) => ChildTerms;
}

/** The terms on which a step makes its child job. */
export interface ChildTerms {
  /** The name or the id of the child's workflow. */
  readonly workflow: string;
  readonly version: { readonly tag: string } | { readonly versionNumber: number };
  /** Whether the step waits for the child and returns its output. */
  readonly isAwaited: boolean;
}

export interface ForkKind extends Kind {
  readonly behaviour: "fork";
  /** Called with a config that fits `configSchema` and in which `checkConfig` finds no problem. A text with an expression is as it was written. */
  readonly forkRule: (config: JsonObject) => ForkRule;
}

/** The branches of a fork: one for each name, or one for each item of a list. */
export type ForkRule = BranchesRule | ItemsRule;

export interface BranchesRule {
  readonly kind: "branches";
  readonly branches: readonly BranchStart[];
  /** `any` means that the first branch that succeeds ends the step. */
  readonly until: "all" | "any";
}

export interface BranchStart {
  readonly name: string;
  readonly step: string;
}

export interface ItemsRule {
  readonly kind: "items";
  /** The first step of the body. */
  readonly step: string;
  /** The largest number of items that run at the same time. */
  readonly concurrency: number;
  readonly onItemFailure: "fail" | "collect";
  /** The number of items that may fail when failures are collected. Undefined when all may fail. */
  readonly maxFailures: number | undefined;
  readonly output: "list" | "counts";
}

/** The rule of a wait step: the step continues once `requiredCount` of `eventIds` have come. */
export interface WaitRule {
  readonly eventIds: readonly string[];
  readonly requiredCount: number;
  /** Whether expressions give further ids. Those are known only when a job comes to the step. */
  readonly isOpen?: boolean;
  readonly timeoutMs?: number;
  /** For each event id: the `$ref` of the definition that the event's payload must fit. */
  readonly payloadDefinitions?: Readonly<Record<string, JsonValue>>;
}

export type ExecutorCatalog = ReadonlyMap<string, ExecutorKind>;

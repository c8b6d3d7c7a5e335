import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Problem } from "../problem.ts";
import type { Delay } from "./delay.ts";

/**
 * What `core` knows of an executor. The engine's executors extend it with the function that makes the call; a list of
 * them is the catalog that definitions are checked against.
 *
 * - `pass`: the output is the input; nothing outside is called.
 * - `wait`: the step waits for events.
 * - `delay`: the step sleeps, and its output is its input.
 * - `call`: the engine owes the outside a call, and the outcome comes back as a fact.
 * - `task`: the engine owes the outside a call, which a worker that asks for tasks makes.
 * - `job`: the engine owes the outside a call, and another job, a child, brings its outcome.
 * - `fork`: other steps of the definition run side by side, each line of them in a branch, and the step ends with them.
 */
export type ExecutorKind = PassKind | WaitKind | DelayKind | CallKind | TaskKind | JobKind | ForkKind;

interface Kind {
  /** For example "/service/noop". */
  readonly type: string;
  /** A schema in the dialect of `schema.ts` that a step's `config` must satisfy. Its descriptions are what the API and the editor say of each field. */
  readonly configSchema: JsonObject;
  /** The fields of the config in whose texts expressions may stand, each with a schema that what they give must satisfy. */
  readonly expressionFields?: Readonly<Record<string, JsonObject>>;
  /** What the schema cannot say. Pointers are relative to the config. A text with an expression stands as it was written. */
  readonly checkConfig?: (config: JsonObject) => readonly Problem[];
}

export interface PassKind extends Kind {
  readonly behaviour: "pass";
  /** Whether a step is of use only with an `input` that makes something. */
  readonly needsInput?: boolean;
}

export interface WaitKind extends Kind {
  readonly behaviour: "wait";
  /** Called with a config that fits `configSchema` and `checkConfig`. */
  readonly waitRule: (config: JsonObject) => WaitRule;
}

export interface DelayKind extends Kind {
  readonly behaviour: "delay";
  /** Called with a config that fits `configSchema` and `checkConfig`. */
  readonly delayOf: (config: JsonObject) => Delay;
}

export interface CallKind extends Kind {
  readonly behaviour: "call";
  /** The schema that every answer fits which is no failure, where the executor knows it. */
  readonly resultSchema?: JsonObject;
  /** The timeout of one attempt in milliseconds, where the config has one. Called with a config that fits `configSchema` and `checkConfig`. */
  readonly timeoutMsOf?: (config: JsonObject) => number | undefined;
}

export interface TaskKind extends Kind {
  readonly behaviour: "task";
  /** Called with a config that fits `configSchema` and `checkConfig`. */
  readonly taskTerms: (config: JsonObject) => TaskTerms;
}

/** How a task is handed out. */
export interface TaskTerms {
  readonly queue: string;
  /** Tasks with the highest priority among those that wait in one queue are handed out first. */
  readonly priority: number;
  /** How long a worker holds the task after it took it, or was heard of last. */
  readonly heartbeatMs: number;
}

export interface JobKind extends Kind {
  readonly behaviour: "job";
  /** Called with a config that fits `configSchema` and `checkConfig`. */
  readonly childTerms: (config: JsonObject) => ChildTerms;
}

/** The job that a step makes. */
export interface ChildTerms {
  /** The name or the id of its workflow. */
  readonly workflow: string;
  readonly version: { readonly tag: string } | { readonly versionNumber: number };
  /** Whether the step waits for it, and gives its output. */
  readonly isAwaited: boolean;
}

export interface ForkKind extends Kind {
  readonly behaviour: "fork";
  /** Called with a config that fits `configSchema` and `checkConfig`. Where expressions give the items, it has none. */
  readonly forkRule: (config: JsonObject) => ForkRule;
}

/** The branches of a fork: one for each name, or one for each item of a list. */
export type ForkRule = BranchesRule | ItemsRule;

export interface BranchesRule {
  readonly kind: "branches";
  readonly branches: readonly BranchStart[];
  /** `any`: the first branch that succeeds ends the step. */
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
  /** How many items run at once at most. */
  readonly concurrency: number;
  readonly onItemFailure: "fail" | "collect";
  /** How many items may fail where failures are collected; undefined where all may. */
  readonly maxFailures: number | undefined;
  readonly output: "list" | "counts";
}

/** What a wait step waits for: it goes on when `requiredCount` of `eventIds` are here. */
export interface WaitRule {
  readonly eventIds: readonly string[];
  readonly requiredCount: number;
  /** Whether more ids are given by expressions, so that they are known only when a job comes to the step. */
  readonly isOpen?: boolean;
  readonly timeoutMs?: number;
  /** By event id: the `$ref` of the definition that the event's payload must satisfy. */
  readonly payloadDefinitions?: Readonly<Record<string, JsonValue>>;
}

export type ExecutorCatalog = ReadonlyMap<string, ExecutorKind>;

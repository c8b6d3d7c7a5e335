import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Schema } from "../schema/schema.ts";
import type { OpenFields, Resolvable } from "./config-template.ts";
import type { Delay } from "./delay.ts";
import type { BranchStart, ChildTerms, ForkRule, TaskTerms, WaitRule } from "./executor-kind.ts";
import type { RetryPolicy } from "./failures/retry.ts";
import type { PayloadSchemas } from "./payload-schemas.ts";

export type StepWork = PassWork | WaitWork | DelayWork | CallWork | ForkWork;

/** The output is the input; nothing outside is called. */
export interface PassWork {
  readonly kind: "pass";
}

export interface WaitWork {
  readonly kind: "wait";
  /** The rule, with the timeout if the step has one. When expressions give ids, the rule has only the ids that are written out. */
  readonly rule: WaitRule;
  /** Undefined when no expression gives an id. */
  readonly openRule: Resolvable<WaitRule> | undefined;
  readonly payloadSchemas: PayloadSchemas;
}

/** The step sleeps. The output is the input. */
export interface DelayWork {
  readonly kind: "delay";
  readonly delay: Delay | Resolvable<Delay>;
}

/** The engine owes a call to the outside. */
export type CallWork = NodeCallWork | TaskWork | ChildWork;

/** A node makes the call. */
export interface NodeCallWork extends CallFields {
  readonly by: "node";
  /** The config of the step. A text with an expression stays as it was written. */
  readonly config: JsonObject;
  /** The fields of the config that have expressions; undefined when there are none. */
  readonly openConfig: OpenFields | undefined;
}

/** A worker that asks the service for tasks makes the call. */
export interface TaskWork extends CallFields {
  readonly by: "worker";
  readonly terms: TaskTerms | Resolvable<TaskTerms>;
}

/** A node creates a child job, which does the work of the call. If the step waits for the child, the child reports the outcome when it ends. */
export interface ChildWork extends CallFields {
  readonly by: "job";
  readonly terms: ChildTerms | Resolvable<ChildTerms>;
  /** Whether the step waits until the child ends. Otherwise it ends as soon as the child exists. */
  readonly isAwaited: boolean;
}

interface CallFields {
  readonly kind: "call";
  /** The schema of every raw result; undefined when the executor has none. */
  readonly resultSchema: Schema | undefined;
  /** Undefined when the definition has none. */
  readonly retry: RetryPolicy | undefined;
  /**
   * The timeout of one attempt; undefined when the definition has none. For a task or a child, it counts from the time when the task or child is due.
   */
  readonly timeoutMs: number | undefined;
}

/** Other steps of the definition run side by side. The engine makes the result from the results of their branches. */
export interface ForkWork {
  readonly kind: "fork";
  readonly rule: ForkRule;
  /** The items of a list; empty when the branches have names. */
  readonly items: readonly JsonValue[] | Resolvable<ItemList>;
}

/** The items in an object, because a config always resolves to an object. */
export interface ItemList {
  readonly items: readonly JsonValue[];
}

/** The first steps of a step's branches, in their order. Empty when the step is not a fork. A forEach has one first step, without a branch name. */
export function startsOf(
  work: StepWork | undefined,
): readonly (Omit<BranchStart, "name"> & { readonly name?: string })[] {
  if (work?.kind !== "fork") return [];
  return work.rule.kind === "branches" ? work.rule.branches : [{ step: work.rule.step }];
}

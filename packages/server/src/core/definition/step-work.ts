import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Schema } from "../schema/schema.ts";
import type { OpenFields, Resolvable } from "./config-template.ts";
import type { Delay } from "./delay.ts";
import type { BranchStart, ChildTerms, ForkRule, TaskTerms, WaitRule } from "./executor-kind.ts";
import type { PayloadSchemas } from "./payload-schemas.ts";
import type { RetryPolicy } from "./retry.ts";

/** The work of a step: each kind has exactly the fields that it needs. */
export type StepWork = PassWork | WaitWork | DelayWork | CallWork | ForkWork;

/** The output is the input; nothing outside is called. */
export interface PassWork {
  readonly kind: "pass";
}

/** The step waits for events. */
export interface WaitWork {
  readonly kind: "wait";
  /** The rule, with the timeout of the step if it has one. Where expressions give ids, it has only the other ones. */
  readonly rule: WaitRule;
  /** Undefined where no id is given by an expression. */
  readonly openRule: Resolvable<WaitRule> | undefined;
  readonly payloadSchemas: PayloadSchemas;
}

/** The step sleeps. The output is the input. */
export interface DelayWork {
  readonly kind: "delay";
  readonly delay: Delay | Resolvable<Delay>;
}

/** The engine owes the outside a call. */
export type CallWork = NodeCallWork | TaskWork | ChildWork;

/** A node makes the call. */
export interface NodeCallWork extends CallFields {
  readonly by: "node";
  /** Fits the config schema of the step's executor. */
  readonly config: JsonObject;
  /** The fields of the config that hold expressions; undefined where none does. */
  readonly openConfig: OpenFields | undefined;
}

/** A worker that asks the service for tasks makes the call. */
export interface TaskWork extends CallFields {
  readonly by: "worker";
  readonly terms: TaskTerms | Resolvable<TaskTerms>;
}

/** A child job makes the call: a node begins the child, and the child's end brings the outcome. */
export interface ChildWork extends CallFields {
  readonly by: "job";
  readonly terms: ChildTerms | Resolvable<ChildTerms>;
  /** Whether the step ends with the child, and not as soon as there is one. */
  readonly isAwaited: boolean;
}

interface CallFields {
  readonly kind: "call";
  /** The schema that every raw result fits; undefined where the executor does not say. */
  readonly resultSchema: Schema | undefined;
  /** Undefined where the definition has none. */
  readonly retry: RetryPolicy | undefined;
  /** The timeout of one attempt; undefined where the definition has none. Those of a task and of a child count from when they are due. */
  readonly timeoutMs: number | undefined;
}

/** Other steps of the definition run side by side. The engine makes the result of what they give. */
export interface ForkWork {
  readonly kind: "fork";
  readonly rule: ForkRule;
  /** The items of a list; empty where the branches have names. */
  readonly items: readonly JsonValue[] | Resolvable<ItemList>;
}

/** An object, since what a config resolves to is one. */
export interface ItemList {
  readonly items: readonly JsonValue[];
}

/** The steps at which branches of a step begin, in their order; none for a step that is no fork. The one start of a body has no name. */
export function startsOf(
  work: StepWork | undefined,
): readonly (Omit<BranchStart, "name"> & { readonly name?: string })[] {
  if (work?.kind !== "fork") return [];
  return work.rule.kind === "branches" ? work.rule.branches : [{ step: work.rule.step }];
}

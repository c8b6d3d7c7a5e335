import type { Schema } from "../../schema/node.ts";
import type { TypingBudget } from "./typing-budget.ts";

/** The types of the values that an expression can read at one place of a definition, known before a job runs. */
export interface TypeScope {
  readonly input: PartType;
  readonly output: PartType;
  readonly result: PartType;
  readonly error: PartType;
  /** The item, and below it the index, of the innermost forEach around the step. */
  readonly item: PartType;
  readonly index: PartType;
  readonly job: PartType;
  /** Undefined when the definition has no such step, or none that this expression can name. */
  readonly step: (name: string) => StepTypes | undefined;
  /** The fork whose branches contain a step that this expression cannot name; undefined where there is no such step. */
  readonly forkAround: (name: string) => string | undefined;
  /** The steps that can be named, for a hint when a name is wrong. */
  readonly stepNames: Iterable<string>;
  /** Undefined when no step of the definition waits for this event. */
  readonly event: (eventId: string) => EventTypes | undefined;
  readonly eventIds: Iterable<string>;
  /** Undefined when the step is not in the body of such a forEach. */
  readonly fork: (name: string) => ForkTypes | undefined;
  readonly forkNames: Iterable<string>;
  /** Shared by the expressions of a definition. */
  readonly budget?: TypingBudget;
}

/** Whether a part is present when the expression is evaluated, and the schema that it then fits. */
export interface PartType {
  readonly presence: "always" | "maybe" | "never";
  readonly schema: Schema;
}

export interface StepTypes {
  readonly output: PartType;
  readonly input: PartType;
  readonly error: PartType;
}

export interface ForkTypes {
  readonly item: PartType;
  readonly index: PartType;
}

/** The types of an event. `presence` says whether the event was consumed; its payload may still be absent. */
export interface EventTypes {
  readonly presence: PartType["presence"];
  readonly payload: PartType;
}

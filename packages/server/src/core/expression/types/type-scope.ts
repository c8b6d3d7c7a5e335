import type { Schema } from "../../schema/node.ts";
import type { TypingBudget } from "./typing-budget.ts";

/** The types of the values that an expression can read at one place of a definition. They are known before a job runs. */
export interface TypeScope {
  readonly input: PartType;
  readonly output: PartType;
  readonly result: PartType;
  readonly error: PartType;
  /** The item of the innermost forEach around the step, and (as `index`) the item's position. */
  readonly item: PartType;
  readonly index: PartType;
  readonly job: PartType;
  /** Undefined when the definition has no step with this name, or when this expression cannot name it. */
  readonly step: (name: string) => StepTypes | undefined;
  /** If this expression cannot name the step: the outermost fork that is around the step, but not around this expression. Undefined otherwise. */
  readonly forkAround: (name: string) => string | undefined;
  /** The names of the definition's steps, for a hint when a name is wrong. */
  readonly stepNames: Iterable<string>;
  /** Undefined when no step of the definition can wait for this event. */
  readonly event: (eventId: string) => EventTypes | undefined;
  readonly eventIds: Iterable<string>;
  /** Undefined when this expression is not in the body of a forEach with this name. */
  readonly fork: (name: string) => ForkTypes | undefined;
  readonly forkNames: Iterable<string>;
  /** Shared by the expressions of a definition. */
  readonly budget?: TypingBudget;
}

/** Whether a part is present when the expression is evaluated, and the schema that its value fits. */
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

/** The types of an event. `presence` says whether the event was consumed. Even if it was, it may have no payload. */
export interface EventTypes {
  readonly presence: PartType["presence"];
  readonly payload: PartType;
}

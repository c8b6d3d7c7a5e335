import type { Schema } from "../../schema/node.ts";
import type { TypingBudget } from "./typing-budget.ts";

/** The types, known before a job runs, of what an expression can read at one place of a definition. */
export interface TypeScope {
  readonly input: PartType;
  readonly output: PartType;
  readonly result: PartType;
  readonly error: PartType;
  /** The innermost forEach around the step gives it these. */
  readonly item: PartType;
  readonly index: PartType;
  readonly job: PartType;
  /** Undefined when the definition has no such step, or none that can be named from here. */
  readonly step: (name: string) => StepTypes | undefined;
  /** The fork in whose branches a step stands that cannot be named from here; undefined where there is no such step. */
  readonly forkAround: (name: string) => string | undefined;
  /** The steps that can be named, for a hint at the one that was meant. */
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

/** Whether something is there when the expression is evaluated, and what it fits if it is. */
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

/** `presence` says whether the event was consumed; the payload may be absent although it was. */
export interface EventTypes {
  readonly presence: PartType["presence"];
  readonly payload: PartType;
}

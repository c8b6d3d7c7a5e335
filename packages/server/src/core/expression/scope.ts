import type { JsonObject, JsonValue } from "../json/json.ts";

/**
 * The values that an expression can read. Each part is asked for only when an evaluation comes to it, so that a getter can fetch it late; undefined
 * means that it is not there.
 */
export interface Scope {
  /** The job's input. */
  readonly input: JsonValue;
  /** The newest visit of a step; undefined when it did not run. */
  readonly step: (name: string) => StepValues | undefined;
  /** The newest event of this id that the job consumed; undefined when none came. */
  readonly event: (eventId: string) => EventValues | undefined;
  /** This step's output and raw result, once it has them. */
  readonly output: JsonValue | undefined;
  readonly result: JsonValue | undefined;
  /** The failure that led here, on the way after `onFailure`. */
  readonly error: JsonValue | undefined;
  /** The item of the innermost forEach around the step, and its place in the list. */
  readonly item: JsonValue | undefined;
  readonly index: JsonValue | undefined;
  /** Answers the item and the index that a forEach around the step gives it; undefined where there is none of that name. */
  readonly fork: (name: string) => ForkValues | undefined;
  readonly job: JsonObject;
  /** The time of the evaluation, in milliseconds since 1970. */
  readonly now: number;
}

export interface StepValues {
  readonly output?: JsonValue | undefined;
  readonly input?: JsonValue | undefined;
  readonly error?: JsonValue | undefined;
}

export interface ForkValues {
  readonly item: JsonValue;
  readonly index: number;
}

export interface EventValues {
  readonly payload?: JsonValue | undefined;
  /** The time at which it was sent, as RFC 3339. */
  readonly sentAt: string;
}

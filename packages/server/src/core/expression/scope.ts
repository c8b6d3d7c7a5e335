import type { JsonObject, JsonValue } from "../json/json.ts";

/**
 * The values that an expression can read. A part is read only when an evaluation needs it, so a getter can make it at that time. Undefined means that
 * the part is absent.
 */
export interface Scope {
  /** The job's input. */
  readonly input: JsonValue;
  /** A step's newest visit that has ended, but with the `input` of the present visit if it is this step. Undefined when the step never began. */
  readonly step: (name: string) => StepValues | undefined;
  /** The newest event of this id that the job consumed; undefined when none came. */
  readonly event: (eventId: string) => EventValues | undefined;
  /** The output and the raw result of this step, once it has them. */
  readonly output: JsonValue | undefined;
  readonly result: JsonValue | undefined;
  /** The failure after which `onFailure` led to this step. */
  readonly error: JsonValue | undefined;
  /** The item of the innermost forEach around the step, and its position in the list. */
  readonly item: JsonValue | undefined;
  readonly index: JsonValue | undefined;
  /** Returns the item and the index of the forEach with this name around the step; undefined when there is none. */
  readonly fork: (name: string) => ForkValues | undefined;
  readonly job: JsonObject;
  /** The time of the evaluation, or in a step's config the time at which the visit began. In milliseconds since 1970. */
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
  /** The time at which the event was sent, as RFC 3339. */
  readonly sentAt: string;
}

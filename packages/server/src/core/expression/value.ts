import { isJsonObject, type JsonValue } from "../json/json.ts";
import { allTypes, describeTypes, type TypeSet, typeOf, typeSets } from "../schema/type-set.ts";
import type { Budget } from "./budget.ts";
import { fail } from "./failure.ts";

/** A value during an evaluation. Lists and maps hold only JSON, so a timestamp or duration in one of them is a text. */
export type Value = JsonValue | Timestamp | Duration;

/** An instant, in milliseconds since 1970. */
export class Timestamp {
  readonly at: number;

  constructor(at: number) {
    if (!(at >= firstInstant && at <= lastInstant)) fail("is a time outside the years 1 to 9999", "range");
    this.at = at;
  }

  /** The time as RFC 3339 in UTC with milliseconds. All such texts have the same length, so sorting the texts sorts the times. */
  get text(): string {
    return new Date(this.at).toISOString();
  }
}

/** A span of time, in whole milliseconds. */
export class Duration {
  readonly ms: number;

  constructor(ms: number) {
    if (!(Math.abs(ms) <= maxDurationMs)) fail("is a duration of more than 10,000 years", "range");
    // Adding 0 turns -0 into 0, so that a duration of zero has only one form.
    this.ms = ms + 0;
  }

  get text(): string {
    return `${this.ms / 1000}s`;
  }
}

const firstInstant = Date.parse("0001-01-01T00:00:00.000Z");
const lastInstant = Date.parse("9999-12-31T23:59:59.999Z");
const maxDurationMs = 10_000 * 366 * 24 * 3_600_000;

/** A set of the types of values, as bits: the types of JSON, and two more. */
export type Kinds = TypeSet;
export const kinds = { ...typeSets, timestamp: 128, duration: 256 } as const;
export const anyKind: Kinds = allTypes | kinds.timestamp | kinds.duration;
export const timeKinds: Kinds = kinds.timestamp | kinds.duration;

export function kindOf(value: Value): Kinds {
  if (value instanceof Timestamp) return kinds.timestamp;
  if (value instanceof Duration) return kinds.duration;
  return typeOf(value);
}

/** Returns words for the kinds, such as "a string or a timestamp". */
export function describeKinds(set: Kinds): string {
  if ((set & anyKind) === anyKind || set === allTypes) return "anything";
  const words = [
    ...((set & allTypes) === 0 ? [] : [describeTypes(set & allTypes)]),
    ...((set & kinds.timestamp) === 0 ? [] : ["a timestamp"]),
    ...((set & kinds.duration) === 0 ? [] : ["a duration"]),
  ];
  return words.join(" or ");
}

/** Returns the value as JSON, in which timestamps and durations are texts. */
export function toJson(value: Value, budget: Budget): JsonValue {
  if (!(value instanceof Timestamp || value instanceof Duration)) return value;
  budget.spend(unitsPerTimeText);
  return value.text;
}

const unitsPerTimeText = 18;

/** Whether the value is a map. Timestamps and durations are JavaScript objects, but not maps. */
export function isMap(value: Value): value is { [key: string]: JsonValue } {
  return !(value instanceof Timestamp) && !(value instanceof Duration) && isJsonObject(value);
}

/** Returns the number. Fails if the number is so large that digits may get lost. */
export function numberWithin(value: number): number {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    fail(`is a number beyond ±${Number.MAX_SAFE_INTEGER}, where digits get lost`, "range");
  }
  return value + 0;
}

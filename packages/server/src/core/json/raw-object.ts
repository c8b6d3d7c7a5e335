import { type ExactPlace, type ProblemList, pointerTo, quoted } from "../problem.ts";
import { type JsonObject, type JsonType, type JsonValue, jsonTypeOf } from "./json.ts";

/**
 * An object in a user's document, with its fields, its place and the list for its problems. A method that reads a field returns undefined when the
 * field is missing or wrong. A wrong field is also refused.
 */
export class RawObject {
  readonly fields: JsonObject;
  readonly pointer: string;
  readonly #problems: ProblemList;

  constructor(fields: JsonObject, pointer: string, problems: ProblemList) {
    this.fields = fields;
    this.pointer = pointer;
    this.#problems = problems;
  }

  pointerTo(field: string): string {
    return pointerTo(this.pointer, field);
  }

  refuse(field: string, detail: string, at?: ExactPlace): void {
    this.#problems.add(this.pointerTo(field), detail, at);
  }

  refuseAt(pointer: string, detail: string): void {
    this.#problems.add(pointer, detail);
  }

  /** A hint for the end of a sentence about an unknown name. It names the candidate that was perhaps meant. */
  hint(name: string, candidates: Iterable<string>): string {
    return this.#problems.hint(name, candidates);
  }

  /**
   * Refuses unknown fields. `role` says what the known fields are, for example "a field of a step". `familiarWords` translates words of other
   * workflow languages.
   */
  refuseUnknown(known: ReadonlySet<string>, role: string, familiarWords?: FamiliarWords): void {
    for (const field of Object.keys(this.fields)) {
      if (known.has(field)) continue;
      const ours = familiarWords?.(field);
      this.refuse(field, `is not ${role}${ourWord(field, ours, known) ?? this.hint(field, known)}`);
      if (this.#problems.isFull) return;
    }
  }

  number(field: string): number | undefined {
    return this.numberWhere(field, () => true, "a number");
  }

  /** Reads a length or a count: a whole number, 0 or more. */
  count(field: string): number | undefined {
    return this.numberWhere(field, (value) => Number.isInteger(value) && value >= 0, "a whole number, 0 or more");
  }

  numberWhere(field: string, isRight: (value: number) => boolean, wanted: string): number | undefined {
    const value = this.fields[field];
    if (typeof value !== "number") return this.#refuseWrong(field, value, wanted);
    if (isRight(value)) return value;
    this.refuse(field, `must be ${wanted}`);
    return undefined;
  }

  text(field: string): string | undefined {
    const value = this.fields[field];
    return typeof value === "string" ? value : this.#refuseWrong(field, value, "a string");
  }

  boolean(field: string): boolean | undefined {
    const value = this.fields[field];
    return typeof value === "boolean" ? value : this.#refuseWrong(field, value, "true or false");
  }

  names(field: string): readonly string[] | undefined {
    const value = this.fields[field];
    const isNames = Array.isArray(value) && value.every((name) => typeof name === "string");
    if (isNames && new Set(value).size === value.length) return value;
    return this.#refuseWrong(field, value, "a list of different strings");
  }

  list(field: string, wanted: string): readonly JsonValue[] | undefined {
    const value = this.fields[field];
    return Array.isArray(value) ? value : this.#refuseWrong(field, value, wanted);
  }

  object(field: string): RawObject | undefined {
    const value = this.fields[field];
    const isObject = value !== undefined && jsonTypeOf(value) === "object";
    if (isObject) return new RawObject(value as JsonObject, this.pointerTo(field), this.#problems);
    return this.#refuseWrong(field, value, "an object");
  }

  /** Refuses a missing field; `hint` says what the field is for. Returns whether the field is present. */
  require(field: string, hint: string): boolean {
    if (this.fields[field] !== undefined) return true;
    this.refuse(field, `is required: ${hint}`);
    return false;
  }

  #refuseWrong(field: string, value: JsonValue | undefined, wanted: string): undefined {
    if (value !== undefined) this.refuse(field, `must be ${wanted}, but is ${describeValue(value)}`);
  }
}

/** Returns our word for a word of another workflow language. */
export type FamiliarWords = (written: string) => string | undefined;

/**
 * Makes a hint for the end of a sentence about an unknown name, such as "; `backoff` is `retry.backoffRate` here". `ours` is a name, a path that
 * begins with a name, or a phrase. Undefined when `ours` is undefined, or when the name in `ours` is not known at this place.
 */
export function ourWord(
  written: string,
  ours: string | undefined,
  known: { has(name: string): boolean },
): string | undefined {
  if (ours === undefined) return undefined;
  const isPhrase = ours.includes(" ");
  if (!isPhrase && !known.has(ours.replace(/\..*/, ""))) return undefined;
  return `; ${quoted(written)} is ${isPhrase ? ours : `\`${ours}\``} here`;
}

/** Describes the type of a value without the value itself, for example "a number". */
export function describeValue(value: JsonValue): string {
  return typeWords[jsonTypeOf(value)];
}

const typeWords: Readonly<Record<JsonType, string>> = {
  object: "an object",
  array: "an array",
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  null: "null",
};

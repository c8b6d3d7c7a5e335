import type { JsonValue } from "../json/json.ts";

/**
 * A set of types as bits. Numbers are divided into whole numbers and fractions. So `integer` is a subset of `number`, and sets can be intersected and
 * compared without special cases.
 */
export type TypeSet = number;

const nullType = 1;
const booleanType = 2;
const wholeNumber = 4;
const fraction = 8;
const stringType = 16;
const arrayType = 32;
const objectType = 64;

export const typeSets = {
  null: nullType,
  boolean: booleanType,
  whole: wholeNumber,
  fraction,
  number: wholeNumber | fraction,
  string: stringType,
  array: arrayType,
  object: objectType,
} as const;

export const noTypes: TypeSet = 0;
export const allTypes: TypeSet = 127;

/** The values of the keyword `type`. */
export const typesByName: ReadonlyMap<string, TypeSet> = new Map([
  ["null", nullType],
  ["boolean", booleanType],
  ["integer", wholeNumber],
  ["number", wholeNumber | fraction],
  ["string", stringType],
  ["array", arrayType],
  ["object", objectType],
]);

export function typeOf(value: JsonValue): TypeSet {
  switch (typeof value) {
    case "string":
      return stringType;
    case "number":
      return Number.isInteger(value) ? wholeNumber : fraction;
    case "boolean":
      return booleanType;
    default:
      if (value === null) return nullType;
      return Array.isArray(value) ? arrayType : objectType;
  }
}

/** Describes types for the middle of a sentence, for example "a string, an array or null". */
export function describeTypes(types: TypeSet): string {
  if (types === allTypes) return "anything";
  const words = wordings.filter(([set]) => (types & set) === set).map(([, word]) => word);
  // When numbers of both kinds are possible, only "a number" is shown.
  const numbers = new Set(["an integer", "a number with a fraction"]);
  const shown = words.includes("a number") ? words.filter((word) => !numbers.has(word)) : words;
  return joinWords(shown, "or");
}

export function joinWords(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length < 2) return words[0] ?? "nothing";
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}

const wordings: readonly (readonly [TypeSet, string])[] = [
  [stringType, "a string"],
  [wholeNumber | fraction, "a number"],
  [wholeNumber, "an integer"],
  [fraction, "a number with a fraction"],
  [booleanType, "a boolean"],
  [arrayType, "an array"],
  [objectType, "an object"],
  [nullType, "null"],
];

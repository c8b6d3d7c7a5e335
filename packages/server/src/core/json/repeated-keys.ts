import type { JsonValue } from "./json.ts";
import { endOfString, type JsonProblem, walkRepeatedKeys } from "./json-problem.ts";

/**
 * Finds the repeated keys of objects, at most `maxCount` of them. Each is reported at the place of the repetition. `value` is the parsed text.
 *
 * `JSON.parse` keeps only one of two equal keys. So the text is walked through only when it has more keys than the value. Counting the keys takes a
 * fraction of the time of a walk.
 */
export function findRepeatedKeys(text: string, value: JsonValue, maxCount: number): readonly JsonProblem[] {
  const repeated: JsonProblem[] = [];
  if (keysInText(text) === keysInValue(value)) return repeated;
  walkRepeatedKeys(text, (problem) => {
    if (repeated.length < maxCount) repeated.push(problem);
  });
  return repeated;
}

/** Counts the keys in a text by the colons outside of strings. There is one colon after each key, and no other colon. */
function keysInText(text: string): number {
  let count = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === colon) count++;
    else if (code === quote) position = endOfString(text, position);
  }
  return count;
}

function keysInValue(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.values(value);
  return parts.reduce<number>((count, part) => count + keysInValue(part), Array.isArray(value) ? 0 : parts.length);
}

const colon = 0x3a;
const quote = 0x22;

import type { JsonValue } from "./json.ts";
import { endOfString, type JsonProblem, walkRepeatedKeys } from "./json-problem.ts";

/**
 * The keys that stand a second time in their object, each where it stands again, and the first `maxCount` of them; `value` is what the
 * text stands for.
 *
 * `JSON.parse` keeps one of two equal keys. So they are looked for only where the text has more keys than the value, which is counted in
 * a fraction of the time of a walk over the text.
 */
export function findRepeatedKeys(text: string, value: JsonValue, maxCount: number): readonly JsonProblem[] {
  const repeated: JsonProblem[] = [];
  if (keysInText(text) === keysInValue(value)) return repeated;
  walkRepeatedKeys(text, (problem) => {
    if (repeated.length < maxCount) repeated.push(problem);
  });
  return repeated;
}

/** Each key has a colon behind it, and outside of strings there are no others. */
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

import type { RawObject } from "../json/raw-object.ts";
import { quoted } from "../problem.ts";

/** Reads the name of a workflow or a step. People read it, and it also goes into keys and headers. */
export function readName(
  raw: RawObject,
  field: string,
  limits: { readonly maxNameLength: number },
): string | undefined {
  if (!raw.require(field, "a name")) return undefined;
  const name = raw.text(field);
  if (name === undefined) return undefined;
  const problem = whatIsWrong(name, limits.maxNameLength);
  if (problem === undefined) return name;
  raw.refuse(field, problem);
  return undefined;
}

function whatIsWrong(name: string, maxLength: number): string | undefined {
  if (name.trim() === "") return "must not be blank";
  if (/\p{Cc}/u.test(name)) return "must not contain control characters such as line breaks";
  return isLongerThan(name, maxLength) ? `${quoted(name)} is longer than ${maxLength} characters` : undefined;
}

/** Compares the length in code points, which is nearly what people count as characters. */
export function isLongerThan(text: string, maxLength: number): boolean {
  return text.length > maxLength && (text.length > 2 * maxLength || [...text].length > maxLength);
}

import { RE2Set } from "re2js";
import { compiled, type Matcher } from "./matcher.ts";
import { sizeOfPattern } from "./pattern-size.ts";

/**
 * A regular expression from a user, in RE2 syntax. RE2 matches in time linear in the text, while JavaScript's own engine can take seconds for
 * twenty-seven characters.
 */
export interface Pattern {
  readonly source: string;
  /** The cost of compiling the pattern, in units of up to 3.5 µs. It is computed from the text, so it is known before the pattern is compiled. */
  readonly work: number;
  /** Returns the matcher. Compiles the pattern if no matcher of the same pattern is kept. */
  readonly matcher: () => Matcher;
}

/** The maximum number of instructions. A larger pattern usually only counts characters, which `maxLength` does at no cost. */
const maxInstructions = 2_000;

/** Makes a pattern from its text, without checking it. The pattern is compiled when a text is first matched. */
export function readPattern(source: string): Pattern {
  const { instructions, ranges, readRanges, foldedCharacters } = sizeOfPattern(source);
  const work = workPerPattern + instructions + ranges / 100 + readRanges / 25 + foldedCharacters / 50;
  return { source, work: Math.ceil(work), matcher: () => compiled(source, Math.ceil(work)) };
}

/** The weights in the sum above are measured: `npm run bench -- definitions` compiles patterns in which one part of the sum is especially large. */
const workPerPattern = 10;

/** Returns the problem of a pattern; undefined when there is none. `workLeft` bounds the cost of compiling it. */
export function problemOfPattern(pattern: Pattern, workLeft: number): string | undefined {
  const { source } = pattern;
  if (source.includes("\\Q")) return "has `\\Q`; escape the characters one by one";
  const { instructions } = sizeOfPattern(source);
  if (instructions > maxInstructions) {
    const detail = `${instructions} characters, classes and branches when its repetitions are written out`;
    return `has ${detail}; ${maxInstructions} are allowed (to limit a length, use \`maxLength\`)`;
  }
  if (pattern.work > workLeft) {
    return "is too large, or makes the definition's patterns too large together; classes such as `\\pL` are large, above all when repeated, and so are wide ranges after `(?i)`";
  }
  try {
    new RE2Set(RE2Set.UNANCHORED).add(source);
    return undefined;
  } catch (error) {
    return `is not a regular expression in RE2 syntax: ${reason(error)}`;
  }
}

function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/^error parsing regexp: /, "")
    .slice(0, 200)
    .toWellFormed();
}

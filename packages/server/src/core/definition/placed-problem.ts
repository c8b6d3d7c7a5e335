import { offsetsOf } from "../json/pointer-offsets.ts";
import { describePosition, positionsOf, type TextPosition } from "../json/text-position.ts";
import type { FoundProblem, Problem } from "../problem.ts";

/** A problem or warning about the text of a definition, with its place in the text. */
export interface PlacedProblem extends Problem, TextPosition {}

/** Finds the place of each problem in the text. A problem without an offset is found by its pointer. This is possible only when the text is JSON. */
export function placeProblems(text: string, problems: readonly FoundProblem[]): PlacedProblem[] {
  if (problems.length === 0) return [];
  const targets = problems.map(({ pointer, textOffset, stringOffset }) =>
    textOffset === undefined ? { pointer, stringOffset } : theWhole,
  );
  const found = offsetsOf(text, targets);
  const offsets = problems.map(({ textOffset }, index) => textOffset ?? found[index] ?? 0);
  const positions = positionsOf(text, offsets);
  return problems.flatMap(({ pointer, detail }, index) => {
    const position = positions[index];
    return position === undefined ? [] : { pointer, detail, ...position };
  });
}

/** Returns a text such as "/steps/0/name (line 4, column 7)". The text is empty when the problem's pointer is empty. */
export function describePlace(problem: PlacedProblem): string {
  return problem.pointer && `${problem.pointer} (${describePosition(problem)})`;
}

const theWhole = { pointer: "" };

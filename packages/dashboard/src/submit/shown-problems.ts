import { asProblem } from "../api/problem.ts";
import { jsonProblemOf } from "../parts/data/json-problem.ts";
import { texts } from "../texts/texts.ts";
import type { DraftProblem } from "./draft.ts";

interface FormState {
  readonly problems: readonly DraftProblem[];
  /** True after the first attempt to send the form. Only then does the form report missing values. */
  readonly isTried: boolean;
  readonly error: Error | null;
  /** The place of the form's value in the request, as a JSON pointer. */
  readonly pointer: string;
}

/** Returns the problems that the form finds and the problems in the service's answer, by the pointers of their fields. */
export function shownProblems({ problems, isTried, error, pointer: base }: FormState): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { pointer, detail } of error === null ? [] : asProblem(error).errors) {
    if (pointer === base || pointer.startsWith(`${base}/`)) shown.set(pointer.slice(base.length), detail);
  }
  for (const problem of problems) {
    if (problem.kind === "unfinished") shown.set(problem.pointer, unfinishedText(problem));
    else if (isTried) shown.set(problem.pointer, texts.submit.missing);
  }
  return shown;
}

function unfinishedText({ of, text = "" }: DraftProblem): string {
  const words = texts.submit;
  if (of === "integer") return words.unfinishedInteger;
  return of === "number" ? words.unfinishedNumber : (jsonProblemOf(text) ?? words.missing);
}

import { asProblem } from "../api/problem.ts";
import { texts } from "../texts/texts.ts";
import type { DraftProblem } from "./draft.ts";
import type { SchemaField } from "./schema-field.ts";

interface FormState {
  readonly field: SchemaField;
  readonly problems: readonly DraftProblem[];
  /** True once somebody has tried to send the form: only then does it say what is missing. */
  readonly isTried: boolean;
  /** The service's last answer. */
  readonly error: Error | null;
  /** Where the form's value stands in the request, as a JSON pointer. */
  readonly pointer: string;
}

/** Pointer of a field → the problem to show there: the form's own, and those in the service's answer. */
export function shownProblems({ field, problems, isTried, error, pointer: base }: FormState): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { pointer, detail } of error === null ? [] : asProblem(error).errors) {
    if (pointer === base || pointer.startsWith(`${base}/`)) shown.set(pointer.slice(base.length), detail);
  }
  for (const { pointer, kind } of problems) {
    if (kind === "missing") {
      if (isTried) shown.set(pointer, texts.submit.missing);
    } else shown.set(pointer, unfinishedText(fieldAt(field, pointer)));
  }
  return shown;
}

function unfinishedText(field: SchemaField | undefined): string {
  const words = texts.submit;
  if (field?.kind === "integer") return words.unfinishedInteger;
  return field?.kind === "number" ? words.unfinishedNumber : words.unfinishedJson;
}

function fieldAt(field: SchemaField, pointer: string): SchemaField | undefined {
  return pointer
    .split("/")
    .slice(1)
    .reduce<SchemaField | undefined>((at, part) => {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      return at?.kind === "list" ? at.item : at?.fields?.find((one) => one.name === name);
    }, field);
}

import { parseTemplate, type Template, type TemplateProblem } from "../expression/expression.ts";
import type { JsonValue } from "../json/json.ts";
import type { ProblemList } from "../problem.ts";

/** Reads the template at the pointer; undefined when an expression in it is wrong, which was reported. */
export function readTemplate(value: JsonValue, pointer: string, problems: ProblemList): Template | undefined {
  const parsed = parseTemplate(value);
  if ("template" in parsed) return parsed.template;
  addTemplateProblems(problems, pointer, parsed.problems);
  return undefined;
}

export function addTemplateProblems(list: ProblemList, pointer: string, found: readonly TemplateProblem[]): void {
  for (const { pointer: inner, offset, detail } of found) list.add(pointer + inner, detail, { stringOffset: offset });
}

import { mainBranch } from "../branch-path.ts";
import type { Template } from "../expression/expression.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { getOwn } from "../json/record.ts";
import type { InputRule, PlanStep } from "../plan/plan.ts";
import type { JobDraft } from "./draft.ts";
import { render } from "./expressions.ts";
import { loopOf, scopeOf } from "./job-scope.ts";
import type { StepError } from "./job-state.ts";

/** Returns the input of a step, or the error if the step's `input` template fails. */
export function receivedInput(
  draft: JobDraft,
  step: PlanStep,
  previousOutput: JsonValue | undefined,
): { readonly value: JsonValue } | { readonly error: StepError } {
  if (step.inputRule.kind === "template") return renderInput(draft, step, step.inputRule.template);
  return { value: takenInput(draft, step.inputRule, previousOutput) };
}

export function renderInput(draft: JobDraft, { name }: PlanStep, template: Template) {
  return render(draft, template, scopeOf(draft, { step: name }), { step: name, what: "`input`" });
}

/**
 * The input of a step without an `input` template. For the first step run of a job it is the job's input. Later, the input definition decides:
 *
 * - A step with an open input definition takes the whole latest output. If a branch has no output yet, its step takes the branch's item, or without
 *   an item the input of the fork. If the main line has no output yet, its step takes the job's input.
 * - A step with a closed input definition takes each declared property from the latest output that had it. In a branch, the search continues in the
 *   branch's item, and then in the outputs and the item of each branch around it. The job's input is searched last.
 *
 * Some properties of a wait step can come only from events. If no event brought such a property in the latest visit, the property counts as absent
 * from all earlier outputs, from the items and from the job's input.
 */
function takenInput(
  draft: JobDraft,
  rule: Exclude<InputRule, { kind: "template" }>,
  previousOutput: JsonValue | undefined,
): JsonValue {
  const jobInput = draft.job.input;
  if (draft.progress.stepRunCount === 0) return jobInput;
  const start = draft.branch === mainBranch ? jobInput : branchInput(draft);
  if (rule.kind === "whole") return orElse(previousOutput, start);
  const taken: JsonObject = {};
  const find = propertyFinder(draft);
  for (const property of rule.properties) {
    const value = find(property);
    if (value !== undefined)
      Object.defineProperty(taken, property, { value, enumerable: true, configurable: true, writable: true });
  }
  return [previousOutput, start, jobInput].find((known) => holdsTheSame(known, taken)) ?? taken;
}

/** The value with which a branch begins: its item, or the input of the fork. */
function branchInput(draft: JobDraft): JsonValue {
  const [level] = draft.levels();
  if (level?.fork === undefined) throw new Error("The main line is not a branch of a fork.");
  const loop = loopOf(level);
  return loop === undefined ? level.fork.input : loop.item;
}

/** Returns a function that finds a property in past outputs, in items and in the job's input, in the order that `takenInput` describes. */
function propertyFinder(draft: JobDraft): (property: string) => JsonValue | undefined {
  const levels = draft.levels().map((level) => {
    const item = loopOf(level)?.item;
    const { properties, absentProperties } = level.carried;
    return {
      properties,
      absent: new Set(absentProperties),
      item: item !== undefined && isJsonObject(item) ? item : {},
    };
  });
  return (property) => {
    for (const { properties, absent, item } of levels) {
      if (absent.has(property)) return getOwn(properties, property);
      const value = orElse(getOwn(properties, property), getOwn(item, property));
      if (value !== undefined) return value;
    }
    return getOwn(draft.job.input, property);
  };
}

/**
 * Whether a known value has the same properties as `taken`. The values of the properties are compared by reference. When the known value can be used,
 * it is written only once, however many steps take it.
 */
function holdsTheSame(known: JsonValue | undefined, taken: JsonObject): boolean {
  if (!isJsonObject(known)) return false;
  const names = Object.keys(taken);
  return names.length === Object.keys(known).length && names.every((name) => getOwn(known, name) === taken[name]);
}

/** Null counts as a value: if an output has a property that is null, it has the property. */
export function orElse<Fallback>(value: JsonValue | undefined, fallback: Fallback): JsonValue | Fallback {
  return value === undefined ? fallback : value;
}

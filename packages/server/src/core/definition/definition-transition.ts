import { parseExpression } from "../expression/expression.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { describeValue, RawObject } from "../json/raw-object.ts";
import { type ProblemList, pointerTo, quoted } from "../problem.ts";
import { choiceWords, optionWords } from "./familiar/familiar-words.ts";
import type { ChoiceOption, Transition } from "./transition.ts";

interface Surroundings {
  readonly problems: ProblemList;
  readonly stepNames: ReadonlySet<string>;
}

/** Reads `transitionToStep`; undefined when it is wrong, which was reported. */
export function readTransition(step: RawObject, surroundings: Surroundings): Transition | undefined {
  const value = step.fields.transitionToStep ?? null;
  if (isJsonObject(value))
    return readChoice(new RawObject(value, step.pointerTo("transitionToStep"), surroundings.problems), surroundings);
  return readTarget(
    step,
    "transitionToStep",
    "the name of a step, null to end the job or branch, or an object with `choose`",
    surroundings,
  );
}

function readChoice(raw: RawObject, surroundings: Surroundings): Transition | undefined {
  raw.refuseUnknown(choiceFields, "a field of a choice", choiceWords);
  const options = raw.require("choose", "a list of conditions, each with the step to which it leads")
    ? readOptions(raw, surroundings)
    : undefined;
  // Without `else`, a job would have no next step when none of the conditions is true.
  const hasElse = raw.require("else", "the step to go to when no condition holds, or null to end the job or branch");
  const otherwise = hasElse
    ? readTarget(raw, "else", "the name of a step, or null to end the job or branch", surroundings)
    : undefined;
  return options === undefined || otherwise === undefined ? undefined : { options, otherwise };
}

const choiceFields: ReadonlySet<string> = new Set(["choose", "else"]);

function readOptions(raw: RawObject, surroundings: Surroundings): readonly ChoiceOption[] | undefined {
  const { choose } = raw.fields;
  if (!Array.isArray(choose)) {
    raw.refuse("choose", `must be a list of conditions, but is ${describeValue(choose ?? null)}`);
    return undefined;
  }
  if (choose.length === 0) raw.refuse("choose", "has no condition; name the next step itself in `transitionToStep`");
  if (choose.length > maxOptions) {
    raw.refuse("choose", `has ${choose.length} conditions; a choice may have ${maxOptions}`);
    return undefined;
  }
  const options = choose.map((option, index) =>
    readOption(option, pointerTo(raw.pointerTo("choose"), index), surroundings),
  );
  const whole = options.filter((option) => option !== undefined);
  return whole.length === options.length && whole.length > 0 ? whole : undefined;
}

/** A person could hardly read more options. Their evaluation has a bound of its own: all conditions of a choice share one budget. */
const maxOptions = 100;

function readOption(value: JsonValue, pointer: string, surroundings: Surroundings): ChoiceOption | undefined {
  if (!isJsonObject(value)) {
    surroundings.problems.add(pointer, `must be an object with \`if\` and \`then\`, but is ${describeValue(value)}`);
    return undefined;
  }
  const raw = new RawObject(value, pointer, surroundings.problems);
  raw.refuseUnknown(optionFields, "a field of a condition", optionWords);
  const condition = raw.require("if", "an expression that is true or false, such as `output.approved`")
    ? readCondition(raw)
    : undefined;
  const hasThen = raw.require("then", "the step to go to when the condition holds, or null to end the job or branch");
  const then = hasThen
    ? readTarget(raw, "then", "the name of a step, or null to end the job or branch", surroundings)
    : undefined;
  return condition === undefined || then === undefined ? undefined : { condition, then };
}

const optionFields: ReadonlySet<string> = new Set(["if", "then"]);

function readCondition(raw: RawObject): ChoiceOption["condition"] | undefined {
  const source = raw.text("if");
  if (source === undefined) return undefined;
  const braces = /^\s*\$\{/.exec(source)?.[0];
  if (braces !== undefined) {
    const stringOffset = braces.length - "${".length;
    raw.refuse("if", "is read as an expression anyway; leave out the `${` and `}` around it", { stringOffset });
    return undefined;
  }
  const parsed = parseExpression(source);
  if ("expression" in parsed) return parsed.expression;
  raw.refuse("if", parsed.problem.message, { stringOffset: parsed.problem.offset });
  return undefined;
}

function readTarget(
  raw: RawObject,
  field: string,
  wanted: string,
  { stepNames }: Surroundings,
): string | null | undefined {
  const name = raw.fields[field] ?? null;
  if (name === null || (typeof name === "string" && stepNames.has(name))) return name;
  if (typeof name === "string") raw.refuse(field, `there is no step ${quoted(name)}${raw.hint(name, stepNames)}`);
  else raw.refuse(field, `must be ${wanted}, but is ${describeValue(name)}`);
  return undefined;
}

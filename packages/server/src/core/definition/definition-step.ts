import type { Template } from "../expression/expression.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { describeValue, ourWord, RawObject } from "../json/raw-object.ts";
import { type ProblemList, pointerTo, quoted } from "../problem.ts";
import { findDefinition, type Schema } from "../schema/schema.ts";
import { readName } from "./definition-name.ts";
import { readTemplate } from "./definition-template.ts";
import { readTransition } from "./definition-transition.ts";
import { readWork } from "./definition-work.ts";
import type { ExecutorCatalog, ExecutorKind } from "./executor-kind.ts";
import { type FailureHandler, readFailureHandlers } from "./failures/failure-handlers.ts";
import { detailWords, executorWords, stepWords } from "./familiar/familiar-words.ts";
import { warnOfForeignTemplate } from "./familiar/foreign-template.ts";
import type { Language } from "./language.ts";
import { type StepWork, startsOf } from "./step-work.ts";
import type { Transition } from "./transition.ts";

/** The parts of a step that could be read. A required part is undefined when it is missing or wrong, which was reported. */
export interface RoughStep {
  readonly name: string | undefined;
  readonly type: string | undefined;
  readonly work: StepWork | undefined;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly input: Template | undefined;
  readonly output: Template | undefined;
  readonly transitionToStep: Transition | undefined;
  readonly onFailure: readonly FailureHandler[];
  /** Whether `onFailure` is present and wrong, or the whole step could not be read. */
  readonly isFailureTransitionBroken: boolean;
  /** Whether the step is a fork, but the first steps of its branches are not known. */
  readonly isForkBroken: boolean;
}

export interface StepSurroundings {
  readonly executors: ExecutorCatalog;
  readonly limits: { readonly maxNameLength: number; readonly maxEventIdsPerStep: number };
  readonly problems: ProblemList;
  readonly warnings: ProblemList;
  /** Undefined when `definitions` is missing or is not an object. That is reported once, and not for each step. */
  readonly schemas: ReadonlyMap<string, Schema> | undefined;
  readonly stepNames: ReadonlySet<string>;
  readonly isRegistered: boolean;
  readonly language: Language;
}

export function readStep(value: JsonValue, pointer: string, surroundings: StepSurroundings): RoughStep {
  if (!isJsonObject(value)) {
    surroundings.problems.add(pointer, `must be an object, but is ${describeValue(value)}`);
    return nothingRead;
  }
  const raw = new RawObject(value, pointer, surroundings.problems);
  raw.refuseUnknown(stepFields, "a field of a step", stepWords);
  const name = readName(raw, "name", surroundings.limits);
  const details = readDetails(raw, surroundings);
  refuseMissingInput(raw, details.type, surroundings);
  const input = readMapping(raw, "input", surroundings);
  const output = readMapping(raw, "output", surroundings);
  const transitionToStep = readTransition(raw, surroundings);
  return { name, ...details, input, output, transitionToStep, ...readFailureHandlers(raw, name, surroundings) };
}

const stepFields: ReadonlySet<string> = new Set([
  "name",
  "integrationDetails",
  "input",
  "output",
  "retry",
  "timeoutSeconds",
  "onFailure",
  "transitionToStep",
]);

const noDetails: Details = {
  type: undefined,
  work: undefined,
  inputSchema: undefined,
  outputSchema: undefined,
  isForkBroken: false,
};

const nothingRead: RoughStep = {
  name: undefined,
  ...noDetails,
  input: undefined,
  output: undefined,
  transitionToStep: undefined,
  onFailure: [],
  isFailureTransitionBroken: true,
};

function refuseMissingInput(
  raw: RawObject,
  type: string | undefined,
  { executors, isRegistered }: StepSurroundings,
): void {
  const kind = type === undefined ? undefined : executors.get(type);
  if (isRegistered || kind?.behaviour !== "pass" || kind.needsInput !== true) return;
  raw.require(
    "input",
    "the value that the step makes; for a step that only passes its input on, use the type /service/noop",
  );
}

/** Reads the template of a step's input or output. */
function readMapping(
  raw: RawObject,
  field: "input" | "output",
  { problems, warnings, isRegistered }: StepSurroundings,
): Template | undefined {
  const value = raw.fields[field];
  if (value === undefined) return undefined;
  const pointer = raw.pointerTo(field);
  if (!isRegistered) warnOfForeignTemplate(value, pointer, warnings);
  return readTemplate(value, pointer, problems);
}

type Details = Pick<RoughStep, "type" | "work" | "inputSchema" | "outputSchema" | "isForkBroken">;

function readDetails(step: RawObject, surroundings: StepSurroundings): Details {
  const isThere = step.require("integrationDetails", "an object that says what the step does");
  const raw = isThere ? step.object("integrationDetails") : undefined;
  if (raw === undefined) {
    readWork(step, undefined, undefined, surroundings);
    return noDetails;
  }
  raw.refuseUnknown(detailFields, "a field of `integrationDetails`", detailWords);
  const kind = readKind(raw, surroundings.executors);
  const work = readWork(step, raw, kind, surroundings);
  const areStartsKnown = work === undefined || refuseUnknownStarts(raw, work, surroundings);
  return {
    type: kind?.type,
    work,
    isForkBroken: kind?.behaviour === "fork" && (work === undefined || !areStartsKnown),
    inputSchema: readDefinitionReference(raw, "inputDefinition", surroundings.schemas),
    outputSchema: readDefinitionReference(raw, "outputDefinition", surroundings.schemas),
  };
}

/** Refuses branches that begin at unknown steps. Returns whether all branches begin at known steps. */
function refuseUnknownStarts(details: RawObject, work: StepWork, { problems, stepNames }: StepSurroundings): boolean {
  const config = details.pointerTo("config");
  const unknown = startsOf(work).filter(({ step }) => !stepNames.has(step));
  for (const { name, step } of unknown) {
    const pointer = name === undefined ? `${config}/step` : pointerTo(`${config}/branches`, name);
    problems.add(pointer, `there is no step ${quoted(step)}${problems.hint(step, stepNames)}`);
  }
  return unknown.length === 0;
}

const detailFields: ReadonlySet<string> = new Set(["type", "config", "inputDefinition", "outputDefinition"]);

function readKind(raw: RawObject, executors: ExecutorCatalog): ExecutorKind | undefined {
  const type = raw.require("type", `one of ${[...executors.keys()].join(", ")}`) ? raw.text("type") : undefined;
  if (type === undefined) return undefined;
  const kind = executors.get(type);
  if (kind === undefined) {
    const known = `the types here are ${[...executors.keys()].join(", ")}`;
    const hint = ourWord(type, executorWords(type), executors) ?? raw.hint(type, executors.keys());
    raw.refuse("type", `there is no type ${quoted(type)}; ${known}${hint}`);
  }
  return kind;
}

/** Reads a reference, which must be exactly `{"$ref": "#/definitions/<name>"}`, so that every schema has a name for messages and pages. */
function readDefinitionReference(
  details: RawObject,
  field: string,
  schemas: ReadonlyMap<string, Schema> | undefined,
): Schema | undefined {
  const form = '{"$ref": "#/definitions/<name>"}';
  const raw = details.require(field, form) ? details.object(field) : undefined;
  if (raw === undefined) return undefined;
  const target = raw.fields.$ref;
  if (target === undefined) {
    details.refuse(field, `must be ${form}; put the schema into \`definitions\` and refer to it by its name`);
    return undefined;
  }
  raw.refuseUnknown(referenceFields, "allowed here; put the schema into `definitions` and refer to it by its name");
  if (schemas === undefined) return undefined;
  const found = findDefinition(target, schemas, raw);
  if ("schema" in found) return found.schema;
  raw.refuse("$ref", found.problem);
  return undefined;
}

const referenceFields: ReadonlySet<string> = new Set(["$ref"]);

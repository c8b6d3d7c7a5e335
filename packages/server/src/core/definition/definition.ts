import { isJsonObject, type JsonObject, parseJson } from "../json/json.ts";
import { describeValue, RawObject } from "../json/raw-object.ts";
import { findRepeatedKeys } from "../json/repeated-keys.ts";
import { ProblemList, pointerTo } from "../problem.ts";
import { parseSchemas, type Schema } from "../schema/schema.ts";
import { checkDataFlow } from "./data-flow/data-flow.ts";
import { isLongerThan, readName } from "./definition-name.ts";
import type { Definition, StepDefinition, Steps } from "./definition-parts.ts";
import { checkSize } from "./definition-size.ts";
import { type RoughStep, readStep } from "./definition-step.ts";
import { readJobTimeoutMs } from "./definition-timeouts.ts";
import type { ExecutorCatalog } from "./executor-kind.ts";
import { definitionWords } from "./familiar/familiar-words.ts";
import { foreignLanguage, yamlHint } from "./familiar/foreign-language.ts";
import { checkReachability } from "./graph/reachability.ts";
import { currentLanguage, type Language } from "./language.ts";
import { type PlacedProblem, placeProblems } from "./placed-problem.ts";
import { checkSharedEvents } from "./shared-events.ts";

export interface DefinitionLimits {
  readonly maxDefinitionBytes: number;
  readonly maxSteps: number;
  readonly maxEventIdsPerStep: number;
  /** The maximum number of characters of an event id, and of the name of a workflow, a step or an error. */
  readonly maxNameLength: number;
  readonly maxDepth: number;
  readonly maxOutputBytes: number;
}

/**
 * Parses the text of a definition. If it has problems, returns all that one pass can find, up to `maxProblems`, each with a pointer into the
 * definition and its place in the text. Whether it has problems or not, there may be warnings, for example about data that may not fit when a job
 * runs. The text of a registered version is only parsed. No limits and no further checks apply to a registered version, because a lowered limit or a
 * new check must not stop its jobs.
 */
export function parseDefinition(
  text: string,
  executors: ExecutorCatalog,
  newLimits: DefinitionLimits,
  registeredIn?: Language,
): { definition: Definition; warnings: PlacedProblem[] } | { problems: PlacedProblem[]; warnings: PlacedProblem[] } {
  const problems = new ProblemList(maxProblems);
  const warnings = new ProblemList(maxWarnings);
  const isRegistered = registeredIn !== undefined;
  const limits = isRegistered ? noLimits : newLimits;
  const language = registeredIn ?? currentLanguage;
  const raw = readDocument(text, limits, problems, isRegistered);
  const definition =
    raw === undefined
      ? undefined
      : readDefinition(raw, { executors, limits, problems, warnings, isRegistered, language });
  const placedWarnings = placeProblems(text, warnings.toArray());
  if (definition === undefined || problems.count > 0) {
    return { problems: placeProblems(text, problems.toArray()), warnings: placedWarnings };
  }
  return { definition, warnings: placedWarnings };
}

const noLimits: DefinitionLimits = {
  maxDefinitionBytes: Number.POSITIVE_INFINITY,
  maxSteps: Number.POSITIVE_INFINITY,
  maxEventIdsPerStep: Number.POSITIVE_INFINITY,
  maxNameLength: Number.POSITIVE_INFINITY,
  maxDepth: Number.POSITIVE_INFINITY,
  maxOutputBytes: Number.POSITIVE_INFINITY,
};

const maxProblems = 1_000;
const maxWarnings = 100;

interface Reading {
  readonly executors: ExecutorCatalog;
  readonly limits: DefinitionLimits;
  readonly problems: ProblemList;
  readonly warnings: ProblemList;
  readonly isRegistered: boolean;
  readonly language: Language;
}

function readDocument(
  text: string,
  limits: DefinitionLimits,
  problems: ProblemList,
  isRegistered: boolean,
): RawObject | undefined {
  const byteCount = Buffer.byteLength(text);
  if (byteCount > limits.maxDefinitionBytes) {
    problems.add("", `has ${byteCount} bytes; a definition may have ${limits.maxDefinitionBytes}`);
    return undefined;
  }
  const parsed = parseJson(text, limits);
  if ("problem" in parsed) {
    const { pointer, detail, ...at } = parsed.problem;
    problems.add(pointer, detail + yamlHint(text), at);
    return undefined;
  }
  const { value } = parsed;
  if (isJsonObject(value)) {
    return isRegistered || isOfThisLanguage(text, value, problems) ? new RawObject(value, "", problems) : undefined;
  }
  const hint = typeof value === "string" ? "; was it encoded as JSON twice?" : "";
  problems.add("", `must be an object, but is ${describeValue(value)}${hint}`);
  return undefined;
}

/** Returns false for a document in another workflow language, and reports it. Also reports repeated keys; a document with such keys is still read. */
function isOfThisLanguage(text: string, value: JsonObject, problems: ProblemList): boolean {
  problems.addAll("", findRepeatedKeys(text, value, maxProblems));
  const foreign = foreignLanguage(value);
  if (foreign !== undefined) problems.addAll("", [foreign]);
  return foreign === undefined;
}

/** Undefined when a necessary part is missing, which was reported. */
function readDefinition(raw: RawObject, reading: Reading): Definition | undefined {
  const { problems, warnings, isRegistered } = reading;
  raw.refuseUnknown(definitionFields, "a field of a definition", definitionWords);
  const workflowName = readName(raw, "workflowName", reading.limits);
  checkDescription(raw, isRegistered);
  const timeoutMs = readJobTimeoutMs(raw);
  const countBefore = problems.count;
  const schemas = readSchemas(raw, problems, isRegistered);
  const areSchemasSound = problems.count === countBefore;
  const roughSteps = readSteps(raw, schemas, reading);
  const areTransitionsSound = !isRegistered && checkReachability(roughSteps, problems);
  const [first, ...others] = roughSteps.flatMap((step) => completeStep(step) ?? []);
  if (first === undefined || others.length + 1 < roughSteps.length) return undefined;
  const steps: Steps = [first, ...others];
  // With broken transitions or schemas, the findings about the data flow would be wrong.
  if (areSchemasSound && areTransitionsSound && checkSize(steps, problems)) {
    checkSharedEvents(steps, problems);
    checkDataFlow(steps, problems, warnings, reading.limits);
  }
  return workflowName === undefined || schemas === undefined ? undefined : { workflowName, timeoutMs, steps, schemas };
}

const definitionFields: ReadonlySet<string> = new Set([
  "workflowName",
  "description",
  "timeoutSeconds",
  "steps",
  "definitions",
]);

/** The description is only for people. They read it in the definition's text, so it is not stored anywhere else. */
function checkDescription(raw: RawObject, isRegistered: boolean): void {
  const description = raw.text("description");
  if (description === undefined || isRegistered || !isLongerThan(description, maxDescriptionLength)) return;
  raw.refuse("description", `is longer than ${maxDescriptionLength} characters`);
}

/** This is enough for a few pages. A longer text should be a separate document. */
const maxDescriptionLength = 10_000;

/**
 * Reads the schemas. Those with problems are included as far as they could be read, so that their names are known. Undefined when `definitions` is
 * missing or is not an object.
 */
function readSchemas(
  raw: RawObject,
  problems: ProblemList,
  isRegistered: boolean,
): ReadonlyMap<string, Schema> | undefined {
  if (!raw.require("definitions", "an object with the schemas to which the steps refer, by their names"))
    return undefined;
  const definitions = raw.object("definitions");
  return definitions && parseSchemas(definitions.fields, definitions.pointer, problems, isRegistered);
}

function readSteps(raw: RawObject, schemas: ReadonlyMap<string, Schema> | undefined, reading: Reading): RoughStep[] {
  if (!raw.require("steps", "a list of steps; a job starts with the first one")) return [];
  const steps = raw.fields.steps;
  const { executors, limits, problems, warnings, isRegistered, language } = reading;
  if (!Array.isArray(steps)) raw.refuse("steps", `must be an array of steps, but is ${describeValue(steps ?? null)}`);
  else if (steps.length === 0) raw.refuse("steps", "must have one step or more");
  else if (steps.length > limits.maxSteps)
    raw.refuse("steps", `has ${steps.length} steps; a definition may have ${limits.maxSteps}`);
  else {
    const stepNames = new Set(
      steps.flatMap((step) => (isJsonObject(step) && typeof step.name === "string" ? step.name : [])),
    );
    const surroundings = { executors, limits, problems, warnings, schemas, stepNames, isRegistered, language };
    return steps.map((step, index) => readStep(step, pointerTo(raw.pointerTo("steps"), index), surroundings));
  }
  return [];
}

/** Undefined when a required part of the step is missing or was refused. */
function completeStep(rough: RoughStep): StepDefinition | undefined {
  const { name, type, work, input, output, inputSchema, outputSchema, transitionToStep, onFailure } = rough;
  if (name === undefined || transitionToStep === undefined || type === undefined || work === undefined)
    return undefined;
  if (inputSchema === undefined || outputSchema === undefined) return undefined;
  return { name, type, work, input, output, inputSchema, outputSchema, transitionToStep, onFailure };
}

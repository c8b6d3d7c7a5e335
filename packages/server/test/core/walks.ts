import fc from "fast-check";
import type { StepDefinition, Steps } from "../../src/core/definition-parts.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/core/json.ts";
import type { PlanStep } from "../../src/core/plan.ts";
import { checkValue, declaredProperties, isClosed, narrowValue, type Schema } from "../../src/core/schema.ts";
import { catalog } from "./catalog.ts";
import { schemasOf } from "./schema-arbitraries.ts";
import { call, noop, wait, workflow } from "./sketches.ts";

/** A small world: every value that a job, a call or a step of the random definitions below may have anything to do with. */
const propertyValues: (JsonValue | undefined)[] = [undefined, "x", 1, null];
export const objects: readonly JsonObject[] = propertyValues.flatMap((a) =>
  propertyValues.flatMap((b) =>
    propertyValues.map(
      (c) => Object.fromEntries(Object.entries({ a, b, c }).filter(([, value]) => value !== undefined)) as JsonObject,
    ),
  ),
);
const world: readonly JsonValue[] = [...objects, "text", 7, null];

const propertySchema = fc.constantFrom<JsonValue>(
  { type: "string" },
  { type: "number" },
  { type: ["string", "null"] },
  { const: "x" },
  {},
);
const objectSchema = fc
  .record({
    properties: fc.dictionary(fc.constantFrom("a", "b", "c"), propertySchema, { noNullPrototype: true }),
    isClosed: fc.boolean(),
    isObject: fc.boolean(),
    required: fc.subarray(["a", "b", "c"]),
  })
  .map(({ properties, isClosed: closes, isObject, required }) => ({
    ...(isObject && { type: "object" }),
    properties,
    required: closes ? required.filter((name) => Object.hasOwn(properties, name)) : required,
    ...(closes && { additionalProperties: false }),
  }));
const definitionNames = ["d0", "d1", "d2", "d3"];
const schema: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: objectSchema },
  { weight: 1, arbitrary: fc.tuple(objectSchema, objectSchema).map(([one, other]) => ({ anyOf: [one, other] })) },
  { weight: 1, arbitrary: fc.constant({}) },
);

/** Up to five steps that mostly lead to the next one, and often over failures elsewhere. Not all of them can be parsed. */
export const workflows: fc.Arbitrary<JsonObject> = fc.integer({ min: 1, max: 5 }).chain((count) => {
  const stepNames = Array.from({ length: count }, (_, index) => `s${index}`);
  const anyStep = fc.constantFrom(...stepNames);
  const nextOf = (index: number): fc.Arbitrary<string | null> => {
    const following: fc.Arbitrary<string | null> = fc.constant(stepNames[index + 1] ?? null);
    return fc.oneof(following, following, following, following, fc.option(anyStep));
  };
  const step = (index: number) =>
    fc
      .record({
        make: fc.constantFrom(call, call, noop, wait),
        definitions: fc.tuple(fc.constantFrom(...definitionNames), fc.constantFrom(...definitionNames)),
        next: nextOf(index),
        onFailure: fc.option(anyStep, { nil: undefined }),
      })
      .map(({ make, definitions, next, onFailure }) =>
        make(`s${index}`, definitions, next, onFailure === undefined ? {} : { onFailure }),
      );
  return fc
    .tuple(fc.tuple(...stepNames.map((_, index) => step(index))), fc.tuple(...definitionNames.map(() => schema)))
    .map(([steps, schemas]) => workflow(steps, Object.fromEntries(schemas.map((one, index) => [`d${index}`, one]))));
});

/** The steps of a definition that may have been refused for its data, read without checking that. */
export function stepsOf(definition: JsonObject): Steps {
  const { steps, definitions } = definition as unknown as { steps: RawStep[]; definitions: JsonObject };
  const schemas = schemasOf(definitions);
  const schemaAt = ({ $ref }: { $ref: string }) => schemas.get($ref.replace("#/definitions/", "")) as Schema;
  return steps.map(({ name, integrationDetails, transitionToStep, onFailure }) => ({
    name,
    type: integrationDetails.type,
    behaviour: catalog.get(integrationDetails.type)?.behaviour ?? "call",
    config: {},
    payloadSchemas: new Map(),
    inputSchema: schemaAt(integrationDetails.inputDefinition),
    outputSchema: schemaAt(integrationDetails.outputDefinition),
    transitionToStep,
    onFailure,
    retry: undefined,
    timeoutSeconds: undefined,
  })) as unknown as Steps;
}

interface RawStep {
  readonly name: string;
  readonly integrationDetails: { type: string; inputDefinition: { $ref: string }; outputDefinition: { $ref: string } };
  readonly transitionToStep: string | null;
  readonly onFailure?: string;
}

/** Decides, by a list of numbers, everything about a walk that is up to chance. */
export type Chance = (optionCount: number) => number;

export function chanceOf(numbers: readonly number[]): Chance {
  let position = 0;
  return (optionCount) => (numbers[position++ % numbers.length] ?? 0) % optionCount;
}

/** One step that was entered on a walk. */
export interface Visit {
  readonly step: number;
  /** The step before, and whether it failed; undefined at the start. */
  readonly from: { readonly step: number; readonly hasFailed: boolean } | undefined;
  readonly received: JsonValue;
  readonly isInputFit: boolean;
  /** Undefined for a call, whose output is what the walk chose to fit. */
  readonly isOutputFit: boolean | undefined;
}

/**
 * Walks a job through the steps as the definition says that jobs go, remembering everything. With `plan` it remembers only what the
 * plan says that later steps can read, as the state machine does: both must receive the same.
 */
export function walk(
  steps: Steps,
  jobInput: JsonObject,
  chance: Chance,
  plan?: ReadonlyMap<string, PlanStep>,
): Visit[] {
  const indexes = new Map(steps.map(({ name }, index) => [name, index]));
  const visits: Visit[] = [];
  let properties: JsonObject = {};
  let latest: JsonValue | undefined;
  let next: { step: number; from: Visit["from"] } | undefined = { step: 0, from: undefined };
  while (next !== undefined && visits.length < 12) {
    const step = steps[next.step] as StepDefinition;
    const planned = plan?.get(step.name);
    const received = visits.length === 0 ? jobInput : receive(step, properties, latest, jobInput);
    // What the state keeps while the step runs: what a handler may need, if the step fails.
    const kept: JsonValue | undefined = planned?.failureReadsLastOutput === false ? undefined : latest;
    const isInputFit = checkValue(step.inputSchema, received).length === 0;
    const output = isInputFit ? outputOf(step, received, chance) : undefined;
    const isOutputFit = step.behaviour === "call" || !isInputFit ? undefined : output !== undefined;
    visits.push({ ...next, received, isInputFit, isOutputFit });
    const hasFailed = output === undefined;
    if (output !== undefined) properties = remember(properties, output, planned?.livePropertiesAfter);
    latest = output === undefined ? kept : output;
    const target = hasFailed ? step.onFailure : step.transitionToStep;
    next =
      target === null || target === undefined
        ? undefined
        : { step: indexes.get(target) ?? 0, from: { step: next.step, hasFailed } };
  }
  return visits;
}

function receive(
  step: StepDefinition,
  properties: JsonObject,
  latest: JsonValue | undefined,
  jobInput: JsonObject,
): JsonValue {
  if (!isClosed(step.inputSchema)) return latest === undefined ? jobInput : latest;
  const known = { ...jobInput, ...properties };
  return Object.fromEntries(Object.entries(known).filter(([name]) => declaredProperties(step.inputSchema).has(name)));
}

/** Undefined when the step fails: a call by chance, or any step whose output does not fit. */
function outputOf(step: StepDefinition, received: JsonValue, chance: Chance): JsonValue | undefined {
  if (step.behaviour === "call") {
    const outputs = outputsFitting(step.outputSchema);
    return chance(4) === 0 ? undefined : outputs[chance(Math.max(1, outputs.length))];
  }
  const output = step.behaviour === "pass" ? received : narrowValue(step.outputSchema, received);
  return checkValue(step.outputSchema, output).length === 0 ? output : undefined;
}

function outputsFitting(schema: Schema): readonly JsonValue[] {
  const known = fitting.get(schema) ?? world.filter((value) => checkValue(schema, value).length === 0);
  fitting.set(schema, known);
  return known;
}

const fitting = new WeakMap<Schema, readonly JsonValue[]>();

function remember(before: JsonObject, output: JsonValue, live: ReadonlySet<string> | undefined): JsonObject {
  const all = { ...before, ...(isJsonObject(output) && output) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => live?.has(name) ?? true));
}

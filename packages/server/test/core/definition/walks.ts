import { catalog } from "@stepwell/testing/catalog.ts";
import fc from "fast-check";
import type { StepDefinition, Steps } from "../../../src/core/definition/definition-parts.ts";
import type { FailureHandler } from "../../../src/core/definition/failures/failure-handlers.ts";
import { noPayloadSchemas, type PayloadSchemas } from "../../../src/core/definition/payload-schemas.ts";
import type { StepWork } from "../../../src/core/definition/step-work.ts";
import { targetsOf } from "../../../src/core/definition/transition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { withoutOwn } from "../../../src/core/json/record.ts";
import type { PlanStep } from "../../../src/core/plan/plan.ts";
import {
  checkValue,
  declaredProperties,
  isClosed,
  narrowValue,
  propertiesAlone,
  type Schema,
} from "../../../src/core/schema/schema.ts";
import { call, noop, wait, workflow } from "../job/sketches.ts";
import { schemasOf } from "../schema/schema-arbitraries.ts";

/** A small world: the values that the jobs, calls and steps of the random definitions below can have. */
const propertyValues: (JsonValue | undefined)[] = [undefined, "x", 1, null];
export const objects: readonly JsonObject[] = propertyValues.flatMap((a) =>
  propertyValues.flatMap((b) =>
    propertyValues.map(
      (c) => Object.fromEntries(Object.entries({ a, b, c }).filter(([, value]) => value !== undefined)) as JsonObject,
    ),
  ),
);
export const world: readonly JsonValue[] = [...objects, "text", 7, null];

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
/** Less common parts of a schema that restrict these objects. */
const rareRules = fc.constantFrom<JsonObject>(
  { minProperties: 2 },
  { maxProperties: 1 },
  { propertyNames: { enum: ["a", "b"] } },
  { dependentRequired: { a: ["b"] } },
  { patternProperties: { "^[bc]$": { type: ["string", "null"] } } },
  { patternProperties: { "^[ab]$": {} }, additionalProperties: false },
  { not: { required: ["c"] } },
  { if: { required: ["a"] }, then: { required: ["b"] }, else: { properties: { c: { type: "null" } } } },
);
const twoObjects = fc.tuple(objectSchema, objectSchema);
const definitionNames = ["d0", "d1", "d2", "d3"];
export const schema: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: objectSchema },
  { weight: 1, arbitrary: twoObjects.map(([one, other]) => ({ anyOf: [one, other] })) },
  { weight: 1, arbitrary: twoObjects.map(([one, other]) => ({ oneOf: [one, other] })) },
  { weight: 1, arbitrary: twoObjects.map(([one, other]) => ({ allOf: [one, other] })) },
  { weight: 2, arbitrary: fc.tuple(objectSchema, rareRules).map(([one, rules]) => ({ allOf: [one, rules] })) },
  { weight: 1, arbitrary: rareRules },
  { weight: 1, arbitrary: fc.constant({}) },
);

/** Up to five steps that usually lead to the next one, and often lead elsewhere after a failure. Not all of these workflows can be parsed. */
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
        make: fc.constantFrom(call, call, noop, wait, wait, decide("d0"), decide("d1")),
        definitions: fc.tuple(fc.constantFrom(...definitionNames), fc.constantFrom(...definitionNames)),
        next: nextOf(index),
        onFailure: fc.option(fc.oneof(anyStep, handlersOf(anyStep)), { nil: undefined }),
      })
      .map(({ make, definitions, next, onFailure }) =>
        make(`s${index}`, definitions, next, onFailure === undefined ? {} : { onFailure }),
      );
  return fc
    .tuple(fc.tuple(...stepNames.map((_, index) => step(index))), fc.tuple(...definitionNames.map(() => schema)))
    .map(([steps, schemas]) => workflow(steps, Object.fromEntries(schemas.map((one, index) => [`d${index}`, one]))));
});

/** Handlers for single errors, and sometimes one for all other errors. */
export function handlersOf(anyStep: fc.Arbitrary<string>): fc.Arbitrary<JsonObject[]> {
  return fc
    .tuple(fc.array(anyStep, { minLength: 1, maxLength: 2 }), fc.option(anyStep))
    .map(([named, last]) => [
      ...named.map((then, index) => ({ on: [`Error${index}`], then })),
      ...(last === null ? [] : [{ then: last }]),
    ]);
}

/** Returns a function that makes wait steps which define the payload of their event. */
function decide(payload: string): typeof wait {
  return (name, definitions, next, more) => {
    const step = wait(name, definitions, next, more) as { integrationDetails: { config: JsonObject } } & JsonObject;
    step.integrationDetails.config.payloadDefinitions = { approved: { $ref: `#/definitions/${payload}` } };
    return step;
  };
}

/** Reads the steps of a definition without the checks of its data flow, which may reject it. */
export function stepsOf(definition: JsonObject): Steps {
  const { steps, definitions } = definition as unknown as { steps: RawStep[]; definitions: JsonObject };
  const schemas = schemasOf(definitions);
  const schemaAt = ({ $ref }: { $ref: string }) => schemas.get($ref.replace("#/definitions/", "")) as Schema;
  return steps.map(({ name, integrationDetails, transitionToStep, onFailure }) => ({
    name,
    type: integrationDetails.type,
    work: workOf(integrationDetails, schemaAt),
    inputSchema: schemaAt(integrationDetails.inputDefinition),
    outputSchema: schemaAt(integrationDetails.outputDefinition),
    transitionToStep,
    onFailure: typeof onFailure === "string" ? [{ step: onFailure }] : handlersIn(onFailure),
  })) as unknown as Steps;
}

function workOf(
  { type, config }: RawStep["integrationDetails"],
  schemaAt: (reference: { $ref: string }) => Schema,
): StepWork {
  const kind = catalog.get(type);
  if (kind?.behaviour === "pass") return { kind: "pass" };
  if (kind?.behaviour !== "wait")
    return {
      kind: "call",
      by: "node",
      config: {},
      openConfig: undefined,
      resultSchema: undefined,
      retry: undefined,
      timeoutMs: undefined,
    };
  const payloads = Object.entries(config?.payloadDefinitions ?? {});
  return {
    kind: "wait",
    rule: kind.waitRule((config ?? {}) as unknown as JsonObject),
    openRule: undefined,
    payloadSchemas: new Map(payloads.map(([id, reference]) => [id, schemaAt(reference)])),
  };
}

function payloadSchemasOf({ work }: StepDefinition): PayloadSchemas {
  return work.kind === "wait" ? work.payloadSchemas : noPayloadSchemas;
}

interface RawStep {
  readonly name: string;
  readonly integrationDetails: {
    type: string;
    config?: { payloadDefinitions?: Record<string, { $ref: string }> };
    inputDefinition: { $ref: string };
    outputDefinition: { $ref: string };
  };
  readonly transitionToStep: string | null;
  readonly onFailure?: string | readonly { readonly on?: readonly string[]; readonly then: string }[];
}

function handlersIn(list: Exclude<RawStep["onFailure"], string> = []): FailureHandler[] {
  return list.map(({ on, then: step }) => ({ step, ...(on !== undefined && { on }) }));
}

/** Makes every random decision of a walk, from a list of numbers. */
export type Chance = (optionCount: number) => number;

export function chanceOf(numbers: readonly number[]): Chance {
  let position = 0;
  return (optionCount) => (numbers[position++ % numbers.length] ?? 0) % optionCount;
}

/** One step that was entered on a walk. */
export interface Visit {
  readonly step: number;
  /** The step before this one, and whether it failed; undefined at the start. */
  readonly from: { readonly step: number; readonly hasFailed: boolean } | undefined;
  readonly received: JsonValue;
  readonly isInputFit: boolean;
  /** Undefined for a step whose input does not fit, a wait that never ends, and a call. For a call, the walk chooses only outputs that fit. */
  readonly isOutputFit: boolean | undefined;
}

/**
 * Walks a job through the steps by the rules of the language, and remembers everything. With `plan` it remembers only values that later steps can
 * read according to the plan, as the state machine does. The steps must receive the same values with and without `plan`.
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
  /** The properties that a wait step left out, because no event brought them to it. The output of a later step can still bring them. */
  let absent: ReadonlySet<string> = new Set();
  let latest: JsonValue | undefined;
  let next: { step: number; from: Visit["from"] } | undefined = { step: 0, from: undefined };
  while (next !== undefined && visits.length < 12) {
    const step = steps[next.step] as StepDefinition;
    const planned = plan?.get(step.name);
    const received = visits.length === 0 ? jobInput : receive(step, properties, latest, withoutOwn(jobInput, absent));
    // The value that the state keeps while the step runs, for a handler that may need it if the step fails.
    const kept: JsonValue | undefined = planned?.failureReadsLastOutput === false ? undefined : latest;
    const isInputFit = checkValue(step.inputSchema, received).length === 0;
    if (isInputFit && step.work.kind === "wait" && payloadsFitting(steps).length === 0) {
      // No event, with or without a payload, fits every wait step, so the job waits for ever.
      visits.push({ ...next, received, isInputFit, isOutputFit: undefined });
      break;
    }
    const output = isInputFit ? outputOf(step, received, chance, steps) : undefined;
    const isOutputFit = step.work.kind === "call" || !isInputFit ? undefined : output !== undefined;
    visits.push({ ...next, received, isInputFit, isOutputFit });
    const hasFailed = output === undefined;
    if (output !== undefined) {
      const own = fromEvents(step);
      const live = planned?.livePropertiesAfter;
      const names = isJsonObject(output) ? new Set(Object.keys(output)) : new Set<string>();
      properties = remember(withoutOwn(properties, own), output, live);
      const missing = [...absent, ...own].filter((name) => !names.has(name) && (live?.has(name) ?? true));
      absent = new Set(missing);
    }
    latest = output === undefined ? kept : output;
    const ways = targetsOf(step.transitionToStep);
    const target = hasFailed ? handlerByChance(step, chance) : ways[chance(ways.length)];
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

/** Returns the step of a handler, chosen by chance. Returns undefined for an error that no handler takes. */
function handlerByChance({ onFailure }: StepDefinition, chance: Chance): string | undefined {
  const isEveryErrorTaken = onFailure.some(({ on }) => on === undefined);
  return onFailure[chance(Math.max(1, onFailure.length + (isEveryErrorTaken ? 0 : 1)))]?.step;
}

/** Returns undefined when the step fails. A call fails by chance; any other step fails if its output does not fit. */
function outputOf(step: StepDefinition, received: JsonValue, chance: Chance, steps: Steps): JsonValue | undefined {
  if (step.work.kind === "call") {
    const outputs = outputsFitting(step.outputSchema);
    return chance(4) === 0 ? undefined : outputs[chance(Math.max(1, outputs.length))];
  }
  if (step.work.kind === "pass") return checkValue(step.outputSchema, received).length === 0 ? received : undefined;
  const payloads = payloadsFitting(steps);
  const payload = payloads[chance(payloads.length)];
  const output = withBrought(step, narrowValue(step.outputSchema, received), payload);
  const problems = checkValue(step.outputSchema, output);
  // When no event has a payload, the step ends without the properties that only events bring.
  const isExcused = (name: string) => payload === undefined && fromEvents(step).has(name);
  const isFit = problems.every(({ pointer, detail }) => detail === "is required" && isExcused(pointer.slice(1)));
  return isFit ? output : undefined;
}

/** The payloads that every wait step accepts. Undefined stands for an event without a payload. */
function payloadsFitting(steps: Steps): (JsonObject | undefined)[] {
  const waits = steps.filter(({ work }) => work.kind === "wait");
  const isTaken = (payload: JsonObject | undefined) =>
    waits.every((step) => {
      const schema = payloadSchemasOf(step).get("approved");
      if (schema !== undefined && checkValue(schema, payload ?? null).length > 0) return false;
      return checkValue(propertiesAlone(step.outputSchema), payload ?? {}).length === 0;
    });
  return [undefined, ...objects].filter(isTaken);
}

/** The properties that only events bring: the output definition declares or accepts them, and the input definition does not declare them. */
function fromEvents(step: StepDefinition): ReadonlySet<string> {
  const { work, inputSchema, outputSchema } = step;
  if (work.kind !== "wait") return new Set();
  const ofOutput = declaredProperties(outputSchema);
  const ofPayload = [...work.payloadSchemas.values()].flatMap((schema) => [...declaredProperties(schema)]);
  const letIn = ofPayload.filter((name) => !isClosed(outputSchema) || ofOutput.has(name));
  return new Set([...ofOutput, ...letIn].filter((name) => !declaredProperties(inputSchema).has(name)));
}

function withBrought(step: StepDefinition, passed: JsonValue, payload: JsonObject | undefined): JsonValue {
  const own = fromEvents(step);
  const ofPayload = new Set([...payloadSchemasOf(step).values()].flatMap((schema) => [...declaredProperties(schema)]));
  const isLetIn = (name: string) => !isClosed(step.outputSchema) || declaredProperties(step.outputSchema).has(name);
  const brought = Object.entries(payload ?? {}).filter(
    ([name]) => own.has(name) || (ofPayload.has(name) && isLetIn(name)),
  );
  if (!isJsonObject(passed)) return brought.length === 0 ? passed : Object.fromEntries(brought);
  return { ...withoutOwn(passed, own), ...Object.fromEntries(brought) };
}

export function outputsFitting(schema: Schema): readonly JsonValue[] {
  const known = fitting.get(schema) ?? world.filter((value) => checkValue(schema, value).length === 0);
  fitting.set(schema, known);
  return known;
}

const fitting = new WeakMap<Schema, readonly JsonValue[]>();

function remember(before: JsonObject, output: JsonValue, live: ReadonlySet<string> | undefined): JsonObject {
  const all = { ...before, ...(isJsonObject(output) && output) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => live?.has(name) ?? true));
}

import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { describeValue, RawObject } from "../json/raw-object.ts";
import { type ProblemList, quoted } from "../problem.ts";
import { findDefinition, type Schema } from "../schema/schema.ts";
import { readConfig } from "./definition-config.ts";
import { readName } from "./definition-name.ts";
import { readRetry, readTimeout } from "./definition-timeouts.ts";
import type { ExecutorCatalog, ExecutorKind, WaitRule } from "./executor-kind.ts";
import { noPayloadSchemas, type PayloadSchemas, readPayloadSchemas } from "./payload-schemas.ts";
import type { RetryPolicy } from "./retry.ts";

/** What could be read of a step. What is undefined though a step must have it is missing or wrong, and was reported. */
export interface RoughStep {
  readonly name: string | undefined;
  readonly kind: ExecutorKind | undefined;
  readonly config: JsonObject;
  readonly wait: WaitRule | undefined;
  readonly payloadSchemas: PayloadSchemas;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly transitionToStep: string | null | undefined;
  readonly onFailure: string | undefined;
  /** Whether `onFailure` is there and wrong. */
  readonly isFailureTransitionBroken: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** What a step may refer to, and by what it is measured. */
export interface StepSurroundings {
  readonly executors: ExecutorCatalog;
  readonly limits: { readonly maxNameLength: number; readonly maxEventIdsPerStep: number };
  readonly problems: ProblemList;
  /** Undefined when the definition has none: that is one problem, and not one of each step. */
  readonly schemas: ReadonlyMap<string, Schema> | undefined;
  readonly stepNames: ReadonlySet<string>;
  readonly isRegistered: boolean;
}

export function readStep(value: JsonValue, pointer: string, surroundings: StepSurroundings): RoughStep {
  if (!isJsonObject(value)) {
    surroundings.problems.add(pointer, `must be an object, but is ${describeValue(value)}`);
    return nothingRead;
  }
  const raw = new RawObject(value, pointer, surroundings.problems);
  raw.refuseUnknown(stepFields, "a field of a step");
  const name = readName(raw, "name", surroundings.limits);
  const { configTimeoutMs, ...details } = readDetails(raw, surroundings);
  refuseMapping(raw);
  const retry = readRetry(raw, details.kind);
  const timeoutSeconds = readTimeout(raw, details.kind, configTimeoutMs);
  const transitionToStep = readTransition(raw, surroundings);
  const onFailure = readFailureTransition(raw, name, surroundings);
  const isFailureTransitionBroken = onFailure === undefined && value.onFailure !== undefined;
  return { name, ...details, retry, timeoutSeconds, transitionToStep, onFailure, isFailureTransitionBroken };
}

const stepFields: ReadonlySet<string> = new Set([
  "name",
  "integrationDetails",
  "input",
  "retry",
  "timeoutSeconds",
  "onFailure",
  "transitionToStep",
]);

const noDetails = {
  kind: undefined,
  config: {},
  wait: undefined,
  payloadSchemas: noPayloadSchemas,
  configTimeoutMs: undefined,
  inputSchema: undefined,
  outputSchema: undefined,
};

const nothingRead: RoughStep = {
  name: undefined,
  kind: undefined,
  config: {},
  wait: undefined,
  payloadSchemas: noPayloadSchemas,
  inputSchema: undefined,
  outputSchema: undefined,
  transitionToStep: undefined,
  onFailure: undefined,
  isFailureTransitionBroken: true,
  retry: undefined,
  timeoutSeconds: undefined,
};

/** What belongs to a later release is refused, never ignored: the job would do something else than its definition says. */
function refuseMapping(raw: RawObject): void {
  if (raw.fields.input === undefined) return;
  const instead = "leave it out: a step with a closed input definition takes the properties that it declares by itself";
  raw.refuse("input", `\`input\` mappings need expressions, which this release does not run yet; ${instead}`);
}

interface Details
  extends Pick<RoughStep, "kind" | "config" | "wait" | "payloadSchemas" | "inputSchema" | "outputSchema"> {
  readonly configTimeoutMs: number | undefined;
}

function readDetails(step: RawObject, surroundings: StepSurroundings): Details {
  const isThere = step.require("integrationDetails", "an object that says what the step does");
  const raw = isThere ? step.object("integrationDetails") : undefined;
  if (raw === undefined) return noDetails;
  raw.refuseUnknown(detailFields, "a field of `integrationDetails`");
  const kind = readKind(raw, surroundings.executors);
  const { config, wait, timeoutMs } = readConfig(raw, kind, surroundings);
  return {
    kind,
    config,
    wait,
    configTimeoutMs: timeoutMs,
    payloadSchemas: payloadSchemasOf(raw, wait, surroundings),
    inputSchema: readDefinitionReference(raw, "inputDefinition", surroundings.schemas),
    outputSchema: readDefinitionReference(raw, "outputDefinition", surroundings.schemas),
  };
}

function payloadSchemasOf(
  details: RawObject,
  wait: WaitRule | undefined,
  { schemas, problems }: StepSurroundings,
): PayloadSchemas {
  if (wait === undefined || schemas === undefined) return noPayloadSchemas;
  return readPayloadSchemas(wait, schemas, `${details.pointerTo("config")}/payloadDefinitions`, problems);
}

const detailFields: ReadonlySet<string> = new Set(["type", "config", "inputDefinition", "outputDefinition"]);

function readKind(raw: RawObject, executors: ExecutorCatalog): ExecutorKind | undefined {
  const type = raw.require("type", `one of ${[...executors.keys()].join(", ")}`) ? raw.text("type") : undefined;
  if (type === undefined) return undefined;
  const kind = executors.get(type);
  if (kind === undefined) {
    const known = `the types here are ${[...executors.keys()].join(", ")}`;
    raw.refuse("type", `there is no type ${quoted(type)}; ${known}${raw.hint(type, executors.keys())}`);
  }
  return kind;
}

/** Exactly `{"$ref": "#/definitions/<name>"}`: every schema has a name, by which messages and pages can call it. */
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

function readTransition(raw: RawObject, { stepNames }: StepSurroundings): string | null | undefined {
  const target = raw.fields.transitionToStep ?? null;
  if (target === null) return null;
  if (isJsonObject(target)) {
    const reason = "branching (`choose`) needs expressions, which this release does not run yet";
    raw.refuse("transitionToStep", `${reason}; name one step, or null to end the job`);
    return undefined;
  }
  return readStepName(raw, "transitionToStep", "the name of a step, or null to end the job", stepNames);
}

function readFailureTransition(
  raw: RawObject,
  ownName: string | undefined,
  { stepNames }: StepSurroundings,
): string | undefined {
  if (raw.fields.onFailure === undefined) return undefined;
  const target = readStepName(raw, "onFailure", "the name of the step that a failure leads to", stepNames);
  if (target === undefined || target !== ownName) return target;
  raw.refuse("onFailure", "a step cannot take over after its own failure; to try it again there is `retry`");
  return undefined;
}

function readStepName(
  raw: RawObject,
  field: string,
  wanted: string,
  stepNames: ReadonlySet<string>,
): string | undefined {
  const name = raw.fields[field];
  if (typeof name === "string" && stepNames.has(name)) return name;
  if (typeof name === "string") raw.refuse(field, `there is no step ${quoted(name)}${raw.hint(name, stepNames)}`);
  else raw.refuse(field, `must be ${wanted}, but is ${describeValue(name ?? null)}`);
  return undefined;
}

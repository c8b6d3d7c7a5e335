import type { JsonObject } from "../json/json.ts";
import type { RawObject } from "../json/raw-object.ts";
import { type ProblemList, quoted } from "../problem.ts";
import { checkValue, parseSchema, type Schema } from "../schema/schema.ts";
import { isLongerThan } from "./definition-name.ts";
import type { ExecutorCatalog, ExecutorKind, WaitRule } from "./executor-kind.ts";

interface Config {
  readonly config: JsonObject;
  /** Of a wait step whose config is right. */
  readonly wait: WaitRule | undefined;
  /** The timeout that the config of a step has, whatever its executor calls it. */
  readonly timeoutMs: number | undefined;
}

/** Reads a step's `config` and, of a new definition, holds it against its executor. One that is left out counts as empty. */
export function readConfig(
  details: RawObject,
  kind: ExecutorKind | undefined,
  surroundings: ConfigSurroundings,
): Config {
  const config = details.fields.config === undefined ? {} : details.object("config")?.fields;
  if (config === undefined || kind === undefined) return { ...noRules, config: {} };
  const pointer = details.pointerTo("config");
  const isRight = surroundings.isRegistered || isConfigRight(kind, config, pointer, surroundings);
  if (!isRight || kind.behaviour === "pass") return { ...noRules, config };
  if (kind.behaviour === "call") return { ...noRules, config, timeoutMs: kind.timeoutMsOf?.(config) };
  const wait = kind.waitRule(config);
  checkEventIds(wait, pointer, surroundings);
  return { config, wait, timeoutMs: wait.timeoutMs };
}

function isConfigRight(
  kind: ExecutorKind,
  config: JsonObject,
  pointer: string,
  { executors, problems }: ConfigSurroundings,
): boolean {
  const mismatches = checkValue(configSchemaOf(kind, executors), config);
  // An executor's own check may rely on its schema.
  const found = mismatches.length > 0 ? mismatches : (kind.checkConfig?.(config) ?? []);
  problems.addAll(pointer, found);
  return found.length === 0;
}

const noRules = { wait: undefined, timeoutMs: undefined };

interface ConfigSurroundings {
  readonly executors: ExecutorCatalog;
  readonly limits: { readonly maxNameLength: number; readonly maxEventIdsPerStep: number };
  readonly problems: ProblemList;
  readonly isRegistered: boolean;
}

/** The limits hold for every executor that waits, whatever its schema says. */
function checkEventIds({ eventIds }: WaitRule, pointer: string, { limits, problems }: ConfigSurroundings): void {
  if (eventIds.length > limits.maxEventIdsPerStep) {
    problems.add(pointer, `lists ${eventIds.length} event ids; a step may wait for ${limits.maxEventIdsPerStep}`);
  }
  const long = eventIds.find((eventId) => isLongerThan(eventId, limits.maxNameLength));
  if (long !== undefined)
    problems.add(pointer, `the event id ${quoted(long)} is longer than ${limits.maxNameLength} characters`);
}

function configSchemaOf(kind: ExecutorKind, executors: ExecutorCatalog): Schema {
  const schemas = configSchemas.get(executors) ?? new Map<string, Schema>();
  configSchemas.set(executors, schemas);
  const known = schemas.get(kind.type);
  if (known !== undefined) return known;
  const parsed = parseSchema(kind.configSchema);
  if ("problems" in parsed)
    throw new Error(`The config schema of ${kind.type} is wrong: ${JSON.stringify(parsed.problems)}`);
  schemas.set(kind.type, parsed.schema);
  return parsed.schema;
}

/** The executors' schemas never change, so they are parsed once per catalog. */
const configSchemas = new WeakMap<ExecutorCatalog, Map<string, Schema>>();

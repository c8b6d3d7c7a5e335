import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { ourWord, type RawObject } from "../json/raw-object.ts";
import { type Problem, type ProblemList, tokensOf } from "../problem.ts";
import { checkValue, parseSchema, type Schema } from "../schema/schema.ts";
import type { ExecutorCatalog, ExecutorKind } from "./executor-kind.ts";
import { configWords } from "./familiar/familiar-words.ts";
import type { Language } from "./language.ts";

export interface ConfigSurroundings {
  readonly executors: ExecutorCatalog;
  readonly problems: ProblemList;
  readonly isRegistered: boolean;
  readonly language: Language;
}

/** Reads a step's `config`. A missing config counts as empty. Returns undefined when it is not an object, which was reported. */
export function readConfig(details: RawObject): JsonObject | undefined {
  return details.fields.config === undefined ? {} : details.object("config")?.fields;
}

/** Checks a step's `config` with its executor, and reports the problems. */
export function isConfigRight(
  kind: ExecutorKind,
  config: JsonObject,
  pointer: string,
  { executors, problems }: ConfigSurroundings,
  places: ReadonlySet<string> = new Set(),
): boolean {
  const found = configProblems(kind, config, executors, places);
  problems.addAll(
    pointer,
    found.map((problem) => ({ ...problem, detail: problem.detail + hintAt(problem, kind, config) })),
  );
  return found.length === 0;
}

/** Returns a hint for the end of the sentence about a wrong field: our name for the field, or whether and how an expression may stand there. */
function hintAt({ pointer, detail }: Problem, kind: ExecutorKind, config: JsonObject): string {
  const [field = "", ...deeper] = tokensOf(pointer);
  const value = config[field];
  if (deeper.length > 0 || value === undefined) return "";
  const known = new Map(Object.entries(kind.configSchema.properties ?? {}));
  // A detail that ends with a question mark already suggests a similar name.
  if (!known.has(field)) return detail.endsWith("?") ? "" : (ourWord(field, configWords(field), known) ?? "");
  if (typeof value !== "string" || typesOf(known.get(field)).includes("string")) return "";
  if (kind.expressionFields?.[field] !== undefined) return "; an expression is written as in `${ input.name }`";
  return value.includes("${") ? "; no expression may stand here" : "";
}

function typesOf(schema: JsonValue | undefined): readonly JsonValue[] {
  const type = schema !== undefined && isJsonObject(schema) ? (schema.type ?? "string") : "string";
  return Array.isArray(type) ? type : [type];
}

/** Finds the problems of a config. The texts at `places` have expressions, so they are checked later, when their values are known. */
export function configProblems(
  kind: ExecutorKind,
  config: JsonObject,
  executors: ExecutorCatalog,
  places: ReadonlySet<string> = new Set(),
): readonly Problem[] {
  const found = checkValue(configSchemaOf(kind, executors), config);
  const mismatches = found.filter((problem) => !places.has(problem.pointer));
  // An executor's own check relies on its schema, so it is made only when the config fits the schema.
  return mismatches.length > 0 ? mismatches : (kind.checkConfig?.(config) ?? []);
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

import { parseTemplate, type Template, type TemplateNode } from "../expression/expression.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { type Problem, ProblemList, pointerTo } from "../problem.ts";
import { anything, closedObject, type Schema } from "../schema/node.ts";
import { parseSchemas } from "../schema/schema.ts";
import { typeSets } from "../schema/type-set.ts";
import { addTemplateProblems } from "./definition-template.ts";
import type { ExecutorKind } from "./executor-kind.ts";
import type { Language } from "./language.ts";

/** A step's config, and the part of it that holds expressions. */
export interface TemplatedConfig {
  /** The config. In fields that may have expressions, `$${` is replaced by `${`. A text with an expression stays as it was written. */
  readonly config: JsonObject;
  /** Undefined when no field has an expression. */
  readonly open: OpenFields | undefined;
  /** The pointers to the texts in the config that have expressions. If `isRead` is false: only to the texts that could not be read. */
  readonly places: ReadonlySet<string>;
  /** False when an expression could not be read. Its problem was reported, and the meaning of the config is then unknown. */
  readonly isRead: boolean;
}

/** The fields of a config that have expressions. */
export interface OpenFields {
  /** The template of an object with these fields. */
  readonly template: Template;
  /** The schema that this object must fit. */
  readonly expected: Schema;
}

/** Fields that give a value which becomes known only when a job has come to the step. */
export interface Resolvable<Value> extends OpenFields {
  /** Returns the meaning of a config with these fields, or its problems. */
  readonly resolve: (fields: JsonObject) => Value | { readonly problems: readonly Problem[] };
}

/** Reads the expressions in a config and reports their problems. Reads only the fields in which the executor allows expressions. */
export function readConfigTemplate(
  kind: ExecutorKind,
  config: JsonObject,
  pointer: string,
  { problems, language }: { readonly problems: ProblemList; readonly language: Language },
): TemplatedConfig {
  const { expressionFields = {} } = kind;
  const names = Object.keys(expressionFields).filter((name) => config[name] !== undefined);
  if (language === 1 || names.length === 0) return { config, open: undefined, places: new Set(), isRead: true };
  const parsed = parseTemplate(Object.fromEntries(names.map((name) => [name, config[name] ?? null])));
  if ("problems" in parsed) {
    addTemplateProblems(problems, pointer, parsed.problems);
    const places = new Set(parsed.problems.map((problem) => problem.pointer));
    return { config, open: undefined, places, isRead: false };
  }
  const { root } = parsed.template;
  if (root.kind === "constant") {
    return { config: { ...config, ...(root.value as JsonObject) }, open: undefined, places: new Set(), isRead: true };
  }
  const entries = root.kind === "map" ? root.entries : [];
  const fields = entries.map(([name, node]) => [name, withoutEscapes(node, config[name])] as const);
  const held = entries.filter(([, node]) => node.kind !== "constant");
  const template: Template = { root: { kind: "map", entries: held }, references: parsed.template.references };
  const schemas = fieldSchemasOf(kind);
  const expected = new Map(held.map(([name]) => [name, schemas.get(name) ?? anything]));
  return {
    config: { ...config, ...Object.fromEntries(fields) },
    open: { template, expected: closedObject(expected, [], typeSets.object) },
    places: new Set(placesIn(template.root, "")),
    isRead: true,
  };
}

/** Returns the value from which a template was made. In texts without expressions, the escapes are replaced. */
function withoutEscapes(node: TemplateNode, written: JsonValue = null): JsonValue {
  switch (node.kind) {
    case "constant":
      return node.value;
    case "expression":
    case "text":
      return written;
    case "list": {
      const items = Array.isArray(written) ? written : [];
      return node.items.map((item, index) => withoutEscapes(item, items[index]));
    }
    case "map": {
      const fields = isJsonObject(written) ? written : {};
      return Object.fromEntries(node.entries.map(([key, part]) => [key, withoutEscapes(part, fields[key])]));
    }
  }
}

function placesIn(node: TemplateNode, pointer: string): string[] {
  switch (node.kind) {
    case "constant":
      return [];
    case "expression":
    case "text":
      return [pointer];
    case "list":
      return node.items.flatMap((item, index) => placesIn(item, pointerTo(pointer, index)));
    case "map":
      return node.entries.flatMap(([key, part]) => placesIn(part, pointerTo(pointer, key)));
  }
}

function fieldSchemasOf(kind: ExecutorKind): ReadonlyMap<string, Schema> {
  const known = fieldSchemas.get(kind);
  if (known !== undefined) return known;
  const problems = new ProblemList(1);
  const parsed = parseSchemas({ ...kind.expressionFields }, "", problems, false);
  if (problems.count > 0) throw new Error(`A schema of a field of ${kind.type} is wrong.`);
  fieldSchemas.set(kind, parsed);
  return parsed;
}

/** The executors' schemas never change, so they are parsed once. */
const fieldSchemas = new WeakMap<ExecutorKind, ReadonlyMap<string, Schema>>();

import type { Executor } from "../../api/executors.ts";
import type { Path } from "./json-tree.ts";
import type { Word } from "./word.ts";

/** The names that a property may have in a step's config, or in an object within it. `path` leads from the config to this object. */
export function configProperties(executor: Executor | undefined, path: Path): readonly Word[] {
  const disallowed = path.length === 0 ? (executor?.disallowedConfigFields ?? []) : [];
  const words = schemasAt(executor, path).flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([text, { description }]) => wordOf(text, description)),
  );
  return words.filter(({ text }) => !disallowed.includes(text));
}

/** The values that the config's schema lists for this place. */
export function configValues(executor: Executor | undefined, path: Path): readonly Word[] {
  return schemasAt(executor, path).flatMap((schema) => {
    const values = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
    const listed = values.length === 0 && schema.type === "boolean" ? [true, false] : values;
    return listed.map((value) =>
      typeof value === "string"
        ? wordOf(value, schema.description)
        : { ...wordOf(JSON.stringify(value), schema.description), isBare: true },
    );
  });
}

/** Returns the required fields of a config as a part of a snippet. The text is empty if no field is required. */
export function configSnippet({ configSchema }: Executor, place: (text: string) => string): string {
  const { properties = {}, required = [] } = configSchema as ConfigSchema;
  const fields = required.map(
    (field) => `${JSON.stringify(field)}: ${valueSnippet(properties[field] ?? {}, field, place)}`,
  );
  return fields.length === 0 ? "" : `{ ${fields.join(", ")} }`;
}

function valueSnippet(schema: ConfigSchema, name: string, place: (text: string) => string): string {
  const [first = schema] = alternativesOf(schema);
  switch (first.type) {
    case "object":
      return typeof first.additionalProperties === "object" && first.additionalProperties.type === "string"
        ? `{ "name": "${place(name)}" }`
        : "{}";
    case "array":
      return `[${valueSnippet(first.items ?? {}, name.replace(/s$/, ""), place)}]`;
    case "string":
    case undefined:
      return `"${place(name)}"`;
    default:
      return place(name);
  }
}

/** The part of JSON Schema that the schemas of configs use. */
interface ConfigSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: ConfigSchema | boolean;
  readonly items?: ConfigSchema;
  readonly anyOf?: readonly ConfigSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** Returns every schema that may apply to a value at this place. */
function schemasAt(executor: Executor | undefined, path: Path): readonly ConfigSchema[] {
  const config: readonly ConfigSchema[] = executor === undefined ? [] : [executor.configSchema];
  return path.reduce<readonly ConfigSchema[]>(
    (schemas, key) => schemas.flatMap((schema) => alternativesOf(within(schema, key))),
    config.flatMap(alternativesOf),
  );
}

function within({ items, properties = {}, additionalProperties }: ConfigSchema, key: string | number) {
  if (typeof key === "number") return items;
  if (Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function alternativesOf(schema: ConfigSchema | undefined): readonly ConfigSchema[] {
  if (schema === undefined) return [];
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternativesOf);
}

function wordOf(text: string, info: string | undefined): Word {
  return info === undefined ? { text } : { text, info };
}

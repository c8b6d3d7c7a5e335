type Json = unknown;

export type FieldKind =
  | "text"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "object"
  | "list"
  | "union"
  | "null"
  | "json";

/** Describes a value that a form asks for. It is made from the schema of the value. */
export interface SchemaField {
  readonly kind: FieldKind;
  /** The schema's own title, or the property's name. */
  readonly label: string;
  readonly hint?: string;
  readonly isRequired: boolean;
  /** The values of a choice, in their order. */
  readonly choices?: readonly Json[];
  /** The properties of an object. */
  readonly fields?: readonly (SchemaField & { readonly name: string })[];
  /** An item of a list. */
  readonly item?: SchemaField;
  /** The kinds of value of a union. The reader chooses one of them. */
  readonly variants?: readonly SchemaField[];
  readonly inputType?: "text" | "date" | "datetime-local" | "email" | "url";
  readonly default?: Json;
}

type Schema = Readonly<Record<string, Json>>;
type Definitions = Readonly<Record<string, Json>>;

/** A schema, and the whole schema that contains it (`definition`). `#` and `#/$defs` refer to this whole schema. */
interface Placed {
  readonly schema: Schema | undefined;
  readonly definition: Json;
}

/** The form asks for JSON below this depth, and where it cannot show a schema as fields. */
const maxDepth = 6;

/**
 * Returns the form for a job's input, which is the input of the definition's first step. Undefined for a definition that cannot be understood, and if
 * the first step makes its input from a template, since then the job's input may be any object.
 */
export function inputFieldOf(definition: string): SchemaField | undefined {
  try {
    const parsed = JSON.parse(definition);
    const [first] = parsed.steps;
    if (first.input !== undefined) return undefined;
    return fieldOf(first.integrationDetails.inputDefinition, parsed.definitions ?? {}, "", true, 0);
  } catch {
    return undefined;
  }
}

/**
 * Returns the form for the payload of an event that a step waits for. It is made from the event's schema in `payloadDefinitions`. If there is none,
 * the form has the properties that the step's output definition declares and its input definition does not, since only an event can bring these.
 * Undefined if the payload is not an object with known properties.
 */
export function payloadFieldOf(definition: string, stepName: string, eventId: string): SchemaField | undefined {
  try {
    const { steps, definitions = {} } = JSON.parse(definition);
    const step = steps.find((one: { readonly name: string }) => one.name === stepName);
    const { config, inputDefinition, outputDefinition } = step.integrationDetails;
    const { eventIds, payloadDefinitions = {} } = config;
    const schema = Object.hasOwn(payloadDefinitions, eventId)
      ? payloadDefinitions[eventId]
      : broughtByEvents(inputDefinition, outputDefinition, definitions, eventIds.length === 1);
    const field = fieldOf(schema, definitions, "", true, 0);
    return field.kind === "object" ? field : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the properties that events bring. If the step waits for several events, no property is required, since another event may bring it. */
function broughtByEvents(input: Json, output: Json, definitions: Definitions, isOnlyEvent: boolean): Schema {
  const passedOn = propertiesOf(resolve(input, definitions, input).schema);
  const { schema, definition } = resolve(output, definitions, output);
  const brought = Object.entries(propertiesOf(schema)).filter(([name]) => !Object.hasOwn(passedOn, name));
  return {
    type: "object",
    ...(isRecord(definition) && { $defs: definition.$defs }),
    properties: Object.fromEntries(brought),
    ...(isOnlyEvent && { required: schema?.required }),
  };
}

export function fieldOf(
  source: Json,
  definitions: Definitions,
  label: string,
  isRequired: boolean,
  depth: number,
  around: Json = source,
): SchemaField {
  const { schema, definition } = resolve(source, definitions, around);
  const base = {
    label: typeof schema?.title === "string" ? schema.title : label,
    isRequired,
    ...(typeof schema?.description === "string" && { hint: schema.description }),
    ...(schema?.default !== undefined && { default: schema.default }),
  };
  if (schema === undefined || depth > maxDepth) return { ...base, kind: "json" };
  const alternatives = alternativesOf(schema);
  if (alternatives !== undefined) return unionField(alternatives, { schema, definition }, definitions, base, depth);
  if (composing.some((keyword) => schema[keyword] !== undefined)) return { ...base, kind: "json" };
  if (Array.isArray(schema.enum)) return { ...base, kind: "choice", choices: schema.enum };
  if (schema.const !== undefined) return { ...base, kind: "choice", choices: [schema.const] };
  switch (schema.type) {
    case "string":
      return { ...base, kind: "text", inputType: inputTypes[String(schema.format)] ?? "text" };
    case "number":
    case "integer":
      return { ...base, kind: schema.type };
    case "boolean":
    case "null":
      return { ...base, kind: schema.type };
    case "array":
      return { ...base, kind: "list", item: fieldOf(schema.items ?? {}, definitions, "", true, depth + 1, definition) };
    case "object":
    case undefined:
      return objectField({ schema, definition }, definitions, base, depth);
    default:
      return { ...base, kind: "json" };
  }
}

/** A schema with one of these keywords does not stand for one plain kind of value. */
const composing = ["anyOf", "allOf", "oneOf", "if", "prefixItems", "patternProperties"] as const;

/** The keywords that do not restrict the value. A schema that has `anyOf` or `oneOf` and only these keywords besides is treated as a union. */
const annotations: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "$defs",
]);

/**
 * Returns the alternatives of a schema: the schemas in `anyOf` or `oneOf`, or one schema for each type in a list of types. Undefined if there are no
 * alternatives, or if the schema has further keywords that the form cannot combine with them.
 */
function alternativesOf(schema: Schema): readonly Json[] | undefined {
  const { type, title: _title, description: _description, default: _default, ...rest } = schema;
  const isPlain =
    composing.every((keyword) => schema[keyword] === undefined) &&
    schema.enum === undefined &&
    schema.const === undefined;
  if (Array.isArray(type) && isPlain) return type.map((one) => ({ ...rest, type: one }));
  const [keyword, ...others] = Object.keys(schema).filter((name) => !annotations.has(name));
  const found = others.length === 0 && (keyword === "anyOf" || keyword === "oneOf") ? schema[keyword] : undefined;
  return Array.isArray(found) ? found : undefined;
}

/**
 * If only one alternative is not null, a choice or a boolean becomes a choice, which also has null if the union allows it. A value that is asked for as
 * JSON becomes a JSON field, even if the union allows null. Any other value becomes a field of its kind, but only if the union does not allow null. In
 * all other unions, the user chooses the alternative.
 */
function unionField(
  alternatives: readonly Json[],
  { definition }: Placed,
  definitions: Definitions,
  base: Pick<SchemaField, "label" | "isRequired">,
  depth: number,
): SchemaField {
  const make = (source: Json) => fieldOf(source, definitions, "", true, depth + 1, definition);
  const others = alternatives.filter((one) => resolve(one, definitions, definition).schema?.type !== "null");
  const isNullable = others.length < alternatives.length;
  if (others.length === 1) {
    const only = make(others[0]);
    const kinds = { choice: only.choices ?? [], boolean: [false, true] };
    if (only.kind === "choice" || only.kind === "boolean") {
      const choices = isNullable ? [...kinds[only.kind], null] : kinds[only.kind];
      return { ...only, ...base, label: only.label || base.label, kind: "choice", choices };
    }
    // The field is changed and not copied. A copy would make all parts of an object, which are otherwise made only when they are read.
    if (!isNullable || only.kind === "json") return Object.assign(only, { ...base, label: only.label || base.label });
  }
  let made: SchemaField[] | undefined;
  return {
    ...base,
    kind: "union",
    get variants() {
      made ??= alternatives.map(make);
      return made;
    },
  };
}

const inputTypes: Readonly<Record<string, NonNullable<SchemaField["inputType"]>>> = {
  date: "date",
  "date-time": "datetime-local",
  email: "email",
  uri: "url",
};

/** An object without known properties has nothing that a form could ask for, so the form asks for JSON. */
function objectField(
  { schema, definition }: Placed & { readonly schema: Schema },
  definitions: Definitions,
  base: Pick<SchemaField, "label" | "isRequired">,
  depth: number,
): SchemaField {
  const properties = Object.entries(propertiesOf(schema));
  if (properties.length === 0) return { ...base, kind: "json" };
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const make = () =>
    properties.map(([name, property]) =>
      Object.assign(fieldOf(property, definitions, name, required.has(name), depth + 1, definition), { name }),
    );
  let made: ReturnType<typeof make> | undefined;
  return {
    ...base,
    kind: "object",
    // The fields are made only when they are read. Otherwise a schema that refers to itself in ten places would give millions of fields.
    get fields() {
      made ??= make();
      return made;
    },
  };
}

function propertiesOf(schema: Schema | undefined): Schema {
  return isRecord(schema?.properties) ? schema.properties : {};
}

/** Follows references, within the whole schema or into other schemas of `definitions`. Finds no schema if they lead nowhere, or form a circle. */
function resolve(source: Json, definitions: Definitions, around: Json): Placed {
  let schema = source;
  let definition = around;
  for (let hops = 0; hops < 20; hops += 1) {
    if (!isRecord(schema)) break;
    if (typeof schema.$ref !== "string") return { schema, definition };
    const match = /^#(?:\/(definitions|\$defs)\/(.+))?$/.exec(schema.$ref);
    if (match === null) break;
    const [, place, token = ""] = match;
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (place === "definitions") definition = own(definitions, name);
    schema = place === "$defs" ? own(isRecord(definition) ? definition.$defs : undefined, name) : definition;
  }
  return { schema: undefined, definition };
}

function own(record: Json, name: string): Json {
  return isRecord(record) && Object.hasOwn(record, name) ? record[name] : undefined;
}

function isRecord(value: Json): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

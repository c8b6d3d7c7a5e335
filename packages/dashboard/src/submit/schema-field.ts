type Json = unknown;

/** What a form asks for, made from a schema. */
export interface SchemaField {
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "object" | "list" | "json";
  /** The schema's own title, or the property's name. */
  readonly label: string;
  readonly hint?: string;
  readonly isRequired: boolean;
  /** Of a choice: the values in their order. */
  readonly choices?: readonly Json[];
  /** Of an object. */
  readonly fields?: readonly (SchemaField & { readonly name: string })[];
  /** Of a list. */
  readonly item?: SchemaField;
  readonly inputType?: "text" | "date" | "email" | "url";
  readonly default?: Json;
}

type Schema = Readonly<Record<string, Json>>;
type Definitions = Readonly<Record<string, Json>>;

/** Deeper, or where a schema is more than one plain thing, the form asks for JSON. */
const maxDepth = 6;

/** The form for a job's input: what the first step of the definition takes. Undefined for a definition that cannot be understood. */
export function inputFieldOf(definition: string): SchemaField | undefined {
  try {
    const parsed = JSON.parse(definition);
    const reference = parsed.steps[0].integrationDetails.inputDefinition;
    return fieldOf(reference, parsed.definitions ?? {}, "", true, 0);
  } catch {
    return undefined;
  }
}

/**
 * The form for the payload of an event that a step waits for: what `payloadDefinitions` says of it; otherwise what the step's output
 * definition declares and its input definition does not, since only an event can bring that. Undefined where there is nothing to ask for.
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

/** With several awaited events another one may bring a required property, so none is required then. */
function broughtByEvents(input: Json, output: Json, definitions: Definitions, isOnlyEvent: boolean): Schema {
  const passedOn = propertiesOf(resolve(input, definitions));
  const schema = resolve(output, definitions);
  const brought = Object.entries(propertiesOf(schema)).filter(([name]) => !Object.hasOwn(passedOn, name));
  return {
    type: "object",
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
): SchemaField {
  const schema = resolve(source, definitions);
  const base = {
    label: typeof schema?.title === "string" ? schema.title : label,
    isRequired,
    ...(typeof schema?.description === "string" && { hint: schema.description }),
    ...(schema?.default !== undefined && { default: schema.default }),
  };
  if (schema === undefined || depth > maxDepth || schema.anyOf !== undefined) return { ...base, kind: "json" };
  if (Array.isArray(schema.enum)) return { ...base, kind: "choice", choices: schema.enum };
  if (schema.const !== undefined) return { ...base, kind: "choice", choices: [schema.const] };
  switch (schema.type) {
    case "string":
      return { ...base, kind: "text", inputType: inputTypes[String(schema.format)] ?? "text" };
    case "number":
    case "integer":
      return { ...base, kind: schema.type };
    case "boolean":
      return { ...base, kind: "boolean" };
    case "array":
      return { ...base, kind: "list", item: fieldOf(schema.items ?? {}, definitions, "", true, depth + 1) };
    case "object":
    case undefined:
      return objectField(schema, definitions, base, depth);
    default:
      return { ...base, kind: "json" };
  }
}

const inputTypes: Readonly<Record<string, NonNullable<SchemaField["inputType"]>>> = {
  date: "date",
  email: "email",
  uri: "url",
};

/** An open object without a single known property has nothing that a form could ask for. */
function objectField(
  schema: Schema,
  definitions: Definitions,
  base: Pick<SchemaField, "label" | "isRequired">,
  depth: number,
): SchemaField {
  const properties = Object.entries(propertiesOf(schema));
  if (properties.length === 0) return { ...base, kind: "json" };
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const make = () =>
    properties.map(([name, property]) =>
      Object.assign(fieldOf(property, definitions, name, required.has(name), depth + 1), { name }),
    );
  let made: ReturnType<typeof make> | undefined;
  return {
    ...base,
    kind: "object",
    // Made when they are looked at: of a schema that holds itself twice over, all of them would be millions.
    get fields() {
      made ??= make();
      return made;
    },
  };
}

function propertiesOf(schema: Schema | undefined): Schema {
  return isRecord(schema?.properties) ? schema.properties : {};
}

/** Follows references into the definitions; undefined for those that lead nowhere, or around in a circle. */
function resolve(source: Json, definitions: Definitions): Schema | undefined {
  let schema = source;
  for (let hops = 0; hops < 20; hops += 1) {
    if (!isRecord(schema)) return undefined;
    if (typeof schema.$ref !== "string") return schema;
    const name = /^#\/definitions\/(.+)$/.exec(schema.$ref)?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
    schema = name !== undefined && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  }
  return undefined;
}

function isRecord(value: Json): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

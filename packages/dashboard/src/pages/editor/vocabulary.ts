import type { EditorState } from "@codemirror/state";
import { nodeAt, type Path, propertiesOf, textOf, valuesIn } from "./json-tree.ts";

/** A word of the definition language that may stand somewhere. */
export interface Word {
  readonly text: string;
  readonly info?: string;
  /** Written as it is, without quotes: null, true, false. */
  readonly isBare?: boolean;
}

/** The names that a property may have in the object at this path. */
export function propertyWords(state: EditorState, path: Path): readonly Word[] {
  const [first, , third] = path;
  if (path.length === 0) return words(root);
  if (first === "definitions") return path.length === 1 ? [] : schemaProperties(path);
  if (first !== "steps") return [];
  if (path.length === 2) return words(step);
  if (third === "retry" && path.length === 3) return words(retry);
  if (third !== "integrationDetails") return [];
  if (path.length === 3) return words(details);
  if (path[3] === "config" && path.length === 4) return words(configs[typeAt(state, path)] ?? {});
  const isReference =
    path[3] === "inputDefinition" || path[3] === "outputDefinition" || path[4] === "payloadDefinitions";
  return isReference ? words(reference) : [];
}

/** The values that may stand at this path. */
export function valueWords(state: EditorState, path: Path): readonly Word[] {
  const name = path.at(-1);
  if (name === "$ref") return definitionNames(state).map((text) => ({ text: `#/definitions/${text}` }));
  if (path[0] === "steps") {
    if (path.length === 3 && name === "transitionToStep")
      return [...stepWords(state), { text: "null", isBare: true, info: hints.end }];
    if (path.length === 3 && name === "onFailure") return stepWords(state);
    if (path.length === 4 && name === "type") return words(executors);
    if (name === "match") return words(matches);
    if (name === "jitter") return booleans;
  }
  if (path[0] === "definitions") return schemaValues(state, path);
  return [];
}

const hints = {
  end: "Ends the job",
};

type Meanings = Readonly<Record<string, string>>;

const root: Meanings = {
  workflowName: "The workflow's name",
  steps: "The steps; the first one is where a job starts",
  definitions: "A schema by each name that steps refer to",
};

const step: Meanings = {
  name: "Unique in the definition",
  integrationDetails: "What the step does, what it takes and what it gives",
  transitionToStep: "The next step, or null to end the job",
  onFailure: "The step that takes over when the attempts are used up",
  retry: "How often and how patiently a call is tried again",
  timeoutSeconds: "How long an attempt may take",
};

const details: Meanings = {
  type: "The executor",
  config: "What the executor needs",
  inputDefinition: "The schema of what the step takes",
  outputDefinition: "The schema of what the step gives",
};

const retry: Meanings = {
  maxAttempts: "The first attempt included",
  initialIntervalSeconds: "The pause before the second attempt",
  backoffRate: "By how much each pause is longer than the one before",
  maxIntervalSeconds: "No pause is longer",
  jitter: "Whether pauses vary, so that jobs do not come back together",
};

const executors: Meanings = {
  "/service/noop": "The output is the input",
  "/service/cloud/function": "Calls a cloud function",
  "/service/waitForEventIds": "Waits for events",
};

const configs: Readonly<Record<string, Meanings>> = {
  "/service/cloud/function": {
    region: "For example eu-west-1",
    accountId: "Twelve digits",
    functionName: "The function's name",
    qualifier: "A version or an alias of the function",
    roleArn: "The role to call it as",
  },
  "/service/waitForEventIds": {
    eventIds: "The events that the step waits for",
    match: "How many of them are enough: all, any, or a number",
    timeoutSeconds: "How long the step waits",
    payloadDefinitions: "By event: the schema of its payload",
  },
};

const reference: Meanings = { $ref: "#/definitions/<name>" };
const matches: Meanings = { all: "Every event must come", any: "One event is enough" };
const types: Meanings = { object: "", array: "", string: "", number: "", integer: "", boolean: "", null: "" };
const formats: Meanings = { "date-time": "", date: "", email: "", uri: "", uuid: "" };

const schema: Meanings = {
  type: "What kind of value it is",
  properties: "The properties of an object, each with its schema",
  required: "The properties that must be there",
  additionalProperties: "false: nothing but the properties; a schema: what others must be",
  items: "The schema of each entry of an array",
  enum: "The values that are allowed",
  const: "The one value that is allowed",
  anyOf: "One of these schemas must fit",
  minimum: "",
  maximum: "",
  exclusiveMinimum: "",
  exclusiveMaximum: "",
  minLength: "",
  maxLength: "",
  minItems: "",
  maxItems: "",
  pattern: "A regular expression, in the syntax of RE2",
  format: "",
  title: "",
  description: "",
  default: "",
  "x-sensitive": "Not shown in logs",
  $ref: "#/definitions/<name>",
};

const booleans: readonly Word[] = [
  { text: "true", isBare: true },
  { text: "false", isBare: true },
];

function words(meanings: Meanings): readonly Word[] {
  return Object.entries(meanings).map(([text, info]) => (info === "" ? { text } : { text, info }));
}

/** Below `properties` names are the writer's own. */
function schemaProperties(path: Path): readonly Word[] {
  return path.at(-1) === "properties" && isSchema(path.slice(0, -1)) ? [] : words(schema);
}

function schemaValues(state: EditorState, path: Path): readonly Word[] {
  const name = path.at(-1);
  const around = path.slice(0, -1);
  if (name === "type" && isSchema(around)) return words(types);
  if (name === "format" && isSchema(around)) return words(formats);
  if (name === "additionalProperties") return booleans;
  if (path.at(-2) === "required" && isSchema(path.slice(0, -2))) {
    const properties = propertiesOf(state, nodeAt(state, [...path.slice(0, -2), "properties"]));
    return [...properties.keys()].map((text) => ({ text }));
  }
  return [];
}

/** A schema is a definition, or a property, or the items of one. A property may be called `type`. */
function isSchema(path: Path): boolean {
  if (path.length <= 2) return path.length === 2;
  const above = path.at(-2);
  if (above === "properties") return isSchema(path.slice(0, -2));
  if (above === "anyOf") return isSchema(path.slice(0, -2));
  const name = path.at(-1);
  return (name === "items" || name === "additionalProperties") && isSchema(path.slice(0, -1));
}

function typeAt(state: EditorState, path: Path): string {
  return textOf(state, nodeAt(state, [...path.slice(0, 3), "type"])) ?? "";
}

function stepWords(state: EditorState): Word[] {
  const steps = nodeAt(state, ["steps"]);
  if (steps?.name !== "Array") return [];
  return valuesIn(steps).flatMap((one) => {
    const text = textOf(state, propertiesOf(state, one).get("name"));
    return text === undefined || text === "" ? [] : [{ text }];
  });
}

function definitionNames(state: EditorState): string[] {
  return [...propertiesOf(state, nodeAt(state, ["definitions"])).keys()];
}

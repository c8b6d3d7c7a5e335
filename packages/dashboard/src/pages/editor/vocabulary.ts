import type { EditorState } from "@codemirror/state";
import type { Executor } from "../../api/executors.ts";
import { forEachType, parallelType } from "../../graph/graph-step.ts";
import { texts } from "../../texts/texts.ts";
import { configProperties, configValues } from "./config-words.ts";
import { nodeAt, type Path, propertiesOf, textOf, valuesIn } from "./json-tree.ts";
import type { Word } from "./word.ts";

/** The names that a property may have in the object at this path. */
export function propertyWords(state: EditorState, path: Path, executors: readonly Executor[]): readonly Word[] {
  const [first, , third] = path;
  if (path.length === 0) return words(root);
  if (first === "definitions") return path.length === 1 ? [] : schemaProperties(path);
  if (first !== "steps") return [];
  if (path.length === 2) return words(step);
  if (third === "retry" && path.length === 3) return words(retry);
  if (third === "onFailure" && path.length === 4) return words(handler);
  if (third === "transitionToStep") return path.length === 3 ? words(choice) : path.length === 5 ? words(option) : [];
  if (third !== "integrationDetails") return [];
  if (path.length === 3) return words(details);
  if (path[3] === "config") return configProperties(executorAt(state, path, executors), path.slice(4));
  return path[3] === "inputDefinition" || path[3] === "outputDefinition" ? words(reference) : [];
}

/** The values that are possible at this path. */
export function valueWords(state: EditorState, path: Path, executors: readonly Executor[]): readonly Word[] {
  const name = path.at(-1);
  if (name === "$ref") return referenceWords(state, path);
  if (path[0] === "steps") {
    const isNext = path.length === 3 && name === "transitionToStep";
    const isChosen = path[2] === "transitionToStep" && ((path.length === 4 && name === "else") || name === "then");
    if (isNext || isChosen) return [...stepWords(state), { text: "null", isBare: true, info: texts.vocabulary.end }];
    if (path.length === 3 && name === "onFailure") return stepWords(state);
    if (path[2] === "onFailure" && name === "then") return stepWords(state);
    if (path[2] === "onFailure" && path.at(-2) === "on") return words(errors);
    if (path[2] === "retry" && path.at(-2) === "on") return words(errors).filter(({ text }) => !neverRetried.has(text));
    if (path.length === 4 && name === "type")
      return executors.map(({ type, summary }) => ({ text: type, info: summary }));
    if (path[3] === "config") {
      const executor = executorAt(state, path, executors);
      const field = path.slice(4);
      return isFirstOfBranch(executor, field) ? otherStepWords(state, path) : configValues(executor, field);
    }
    if (name === "jitter") return booleans;
  }
  if (path[0] === "definitions") return schemaValues(state, path);
  return [];
}

type Meanings = Readonly<Record<string, string>>;

const { root, step, details, retry, handler, choice, option, errors, reference, types, formats, schema } =
  texts.vocabulary;

/** The errors that would happen again in each further attempt. The service refuses a `retry` that names one of them. */
const neverRetried: ReadonlySet<string> = new Set([
  "InputMismatch",
  "OutputMismatch",
  "ExpressionFailed",
  "TooManyChildren",
]);

const booleans: readonly Word[] = [
  { text: "true", isBare: true },
  { text: "false", isBare: true },
];

export function words(meanings: Meanings): readonly Word[] {
  return Object.entries(meanings).map(([text, info]) => (info === "" ? { text } : { text, info }));
}

/** Offers no names below `properties`, `patternProperties` and `$defs`, because the writer of the definition chooses these names. */
function schemaProperties(path: Path): readonly Word[] {
  return namedSchemas.has(path.at(-1)) && isSchema(path.slice(0, -1)) ? [] : words(schema);
}

/** The keywords whose value holds schemas by name, those whose value is a list of schemas, and those whose value is one schema. */
const namedSchemas: ReadonlySet<unknown> = new Set(["properties", "patternProperties", "$defs"]);
const schemaLists: ReadonlySet<unknown> = new Set(["anyOf", "allOf", "oneOf", "prefixItems"]);
const schemaKeywords: ReadonlySet<unknown> = new Set([
  "items",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);
const flags: ReadonlySet<unknown> = new Set([
  "additionalProperties",
  "uniqueItems",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

function schemaValues(state: EditorState, path: Path): readonly Word[] {
  const name = path.at(-1);
  const around = path.slice(0, -1);
  if (name === "type" && isSchema(around)) return words(types);
  if (name === "format" && isSchema(around)) return words(formats);
  if (flags.has(name) && isSchema(around)) return booleans;
  if (path.at(-2) === "required" && isSchema(path.slice(0, -2))) {
    const properties = propertiesOf(state, nodeAt(state, [...path.slice(0, -2), "properties"]));
    return [...properties.keys()].map((text) => ({ text }));
  }
  return [];
}

/**
 * Tells whether a schema is at this path: one of the `definitions`, or a part of another schema, below a keyword such as `items` or `anyOf`.
 * The callers ask this because a name such as `type` can be a keyword of a schema or the name of a property.
 */
function isSchema(path: Path): boolean {
  if (path.length <= 2) return path.length === 2;
  const above = path.at(-2);
  if (namedSchemas.has(above) || schemaLists.has(above)) return isSchema(path.slice(0, -2));
  return schemaKeywords.has(path.at(-1)) && isSchema(path.slice(0, -1));
}

/** Returns the executor of the step that contains this path. */
export function executorAt(state: EditorState, path: Path, executors: readonly Executor[]): Executor | undefined {
  const written = textOf(state, nodeAt(state, [...path.slice(0, 3), "type"]));
  return executors.find(({ type }) => type === written);
}

function stepWords(state: EditorState): Word[] {
  const steps = nodeAt(state, ["steps"]);
  if (steps?.name !== "Array") return [];
  return valuesIn(steps).flatMap((one) => {
    const text = textOf(state, propertiesOf(state, one).get("name"));
    return text === undefined || text === "" ? [] : [{ text }];
  });
}

/** Tells whether this place in the config is for the name of the first step of a branch, or of the body of a forEach. */
function isFirstOfBranch(executor: Executor | undefined, [field, name, ...deeper]: Path): boolean {
  if (deeper.length > 0) return false;
  if (executor?.type === forEachType) return field === "step" && name === undefined;
  return executor?.type === parallelType && field === "branches" && name !== undefined;
}

/** A step cannot begin its own branch, so the other steps are offered. */
function otherStepWords(state: EditorState, [steps = "", index = 0]: Path): Word[] {
  const own = textOf(state, nodeAt(state, [steps, index, "name"]));
  return stepWords(state).filter(({ text }) => text !== own);
}

function referenceWords(state: EditorState, path: Path): Word[] {
  const own =
    path[0] === "definitions" ? propertiesOf(state, nodeAt(state, [...path.slice(0, 2), "$defs"])).keys() : [];
  return [
    ...[...own].map((text) => ({ text: `#/$defs/${text}` })),
    ...definitionNames(state).map((text) => ({ text: `#/definitions/${text}` })),
  ];
}

function definitionNames(state: EditorState): string[] {
  return [...propertiesOf(state, nodeAt(state, ["definitions"])).keys()];
}

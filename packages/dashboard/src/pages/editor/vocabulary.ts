import type { EditorState } from "@codemirror/state";
import type { Executor } from "../../api/executors.ts";
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
  if (third !== "integrationDetails") return [];
  if (path.length === 3) return words(details);
  if (path[3] === "config") return configProperties(executorAt(state, path, executors), path.slice(4));
  return path[3] === "inputDefinition" || path[3] === "outputDefinition" ? words(reference) : [];
}

/** The values that may stand at this path. */
export function valueWords(state: EditorState, path: Path, executors: readonly Executor[]): readonly Word[] {
  const name = path.at(-1);
  if (name === "$ref") return definitionNames(state).map((text) => ({ text: `#/definitions/${text}` }));
  if (path[0] === "steps") {
    if (path.length === 3 && name === "transitionToStep")
      return [...stepWords(state), { text: "null", isBare: true, info: texts.vocabulary.end }];
    if (path.length === 3 && name === "onFailure") return stepWords(state);
    if (path.length === 4 && name === "type")
      return executors.map(({ type, summary }) => ({ text: type, info: summary }));
    if (path[3] === "config") return configValues(executorAt(state, path, executors), path.slice(4));
    if (name === "jitter") return booleans;
  }
  if (path[0] === "definitions") return schemaValues(state, path);
  return [];
}

type Meanings = Readonly<Record<string, string>>;

const { root, step, details, retry, reference, types, formats, schema } = texts.vocabulary;

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

/** The executor of the step that this path leads into. */
function executorAt(state: EditorState, path: Path, executors: readonly Executor[]): Executor | undefined {
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

function definitionNames(state: EditorState): string[] {
  return [...propertiesOf(state, nodeAt(state, ["definitions"])).keys()];
}

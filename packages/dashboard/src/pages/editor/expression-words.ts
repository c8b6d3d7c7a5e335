import type { EditorState } from "@codemirror/state";
import type { ExpressionFunction } from "../../api/expression-functions.ts";
import { forEachType, stepsOfText } from "../../graph/graph-step.ts";
import { lanesByStep, regionOf } from "../../graph/regions.ts";
import { texts } from "../../texts/texts.ts";
import type { ExpressionPart, ExpressionPlace } from "./expression-place.ts";
import { type Node, nodeAt, propertiesOf, textOf, valuesIn } from "./json-tree.ts";
import { propertiesOfSchemas, schemasWithin } from "./schema-tree.ts";
import { words } from "./vocabulary.ts";
import type { Word } from "./word.ts";

/** The words that are possible at a place in an expression. `typed` is the part of a word that is already there. */
export interface ExpressionWords {
  readonly typed: string;
  /** The names that can be read at this place. */
  readonly names: readonly Word[];
  readonly functions: readonly ExpressionFunction[];
  readonly isInString: boolean;
}

export function wordsInExpression(
  state: EditorState,
  place: ExpressionPlace,
  functions: readonly ExpressionFunction[],
): ExpressionWords | undefined {
  const { before, stringStart } = place;
  if (stringStart !== undefined) {
    // Inside of a string, completions are offered only if the string names a step, an event or a fork.
    const root = /(?:^|[^\w.])(steps|events|forks)\s*\[\s*$/.exec(before.slice(0, stringStart))?.[1];
    if (root === undefined) return undefined;
    return { typed: before.slice(stringStart + 1), names: namesOf(state, root), functions: [], isInString: true };
  }
  const typed = /\w*$/.exec(before)?.[0] ?? "";
  const start = before.slice(0, before.length - typed.length);
  if (!/\.\s*$/.test(start)) {
    const called = functions.filter(({ forms }) => forms !== "method");
    return { typed, names: rootsAt(state, place), functions: called, isInString: false };
  }
  const path = pathBefore(start);
  const root = String(path[0] ?? "");
  const spaced = functions.filter(({ name }) => path.length === 1 && name.startsWith(`${root}.`));
  if (spaced.length > 0) {
    const called = spaced.map((one) => ({ ...one, name: one.name.slice(root.length + 1) }));
    return { typed, names: [], functions: called, isInString: false };
  }
  // `steps` and `steps.pack` have no value of their own, so no method can be called on them. The same is true of events and forks.
  const isWhole = isNamedRoot(root) && path.length <= 2;
  const methods = isWhole ? [] : functions.filter(({ forms, name }) => forms !== "function" && !name.includes("."));
  return { typed, names: wordsBehind(state, place, path), functions: methods, isInString: false };
}

/** Returns the names with which an expression in this part of a step can begin. */
export function rootWords(part: ExpressionPart): readonly Word[] {
  const { output, result, ...always } = texts.vocabulary.expressionRoots;
  const own = { input: {}, config: {}, output: { result }, choice: { output, result } }[part];
  return words({ ...always, ...own });
}

/** Outside of the bodies of forEach steps, there is no `item`, no `index`, and there are no `forks`. */
function rootsAt(state: EditorState, { part, step }: ExpressionPlace): readonly Word[] {
  const isInBody = loopsAround(state, step)?.length !== 0;
  return rootWords(part).filter(({ text }) => isInBody || !rootsOfBodies.has(text));
}

const rootsOfBodies: ReadonlySet<string> = new Set(["item", "index", "forks"]);

function isNamedRoot(root: Key | undefined): root is "steps" | "events" | "forks" {
  return root === "steps" || root === "events" || root === "forks";
}

type Key = string | number;

/** Returns the path before the dot at the end of this source. It is empty if the source ends with anything else. */
function pathBefore(source: string): readonly Key[] {
  const path = /(?:^|[^\w.\])'"])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:"[^"]*"|'[^']*'|\d+)\])*)\s*\.\s*$/.exec(
    source,
  )?.[1];
  const parts = path?.match(/\w+|"[^"]*"|'[^']*'/g) ?? [];
  return parts.map((part) => (/^["']/.test(part) ? part.slice(1, -1) : /^\d+$/.test(part) ? Number(part) : part));
}

function wordsBehind(state: EditorState, place: ExpressionPlace, path: readonly Key[]): readonly Word[] {
  const [root, name, part] = path;
  const { errorParts, eventParts, forkParts, jobParts, stepParts } = texts.vocabulary;
  if (isNamedRoot(root)) {
    if (path.length === 1) return namesOf(state, root);
    if (path.length === 2) return words({ steps: stepParts, events: eventParts, forks: forkParts }[root]);
    if (root === "forks" && part === "item")
      return properties(state, schemasOfItem(state, String(name)), path.slice(3));
    if (root === "forks") return [];
    if (root === "steps" && part === "error") return path.length === 3 ? words(errorParts) : [];
    return properties(state, schemasOfNamed(state, root, String(name), part), path.slice(3));
  }
  if (root === "error") return path.length === 1 ? words(errorParts) : [];
  if (root === "job") return path.length === 1 ? words(jobParts) : [];
  return properties(state, schemasOfRoot(state, place, root), path.slice(1));
}

/** Returns the names of the forEach steps around a step, the innermost first; undefined while the text is not JSON. */
function loopsAround(state: EditorState, step: number): readonly string[] | undefined {
  const steps = stepsOfText(state.doc.toString());
  if (steps === undefined) return undefined;
  const lanes = lanesByStep(regionOf(steps));
  const found: string[] = [];
  for (let lane = lanes.get(stepNames(state)[step] ?? ""); lane !== undefined; lane = lanes.get(lane.fork)) {
    if (lane.name === undefined) found.push(lane.fork);
  }
  return found;
}

/** Returns the schemas of the items of a forEach step, if its list is a value whose schemas are known, such as `${ input.orders }`. */
function schemasOfItem(state: EditorState, loop: string): readonly Node[] {
  const step = stepNames(state).indexOf(loop);
  const items = nodeAt(state, ["steps", step, "integrationDetails", "config", "items"]);
  const source = /^\$\{([^{}]*)\}$/.exec((items && textOf(state, items)) ?? "")?.[1]?.trim();
  if (source === undefined) return [];
  const path = pathBefore(`${source}.`);
  const place: ExpressionPlace = { before: source, stringStart: undefined, step, part: "config" };
  const [root, name, part] = path;
  const [schemas, keys] =
    root === "steps"
      ? [schemasOfNamed(state, root, String(name), part), path.slice(3)]
      : [schemasOfRoot(state, place, root), path.slice(1)];
  return [...keys, 0].reduce<readonly Node[]>((found, key) => schemasWithin(state, found, key), schemas);
}

function properties(state: EditorState, schemas: readonly Node[], path: readonly Key[]): readonly Word[] {
  return propertiesOfSchemas(
    state,
    path.reduce((found, key) => schemasWithin(state, found, key), schemas),
  );
}

function schemasOfRoot(state: EditorState, { step }: ExpressionPlace, root: Key | undefined): readonly Node[] {
  if (root === "input") return schemasOfJobInput(state);
  if (root === "item") return schemasOfItem(state, loopsAround(state, step)?.[0] ?? "");
  if (root === "output") return schemasOfStep(state, step, "outputDefinition");
  // If an `output` template makes something else of the result, the output's schema says nothing about the result.
  const hasOutput = nodeAt(state, ["steps", step, "output"]) !== undefined;
  return root === "result" && !hasOutput ? schemasOfStep(state, step, "outputDefinition") : [];
}

/** Returns the schemas of the job's input: those of the first step's input, or none if an `input` template changes what that step gets. */
function schemasOfJobInput(state: EditorState): readonly Node[] {
  return nodeAt(state, ["steps", 0, "input"]) === undefined ? schemasOfStep(state, 0, "inputDefinition") : [];
}

function schemasOfNamed(
  state: EditorState,
  root: "steps" | "events",
  name: string,
  part: Key | undefined,
): readonly Node[] {
  if (root === "steps") {
    const index = stepNames(state).indexOf(name);
    if (index === -1 || (part !== "output" && part !== "input")) return [];
    return schemasOfStep(state, index, `${part}Definition`);
  }
  if (part !== "payload") return [];
  return stepNodes(state).flatMap((_, index) => {
    const path = ["steps", index, "integrationDetails", "config", "payloadDefinitions", name];
    return nodeAt(state, path) ?? [];
  });
}

function schemasOfStep(state: EditorState, index: number, field: string): readonly Node[] {
  return [nodeAt(state, ["steps", index, "integrationDetails", field]) ?? []].flat();
}

function namesOf(state: EditorState, root: string): readonly Word[] {
  const names = root === "events" ? eventIds(state) : root === "forks" ? loopNames(state) : stepNames(state);
  return [...new Set(names)].flatMap((text) => (text === undefined || text === "" ? [] : { text }));
}

function stepNodes(state: EditorState): readonly Node[] {
  const steps = nodeAt(state, ["steps"]);
  return steps?.name === "Array" ? valuesIn(steps) : [];
}

/** The names of the steps by their place in the definition. */
function stepNames(state: EditorState): readonly (string | undefined)[] {
  return stepNodes(state).map((step) => textOf(state, propertiesOf(state, step).get("name")));
}

function loopNames(state: EditorState): readonly (string | undefined)[] {
  return stepNames(state).filter((_, index) => {
    const type = nodeAt(state, ["steps", index, "integrationDetails", "type"]);
    return type !== undefined && textOf(state, type) === forEachType;
  });
}

/** Returns the event ids for which steps wait, except ids that contain an expression. */
function eventIds(state: EditorState): readonly string[] {
  return stepNodes(state).flatMap((_, index) => {
    const ids = nodeAt(state, ["steps", index, "integrationDetails", "config", "eventIds"]);
    const written = ids?.name === "Array" ? valuesIn(ids).map((id) => textOf(state, id) ?? "") : [];
    return written.filter((id) => !id.includes("${"));
  });
}

import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  snippet,
} from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import type { Executor } from "../../api/executors.ts";
import type { ExpressionFunction } from "../../api/expression-functions.ts";
import { texts } from "../../texts/texts.ts";
import { completeExpression } from "./complete-expression.ts";
import { configSnippet } from "./config-words.ts";
import { expressionAt } from "./expression-place.ts";
import { type Node, nodeAt, pathOf, propertiesOf, treeOf } from "./json-tree.ts";
import { putIn } from "./put-in.ts";
import { propertyWords, valueWords } from "./vocabulary.ts";
import type { Word } from "./word.ts";

/** The executors and functions that the service offers to definitions. */
export interface Offer {
  readonly executors: readonly Executor[];
  readonly functions: readonly ExpressionFunction[];
}

/** Offers what is possible at the cursor: names of properties, values, whole steps in the list of steps, and parts of expressions. */
export function completeDefinition(offer: () => Offer): CompletionSource {
  return (context) => complete(context, offer());
}

function complete(context: CompletionContext, { executors, functions }: Offer): CompletionResult | null {
  const { state, pos } = context;
  const place = expressionAt(state, pos, executors);
  if (place !== undefined) return completeExpression(context, place, functions);
  const node = treeOf(state).resolveInner(pos, -1);
  if (node.name === "PropertyName" && pos > node.from) return named(context, node, executors);
  if (node.name === "String" && pos > node.from) {
    const path = pathOf(state, node);
    // A string that is directly in an object is the beginning of a property's name.
    if (node.parent?.name === "Object") return named(context, node, executors);
    return result(node.from + 1, wordsOf(valueWords(state, path, executors), replaceNode(node)));
  }
  return bare(context, node, executors);
}

function named({ state }: CompletionContext, node: Node, executors: readonly Executor[]): CompletionResult | null {
  const object = node.parent?.name === "Property" ? node.parent.parent : node.parent;
  if (object === null || object === undefined) return null;
  const path = pathOf(state, object);
  const there = propertiesOf(state, nodeAt(state, path));
  const own = state.sliceDoc(node.from + 1, node.to - 1);
  const free = propertyWords(state, path, executors).filter(({ text }) => text === own || !there.has(text));
  return result(node.from + 1, wordsOf(free, replaceName(node)));
}

/**
 * Completes outside of quotes, or after an open quote. Offers values after a colon and in a list, names within braces, and whole steps in the list of
 * steps.
 */
function bare(context: CompletionContext, node: Node, executors: readonly Executor[]): CompletionResult | null {
  const { state, pos, explicit } = context;
  const word = context.matchBefore(/[\w$/-]*/);
  const from = word?.from ?? pos;
  if (!explicit && from === pos) return null;
  const isOpened = state.sliceDoc(from - 1, from) === '"';
  const start = isOpened ? from - 1 : from;
  const before = state.sliceDoc(0, start).trimEnd().at(-1);
  const around = aroundOf(node);
  if (around === undefined) return null;
  const path = pathOf(state, around);
  if (before === ":") {
    const name = /"((?:[^"\\]|\\.)*)"\s*:\s*$/.exec(state.sliceDoc(Math.max(0, start - 500), start))?.[1];
    if (name === undefined) return null;
    const object = around.name === "Property" ? path : [...path, name];
    const replace: Apply = (view, word, at) => replaceRange(view, word, isOpened ? at - 1 : at);
    return result(from, wordsOf(valueWords(state, object, executors), replace));
  }
  if (around.name === "Array" && path.length === 1 && path[0] === "steps")
    return result(from, executors.map(stepSnippet));
  if (around.name === "Array") return result(from, wordsOf(valueWords(state, [...path, 0], executors), replaceRange));
  if (around.name !== "Object" || (before !== "{" && before !== ",")) return null;
  const there = propertiesOf(state, around);
  const free = propertyWords(state, path, executors).filter(({ text }) => !there.has(text));
  return result(from, wordsOf(free, insertName));
}

/** Returns the object or list around the cursor. After an incomplete property, returns that property. */
function aroundOf(node: Node): Node | undefined {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.name === "Object" || at.name === "Array" || at.name === "Property") return at;
  }
  return undefined;
}

type Apply = (view: EditorView, word: Word, from: number) => void;

function wordsOf(found: readonly Word[], apply: Apply): Completion[] {
  return found.map((word) => ({
    label: word.text,
    type: word.isBare === true ? "keyword" : "property",
    ...(word.info !== undefined && { detail: word.info }),
    apply: (view: EditorView, _completion: Completion, from: number) => apply(view, word, from),
  }));
}

function result(from: number, options: Completion[]): CompletionResult | null {
  return options.length === 0 ? null : { from, options, validFor: /^[\w$/#-]*$/ };
}

function quotedText({ text, isBare = false }: Word): string {
  return isBare ? text : JSON.stringify(text);
}

function replaceNode(node: Node): Apply {
  // The user may have typed more since the list was shown, so the end of the string is found in the present text.
  return (view, word, from) => putIn(view, from - 1, endOfText(view, from, node), quotedText(word));
}

function replaceName(node: Node): Apply {
  return (view, word, from) => {
    const end = endOfText(view, from, node);
    const hasColon = /^\s*:/.test(view.state.sliceDoc(end, end + 20));
    putIn(view, from - 1, end, `${quotedText(word)}${hasColon ? "" : ": "}`);
  };
}

const insertName: Apply = (view, word, from) =>
  putIn(view, from, view.state.selection.main.head, `${quotedText(word)}: `);

const replaceRange: Apply = (view, word, from) => putIn(view, from, view.state.selection.main.head, quotedText(word));

function endOfText(view: EditorView, from: number, node: Node): number {
  const now = treeOf(view.state).resolveInner(from, 1);
  return now.name === node.name || now.name === "String" || now.name === "PropertyName"
    ? now.to
    : view.state.selection.main.head;
}

/** Offers a whole step. The fields of the snippet are numbered, so that the user fills in two fields with the same name separately. */
function stepSnippet(executor: Executor): Completion {
  let placeCount = 0;
  const place = (text: string) => `#{${++placeCount}:${text}}`;
  const name = place("name");
  const config = configSnippet(executor, place);
  return {
    label: texts.editor.step(executor.title),
    type: "class",
    detail: executor.type,
    apply: snippet(
      [
        "{",
        `\t"name": "${name}",`,
        '\t"integrationDetails": {',
        `\t\t"type": "${executor.type}",`,
        ...(config === "" ? [] : [`\t\t"config": ${config},`]),
        `\t\t"inputDefinition": { "$ref": "#/definitions/${place("input")}" },`,
        `\t\t"outputDefinition": { "$ref": "#/definitions/${place("output")}" }`,
        "\t},",
        // Without a backslash, "${" would begin a field of the snippet.
        ...(executor.needsInput ? [`\t"input": { "${place("name")}": "$\\{ ${place("input.name")} \\}" },`] : []),
        `\t"transitionToStep": ${place("null")}`,
        "}",
      ].join("\n"),
    ),
  };
}

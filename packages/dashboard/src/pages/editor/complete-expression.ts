import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import type { ExpressionFunction } from "../../api/expression-functions.ts";
import { texts } from "../../texts/texts.ts";
import type { ExpressionPlace } from "./expression-place.ts";
import { wordsInExpression } from "./expression-words.ts";
import { putIn } from "./put-in.ts";
import type { Word } from "./word.ts";

/** Completes an expression with names, with properties that the schemas define, and with functions. */
export function completeExpression(
  { state, pos, explicit }: CompletionContext,
  place: ExpressionPlace,
  functions: readonly ExpressionFunction[],
): CompletionResult | null {
  const found = wordsInExpression(state, place, functions);
  if (found === undefined) return null;
  const { typed, names, functions: called, isInString } = found;
  const isAsked = explicit || typed !== "" || isInString || /(^|[.(])$/.test(place.before);
  const options = [...names.map((word) => nameOption(word, isInString)), ...called.map(functionOption)];
  if (!isAsked || options.length === 0) return null;
  return { from: pos - typed.length, options, validFor: isInString ? /^[^"'\\]*$/ : /^\w*$/ };
}

function nameOption({ text, info }: Word, isInString: boolean): Completion {
  const needsBrackets = !isInString && !/^[A-Za-z_]\w*$/.test(text);
  return {
    label: text,
    type: "property",
    boost: 1,
    ...(info !== undefined && { detail: info }),
    apply: needsBrackets ? putInBrackets : inString(text),
  };
}

/** `steps.reserve-stock` would be a subtraction, so the dot before the name is replaced by brackets. */
function putInBrackets(view: EditorView, { label }: Completion, from: number, to: number): void {
  const before = view.state.sliceDoc(Math.max(0, from - 20), from);
  const dotLength = /\.\s*$/.exec(before)?.[0].length ?? 0;
  putIn(view, from - dotLength, to, `['${inString(label)}']`);
}

/** Escapes the name for a string in an expression. The expression itself is inside of a JSON string. */
function inString(name: string): string {
  return JSON.stringify(name.replaceAll(/["'\\]/g, "\\$&")).slice(1, -1);
}

function functionOption({ name, signature, summary, example }: ExpressionFunction): Completion {
  const takesNothing = signature.endsWith("()");
  return {
    label: name,
    type: "function",
    detail: signature,
    info: [summary, texts.editor.example(example.expression, JSON.stringify(example.value))].join("\n\n"),
    apply: (view, _completion, from, to) => putIn(view, from, to, `${name}()`, takesNothing ? 0 : 1),
  };
}

import type { EditorState } from "@codemirror/state";
import type { Executor } from "../../api/executors.ts";
import { type Path, pathOf, treeOf } from "./json-tree.ts";
import { executorAt } from "./vocabulary.ts";

/** A place inside an expression. */
export interface ExpressionPlace {
  /** The expression up to here. JSON's escapes of quotes, slashes and backslashes are undone. */
  readonly before: string;
  /** The offset in `before` at which the string around the place begins; undefined outside of strings. */
  readonly stringStart: number | undefined;
  /** The index of the step to which the expression belongs. */
  readonly step: number;
  readonly part: ExpressionPart;
}

/** The part of a step that contains an expression. It decides which values the expression can read. */
export type ExpressionPart = "input" | "config" | "output" | "choice";

/** Returns the place inside an expression at this position; undefined if there is no expression. */
export function expressionAt(
  state: EditorState,
  position: number,
  executors: readonly Executor[],
): ExpressionPlace | undefined {
  const node = treeOf(state).resolveInner(position, -1);
  if (node.name !== "String" || position <= node.from) return undefined;
  const path = pathOf(state, node);
  const part = partAt(path, executorAt(state, path, executors));
  const [, step] = path;
  if (part === undefined || typeof step !== "number") return undefined;
  const text = state.sliceDoc(node.from + 1, position).replaceAll(/\\(["\\/])/g, "$1");
  const before = part === "choice" ? text : openExpression(text);
  if (before === undefined) return undefined;
  return { before, stringStart: walk(before).stringStart, step, part };
}

function partAt(path: Path, executor: Executor | undefined): ExpressionPart | undefined {
  const [first, , field, inner, configField] = path;
  if (first !== "steps") return undefined;
  if (field === "input" || field === "output") return field;
  if (field === "integrationDetails" && inner === "config")
    return executor?.expressionFields.includes(String(configField)) === true ? "config" : undefined;
  return field === "transitionToStep" && inner === "choose" && path.at(-1) === "if" ? "choice" : undefined;
}

/** Returns the expression that is still open at the end of a text with expressions. */
function openExpression(text: string): string | undefined {
  let position = 0;
  for (;;) {
    const start = text.indexOf("${", position);
    if (start === -1) return undefined;
    position = start + 2;
    // `$${` is a literal `${`.
    if (text[start - 1] === "$") continue;
    const rest = text.slice(position);
    const { closedAt } = walk(rest);
    if (closedAt === undefined) return rest;
    position += closedAt + 1;
  }
}

/** The text begins with an expression. Finds the brace that closes it. If the text ends within a string, finds the beginning of the string. */
function walk(text: string): { readonly closedAt?: number; readonly stringStart?: number } {
  let depth = 0;
  for (let position = 0; position < text.length; position += 1) {
    const character = text[position];
    if (character === '"' || character === "'") {
      const end = endOfString(text, position);
      if (end === undefined) return { stringStart: position };
      position = end;
    } else if (character === "{") depth += 1;
    else if (character === "}" && depth-- === 0) return { closedAt: position };
  }
  return {};
}

function endOfString(text: string, start: number): number | undefined {
  for (let position = start + 1; position < text.length; position += 1) {
    if (text[position] === "\\") position += 1;
    else if (text[position] === text[start]) return position;
  }
  return undefined;
}

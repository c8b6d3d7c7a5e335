import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";

type Tree = ReturnType<typeof syntaxTree>;
export type Node = Tree["topNode"];
export type Path = readonly (string | number)[];

export interface Place {
  readonly from: number;
  readonly to: number;
}

/** The text is parsed for this long at most, so that a text of many megabytes does not stop the page. */
const maxParseMs = 1_000;

/**
 * Returns the tree of the whole text, or of the part that could be parsed within `maxParseMs`. The editor's own tree may end before the wanted place:
 * the editor parses a text in pieces, and in a long text or on a slow machine the user types the next key before the last piece is parsed.
 */
export function treeOf(state: EditorState): Tree {
  return ensureSyntaxTree(state, state.doc.length, maxParseMs) ?? syntaxTree(state);
}

const values: ReadonlySet<string> = new Set(["Object", "Array", "String", "Number", "True", "False", "Null"]);

/**
 * Returns the place of the value to which a JSON pointer leads. If the text has no such value, returns the place of the innermost value
 * around it. If the value takes several lines, the place is only its name, or its first character if it has no name. So the editor does not underline
 * half of the text.
 */
export function placeOf(state: EditorState, pointer: string): Place {
  let node = valueIn(treeOf(state).topNode);
  if (node === undefined) return { from: 0, to: Math.min(1, state.doc.length) };
  for (const token of pointer.split("/").slice(1)) {
    const next = childOf(state, node, token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (next === undefined) break;
    node = next;
  }
  return namedPlace(state, node);
}

/**
 * Returns the place of an error in the text that was checked. Line and column are used where the pointer cannot give the place: in a text that is not
 * JSON, inside of a string, and in a part of a large text that the editor has not parsed yet.
 */
export function placeOfRemark(state: EditorState, { pointer, line, column }: RemarkPlace): Place {
  const { from: start, to: end } = state.doc.line(Math.min(line, state.doc.lines));
  const from = Math.min(start + column - 1, end);
  const tree = treeOf(state);
  if (pointer === "" || tree.length < from) return { from, to: Math.min(from + 1, end) };
  const node = tree.resolveInner(from, 1);
  const isInString = node.name === "String" && node.from < from;
  return isInString ? { from, to: Math.max(from, node.to - 1) } : placeOf(state, pointer);
}

interface RemarkPlace {
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
}

/** The keys and indexes that lead to a node. */
export function pathOf(state: EditorState, node: Node): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: Node | null = node; at !== null; at = at.parent) {
    const parent: Node | null = at.parent;
    if (parent?.name === "Array" && values.has(at.name))
      path.unshift(valuesIn(parent).findIndex(({ from }) => from === at?.from));
    if (at.name === "Property") path.unshift(keyOf(state, at));
  }
  return path;
}

/** Returns the value at a path, if the text is complete up to there. */
export function nodeAt(state: EditorState, path: Path): Node | undefined {
  return path.reduce<Node | undefined>(
    (node, token) => (node === undefined ? undefined : childOf(state, node, String(token))),
    valueIn(treeOf(state).topNode),
  );
}

export function propertiesOf(state: EditorState, node: Node | undefined): Map<string, Node | undefined> {
  const properties = new Map<string, Node | undefined>();
  if (node?.name !== "Object") return properties;
  for (const property of node.getChildren("Property")) properties.set(keyOf(state, property), valueIn(property));
  return properties;
}

export function valuesIn(node: Node): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    if (values.has(child.name)) found.push(child);
  return found;
}

export function textOf(state: EditorState, node: Node | undefined): string | undefined {
  if (node?.name !== "String" && node?.name !== "PropertyName") return undefined;
  try {
    return String(JSON.parse(state.sliceDoc(node.from, node.to)));
  } catch {
    return state.sliceDoc(node.from + 1, node.to);
  }
}

function keyOf(state: EditorState, property: Node): string {
  return textOf(state, property.getChild("PropertyName") ?? undefined) ?? "";
}

function valueIn(node: Node): Node | undefined {
  return valuesIn(node)[0];
}

function childOf(state: EditorState, node: Node, token: string): Node | undefined {
  if (node.name === "Array") return valuesIn(node)[Number(token)];
  return propertiesOf(state, node).get(token);
}

function namedPlace(state: EditorState, node: Node): Place {
  const isLong = state.doc.lineAt(node.from).number !== state.doc.lineAt(node.to).number;
  const { parent } = node;
  const name = parent?.name === "Property" ? parent.getChild("PropertyName") : null;
  if (!isLong) return { from: name?.from ?? node.from, to: node.to };
  // The node itself is never returned: its positions may be getters, which would be lost when its properties are copied.
  return name === null ? { from: node.from, to: Math.min(node.to, node.from + 1) } : { from: name.from, to: name.to };
}

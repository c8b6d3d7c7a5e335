import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";

type Tree = ReturnType<typeof syntaxTree>;
export type Node = Tree["topNode"];
export type Path = readonly (string | number)[];

export interface Place {
  readonly from: number;
  readonly to: number;
}

const values: ReadonlySet<string> = new Set(["Object", "Array", "String", "Number", "True", "False", "Null"]);

/**
 * Where in the text a JSON pointer leads. What is not there has the place of the nearest thing around it that is; of something that goes
 * over many lines only the name is the place, so that not half of the text is underlined.
 */
export function placeOf(state: EditorState, pointer: string): Place {
  let node = valueIn(syntaxTree(state).topNode);
  if (node === undefined) return { from: 0, to: Math.min(1, state.doc.length) };
  for (const token of pointer.split("/").slice(1)) {
    const next = childOf(state, node, token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (next === undefined) break;
    node = next;
  }
  return namedPlace(state, node);
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

/** The value at a path, as far as the text is whole. */
export function nodeAt(state: EditorState, path: Path): Node | undefined {
  return path.reduce<Node | undefined>(
    (node, token) => (node === undefined ? undefined : childOf(state, node, String(token))),
    valueIn(syntaxTree(state).topNode),
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

/** Undefined for what is no text. */
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
  // Never the node itself: its positions may be getters, which a copy of its properties loses.
  return name === null ? { from: node.from, to: Math.min(node.to, node.from + 1) } : { from: name.from, to: name.to };
}

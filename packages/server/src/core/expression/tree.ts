import type { ExpressionFunction } from "./functions/function.ts";
import type { EventPart, ForkPart, RootName, StepPart } from "./roots.ts";

/** A parsed expression: a tree of nodes whose names are resolved. `start` and `end` are offsets in the source. */
export type Node = NodeKind & { readonly start: number; readonly end: number };

type NodeKind =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "root"; readonly root: RootName }
  /** Without a part, the node only asks whether the step ran. */
  | { readonly kind: "step"; readonly step: string; readonly part: StepPart | undefined }
  | { readonly kind: "event"; readonly eventId: string; readonly part: EventPart | undefined }
  | { readonly kind: "fork"; readonly fork: string; readonly part: ForkPart | undefined }
  /** A macro's variable. `slot` is the number of macros around that macro. */
  | { readonly kind: "variable"; readonly name: string; readonly slot: number }
  | { readonly kind: "property"; readonly of: Node; readonly name: string }
  | { readonly kind: "index"; readonly of: Node; readonly index: Node }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [key: Node, value: Node])[] }
  | { readonly kind: "not"; readonly of: Node }
  | { readonly kind: "negative"; readonly of: Node }
  | { readonly kind: "and"; readonly left: Node; readonly right: Node }
  | { readonly kind: "or"; readonly left: Node; readonly right: Node }
  | { readonly kind: "binary"; readonly operator: BinaryOperator; readonly left: Node; readonly right: Node }
  | { readonly kind: "choice"; readonly condition: Node; readonly then: Node; readonly otherwise: Node }
  | { readonly kind: "has"; readonly of: Node }
  | {
      readonly kind: "macro";
      readonly macro: Macro;
      readonly list: Node;
      readonly variable: string;
      readonly slot: number;
      /** The condition of `filter` and of `map` with three arguments. */
      readonly filter: Node | undefined;
      /** The test of `all`, `exists` and `exists_one`, or the value that `map` makes from an item. */
      readonly body: Node | undefined;
    }
  | { readonly kind: "call"; readonly called: ExpressionFunction; readonly args: readonly Node[] };

export type NodeOf<Kind extends Node["kind"]> = Extract<Node, { readonly kind: Kind }>;

export type NamedNode = NodeOf<"step" | "event" | "fork">;

export function isNamed(node: Node): node is NamedNode {
  return node.kind === "step" || node.kind === "event" || node.kind === "fork";
}

export const binaryOperators = ["==", "!=", "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "in"] as const;
export type BinaryOperator = (typeof binaryOperators)[number];

export const macros = ["all", "exists", "exists_one", "map", "filter"] as const;
export type Macro = (typeof macros)[number];

/** The nodes directly below a node. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "literal":
    case "root":
    case "step":
    case "event":
    case "fork":
    case "variable":
      return [];
    case "property":
    case "not":
    case "negative":
    case "has":
      return [node.of];
    case "index":
      return [node.of, node.index];
    case "list":
      return node.items;
    case "map":
      return node.entries.flat();
    case "and":
    case "or":
    case "binary":
      return [node.left, node.right];
    case "choice":
      return [node.condition, node.then, node.otherwise];
    case "macro":
      return [node.list, node.filter, node.body].filter((child) => child !== undefined);
    case "call":
      return node.args;
    default:
      return node satisfies never;
  }
}

import type { EventPart, ForkPart, RootName, StepPart } from "./roots.ts";
import { childrenOf, type Node } from "./tree.ts";

/** A part of the scope that an expression reads. */
export interface Reference {
  readonly root: RootName | "step" | "event" | "fork";
  readonly step?: string;
  readonly eventId?: string;
  readonly fork?: string;
  /** Left out for a root such as `input`, and when `has()` asks only for the step, the event or the fork itself. */
  readonly part?: StepPart | EventPart | ForkPart;
  /** The property of the part that is read: `a` for `input.a.b`. Left out when the whole part is read, or when the name is not a literal. */
  readonly property?: string;
}

/** Lists what a tree reads from the scope. Equal references are listed only once. */
export function referencesOf(tree: Node): readonly Reference[] {
  const found: Reference[] = [];
  const visit = (node: Node, property: string | undefined): void => {
    const reference = referenceOf(node);
    if (reference !== undefined) {
      found.push(property === undefined ? reference : { ...reference, property });
      return;
    }
    for (const child of childrenOf(node)) visit(child, isPath(node) && child === node.of ? nameOf(node) : undefined);
  };
  visit(tree, undefined);
  // There may be thousands of expressions, and most of them read one value. Making a key for it would cost more than the walk through the tree.
  if (found.length < 2) return found;
  return [...new Map(found.map((reference) => [JSON.stringify(reference), reference])).values()];
}

function referenceOf(node: Node): Reference | undefined {
  switch (node.kind) {
    case "root":
      return { root: node.root };
    case "step":
      return { root: "step", step: node.step, ...(node.part && { part: node.part }) };
    case "event":
      return { root: "event", eventId: node.eventId, ...(node.part && { part: node.part }) };
    case "fork":
      return { root: "fork", fork: node.fork, ...(node.part && { part: node.part }) };
    default:
      return undefined;
  }
}

function isPath(node: Node): node is Extract<Node, { kind: "property" | "index" }> {
  return node.kind === "property" || node.kind === "index";
}

/** The name of the property that a path reads, when the name is a literal. */
function nameOf(node: Extract<Node, { kind: "property" | "index" }>): string | undefined {
  if (node.kind === "property") return node.name;
  return node.index.kind === "literal" && typeof node.index.value === "string" ? node.index.value : undefined;
}

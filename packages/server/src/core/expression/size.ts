import type { Expression } from "./parse.ts";
import type { Template, TemplateNode } from "./template.ts";
import { childrenOf, type Node } from "./tree.ts";

/** The size of a template is the work of reading its expressions: the number of their parts, and a fixed amount for each expression. */
export function sizeOfTemplate({ root }: Template): number {
  return sizeOfNode(root);
}

export function sizeOfExpression({ tree }: Expression): number {
  return partsPerExpression + partCountOf(tree);
}

/** Beginning an expression takes as long as reading this many parts. */
const partsPerExpression = 2;

function sizeOfNode(node: TemplateNode): number {
  switch (node.kind) {
    case "constant":
      return 0;
    case "expression":
      return sizeOfExpression(node.placed.expression);
    case "text":
      return node.parts.reduce(
        (sum, part) => sum + (typeof part === "string" ? 0 : sizeOfExpression(part.expression)),
        0,
      );
    case "list":
      return node.items.reduce((sum, item) => sum + sizeOfNode(item), 0);
    case "map":
      return node.entries.reduce((sum, [, part]) => sum + sizeOfNode(part), 0);
  }
}

function partCountOf(node: Node): number {
  return childrenOf(node).reduce((sum, child) => sum + partCountOf(child), 1);
}

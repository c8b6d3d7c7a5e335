import type { JsonValue } from "../../json/json.ts";
import type { Node } from "../tree.ts";

/** Returns the text that identifies a path; undefined when the node is not a path, or when an index in the path is not a literal. */
export function keyOf(node: Node): string | undefined {
  switch (node.kind) {
    case "root":
      return node.root;
    case "step":
      return `steps[${JSON.stringify(node.step)}]${node.part ?? ""}`;
    case "event":
      return `events[${JSON.stringify(node.eventId)}]${node.part ?? ""}`;
    case "fork":
      return `forks[${JSON.stringify(node.fork)}]${node.part ?? ""}`;
    case "variable":
      return variableKey(node.slot);
    case "property":
      return below(node.of, node.name);
    case "index":
      return node.index.kind === "literal" ? below(node.of, node.index.value) : undefined;
    default:
      return undefined;
  }
}

function below(of: Node, token: JsonValue): string | undefined {
  const key = keyOf(of);
  return key === undefined ? undefined : `${key}[${JSON.stringify(token)}]`;
}

/** The text that identifies the variable of a macro. */
export function variableKey(slot: number): string {
  return `$${slot}`;
}

import { quoted } from "../../problem.ts";
import type { NamedNode } from "../tree.ts";
import { timestampText } from "../types/type.ts";
import type { PartType, TypeScope } from "../types/type-scope.ts";

/** A step, event or fork that a node of an expression names, and the part of it that the node reads. */
export interface NamedPart {
  readonly name: string;
  /** Undefined when nothing with that name can be read. */
  readonly part: PartType | undefined;
  /** The names that a hint may suggest when this name is wrong. */
  readonly names: Iterable<string>;
  /** The words for the named thing in a message, such as "event that a step waits for". */
  readonly noun: string;
  /** The end of the message when the step is in a branch, and cannot be read from outside the branch. */
  readonly hint?: string | undefined;
}

export function namedPart(scope: TypeScope, node: NamedNode): NamedPart {
  switch (node.kind) {
    case "step": {
      const part = scope.step(node.step)?.[node.part ?? "output"];
      const fork = part === undefined ? scope.forkAround(node.step) : undefined;
      const hint =
        fork &&
        `; ${quoted(node.step)} runs inside of ${quoted(fork)}; from here, only the output of ${quoted(fork)} can be read`;
      return { name: node.step, part, names: scope.stepNames, noun: "step that can be read here", hint };
    }
    case "fork": {
      const part = scope.fork(node.fork)?.[node.part ?? "item"];
      return { name: node.fork, part, names: scope.forkNames, noun: "forEach step around this one" };
    }
    case "event": {
      const event = scope.event(node.eventId);
      const part =
        node.part === "payload" ? event?.payload : event && { presence: event.presence, schema: timestampText };
      return { name: node.eventId, part, names: scope.eventIds, noun: "event that a step waits for" };
    }
  }
}

import type { ProblemList } from "../../problem.ts";
import type { Schema } from "../node.ts";
import { schemasBeside } from "../rare-rules.ts";

/** A schema that leads to others without going into a value, by `$ref`, `anyOf` and the like, and where that stands. */
export interface Link {
  readonly schema: Schema;
  readonly pointer: string;
}

/**
 * Refuses links that form a cycle, because checking a value would never end, and chains that are too long, because the recursion goes as deep as the
 * chain.
 *
 * The algorithm repeatedly removes the schemas whose links lead only to removed ones. Any schema left at the end is on a cycle or leads to one. It
 * does not recurse, because half a megabyte of text can hold a chain of fifteen thousand links.
 */
export function refuseCycles(links: readonly Link[], problems: ProblemList): void {
  const pointers = new Map(links.map(({ schema, pointer }) => [schema, pointer]));
  const holders = new Map<Schema, Schema[]>();
  const pendingCounts = new Map<Schema, number>();
  for (const schema of pointers.keys()) {
    const targets = schemasBeside(schema).filter((target) => pointers.has(target));
    pendingCounts.set(schema, targets.length);
    for (const target of targets) addTo(holders, target, schema);
  }
  let settled = [...pointers.keys()].filter((schema) => pendingCounts.get(schema) === 0);
  for (let chainLength = 1; settled.length > 0; chainLength++) {
    if (chainLength === maxChainLength + 1) {
      for (const schema of settled) problems.add(pointers.get(schema) ?? "", chainTooLong);
    }
    settled = settled.flatMap((schema) =>
      (holders.get(schema) ?? []).filter((holder) => countDown(pendingCounts, holder)),
    );
  }
  for (const [schema, pointer] of pointers) {
    if ((pendingCounts.get(schema) ?? 0) > 0) problems.add(pointer, leadsIntoCircle);
  }
}

/** No model needs more. Checks recurse as deep for every level of a value, so that sixty-four levels need room on the stack. */
const maxChainLength = 16;
const leadsIntoCircle =
  "leads into a circle of `$ref`, `anyOf` and similar keywords that never reaches a part of the value, so a check would never end";
const chainTooLong = `leads through more than ${maxChainLength} schemas in a row, by \`$ref\`, \`anyOf\` and the like, without going into a value`;

function addTo(holders: Map<Schema, Schema[]>, target: Schema, holder: Schema): void {
  const known = holders.get(target);
  if (known === undefined) holders.set(target, [holder]);
  else known.push(holder);
}

/** Whether this was the last that the schema waited for. */
function countDown(pendingCounts: Map<Schema, number>, schema: Schema): boolean {
  const count = (pendingCounts.get(schema) ?? 0) - 1;
  pendingCounts.set(schema, count);
  return count === 0;
}

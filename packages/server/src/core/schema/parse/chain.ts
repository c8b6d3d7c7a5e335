import type { ProblemList } from "../../problem.ts";
import type { Schema } from "../node.ts";
import { schemasBeside } from "../rare-rules.ts";

/** A schema that leads to other schemas for the same value, by `$ref`, `anyOf` and the like, and the place of the keyword. */
export interface Link {
  readonly schema: Schema;
  readonly pointer: string;
}

/**
 * Refuses links that form a cycle, because a check of a value would never end. Also refuses chains that are too long, because a check recurses as
 * deep as the chain is long.
 *
 * The algorithm repeatedly removes the schemas that lead only to removed schemas. Any schema that is left at the end is on a cycle or leads to one.
 * The algorithm does not recurse, because half a megabyte of text can hold a chain of fifteen thousand links.
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

/**
 * No real model needs longer chains. For every level of a value, a check recurses as deep as the chain is long, and sixty-four levels must fit on the
 * stack.
 */
const maxChainLength = 16;
const leadsIntoCircle =
  "leads into a circle of `$ref`, `anyOf` and similar keywords that never reaches a part of the value, so a check would never end";
const chainTooLong = `leads through more than ${maxChainLength} schemas in a row, by \`$ref\`, \`anyOf\` and the like, without going into a value`;

function addTo(holders: Map<Schema, Schema[]>, target: Schema, holder: Schema): void {
  const known = holders.get(target);
  if (known === undefined) holders.set(target, [holder]);
  else known.push(holder);
}

/** Counts one target of the schema as removed. Returns whether it was the last one. */
function countDown(pendingCounts: Map<Schema, number>, schema: Schema): boolean {
  const count = (pendingCounts.get(schema) ?? 0) - 1;
  pendingCounts.set(schema, count);
  return count === 0;
}

import { allowOnly, anyOfSchemas, closedObject, newSchema, type Schema } from "../schema/node.ts";
import { typeSets } from "../schema/type-set.ts";
import type { ForkRule, ItemsRule } from "./executor-kind.ts";
import { branchErrorSchema } from "./failures/error-schemas.ts";

/** The statuses of an item when failures are collected. */
export const itemStatuses = { succeeded: "succeeded", failed: "failed" } as const;

/** The largest number of items in the list of a forEach. */
export const maxItems = 10_000;

/** The lowest and the highest number of items that a list may have. */
export interface ItemCount {
  readonly low: number;
  readonly high: number;
}

/** The schema of the raw result of a fork. `givenBy` returns the schema of a branch's result, by its name; a body has no name. */
export function forkResultSchema(
  rule: ForkRule,
  itemCount: ItemCount,
  givenBy: (branch: string | undefined) => Schema,
): Schema {
  if (rule.kind === "items") return itemsResult(rule, itemCount, givenBy(undefined));
  const outputs = rule.branches.map(({ name }) => [name, givenBy(name)] as const);
  if (rule.until === "all") return object(outputs);
  return anyOfSchemas(
    outputs.map(([name, output]) =>
      object([
        ["branch", constant(name)],
        ["output", output],
      ]),
    ),
  );
}

function itemsResult({ output, onItemFailure }: ItemsRule, itemCount: ItemCount, given: Schema): Schema {
  if (output === "counts") {
    return object([
      ["total", count],
      ["succeeded", count],
      ["failed", count],
    ]);
  }
  if (onItemFailure === "fail") return listOf(given, itemCount);
  const succeeded = object([
    ["status", constant(itemStatuses.succeeded)],
    ["output", given],
  ]);
  const failed = object([
    ["status", constant(itemStatuses.failed)],
    ["error", branchErrorSchema],
  ]);
  return listOf(anyOfSchemas([succeeded, failed]), itemCount);
}

function object(fields: readonly (readonly [string, Schema])[]): Schema {
  return closedObject(
    new Map(fields),
    fields.map(([name]) => name),
    typeSets.object,
  );
}

function listOf(items: Schema, { low, high }: ItemCount): Schema {
  const arrays = { prefix: undefined, items, minItems: low, maxItems: Math.min(high, maxItems) };
  return newSchema({ types: typeSets.array, arrays });
}

function constant(text: string): Schema {
  return newSchema({ types: typeSets.string, allowed: allowOnly([text]) });
}

const count = newSchema({ types: typeSets.whole });

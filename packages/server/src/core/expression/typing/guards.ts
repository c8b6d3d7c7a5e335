import { newSchema, type Schema } from "../../schema/node.ts";
import { allTypes } from "../../schema/type-set.ts";
import type { Node } from "../tree.ts";
import { bothOf, type Type } from "../types/type.ts";
import { kinds } from "../value.ts";
import { keyOf } from "./path-key.ts";

/**
 * The facts that a guard has made certain about the values at paths. Examples of guards are `has(input.a)`, `input.a != 0` and `size(input.list) >
 * 2`.
 */
export interface Facts {
  /** The paths that certainly lead to a value. */
  readonly there: ReadonlySet<string>;
  /** The paths whose value is not 0. */
  readonly notZero: ReadonlySet<string>;
  /** The paths whose value is not null. */
  readonly notNull: ReadonlySet<string>;
  /** The smallest number of items that a list can have, by the list's path. */
  readonly leastSize: ReadonlyMap<string, number>;
}

export const noFacts: Facts = { there: new Set(), notZero: new Set(), notNull: new Set(), leastSize: new Map() };

export function bothFacts(one: Facts, other: Facts): Facts {
  if (one === noFacts) return other;
  if (other === noFacts) return one;
  const sizes = new Map(one.leastSize);
  for (const [path, size] of other.leastSize) sizes.set(path, Math.max(size, sizes.get(path) ?? 0));
  return {
    there: one.there.union(other.there),
    notZero: one.notZero.union(other.notZero),
    notNull: one.notNull.union(other.notNull),
    leastSize: sizes,
  };
}

/**
 * Returns the facts that hold if a condition has the value `outcome`. `and` and `or` give facts only when both sides must have this value.
 * Otherwise it is not known which side decided.
 */
export function factsOf(condition: Node, outcome: boolean): Facts {
  switch (condition.kind) {
    case "not":
      return factsOf(condition.of, !outcome);
    case "and":
    case "or":
      if ((condition.kind === "and") !== outcome) return noFacts;
      return bothFacts(factsOf(condition.left, outcome), factsOf(condition.right, outcome));
    case "has":
      return outcome ? { ...noFacts, there: pathsTo(condition.of) } : noFacts;
    case "binary":
      return factsOfComparison(condition, outcome);
    default:
      return noFacts;
  }
}

export function narrowed(type: Type, key: string, { notNull, leastSize }: Facts): Type {
  const size = leastSize.get(key);
  let narrow = type;
  if (notNull.has(key)) narrow = notNullOf(narrow);
  if (size !== undefined) {
    narrow = bothOf(
      narrow,
      newSchema({
        arrays: { prefix: undefined, items: undefined, minItems: size, maxItems: Number.POSITIVE_INFINITY },
      }),
    );
  }
  return narrow;
}

/** Returns the type without null. For the same schema, the result always has the same schema object, so that the cases are found only once. */
function notNullOf(type: Type): Type {
  const known = notNullCache.get(type.schema) ?? bothOf(type, notNullSchema).schema;
  notNullCache.set(type.schema, known);
  return { ...type, schema: known };
}

const notNullCache = new WeakMap<Schema, Schema>();
const notNullSchema = newSchema({ types: allTypes & ~kinds.null });

/** A path and all its prefixes. */
function pathsTo(node: Node): ReadonlySet<string> {
  const paths = new Set<string>();
  for (let at: Node | undefined = node; at !== undefined; at = "of" in at ? at.of : undefined) {
    const key = keyOf(at);
    if (key !== undefined) paths.add(key);
  }
  return paths;
}

function factsOfComparison(node: Extract<Node, { kind: "binary" }>, outcome: boolean): Facts {
  const operator = outcome ? node.operator : opposite[node.operator];
  const facts = factsOfSide(node.left, operator, node.right);
  return bothFacts(facts, factsOfSide(node.right, operator && mirrored[operator], node.left));
}

/** The facts about `side` when it is compared with a literal on its right. */
function factsOfSide(side: Node, operator: string | undefined, literal: Node): Facts {
  if (operator === undefined || literal.kind !== "literal") return noFacts;
  const { value } = literal;
  const isSize = side.kind === "call" && side.called.name === "size";
  const key = keyOf(isSize ? (side.args[0] as Node) : side);
  if (key === undefined) return noFacts;
  if (isSize) {
    const least = typeof value === "number" ? leastSize(operator, value) : 0;
    return least > 0 ? { ...noFacts, leastSize: new Map([[key, least]]) } : noFacts;
  }
  if (value === null) return operator === "!=" ? { ...noFacts, notNull: new Set([key]) } : noFacts;
  return typeof value === "number" && excludesZero(operator, value) ? { ...noFacts, notZero: new Set([key]) } : noFacts;
}

/** The smallest size of a list whose size has this relation to the value. A result of 0 or less says nothing about the list. */
function leastSize(operator: string, value: number): number {
  switch (operator) {
    case ">":
      return Math.floor(value) + 1;
    case ">=":
    case "==":
      return Math.ceil(value);
    case "!=":
      return value === 0 ? 1 : 0;
    default:
      return 0;
  }
}

/** Whether a number that has this relation to the value cannot be 0. */
function excludesZero(operator: string, value: number): boolean {
  switch (operator) {
    case "!=":
      return value === 0;
    case "==":
      return value !== 0;
    case ">":
      return value >= 0;
    case ">=":
      return value > 0;
    case "<":
      return value <= 0;
    case "<=":
      return value < 0;
    default:
      return false;
  }
}

const opposite: Readonly<Record<string, string>> = {
  "==": "!=",
  "!=": "==",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
};
const mirrored: Readonly<Record<string, string>> = {
  "==": "==",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

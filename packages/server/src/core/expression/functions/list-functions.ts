import { canonicalJson, costOfCanonicalJson } from "../../json/canonical-json.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import { codePointCount } from "../../schema/text-length.ts";
import { joinWords } from "../../schema/type-set.ts";
import { type Budget, unitsPerKey } from "../budget.ts";
import { fail } from "../failure.ts";
import { compare, orderedKinds, shownKind } from "../order.ts";
import {
  costOfMergedType,
  countType,
  eitherOf,
  itemCountOf,
  itemsOf,
  kindsOf,
  listOf,
  mayBe,
  mergedType,
  numberType,
  type Type,
  wholeType,
} from "../types/type.ts";
import { describeKinds, kinds, numberWithin, type Value } from "../value.ts";
import { defineFunction, type ExpressionFunction } from "./function.ts";

const list = { name: "list", kinds: kinds.array };

/** The functions on lists and maps. */
export const listFunctions: readonly ExpressionFunction[] = [
  defineFunction({
    name: "size",
    parameters: [{ name: "value", kinds: kinds.string | kinds.array | kinds.object }],
    call: ([value], budget) => sizeOf(value as JsonValue, budget),
    type: () => countType,
    summary: "The number of characters of a text, of items of a list, or of properties of a map.",
    example: ['size("😀") + size([1, 2])', 3],
  }),
  defineFunction({
    name: "sum",
    parameters: [list],
    call: ([items], budget) => {
      budget.spend((items as JsonValue[]).length);
      return (items as JsonValue[]).reduce<number>((sum, item) => {
        if (typeof item !== "number") fail(`adds up a list that contains ${describeKinds(shownKind(item))}`);
        return numberWithin(sum + (item as number));
      }, 0);
    },
    type: ([items]) => (mayBe(itemsOf(items as Type), kinds.fraction) ? numberType : wholeType),
    mayFail: ([items]) => mayHoldOther(items as Type, kinds.number, "a number"),
    summary: "The sum of a list of numbers; 0 for an empty one.",
    example: ["sum([1, 2, 3.5])", 6.5],
  }),
  ...(["min", "max"] as const).map((name) =>
    defineFunction({
      name,
      forms: "both",
      parameters: [{ name: "values", kinds: kinds.array | orderedKinds }],
      isVariadic: true,
      call: (args, budget) => extreme(name, args, budget),
      mistake: (args) =>
        args.length === 1 && !mayBe(args[0] as Type, kinds.array)
          ? "one value that is not a list; give a list, or more values"
          : undefined,
      type: (args) => (args.length === 1 ? itemsOf(args[0] as Type) : eitherOf(args)),
      mayFail: (args) => {
        const [only] = args;
        if (args.length > 1 || only === undefined) return mixedKinds(args.map(kindsOf), orderedKinds);
        if ((kindsOf(only) & ~kinds.array) !== 0) return "its only argument might not be a list";
        if (itemCountOf(only).low === 0) return "the list may be empty";
        return mixedItems(only);
      },
      summary: `The ${name === "min" ? "least" : "greatest"} of the arguments, or of the items of one list that is not empty. Items are numbers or texts; arguments may also be timestamps or durations.`,
      example: [`${name}([3, 1, 2])`, name === "min" ? 1 : 3],
    }),
  ),
  defineFunction({
    name: "sort",
    parameters: [list],
    call: ([items], budget) => sorted(items as readonly JsonValue[], budget),
    type: ([items]) => sameItems(items as Type),
    mayFail: ([items]) => mixedItems(items as Type),
    summary: "The list of numbers or texts in ascending order.",
    example: ['sort(["b", "a"])', ["a", "b"]],
  }),
  defineFunction({
    name: "distinct",
    parameters: [list],
    call: ([items], budget) => distinct(items as readonly JsonValue[], budget),
    type: ([items]) => {
      const { low, high } = itemCountOf(items as Type);
      return listOf(itemsOf(items as Type), Math.min(low, 1), high);
    },
    summary: "The list without repetitions. The first of several equal items stays.",
    example: ["distinct([1, 2, 1])", [1, 2]],
  }),
  defineFunction({
    name: "merge",
    parameters: [
      { name: "a", kinds: kinds.object },
      { name: "b", kinds: kinds.object },
    ],
    call: ([a, b], budget) => merged(a as JsonObject, b as JsonObject, budget),
    type: ([a, b]) => mergedType(a as Type, b as Type),
    typingCost: ([a, b]) => costOfMergedType(a as Type, b as Type),
    summary: "The properties of both maps. If both have a property, the result has the value of the second map.",
    example: ['merge({"a": 1, "b": 1}, {"b": 2})', { a: 1, b: 2 }],
  }),
];

function sizeOf(value: JsonValue, budget: Budget): number {
  if (typeof value === "string") {
    budget.spendOnText(value.length);
    return codePointCount(value);
  }
  if (Array.isArray(value)) return value.length;
  const count = Object.keys(value as JsonObject).length;
  budget.spend(count * unitsPerKey);
  return count;
}

function extreme(name: "min" | "max", args: readonly Value[], budget: Budget): Value {
  const values = args.length === 1 && Array.isArray(args[0]) ? args[0] : args;
  if (args.length === 1 && values === args) fail("takes a list, or more than one value");
  const [first, ...others] = values;
  if (first === undefined) return fail("has an empty list, which has no least or greatest item");
  budget.spend(values.length * unitsPerComparison);
  // Fails if the kind of the first value has no order. This matters when it is the only value.
  compare(first, first, budget);
  return others.reduce<Value>((best, value) => {
    const order = compare(value, best, budget);
    return (name === "min" ? order < 0 : order > 0) ? value : best;
  }, first);
}

/** The cost is charged in advance. The number of comparisons depends on the JavaScript engine, and that must not decide which expressions fail. */
function sorted(items: readonly JsonValue[], budget: Budget): JsonValue[] {
  const longest = items.reduce<number>((max, item) => Math.max(max, typeof item === "string" ? item.length : 0), 0);
  const comparisons = items.length * Math.ceil(1 + Math.log2(items.length + 1));
  budget.spend(comparisons * Math.ceil(1 + longest / charactersPerUnit));
  if (items.every((item) => typeof item === "number")) return items.toSorted((one, other) => one - other);
  if (items.every((item) => typeof item === "string")) return items.toSorted(byUnits);
  const found = [...new Set(items.map(shownKind))].map(describeKinds);
  return fail(
    `sorts a list that contains ${joinWords(found, "and")}; all of its items must be numbers, or all of them texts`,
  );
}

function byUnits(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function distinct(items: readonly JsonValue[], budget: Budget): JsonValue[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    budget.spend(unitsPerItem + unitsPerCost * costOfCanonicalJson(item, Number.POSITIVE_INFINITY));
    const text = canonicalJson(item);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
}

function merged(a: JsonObject, b: JsonObject, budget: Budget): JsonObject {
  budget.spend((Object.keys(a).length + Object.keys(b).length) * unitsPerProperty);
  return Object.fromEntries([...Object.entries(a), ...Object.entries(b)]);
}

function sameItems(items: Type): Type {
  const { low, high } = itemCountOf(items);
  return listOf(itemsOf(items), low, high);
}

function mayHoldOther(items: Type, wanted: number, words: string): string | undefined {
  return (kindsOf(itemsOf(items)) & ~wanted) === 0 ? undefined : `the list may contain something other than ${words}`;
}

function mixedItems(items: Type): string | undefined {
  return mixedKinds([kindsOf(itemsOf(items))], kinds.number | kinds.string);
}

/** Says why values of these kinds may have no order among themselves; undefined when they have one. */
function mixedKinds(sets: readonly number[], allowed: number): string | undefined {
  const all = sets.reduce((union, set) => union | set, 0);
  const groups = [kinds.number, kinds.string, kinds.timestamp, kinds.duration].filter((group) => (all & group) !== 0);
  return groups.length < 2 && (all & ~allowed) === 0
    ? undefined
    : "the values may be of different types, or of a type that has no order";
}

const unitsPerComparison = 3;
const charactersPerUnit = 32;
const unitsPerItem = 12;
/** `costOfCanonicalJson` counts in units of about 50 ns. */
const unitsPerCost = 3;
/** Each property is listed, and put into a new object. */
const unitsPerProperty = 22;

import { bytesOfJson } from "../json/json-size.ts";
import { Known } from "./compare/known.ts";
import type { Schema } from "./node.ts";
import { wholeRange } from "./range.ts";
import { noTypes, type TypeSet, typeSets } from "./type-set.ts";

/**
 * The size of the values that fit a schema, as far as the schema bounds it. Every character of a text counts as one byte. Some take more, but usual
 * texts are within the result. Undefined when no value fits.
 */
export function fittingSizeOf(schema: Schema): SizeRange | undefined {
  return new Measurement().sizeOf([schema], 0);
}

/** The bounds on the size of values as JSON, in bytes. */
export interface SizeRange {
  readonly low: number;
  /** Infinity when there is no upper bound. */
  readonly high: number;
}

/**
 * The bound on the parts of one schema that are measured. It ends the walk through a recursive schema. A part takes about 15 µs, and a definition may
 * have hundreds of forEach steps, for each of which a schema is measured.
 */
const maxParts = 300;
const maxDepth = 16;
const unknown: SizeRange = { low: 1, high: Number.POSITIVE_INFINITY };

class Measurement {
  #partCount = 0;

  /** The size of the values that fit all of these schemas. */
  sizeOf(schemas: readonly Schema[], depth: number): SizeRange | undefined {
    if (depth > maxDepth || this.#partCount >= maxParts) return unknown;
    return this.#sizeOf(new Known(schemas), depth);
  }

  #sizeOf(known: Known, depth: number): SizeRange | undefined {
    this.#partCount++;
    if (known.types === noTypes) return undefined;
    if (known.values !== undefined) return either(known.values.map((value) => exactly(bytesOfJson(value))));
    if (known.cases !== undefined) return either(known.cases.map((one) => this.#sizeOf(one, depth)));
    const mayBe = (set: TypeSet) => (known.types & set) !== noTypes;
    return either([
      mayBe(typeSets.null) ? exactly(4) : undefined,
      mayBe(typeSets.boolean) ? { low: 4, high: 5 } : undefined,
      mayBe(typeSets.whole) ? sizeOfWhole(known) : undefined,
      mayBe(typeSets.fraction) ? { low: 3, high: longestNumber } : undefined,
      mayBe(typeSets.string) ? plus(known.lengthRange, quotes) : undefined,
      mayBe(typeSets.array) ? this.#sizeOfList(known, depth) : undefined,
      mayBe(typeSets.object) ? this.#sizeOfObject(known, depth) : undefined,
    ]);
  }

  #sizeOfList(known: Known, depth: number): SizeRange | undefined {
    const { low, high } = known.itemCountRange;
    const { prefixLength } = known;
    const sizeAt = (index: number) => this.sizeOf(known.item(index), depth + 1);
    const prefix = Array.from({ length: Math.min(prefixLength, high) }, (_, index) => sizeAt(index));
    if (prefix.slice(0, low).includes(undefined)) return undefined;
    const rest = high > prefixLength ? sizeAt(prefixLength) : undefined;
    if (low > prefixLength && rest === undefined) return undefined;
    const listOf = (count: number, bound: "low" | "high") => {
      const first = prefix.slice(0, count).map((size) => size?.[bound] ?? 0);
      const others = count > prefixLength && rest !== undefined ? (count - prefixLength) * (rest[bound] + comma) : 0;
      return first.reduce((sum, size) => sum + size + comma, others) + Math.max(0, brackets - comma);
    };
    return { low: Math.max(brackets, listOf(low, "low")), high: Math.max(brackets, listOf(high, "high")) };
  }

  #sizeOfObject(known: Known, depth: number): SizeRange | undefined {
    const sizeAt = (name: string) => {
      const size = this.sizeOf(known.property(name), depth + 1);
      return size && plus(size, JSON.stringify(name).length + colon + comma);
    };
    let low = brackets - comma;
    for (const name of known.requiredNames) {
      const size = sizeAt(name);
      if (size === undefined) return undefined;
      low += size.low;
    }
    const names = known.onlyNames;
    const high = names?.reduce((sum, name) => sum + (sizeAt(name)?.high ?? 0), brackets - comma);
    return { low: Math.max(brackets, low), high: Math.max(brackets, high ?? Number.POSITIVE_INFINITY) };
  }
}

const quotes = 2;
const brackets = 2;
const comma = 1;
const colon = 1;
/** The length of -1.2345678901234567e-100. */
const longestNumber = 24;

function sizeOfWhole(known: Known): SizeRange {
  const { low, high } = wholeRange(known.numberRange);
  const longest = Math.max(lengthOf(low), lengthOf(high));
  const shortest = low > 0 ? lengthOf(low) : high < 0 ? lengthOf(high) : 1;
  return { low: shortest, high: longest };
}

function lengthOf(whole: number): number {
  return Number.isSafeInteger(whole) ? String(whole).length : longestNumber;
}

function exactly(bytes: number): SizeRange {
  return { low: bytes, high: bytes };
}

function plus({ low, high }: SizeRange, bytes: number): SizeRange {
  return { low: low + bytes, high: high + bytes };
}

function either(sizes: readonly (SizeRange | undefined)[]): SizeRange | undefined {
  const some = sizes.filter((size) => size !== undefined);
  if (some.length === 0) return undefined;
  return { low: Math.min(...some.map(({ low }) => low)), high: Math.max(...some.map(({ high }) => high)) };
}

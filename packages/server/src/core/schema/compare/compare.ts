import type { Problem } from "../../problem.ts";
import { dereferenced, type Schema } from "../node.ts";
import { acceptedTypes } from "../shape.ts";
import { allTypes, describeTypes, noTypes, type TypeSet, typeSets } from "../type-set.ts";
import { compareArray } from "./compare-arrays.ts";
import { compareAnyOf, compareRareRules } from "./compare-choices.ts";
import { compareObject } from "./compare-objects.ts";
import { compareAllowed, compareNumber, compareString, compareValues } from "./compare-rules.ts";
import type { Comparer } from "./comparer.ts";
import { Known } from "./known.ts";
import {
  allOf,
  describeMisfit,
  eachOf,
  fits,
  neverFits,
  type Outcome,
  tooDeep,
  tooLarge,
  undecided,
} from "./outcome.ts";

export type Fit = "always" | "maybe" | "never";

export interface Comparison {
  readonly fit: Fit;
  /** The reasons why `fit` is not "always". Pointers lead into the value. */
  readonly problems: readonly Problem[];
}

/**
 * Compares two schemas. "always": every value that fits `from` is certain to fit `to`. "never": it is certain that no such value fits `to`. "maybe":
 * everything else.
 */
export function compareSchemas(from: Schema, to: Schema): Comparison {
  const { allFit, noneFits, misfits } = new SchemaComparison().compare([from], to);
  const problems = misfits.map((misfit) => ({ pointer: misfit.pointer, detail: describeMisfit(misfit) }));
  return { fit: allFit ? "always" : noneFits ? "never" : "maybe", problems };
}

/**
 * The bound on the comparisons of a definition. The number of pairs of its schemas grows with the square of its size. The bound allows about 100 ms
 * of work. Beyond it, or deeper than `maxDepth`, the answer is "maybe". The depth is bounded because the comparison is recursive. No real model has
 * more levels.
 */
const maxComparisons = 100_000;
/** Trying one value costs as much as a few comparisons. */
const comparisonsPerValue = 4;
const maxDepth = 32;

/** Compares schemas and keeps the results, because the schemas of one definition are compared many times. */
export class SchemaComparison implements Comparer {
  readonly #outcomes = new Map<string, Outcome>();
  /** The pairs in the order in which they were decided. */
  readonly #decided: string[] = [];
  readonly #numbers = new Map<Schema, number>();
  readonly #budget: { remaining: number };
  readonly #mayAssume: boolean;
  #withoutAssumptions: SchemaComparison | undefined;
  #depth = 0;

  constructor(mayAssume = true, budget = { remaining: maxComparisons }) {
    this.#mayAssume = mayAssume;
    this.#budget = budget;
  }

  /** Whether the budget is used up. Then two different schemas that were not compared before get the answer "maybe". */
  get isExhausted(): boolean {
    return this.#budget.remaining < 0;
  }

  get withoutAssumptions(): SchemaComparison {
    if (!this.#mayAssume) return this;
    this.#withoutAssumptions ??= new SchemaComparison(false, this.#budget);
    return this.#withoutAssumptions;
  }

  charge(comparisons: number): boolean {
    this.#budget.remaining -= comparisons;
    return this.#budget.remaining >= 0;
  }

  compare(fromSchemas: readonly Schema[], toSchema: Schema): Outcome {
    const from = fromSchemas.map(dereferenced);
    const to = dereferenced(toSchema);
    if (from.includes(to)) return fits;
    const pair = `${from.map((schema) => this.#numberOf(schema))}:${this.#numberOf(to)}`;
    const known = this.#outcomes.get(pair);
    if (known !== undefined) return known;
    if (this.#depth >= maxDepth) return tooDeep;
    this.#depth++;
    const outcome = this.#decide(pair, new Known(from), to);
    this.#depth--;
    return outcome;
  }

  /**
   * Decides a pair of schemas. Recursive schemas lead back to a pair that is still being decided. This pair is then assumed to fit. Values are
   * finite, so the assumption is right if it leads to no contradiction. If it leads to one, the pairs that were found to fit in the meantime may
   * depend on the assumption, so they are forgotten. When assumptions are not allowed, the inner comparison of the pair is undecided.
   */
  #decide(pair: string, from: Known, to: Schema): Outcome {
    const decidedBefore = this.#decided.length;
    this.#outcomes.set(pair, this.#mayAssume ? fits : undecided);
    const outcome = this.#compareKnown(from, to);
    if (!outcome.allFit && this.#mayAssume) this.#forgetFits(decidedBefore);
    this.#outcomes.set(pair, outcome);
    this.#decided.push(pair);
    return outcome;
  }

  #forgetFits(start: number): void {
    for (const pair of this.#decided.splice(start)) {
      if (this.#outcomes.get(pair)?.allFit) this.#outcomes.delete(pair);
    }
  }

  #numberOf(schema: Schema): number {
    const number = this.#numbers.get(schema) ?? this.#numbers.size;
    this.#numbers.set(schema, number);
    return number;
  }

  /** Compares value by value when the values are few. Otherwise compares type by type. If that is undecided, compares each alternative of `from`. */
  #compareKnown(from: Known, to: Schema): Outcome {
    if (--this.#budget.remaining < 0) return tooLarge;
    const { values } = from;
    if (values !== undefined) {
      this.#budget.remaining -= values.length * comparisonsPerValue;
      return compareValues(values, to);
    }
    const outcome = this.compareTypes(from, to, from.types);
    const cases = outcome.allFit || outcome.noneFits ? undefined : from.cases;
    return cases === undefined ? outcome : eachOf(cases.map((one) => this.#compareKnown(one, to)));
  }

  compareTypes(from: Known, to: Schema, types: TypeSet): Outcome {
    const accepted = acceptedTypes(to);
    const rejected = types & ~accepted;
    const cases = kindsOfTypes
      .map((kind) => kind & types & accepted)
      .filter((kind) => kind !== noTypes)
      .map((kind) => this.#compareKind(from, to, kind));
    if (rejected !== noTypes) cases.unshift(neverFits(wrongTypes(from.types, rejected, accepted)));
    return eachOf(cases);
  }

  /** Compares the values of one kind. `kind` is one type that `to` accepts, or both sorts of numbers. */
  #compareKind(from: Known, to: Schema, kind: TypeSet): Outcome {
    if (--this.#budget.remaining < 0) return tooLarge;
    if (from.constraints.includes(to)) return fits;
    if (kind === typeSets.null) return compareValues([null], to);
    if (kind === typeSets.boolean) {
      return compareValues(
        [true, false].filter((value) => from.allows(value)),
        to,
      );
    }
    const parts = [this.#compareRules(from, to, kind)];
    for (const part of to.allOf ?? []) parts.push(this.compareTypes(from, part, kind));
    if (to.anyOf !== undefined) parts.push(compareAnyOf(from, to.anyOf, kind, this));
    return allOf(parts);
  }

  #compareRules(from: Known, to: Schema, kind: TypeSet): Outcome {
    const { allowed, numbers, strings, arrays, objects, rare } = to;
    const parts: Outcome[] = [];
    if (allowed !== undefined) {
      this.#budget.remaining -= allowed.all.length * comparisonsPerValue;
      parts.push(compareAllowed(from, allowed, kind));
    }
    if (numbers !== undefined && (kind & typeSets.number) !== noTypes) parts.push(compareNumber(from, numbers, kind));
    if (strings !== undefined && kind === typeSets.string) parts.push(compareString(from, strings));
    if (arrays !== undefined && kind === typeSets.array) parts.push(compareArray(from, arrays, this));
    if (objects !== undefined && kind === typeSets.object) parts.push(compareObject(from, objects, this));
    if (rare !== undefined) parts.push(compareRareRules(from, rare, kind, this));
    return allOf(parts);
  }
}

/** The types that are compared separately. The two sorts of numbers have the same rules, so they are compared together. */
const kindsOfTypes: readonly TypeSet[] = [
  typeSets.null,
  typeSets.boolean,
  typeSets.number,
  typeSets.string,
  typeSets.array,
  typeSets.object,
];

function wrongTypes(all: TypeSet, rejected: TypeSet, accepted: TypeSet): string {
  if (accepted === noTypes) return "there, but is not allowed";
  const found = all === allTypes ? "anything" : describeTypes(rejected);
  return `${found}, but must be ${describeTypes(accepted)}`;
}

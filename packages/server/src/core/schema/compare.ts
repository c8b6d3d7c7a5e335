import type { Problem } from "../problem.ts";
import { compareAllowed, compareItemCount, compareNumber, compareString, compareValues } from "./compare-rules.ts";
import { Known } from "./known.ts";
import { type ArrayRules, dereferenced, nothing, type ObjectRules, type Schema } from "./node.ts";
import {
  allOf,
  anyOf,
  describeMisfit,
  eachOf,
  fits,
  inside,
  type Misfit,
  mayNotFit,
  neverFits,
  type Outcome,
} from "./outcome.ts";
import { acceptedTypes } from "./shape.ts";
import { allTypes, describeTypes, noTypes, type TypeSet, typeSets } from "./type-set.ts";

export type Fit = "always" | "maybe" | "never";

export interface Comparison {
  readonly fit: Fit;
  /** Why it is not "always"; pointers lead into the value. */
  readonly problems: readonly Problem[];
}

/**
 * Whether what fits `from` fits `to`: "always" when every value does, "never" when none can, each only when that is certain; "maybe"
 * otherwise.
 */
export function compareSchemas(from: Schema, to: Schema): Comparison {
  const { allFit, noneFits, misfits } = new SchemaComparison().compare([from], to);
  const problems = misfits.map((misfit) => ({ pointer: misfit.pointer, detail: describeMisfit(misfit) }));
  return { fit: allFit ? "always" : noneFits ? "never" : "maybe", problems };
}

/**
 * A definition has as many pairs of schemas as the square of its size, so there is a bound, some 100 ms; beyond it the answer is
 * "maybe". Deeper than its bound it is so as well: the comparison is recursive, and nobody models more levels.
 */
const maxComparisons = 100_000;
/** To look up a property costs a fraction of a comparison, to try a value a few of them. */
const propertiesPerComparison = 10;
const comparisonsPerValue = 4;
const maxDepth = 32;

/** Compares schemas and remembers what it found: those of one definition are compared again and again. */
export class SchemaComparison {
  readonly #outcomes = new Map<string, Outcome>();
  /** The pairs in the order in which they were decided. */
  readonly #decided: string[] = [];
  readonly #numbers = new Map<Schema, number>();
  #remaining = maxComparisons;
  #depth = 0;

  /** Whether so much was asked that the answers since then say "maybe". */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  /** Whether a value that fits all of `from` fits `to`. */
  compare(fromSchemas: readonly Schema[], toSchema: Schema): Outcome {
    const from = fromSchemas.map(dereferenced);
    const to = dereferenced(toSchema);
    if (from.includes(to)) return fits;
    const pair = `${from.map((schema) => this.#numberOf(schema))}:${this.#numberOf(to)}`;
    const known = this.#outcomes.get(pair);
    if (known !== undefined) return known;
    if (this.#depth >= maxDepth) return mayNotFit("nested too deeply to be compared");
    this.#depth++;
    const outcome = this.#decide(pair, new Known(from), to);
    this.#depth--;
    return outcome;
  }

  /**
   * Recursive schemas lead back to a pair that is still open. It is then assumed to fit: values are finite, so if that leads to no
   * contradiction, it is so. If it does, what was decided in the meantime may rest on the assumption and is forgotten.
   */
  #decide(pair: string, from: Known, to: Schema): Outcome {
    const decidedBefore = this.#decided.length;
    this.#outcomes.set(pair, fits);
    const outcome = this.#compareKnown(from, to);
    if (!outcome.allFit) this.#forgetFits(decidedBefore);
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

  /** By value, when there are few; else by type; and what that leaves open, by the alternatives of `from`. */
  #compareKnown(from: Known, to: Schema): Outcome {
    if (--this.#remaining < 0) return mayNotFit("too large to be compared");
    const { values } = from;
    if (values !== undefined) {
      this.#remaining -= values.length * comparisonsPerValue;
      return compareValues(values, to);
    }
    const outcome = this.#compareTypes(from, to, from.types);
    const cases = outcome.allFit || outcome.noneFits ? undefined : from.cases;
    return cases === undefined ? outcome : eachOf(cases.map((one) => this.#compareKnown(one, to)));
  }

  /** About those values of `from` that have one of the types. */
  #compareTypes(from: Known, to: Schema, types: TypeSet): Outcome {
    const accepted = acceptedTypes(to);
    const rejected = types & ~accepted;
    const cases = kindsOfTypes
      .map((kind) => kind & types & accepted)
      .filter((kind) => kind !== noTypes)
      .map((kind) => this.#compareKind(from, to, kind));
    if (rejected !== noTypes) cases.unshift(neverFits(wrongTypes(from.types, rejected, accepted)));
    return eachOf(cases);
  }

  /** `kind` is one type that `to` accepts, or the two sorts of numbers. */
  #compareKind(from: Known, to: Schema, kind: TypeSet): Outcome {
    this.#remaining--;
    if (from.constraints.includes(to)) return fits;
    if (kind === typeSets.null) return compareValues([null], to);
    if (kind === typeSets.boolean) {
      return compareValues(
        [true, false].filter((value) => from.admits(value)),
        to,
      );
    }
    const parts = [this.#compareRules(from, to, kind)];
    for (const part of to.allOf ?? []) parts.push(this.#compareTypes(from, part, kind));
    if (to.anyOf !== undefined) parts.push(this.#compareAlternatives(from, to.anyOf, kind));
    return allOf(parts);
  }

  #compareAlternatives(from: Known, alternatives: readonly Schema[], kind: TypeSet): Outcome {
    if (--this.#remaining < 0) return mayNotFit("too large to be compared");
    const candidates = alternatives.filter((alternative) => (acceptedTypes(alternative) & kind) !== noTypes);
    const outcomes = candidates.map((candidate) => this.#compareTypes(from, candidate, kind));
    const [only] = outcomes;
    // For "this object or null" it is clear which alternative was meant, and so what is wrong.
    const summary = { pointer: "", finding: `none of the ${outcomes.length} alternatives (\`anyOf\`)` };
    const misfits: readonly Misfit[] =
      only !== undefined && outcomes.length === 1 ? only.misfits : [{ ...summary, isCertain: true }];
    return anyOf(outcomes, misfits);
  }

  #compareRules(from: Known, to: Schema, kind: TypeSet): Outcome {
    const { allowed, numbers, strings, arrays, objects } = to;
    const parts: Outcome[] = [];
    if (allowed !== undefined) {
      this.#remaining -= allowed.all.length * comparisonsPerValue;
      parts.push(compareAllowed(from, allowed, kind));
    }
    if (numbers !== undefined && (kind & typeSets.number) !== noTypes) parts.push(compareNumber(from, numbers, kind));
    if (strings !== undefined && kind === typeSets.string) parts.push(compareString(from, strings));
    if (arrays !== undefined && kind === typeSets.array) parts.push(this.#compareArray(from, arrays));
    if (objects !== undefined && kind === typeSets.object) parts.push(this.#compareObject(from, objects));
    return allOf(parts);
  }

  #compareArray(from: Known, rules: ArrayRules): Outcome {
    const count = compareItemCount(from, rules);
    const { low, high } = from.itemCountRange;
    if (rules.items === undefined || high === 0) return count;
    return allOf([count, inside(0, this.compare(from.items, rules.items), low > 0)]);
  }

  #compareObject(from: Known, rules: ObjectRules): Outcome {
    const required = new Set(rules.required);
    const named = rules.additional === undefined ? [] : from.names;
    const names = new Set([...required, ...rules.properties.keys(), ...named]);
    this.#remaining -= names.size / propertiesPerComparison;
    const parts = [...names].map((name) => this.#compareProperty(from, rules, name, required.has(name)));
    if (rules.additional !== undefined) parts.push(this.#compareAdditional(from, rules.additional));
    return allOf(parts);
  }

  #compareProperty(from: Known, rules: ObjectRules, name: string, isRequired: boolean): Outcome {
    const target = rules.properties.get(name) ?? rules.additional;
    const outcome = target === undefined ? fits : this.compare(from.property(name), target);
    const isThere = from.requires(name);
    if (!isRequired || isThere) return inside(name, outcome, isThere);
    const isNeverThere = !from.mayHave(name) || (outcome.allFit && outcome.noneFits);
    if (isNeverThere) return inside(name, neverFits("missing, but is required"), true);
    // Where it is there it does not fit, and where it is not it is missed.
    if (outcome.noneFits) return inside(name, outcome, true);
    return inside(name, mayNotFit("missing, but is required"), true);
  }

  /** What may stand in properties that neither side names; it need not be there. */
  #compareAdditional(from: Known, target: Schema): Outcome {
    if (this.compare(from.additional, target).allFit) return fits;
    return mayNotFit(
      target === nothing ? "one with properties that are not allowed" : "one with other properties that do not fit",
    );
  }
}

/** Types that have rules of their own. The two sorts of numbers share theirs. */
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

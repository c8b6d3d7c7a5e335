import { didYouMean } from "../../closest-name.ts";
import type { JsonValue } from "../../json/json.ts";
import { quoted } from "../../problem.ts";
import { closedObject, newSchema, type Schema } from "../../schema/node.ts";
import { allTypes, noTypes } from "../../schema/type-set.ts";
import { Budget, defaultLimits } from "../budget.ts";
import { ExpressionFailure } from "../failure.ts";
import { mismatch, operate } from "../operators.ts";
import type { Expression } from "../parse.ts";
import type { NamedNode, Node, NodeOf } from "../tree.ts";
import {
  anyType,
  booleanType,
  casesOf,
  eitherOf,
  itemCountOf,
  itemOf,
  itemsOf,
  kindsOf,
  listOf,
  noType,
  onlyValueOf,
  propertyOf,
  stringType,
  type Type,
  timestampType,
  toJsonSchema,
  tupleOf,
  typeOfKinds,
  typeOfSchema,
  typeOfValue,
} from "../types/type.ts";
import type { PartType, TypeScope } from "../types/type-scope.ts";
import { anyKind, describeKinds, type Kinds, kinds } from "../value.ts";
import { bothFacts, type Facts, factsOf, narrowed, noFacts } from "./guards.ts";
import { namedPart } from "./named-part.ts";
import { pairsOf } from "./operand-pairs.ts";
import { keyOf, variableKey } from "./path-key.ts";

/** A finding about an expression, made before its evaluation. `offset` counts UTF-16 units in the expression's source. */
export interface Finding {
  readonly offset: number;
  readonly message: string;
}

export interface ExpressionType {
  /** The schema of the values that the expression may have. It allows no value when the expression can have none. */
  readonly schema: Schema;
  /** Findings about parts that certainly fail, or are certainly a mistake. */
  readonly problems: readonly Finding[];
  /** Findings about parts that fail for some possible values, and about reads that a guard always skips. */
  readonly mayFail: readonly Finding[];
}

/**
 * Returns the type of an expression. If there are neither problems nor parts that may fail, an evaluation fails only because a number or a time is
 * outside its range, or because its own budget is used up. Once `scope.budget` is used up, nothing is certain, because the types are unknown.
 */
export function typeOf(expression: Expression, scope: TypeScope): ExpressionType {
  const typing = new Typing(expression.source, scope);
  const type = typing.type(expression.tree, noFacts);
  return { schema: toJsonSchema(type), problems: typing.problems, mayFail: typing.mayFail };
}

class Typing {
  readonly problems: Finding[] = [];
  readonly mayFail: Finding[] = [];
  readonly #source: string;
  readonly #scope: TypeScope;
  /** The types of the macro variables, by slot. */
  readonly #variables: Type[] = [];

  constructor(source: string, scope: TypeScope) {
    this.#source = source;
    this.#scope = scope;
  }

  /**
   * The type of a node at a place where these facts hold. It is `noType` when there can be no value, because the node always fails or is never
   * reached.
   */
  type(node: Node, facts: Facts): Type {
    const { budget } = this.#scope;
    this.#charge(1);
    if (budget?.isExhausted) return anyType;
    const key = keyOf(node);
    const type = this.#typeOf(node, facts, key);
    return key === undefined ? type : narrowed(type, key, facts);
  }

  #typeOf(node: Node, facts: Facts, key: string | undefined): Type {
    switch (node.kind) {
      case "literal":
        return typeOfValue(node.value);
      case "variable":
        return this.#variables[node.slot] as Type;
      case "root":
      case "step":
      case "event":
      case "fork":
        return this.#read(node, facts.there.has(key as string));
      case "property":
        return this.#property(node, this.type(node.of, facts), node.name, facts.there.has(key ?? ""));
      case "index":
        return this.#index(node, facts, facts.there.has(key ?? ""));
      case "list":
        return tupleOf(node.items.map((item) => this.type(item, facts)));
      case "map":
        return this.#map(node, facts);
      case "not":
        this.#boolean(node.of, facts);
        return booleanType;
      case "negative":
        return this.#negative(node, facts);
      case "and":
      case "or":
        this.#chargeFacts(node.left);
        this.#boolean(node.left, facts);
        this.#boolean(node.right, bothFacts(facts, factsOf(node.left, node.kind === "and")));
        return booleanType;
      case "choice": {
        this.#chargeFacts(node.condition);
        this.#boolean(node.condition, facts);
        const ways = [
          this.type(node.then, bothFacts(facts, factsOf(node.condition, true))),
          this.type(node.otherwise, bothFacts(facts, factsOf(node.condition, false))),
        ];
        return eitherOf(ways);
      }
      case "has":
        this.#visitPath(node.of, facts);
        return booleanType;
      case "binary":
        return this.#binary(node, facts);
      case "macro":
        return this.#macro(node, facts);
      case "call":
        return this.#call(node, facts);
      default:
        return node satisfies never;
    }
  }

  #read(node: NodeOf<"root"> | NamedNode, isGuarded: boolean): Type {
    if (node.kind === "root" && node.root === "now") return timestampType;
    const part = this.#part(node);
    if (part === undefined) return noType;
    if (part.presence === "never") {
      const isOfItem = node.kind === "root" && (node.root === "item" || node.root === "index");
      const message = isOfItem ? "is there only in the body of a forEach" : "is never there at this point of the job";
      if (!isGuarded) this.#problem(node, message);
      return noType;
    }
    if (part.presence === "maybe" && !isGuarded) this.#mayBeMissing(node);
    return typeOfSchema(part.schema);
  }

  #part(node: NodeOf<"root"> | NamedNode): PartType | undefined {
    if (node.kind === "root") return this.#scope[node.root as Exclude<typeof node.root, "now">];
    const { name, part, names, noun, hint } = namedPart(this.#scope, node);
    if (part === undefined) this.#problem(node, `names no ${noun}${hint ?? this.#hint(name, names)}`);
    return part;
  }

  /** Checks the path of a `has`. A `has` does not fail when a part of the path is missing. */
  #visitPath(node: Node, facts: Facts): void {
    switch (node.kind) {
      case "root":
      case "step":
      case "event":
      case "fork":
        if (node.kind !== "root") this.#part(node);
        return;
      case "property":
        this.#visitPath(node.of, facts);
        return;
      case "index":
        this.type(node.index, facts);
        this.#visitPath(node.of, facts);
        return;
      default:
        this.type(node, facts);
    }
  }

  #property(node: Node, of: Type, name: string, isGuarded: boolean): Type {
    const found = kindsOf(of);
    if (found === noTypes) return noType;
    if ((found & kinds.object) === 0) {
      this.#problem(node, `reads a property of ${describeKinds(found)}, but only maps have properties`);
      return noType;
    }
    const maps = casesOf(of).filter((known) => (known.types & kinds.object) !== 0);
    this.#charge(maps.length - 1);
    const having = maps.filter((known) => known.mayHave(name));
    if (having.length === 0) {
      const names = new Set(maps.flatMap((known) => [...known.names].filter((one) => known.mayHave(one))));
      const message = `is never there: the schema does not allow the property${this.#hint(name, names)}`;
      // With a guard, this is only a warning: the guard is never true, so the read is never evaluated and cannot fail.
      if (isGuarded) this.#risk(node, message);
      else this.#problem(node, message);
      return noType;
    }
    if (!isGuarded) {
      if ((found & ~kinds.object) !== 0)
        this.#risk(node, `reads a property of a value that may be ${describeKinds(found & ~kinds.object)}`);
      else if (maps.some((known) => !known.requires(name))) this.#mayBeMissing(node);
    }
    return propertyOf(of, name);
  }

  #index(node: NodeOf<"index">, facts: Facts, isGuarded: boolean): Type {
    const of = this.type(node.of, facts);
    const index = this.type(node.index, facts);
    const found = kindsOf(of);
    const indexKinds = kindsOf(index);
    if (found === noTypes || indexKinds === noTypes) return noType;
    const position = onlyValueOf(index);
    if (typeof position === "string") return this.#property(node, of, position, isGuarded);
    const ofList = (found & kinds.array) !== 0 && (indexKinds & kinds.whole) !== 0;
    const ofMap = (found & kinds.object) !== 0 && (indexKinds & kinds.string) !== 0;
    if (!ofList && !ofMap) {
      this.#problem(
        node,
        `has ${describeKinds(indexKinds)} in its brackets after ${describeKinds(found)}; a list is read by whole numbers, and a map by texts`,
      );
      return noType;
    }
    const item = typeof position === "number" ? itemOf(of, position) : itemsOf(of);
    if (!isGuarded) this.#checkPosition(node, of, position, found === kinds.array);
    return eitherOf([ofList ? item : noType, ofMap ? typeOfKinds(allTypes) : noType]);
  }

  #checkPosition(node: NodeOf<"index">, of: Type, position: JsonValue | undefined, isList: boolean): void {
    const { low, high } = itemCountOf(of);
    if (typeof position === "number" && isList) {
      if (position < 0 || position >= high) this.#problem(node, "has no item at that place; the first item is at 0");
      else if (position >= low)
        this.#risk(
          node,
          `may have no item at that place; guard it with \`size(${this.#text(node.of)}) > ${position} ? … : …\``,
        );
    } else this.#risk(node, `may find nothing; guard it with ${quoted(`has(${this.#text(node)})`)}`);
  }

  #map({ entries }: NodeOf<"map">, facts: Facts): Type {
    const properties = new Map<string, Schema>();
    const others: Type[] = [];
    for (const [keyNode, valueNode] of entries) {
      const key = this.type(keyNode, facts);
      const value = this.type(valueNode, facts);
      const name = onlyValueOf(key);
      if (!this.#mustBe(keyNode, key, kinds.string, "and the keys of a map are texts")) continue;
      if (typeof name !== "string") {
        others.push(value);
        if (entries.length > 1) this.#risk(keyNode, "may equal another key of its map");
      } else {
        if (properties.has(name)) this.#problem(keyNode, "occurs twice as a key in its map; remove one");
        properties.set(name, toJsonSchema(value));
      }
    }
    if (others.length === 0) return typeOfSchema(closedObject(properties, [...properties.keys()], kinds.object));
    const additional = toJsonSchema(eitherOf(others));
    return typeOfSchema(
      newSchema({
        types: kinds.object,
        objects: { properties, patterns: undefined, required: [...properties.keys()], additional },
      }),
    );
  }

  #negative(node: NodeOf<"negative">, facts: Facts): Type {
    const type = this.type(node.of, facts);
    const value = onlyValueOf(type);
    if (typeof value === "number") return typeOfValue(0 - value);
    const allowed = kinds.number | kinds.duration;
    return this.#mustBe(node.of, type, allowed, "which `-` does not take")
      ? typeOfKinds(kindsOf(type) & allowed)
      : noType;
  }

  #boolean(node: Node, facts: Facts): void {
    this.#mustBe(node, this.type(node, facts), kinds.boolean, "where true or false is needed");
  }

  /** Reports a value that cannot be of an allowed kind, or that may also be of another kind. Returns whether it can be of an allowed kind. */
  #mustBe(node: Node, type: Type, allowed: Kinds, wanted: string): boolean {
    const found = kindsOf(type);
    if (found === noTypes) return false;
    if ((found & allowed) === 0) this.#problem(node, `is ${describeKinds(found)}, ${wanted}`);
    else if ((found & ~allowed) !== 0) this.#risk(node, `may be ${describeKinds(found & ~allowed)}, ${wanted}`);
    return (found & allowed) !== 0;
  }

  #binary(node: NodeOf<"binary">, facts: Facts): Type {
    const left = this.type(node.left, facts);
    const right = this.type(node.right, facts);
    if (kindsOf(left) === noTypes || kindsOf(right) === noTypes) return noType;
    const constant = this.#folded(node, left, right);
    if (constant !== undefined) return constant;
    const { result, mismatched } = pairsOf(node.operator, kindsOf(left), kindsOf(right));
    if (result === noTypes) {
      this.#problem(node, mismatch(node.operator, kindsOf(left), kindsOf(right)));
      return noType;
    }
    if (mismatched !== undefined) this.#risk(node, mismatched);
    if ("/%".includes(node.operator)) this.#checkDivisor(node, right, facts);
    return resultOf(node, left, right, result);
  }

  /** Evaluates an operation on two constants, for its type. Returns undefined if an operand is not constant, or if the operation costs too much. */
  #folded(node: NodeOf<"binary">, left: Type, right: Type): Type | undefined {
    const one = onlyValueOf(left);
    const other = onlyValueOf(right);
    if (one === undefined || other === undefined) return undefined;
    const budget = new Budget({ ...defaultLimits, maxWork: maxFoldingWork });
    try {
      const value = operate(node.operator, one, other, budget);
      return typeOfValue(value as JsonValue);
    } catch (error) {
      if (!(error instanceof ExpressionFailure)) throw error;
      if (error.kind === "budget") return undefined;
      this.#problem(node, error.message);
      return noType;
    } finally {
      this.#charge(budget.work / workPerUnit);
    }
  }

  #checkDivisor(node: NodeOf<"binary">, divisor: Type, facts: Facts): void {
    const key = keyOf(node.right);
    if (key !== undefined && facts.notZero.has(key)) return;
    const mayBeZero = casesOf(divisor).some((known) => {
      const { low, isLowOpen, high, isHighOpen } = known.numberRange;
      const isWithin = (low < 0 || (low === 0 && !isLowOpen)) && (high > 0 || (high === 0 && !isHighOpen));
      return (known.types & kinds.number) !== 0 && (known.values?.includes(0) ?? isWithin);
    });
    if (mayBeZero) this.#risk(node, `may divide by zero; guard it with \`${this.#text(node.right)} != 0 ? … : …\``);
  }

  #macro(node: NodeOf<"macro">, facts: Facts): Type {
    const list = this.type(node.list, facts);
    const allowed = kinds.array | kinds.object;
    if (!this.#mustBe(node.list, list, allowed, "and only lists and maps have items")) return noType;
    const isList = (kindsOf(list) & kinds.object) === 0;
    const { low, high } = isList ? itemCountOf(list) : { low: 0, high: Number.POSITIVE_INFINITY };
    const item = eitherOf([itemsOf(list), isList ? noType : stringType]);
    this.#variables[node.slot] = item;
    let within = facts;
    if (node.filter !== undefined) {
      this.#boolean(node.filter, facts);
      within = bothFacts(facts, factsOf(node.filter, true));
    }
    if (node.macro === "filter") return listOf(narrowed(item, variableKey(node.slot), within), 0, high);
    const body = node.body as Node;
    if (node.macro === "map") return listOf(this.type(body, within), node.filter === undefined ? low : 0, high);
    this.#boolean(body, within);
    return booleanType;
  }

  #call(node: NodeOf<"call">, facts: Facts): Type {
    const { called } = node;
    const args = node.args.map((arg) => this.type(arg, facts));
    const areRight = args.map((arg, index) => {
      const parameter = called.parameters[Math.min(index, called.parameters.length - 1)];
      const allowed = parameter?.kinds ?? anyKind;
      return this.#mustBe(
        node.args[index] as Node,
        arg,
        allowed,
        `and \`${called.name}\` takes ${describeKinds(allowed)} there`,
      );
    });
    if (areRight.includes(false)) return noType;
    this.#charge(called.typingCost(args));
    if (this.#scope.budget?.isExhausted) return anyType;
    const mistake = called.mistake(args);
    if (mistake !== undefined) {
      this.#problem(node, `has ${mistake}`);
      return noType;
    }
    const risk = called.mayFail(args);
    if (risk !== undefined) this.#risk(node, `may fail: ${risk}`);
    return called.type(args);
  }

  #charge(units: number): void {
    this.#scope.budget?.charge(units);
  }

  /** The charge is needed because finding the facts of a condition means walking through all of it. */
  #chargeFacts({ start, end }: Node): void {
    this.#charge((end - start) / charactersPerUnit);
  }

  #hint(name: string, names: Iterable<string>): string {
    const all = [...names];
    this.#charge(all.length);
    return this.#scope.budget?.isExhausted ? "" : didYouMean(name, all);
  }

  #mayBeMissing(node: Node): void {
    const text = this.#text(node);
    this.#risk(node, `may be missing; guard it with ${quoted(`has(${text}) ? … : …`)}`);
  }

  #problem(node: Node, message: string): void {
    add(this.problems, { offset: node.start, message: `${quoted(this.#text(node))} ${message}` });
  }

  #risk(node: Node, message: string): void {
    add(this.mayFail, { offset: node.start, message: `${quoted(this.#text(node))} ${message}` });
  }

  #text({ start, end }: Node): string {
    return this.#source.slice(start, end);
  }
}

function add(findings: Finding[], finding: Finding): void {
  if (findings.length >= maxFindings) return;
  const isNew = findings.every(({ offset, message }) => offset !== finding.offset || message !== finding.message);
  if (isNew) findings.push(finding);
}

const charactersPerUnit = 16;
/**
 * The units of evaluation that one operation on constants may take. They take 8 µs, and are enough for two texts of almost 1,600 characters together.
 * The work is bounded because a definition's constants may have half a megabyte and may be used in thousands of operations.
 */
const maxFoldingWork = 200;
/** The units of evaluation that cost as much as one unit of typing. A unit of typing takes about 4 µs, and a unit of evaluation 40 ns. */
const workPerUnit = 100;

/** Nobody would read more findings about one expression. */
const maxFindings = 20;

function resultOf({ operator }: NodeOf<"binary">, left: Type, right: Type, result: Kinds): Type {
  const types = [typeOfKinds(result & ~(kinds.array | kinds.number))];
  if ((result & kinds.array) !== 0) {
    const [one, other] = [itemCountOf(left), itemCountOf(right)];
    types.push(listOf(eitherOf([itemsOf(left), itemsOf(right)]), one.low + other.low, one.high + other.high));
  }
  if ((result & kinds.number) !== 0) {
    const isWhole = operator !== "/" && ((kindsOf(left) | kindsOf(right)) & kinds.fraction) === 0;
    types.push(typeOfKinds(isWhole ? kinds.whole : kinds.number));
  }
  return eitherOf(types);
}

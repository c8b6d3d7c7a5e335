import type { JsonValue } from "../json/json.ts";
import { getOwn } from "../json/record.ts";
import { quoted } from "../problem.ts";
import { type Budget, unitsPerSortedKey } from "./budget.ts";
import { ExpressionFailure, fail } from "./failure.ts";
import { operate } from "./operators.ts";
import { shownKind } from "./order.ts";
import type { Expression } from "./parse.ts";
import type { Scope } from "./scope.ts";
import type { NamedNode, Node, NodeOf } from "./tree.ts";
import { Duration, describeKinds, isMap, kindOf, numberWithin, Timestamp, toJson, type Value } from "./value.ts";

/**
 * Returns the value of an expression, or the reason why it has none. The result depends only on the arguments, and not on the machine or its clock.
 * `depth` is the depth of the value in the output.
 */
export function evaluate(
  expression: Expression,
  scope: Scope,
  budget: Budget,
  depth = 0,
): { readonly value: JsonValue } | { readonly failure: ExpressionFailure } {
  const evaluation = new Evaluation(expression, scope, budget);
  try {
    const value = toJson(evaluation.value(expression.tree), budget);
    budget.output(value, depth);
    return { value };
  } catch (error) {
    return { failure: evaluation.located(error) };
  }
}

class Evaluation {
  readonly #source: string;
  readonly #scope: Scope;
  readonly #budget: Budget;
  /** The current items of the macros around the node. */
  readonly #variables: JsonValue[] = [];
  /** The node that is being evaluated, which gives a failure its place. */
  #current: Node;

  constructor({ source, tree }: Expression, scope: Scope, budget: Budget) {
    this.#source = source;
    this.#scope = scope;
    this.#budget = budget;
    this.#current = tree;
  }

  /** Adds the place in the expression to a failure. Any other error is a defect and is thrown again. */
  located(error: unknown): ExpressionFailure {
    if (!(error instanceof ExpressionFailure)) throw error;
    if (error.offset !== undefined) return error;
    const { start, end } = this.#current;
    return new ExpressionFailure(`${quoted(this.#source.slice(start, end))} ${error.message}`, start, error.kind);
  }

  value(node: Node): Value {
    this.#budget.spend(1);
    switch (node.kind) {
      case "literal":
        return node.value;
      case "variable":
        return this.#variables[node.slot] as JsonValue;
      case "root":
      case "step":
      case "event":
      case "fork":
        return this.#present(node);
      case "property":
        return this.#property(node, this.value(node.of), node.name);
      case "index":
        return this.#index(node);
      case "list":
        this.#budget.spend(unitsPerList);
        return node.items.map((item) => toJson(this.value(item), this.#budget));
      case "map":
        return this.#map(node);
      case "not":
        return !this.#boolean(node.of);
      case "negative":
        return this.#negative(node);
      case "and":
        return this.#decide(node, false);
      case "or":
        return this.#decide(node, true);
      case "choice":
        return this.value(this.#boolean(node.condition) ? node.then : node.otherwise);
      case "has":
        return this.#find(node.of) !== undefined;
      case "binary":
        return this.#binary(node);
      case "macro":
        return this.#macro(node);
      case "call":
        return this.#call(node);
      default:
        return node satisfies never;
    }
  }

  #present(node: NodeOf<"root"> | NamedNode): Value {
    const value = this.#read(node);
    return value === undefined ? this.#fail(node, notThere(node)) : value;
  }

  /** A part of the scope; undefined when it is absent. */
  #read(node: NodeOf<"root"> | NamedNode): Value | undefined {
    this.#current = node;
    switch (node.kind) {
      case "root":
        return node.root === "now" ? new Timestamp(this.#scope.now) : this.#scope[node.root];
      case "step": {
        const step = this.#scope.step(node.step);
        return node.part === undefined ? step && true : step?.[node.part];
      }
      case "event": {
        const event = this.#scope.event(node.eventId);
        return node.part === undefined ? event && true : event?.[node.part];
      }
      case "fork": {
        const fork = this.#scope.fork(node.fork);
        return node.part === undefined ? fork && true : fork?.[node.part];
      }
    }
  }

  #property(node: Node, of: Value, name: string): Value {
    if (!isMap(of))
      return this.#fail(node, `reads a property of ${describeKinds(shownKind(of))}, but only maps have properties`);
    const value = getOwn(of, name);
    return value === undefined ? this.#fail(node, missing(this.#source, node)) : value;
  }

  #index(node: NodeOf<"index">): Value {
    const of = this.value(node.of);
    const index = this.value(node.index);
    if (typeof index === "string") return this.#property(node, of, index);
    if (!Array.isArray(of) || !Number.isInteger(index)) return this.#fail(node, wrongIndex(of, index));
    const item = getItem(of, index as number);
    return item === undefined ? this.#fail(node, noItem) : item;
  }

  #map({ entries }: NodeOf<"map">): Value {
    this.#budget.spend(unitsPerMap + entries.length * unitsPerEntry);
    const made = new Map<string, JsonValue>();
    for (const [keyNode, valueNode] of entries) {
      const key = this.value(keyNode);
      if (typeof key !== "string")
        return this.#fail(keyNode, `is ${describeKinds(shownKind(key))}, and the keys of a map are texts`);
      if (made.has(key)) return this.#fail(keyNode, "occurs twice as a key in its map; remove one");
      made.set(key, toJson(this.value(valueNode), this.#budget));
    }
    return Object.fromEntries(made);
  }

  #negative(node: NodeOf<"negative">): Value {
    const value = this.value(node.of);
    if (value instanceof Duration) return new Duration(-value.ms);
    if (typeof value === "number") return numberWithin(-value);
    return this.#fail(node, `puts \`-\` before ${describeKinds(shownKind(value))}`);
  }

  #binary(node: NodeOf<"binary">): Value {
    const left = this.value(node.left);
    const right = this.value(node.right);
    this.#current = node;
    return operate(node.operator, left, right, this.#budget);
  }

  #boolean(node: Node): boolean {
    const value = this.value(node);
    if (typeof value === "boolean") return value;
    return this.#fail(node, `is ${describeKinds(shownKind(value))}, where true or false is needed`);
  }

  /** As in CEL, a failure on one side is ignored when the other side decides the result, unless the budget is used up. */
  #decide({ left, right }: NodeOf<"and"> | NodeOf<"or">, decisive: boolean): boolean {
    const first = this.#tried(left);
    if (first === decisive) return decisive;
    const second = this.#boolean(right);
    if (second === decisive || typeof first === "boolean") return second;
    throw first;
  }

  #tried(node: Node): boolean | ExpressionFailure {
    try {
      return this.#boolean(node);
    } catch (error) {
      const failure = this.located(error);
      if (failure.kind === "budget") throw failure;
      this.#budget.spend(unitsPerFailure);
      return failure;
    }
  }

  /** The value at the end of a path; undefined when a part of the path is absent. */
  #find(node: Node): Value | undefined {
    this.#budget.spend(1);
    switch (node.kind) {
      case "root":
      case "step":
      case "event":
      case "fork":
        return this.#read(node);
      case "property": {
        const of = this.#find(node.of);
        return of !== undefined && isMap(of) ? getOwn(of, node.name) : undefined;
      }
      case "index": {
        const of = this.#find(node.of);
        const index = this.value(node.index);
        if (of === undefined || (typeof index !== "string" && typeof index !== "number")) return undefined;
        if (Array.isArray(of) && typeof index === "number") return getItem(of, index);
        return isMap(of) && typeof index === "string" ? getOwn(of, index) : undefined;
      }
      default:
        return this.value(node);
    }
  }

  #macro(node: NodeOf<"macro">): Value {
    const items = this.#itemsOf(node);
    switch (node.macro) {
      case "all":
        return this.#quantified(node, items, false);
      case "exists":
        return this.#quantified(node, items, true);
      case "exists_one":
        return this.#kept(node, items, node.body).length === 1;
      case "filter":
        return [...this.#kept(node, items, node.filter)];
      case "map":
        return this.#kept(node, items, node.filter).map((item) => {
          this.#variables[node.slot] = item;
          return toJson(this.value(node.body as Node), this.#budget);
        });
      default:
        return node.macro satisfies never;
    }
  }

  /** The items of a list, or the keys of a map. The keys are sorted, because their order in the map may change when the job is read again. */
  #itemsOf(node: NodeOf<"macro">): readonly JsonValue[] {
    const list = this.value(node.list);
    this.#current = node;
    if (Array.isArray(list)) {
      this.#budget.spend(list.length * unitsPerItem);
      return list;
    }
    if (!isMap(list))
      return this.#fail(node, `goes through ${describeKinds(shownKind(list))}, and only lists and maps have items`);
    const keys = Object.keys(list);
    this.#budget.spend(keys.length * unitsPerSortedKey);
    return keys.sort();
  }

  #kept(node: NodeOf<"macro">, items: readonly JsonValue[], condition: Node | undefined): readonly JsonValue[] {
    if (condition === undefined) return items;
    return items.filter((item) => {
      this.#variables[node.slot] = item;
      return this.#boolean(condition);
    });
  }

  /** Combines the results of all items as `||` or `&&` would: a failure for one item is ignored when another item decides the result. */
  #quantified(node: NodeOf<"macro">, items: readonly JsonValue[], decisive: boolean): boolean {
    let failure: ExpressionFailure | undefined;
    for (const item of items) {
      this.#variables[node.slot] = item;
      const found = this.#tried(node.body as Node);
      if (found === decisive) return decisive;
      if (typeof found !== "boolean") failure ??= found;
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  }

  #call(node: NodeOf<"call">): Value {
    const { called, args } = node;
    const values = args.map((arg) => this.value(arg));
    this.#current = node;
    for (const [index, value] of values.entries()) {
      const parameter = called.parameters[Math.min(index, called.parameters.length - 1)];
      if (parameter !== undefined && (parameter.kinds & kindOf(value)) === 0) {
        return this.#fail(
          args[index] as Node,
          `is ${describeKinds(shownKind(value))}, and \`${called.name}\` takes ${describeKinds(parameter.kinds)} there`,
        );
      }
    }
    return called.call(values, this.#budget);
  }

  #fail(node: Node, message: string): never {
    this.#current = node;
    return fail(message);
  }
}

function notThere(node: NodeOf<"root"> | NamedNode): string {
  switch (node.kind) {
    case "root":
      return "is not there at this point of the job";
    case "step":
      return `is not there: the step ${quoted(node.step)} did not run, or has no ${node.part} yet; \`has\` tells whether it is there`;
    case "event":
      return `is not there: no event ${quoted(node.eventId)} came, or it had no payload; \`has\` tells whether it is there`;
    case "fork":
      return `is not there: this step is not in the body of a forEach with the name ${quoted(node.fork)}`;
  }
}

function getItem(list: readonly JsonValue[], index: number): JsonValue | undefined {
  return index >= 0 ? list[index] : undefined;
}

const noItem = "has no item at that place; the first item is at 0, and `size(list)` tells how many there are";

/** The message shows a key as the expression writes it. If the key is computed, its text is not shown, because it may be a secret. */
function missing(source: string, node: Node): string {
  return `is not there; before you read it, ask with ${quoted(`has(${source.slice(node.start, node.end)})`)}`;
}

function wrongIndex(of: Value, index: Value): string {
  if (!Array.isArray(of) && !isMap(of))
    return `reads an item of ${describeKinds(shownKind(of))}, but only lists and maps have items`;
  const wanted = Array.isArray(of) ? "a list is read by whole numbers" : "a map is read by texts";
  return `has ${describeKinds(kindOf(index))} in its brackets, but ${wanted}`;
}

const unitsPerList = 4;
const unitsPerMap = 6;
const unitsPerEntry = 6;
const unitsPerItem = 1;
/** Ignoring a failure costs this much, because the failure was thrown and caught, and its message was made. */
const unitsPerFailure = 150;

import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Budget } from "./budget.ts";
import { isSame } from "./equality.ts";
import { fail } from "./failure.ts";
import { compare, shownKind } from "./order.ts";
import type { BinaryOperator } from "./tree.ts";
import {
  anyKind,
  Duration,
  describeKinds,
  type Kinds,
  kindOf,
  kinds,
  numberWithin,
  Timestamp,
  toJson,
  type Value,
} from "./value.ts";

/** One meaning of an operator: the kinds of its two operands, the kinds of its result, and the computation. */
export interface Overload {
  readonly left: Kinds;
  readonly right: Kinds;
  readonly result: Kinds;
  readonly apply: (left: Value, right: Value, budget: Budget) => Value;
}

export function operate(operator: BinaryOperator, left: Value, right: Value, budget: Budget): Value {
  const leftKind = kindOf(left);
  const rightKind = kindOf(right);
  for (const overload of overloads[operator]) {
    if ((overload.left & leftKind) !== 0 && (overload.right & rightKind) !== 0)
      return overload.apply(left, right, budget);
  }
  return fail(mismatch(operator, shownKind(left), shownKind(right)));
}

/** Says that an operator does not take these kinds, and how to correct the expression. */
export function mismatch(operator: BinaryOperator, left: Kinds, right: Kinds): string {
  const hint = ((left | right) & kinds.string) === 0 ? "" : (hints[operator] ?? "");
  return `puts ${describeKinds(left)} and ${describeKinds(right)} on the two sides of \`${operator}\`, which does not accept them${hint}`;
}

const textHint =
  "; `text(value)` turns any value into a text, and `int(text)` and `double(text)` turn a text into a number";
const orderHint = "; `timestamp(text)` turns a text into a time, and `double(text)` turns it into a number";
const hints: Partial<Record<BinaryOperator, string>> = {
  "+": textHint,
  "-": orderHint,
  "<": orderHint,
  "<=": orderHint,
  ">": orderHint,
  ">=": orderHint,
  in: "; to find out whether a text contains another, write `text.contains(part)`",
};

const { number, string, array, object, timestamp, duration, boolean } = kinds;

/** The operands that each operator takes. `==` and `!=` take any two values. */
export const overloads: Readonly<Record<BinaryOperator, readonly Overload[]>> = {
  "==": [
    on(anyKind, anyKind, boolean, (left, right, budget) => isSame(toJson(left, budget), toJson(right, budget), budget)),
  ],
  "!=": [
    on(
      anyKind,
      anyKind,
      boolean,
      (left, right, budget) => !isSame(toJson(left, budget), toJson(right, budget), budget),
    ),
  ],
  "+": [
    numbers((left, right) => left + right),
    on(string, string, string, (left, right, budget) => {
      budget.spendOnText((left as string).length + (right as string).length);
      return `${left as string}${right as string}`;
    }),
    on(array, array, array, (left, right, budget) => {
      budget.spend(((left as JsonValue[]).length + (right as JsonValue[]).length) * unitsPerItem);
      return [...(left as JsonValue[]), ...(right as JsonValue[])];
    }),
    on(timestamp, duration, timestamp, (left, right) => new Timestamp(at(left) + ms(right))),
    on(duration, timestamp, timestamp, (left, right) => new Timestamp(ms(left) + at(right))),
    on(duration, duration, duration, (left, right) => new Duration(ms(left) + ms(right))),
  ],
  "-": [
    numbers((left, right) => left - right),
    on(timestamp, timestamp, duration, (left, right) => new Duration(at(left) - at(right))),
    on(timestamp, duration, timestamp, (left, right) => new Timestamp(at(left) - ms(right))),
    on(duration, duration, duration, (left, right) => new Duration(ms(left) - ms(right))),
  ],
  "*": [numbers((left, right) => left * right)],
  "/": [numbers((left, right) => left / notZero(right))],
  "%": [numbers((left, right) => left % notZero(right))],
  "<": ordered((order) => order < 0),
  "<=": ordered((order) => order <= 0),
  ">": ordered((order) => order > 0),
  ">=": ordered((order) => order >= 0),
  in: [
    on(anyKind, array, boolean, (left, right, budget) => {
      const wanted = toJson(left, budget);
      return (right as JsonValue[]).some((item) => isSame(wanted, item, budget));
    }),
    on(string, object, boolean, (left, right) => Object.hasOwn(right as JsonObject, left as string)),
  ],
};

/** The units of work for each item of two lists that are joined. An item may be a number with a fraction, which takes memory of its own in a list. */
const unitsPerItem = 3;

function on(left: Kinds, right: Kinds, result: Kinds, apply: Overload["apply"]): Overload {
  return { left, right, result, apply };
}

function numbers(calculate: (left: number, right: number) => number): Overload {
  return on(number, number, number, (left, right) => numberWithin(calculate(left as number, right as number)));
}

function ordered(holds: (order: number) => boolean): readonly Overload[] {
  const apply: Overload["apply"] = (left, right, budget) => holds(compare(left, right, budget));
  return [number, string, timestamp, duration].map((kind) => on(kind, kind, boolean, apply));
}

function notZero(divisor: number): number {
  return divisor === 0 ? fail("divides by zero") : divisor;
}

function at(value: Value): number {
  return (value as Timestamp).at;
}

function ms(value: Value): number {
  return (value as Duration).ms;
}

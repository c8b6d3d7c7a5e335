import { overloads } from "../operators.ts";
import type { BinaryOperator } from "../tree.ts";
import { describeKinds, type Kinds, kinds } from "../value.ts";

/** The result of an operation whose operands may be of several kinds. */
export interface OperandPairs {
  /** The kinds of the results for the pairs that the operator takes. */
  readonly result: Kinds;
  /** The message about a pair that the operator does not take; undefined when the operator takes every pair. */
  readonly mismatched: string | undefined;
}

/**
 * Checks every pair of kinds that may occur. The answers are kept, because a large definition asks a hundred thousand times, but asks only a few
 * different questions.
 */
export function pairsOf(operator: BinaryOperator, left: Kinds, right: Kinds): OperandPairs {
  const key = `${operator} ${left} ${right}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const pairs = findPairs(operator, left, right);
  if (answers.size >= maxAnswers) answers.clear();
  answers.set(key, pairs);
  return pairs;
}

const answers = new Map<string, OperandPairs>();
const maxAnswers = 10_000;

function findPairs(operator: BinaryOperator, left: Kinds, right: Kinds): OperandPairs {
  let result = 0;
  let mismatched: string | undefined;
  for (const one of singleKinds) {
    for (const other of singleKinds) {
      if ((left & one) === 0 || (right & other) === 0) continue;
      const overload = overloads[operator].find((each) => (each.left & one) !== 0 && (each.right & other) !== 0);
      if (overload === undefined) mismatched ??= sentence(operator, left & one, right & other);
      else result |= overload.result;
    }
  }
  return { result, mismatched };
}

function sentence(operator: BinaryOperator, left: Kinds, right: Kinds): string {
  return `may put ${describeKinds(left)} and ${describeKinds(right)} on the two sides of \`${operator}\`, which does not accept them`;
}

const singleKinds: readonly Kinds[] = [
  kinds.null,
  kinds.boolean,
  kinds.number,
  kinds.string,
  kinds.array,
  kinds.object,
  kinds.timestamp,
  kinds.duration,
];

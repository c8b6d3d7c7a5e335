import { scope } from "./scope.ts";

/** `npm test` tries the first half of the values, and the quick loop the first fifth: these already show most mistakes. */
const divisors: Readonly<Record<string, number>> = { quick: 5, usual: 2 };

/**
 * Returns `count` in the whole matrix, which runs each night, and a part of it in other runs. `count` is how many values a property tries, or how
 * many of these values must be of one kind.
 */
export function tries(count: number): number {
  return Math.ceil(count / (divisors[scope] ?? 1));
}

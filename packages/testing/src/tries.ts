import { scope } from "./scope.ts";

/** `npm test` tries the first half of the values, and the quick loop the first fifth: most mistakes already fail with these. */
const divisors: Readonly<Record<string, number>> = { quick: 5, usual: 2 };

/** How many values a property tries, or how many of them must be of one kind: `count` of them in the whole matrix, which runs each night. */
export function tries(count: number): number {
  return Math.ceil(count / (divisors[scope] ?? 1));
}

import { scope } from "./scope.ts";

/**
 * How many values a property tries, or how many of them must be of one kind. The quick loop tries the first fifth of the values that `npm test` tries:
 * most mistakes already fail with these, and the properties of `core` took a quarter of the processor time of the loop.
 */
export function tries(count: number): number {
  return scope === "quick" ? Math.ceil(count / 5) : count;
}

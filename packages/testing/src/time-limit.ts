import { scope } from "./scope.ts";

/**
 * The milliseconds that a test allows. The whole matrix allows what was promised. `npm test` runs beside other work on two processors, so it allows
 * four times as much: a single slow moment must not fail it. Waiting for a poll or a lease, or time that grows with the square of the input, still
 * exceeds this by far.
 */
export function timeLimit(promisedMs: number): number {
  return scope === "all" ? promisedMs : 4 * promisedMs;
}

import { scope } from "./scope.ts";

/**
 * The milliseconds that a test allows something to take. The whole matrix holds what was promised. `npm test` runs beside other work on two processors,
 * and a single test that is late must not fail it: it allows four times as much, which is still far from a poll, a lease or a square of the input.
 */
export function timeLimit(promisedMs: number): number {
  return scope === "all" ? promisedMs : 4 * promisedMs;
}

import { scope } from "./scope.ts";

/**
 * The milliseconds that a test allows. The whole matrix allows what was promised. `npm test` runs beside other work on two processors, so it allows four
 * times as much: one slow moment must not fail it. That is still far less than waiting for a poll or a lease, or time that grows with the square of the input.
 */
export function timeLimit(promisedMs: number): number {
  return scope === "all" ? promisedMs : 4 * promisedMs;
}

import { expect } from "vitest";
import { timeLimit } from "../time-limit.ts";
import { onceCpuMsOf } from "./cpu-time.ts";

const maxRuns = 3;

/**
 * Expects that `work` takes less processor time of this thread than was promised; other work on the machine does not count. Only one run of three
 * must stay below the promise: the first one also compiles the code, and other work on the same core slows every instruction.
 */
export function expectCpuBelow(promisedMs: number, work: () => unknown): void {
  const boundMs = timeLimit(promisedMs);
  const runsMs: number[] = [];
  while (runsMs.length < maxRuns && !runsMs.some((ms) => ms < boundMs)) runsMs.push(onceCpuMsOf(work));
  expect(Math.min(...runsMs)).toBeLessThan(boundMs);
}

import { expect } from "vitest";
import { timeLimit } from "../time-limit.ts";
import { beginCpuMs, onceCpuMsOf } from "./cpu-time.ts";

const maxRuns = 3;

/**
 * Expects that `work` takes less processor time of this thread than `timeLimit` allows. The time of other work is not counted, but other work on
 * the same core makes the instructions of this thread slower, and the first run also compiles the code. So it is enough if one of three runs stays
 * below the limit.
 */
export function expectCpuBelow(promisedMs: number, work: () => unknown): void {
  const boundMs = timeLimit(promisedMs);
  const runsMs: number[] = [];
  while (isToRepeat(runsMs, boundMs)) runsMs.push(onceCpuMsOf(work));
  expect(Math.min(...runsMs)).toBeLessThan(boundMs);
}

/**
 * Expects that in at least one of three runs, this thread computes for less than `boundMs` until `work` is done. If `work` sends a request, this
 * includes the time of the sender, which runs in the same thread.
 */
export async function expectCpuBelowUntilDone(boundMs: number, work: () => Promise<unknown>): Promise<void> {
  const runsMs: number[] = [];
  while (isToRepeat(runsMs, boundMs)) {
    const usedMs = beginCpuMs();
    await work();
    runsMs.push(usedMs());
  }
  expect(Math.min(...runsMs)).toBeLessThan(boundMs);
}

function isToRepeat(runsMs: readonly number[], boundMs: number): boolean {
  return runsMs.length < maxRuns && !runsMs.some((ms) => ms < boundMs);
}

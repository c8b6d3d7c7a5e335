import { beginCpuMs } from "./cpu-time.ts";

/**
 * Returns the share of a processor that a busy thread gets at present: 1 on an idle machine, and less when more threads want to compute than there
 * are processors. Blocks this thread for a fifth of a second.
 */
export function processorShare(): number {
  const usedMs = beginCpuMs();
  const beganAt = performance.now();
  while (performance.now() - beganAt < blockedMs);
  return Math.min(1, usedMs() / (performance.now() - beganAt));
}

const blockedMs = 200;

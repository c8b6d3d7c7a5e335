/**
 * Returns the share of a processor that a busy thread gets at present: 1 on an idle machine, and less when more threads want to compute than there
 * are processors. Blocks this thread for a fifth of a second.
 */
export function processorShare(): number {
  const before = process.threadCpuUsage();
  const beganAt = performance.now();
  while (performance.now() - beganAt < blockedMs);
  const { user, system } = process.threadCpuUsage(before);
  return Math.min(1, (user + system) / 1000 / (performance.now() - beganAt));
}

const blockedMs = 200;

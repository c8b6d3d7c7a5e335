/** How long this thread computes at `work`, in milliseconds: what others do on the machine does not count. The least of a few runs, since the first is compiled. */
export function cpuMsOf(work: () => unknown, runs = 3): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

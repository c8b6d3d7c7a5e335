/**
 * The processor time of this thread for one run of `work`, in milliseconds. Other work on the machine does not count. This is the mean of `runs`
 * runs, since systems count the time in steps of a few milliseconds. A first run does not count, since it also compiles the code.
 */
export function cpuMsOf(work: () => unknown, runs = 3): number {
  work();
  return (
    onceCpuMsOf(() => {
      for (let run = 0; run < runs; run++) work();
    }) / runs
  );
}

/** The processor time of this thread for a single run of `work`, in milliseconds. */
export function onceCpuMsOf(work: () => unknown): number {
  const usedMs = beginCpuMs();
  work();
  return usedMs();
}

/** Begins a measurement. The returned function gives the milliseconds of processor time that this thread has used since then. */
export function beginCpuMs(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}

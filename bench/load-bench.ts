import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { Connection } from "./connection.ts";
import { type RunJob, runJobs } from "./load.ts";
import { percentile, rounded } from "./samples.ts";
import { startTarget, type Target } from "./target/target.ts";

/** A bench that runs many jobs, `concurrency` of them at the same time. */
export interface LoadBench {
  readonly jobs: number;
  readonly concurrency: number;
  /** How many jobs run before the measured ones. Default: a tenth of the measured jobs, and at least 2,000. */
  readonly warmUpJobs?: number;
  /** Creates everything that the jobs need, before the measurement begins. `jobs` includes those of the warm-up. */
  prepare(target: Target, connections: readonly Connection[], jobs: number): Promise<RunJob>;
}

export interface LoadSize {
  readonly jobs: number;
  readonly concurrency: number;
}

export interface LoadResult extends LoadSize {
  readonly bench: string;
  readonly store: StoreKind;
  readonly jobsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The memory of the service's process when the last job was done; null on systems that do not report it. */
  readonly residentMb: number | null;
}

/** Runs one measurement: a fresh store, a fresh service process, a warm-up, then the measured jobs. */
export async function runLoadBench(
  name: string,
  bench: LoadBench,
  homes: StoreHomes,
  { jobs, concurrency }: LoadSize,
): Promise<LoadResult> {
  const home = await homes.fresh();
  const target = await startTarget(home);
  const connections = await Connection.openMany(target.port, concurrency);
  const warmUpJobs = bench.warmUpJobs ?? Math.max(2_000, Math.ceil(jobs / 10));
  const runJob = await bench.prepare(target, connections, warmUpJobs + jobs);
  await runJobs(connections, runJob, { from: 0, to: warmUpJobs });
  const { seconds, latenciesMs } = await runJobs(connections, runJob, { from: warmUpJobs, to: warmUpJobs + jobs });
  const residentMb = target.service.residentMb();
  for (const connection of connections) connection.close();
  await target.service.stop();
  await home.discard();
  return {
    bench: name,
    store: homes.kind,
    concurrency,
    jobs,
    jobsPerSecond: Math.round(jobs / seconds),
    p50Ms: rounded(percentile(latenciesMs, 50)),
    p99Ms: rounded(percentile(latenciesMs, 99)),
    residentMb,
  };
}

import { join } from "node:path";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { Connection } from "../connection.ts";
import { CostMeter } from "../cost-meter.ts";
import { runJobs } from "../load.ts";
import type { LoadBench, LoadSize } from "../load-bench.ts";
import { median, percentile, rounded } from "../samples.ts";
import { startTarget } from "../target/target.ts";

export interface AgainstSize extends LoadSize {
  /** How many bursts each build runs in each of the two orders in which the services are started. One burst has `jobs` jobs. */
  readonly bursts: number;
}

export interface AgainstResult extends AgainstSize {
  readonly bench: string;
  readonly store: StoreKind;
  /** The directory of the other build. */
  readonly against: string;
  /** The rate of this build divided by that of the other one: the geometric mean of two medians, one for each order of the start. */
  readonly ratio: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
  readonly jobsPerSecond: number;
  readonly otherJobsPerSecond: number;
  /**
   * The processor time that the other build takes for a job, divided by that of this build. Includes a PostgreSQL server on this machine. Waiting for
   * a disk or for other programs does not count.
   */
  readonly processorRatio: number;
}

/**
 * Compares this build with the one in another directory. Two services run at the same time, and take turns with short bursts of jobs, so that
 * work of other programs on the machine slows down both alike. The service that was started second has an advantage of a few percent. So the whole
 * comparison runs twice, in both orders of the start.
 */
export async function runAgainstBench(
  name: string,
  bench: LoadBench,
  homes: StoreHomes,
  directory: string,
  size: AgainstSize,
): Promise<AgainstResult> {
  const other = [join(directory, commandLine)];
  const asFirst = await runBursts(bench, homes, size, [undefined, other]);
  const asSecond = await runBursts(bench, homes, size, [other, undefined]);
  const pairs = [...asFirst, ...asSecond.map(([other, burst]) => [burst, other] as const)];
  const ratios = pairs.map(([{ seconds }, other]) => other.seconds / seconds);
  const [ours, theirs] = [sumOf(pairs.map(([burst]) => burst)), sumOf(pairs.map(([, burst]) => burst))];
  const rateOf = ({ seconds }: Burst) => Math.round((size.jobs * pairs.length) / seconds);
  return {
    bench: name,
    store: homes.kind,
    against: directory,
    ...size,
    ratio: rounded(Math.sqrt(median(ratios.slice(0, size.bursts)) * median(ratios.slice(size.bursts)))),
    lowerQuartile: rounded(percentile(Float64Array.from(ratios), 25)),
    upperQuartile: rounded(percentile(Float64Array.from(ratios), 75)),
    jobsPerSecond: rateOf(ours),
    otherJobsPerSecond: rateOf(theirs),
    processorRatio: rounded(theirs.processorMs / ours.processorMs),
  };
}

/** This file is in Git, but works only after `npm run build`. */
const commandLine = "packages/cli/bin/stepwell.js";
/** Every build has this file, and a clone that is not built does not have it. */
export const builtFile = "packages/cli/dist/main.js";

type Program = readonly string[] | undefined;

/** `processorMs` is the processor time of the service and of a PostgreSQL server on this machine. */
interface Burst {
  readonly seconds: number;
  readonly processorMs: number;
}

function sumOf(bursts: readonly Burst[]): Burst {
  const sum = (name: keyof Burst) => bursts.reduce((total, burst) => total + burst[name], 0);
  return { seconds: sum("seconds"), processorMs: sum("processorMs") };
}

/** Starts both programs and gives them bursts in turn. Each pair has one burst of the first program and one of the second. */
async function runBursts(
  bench: LoadBench,
  homes: StoreHomes,
  { jobs, concurrency, bursts }: AgainstSize,
  [first, second]: readonly [Program, Program],
): Promise<(readonly [Burst, Burst])[]> {
  const count = warmUpJobs + bursts * jobs;
  const one = await startRunner(bench, homes, first, { jobs: count, concurrency });
  const two = await startRunner(bench, homes, second, { jobs: count, concurrency });
  await one.run(warmUpJobs);
  await two.run(warmUpJobs);
  const pairs: (readonly [Burst, Burst])[] = [];
  for (let round = 0; round < bursts; round += 1) {
    if (round % 2 === 0) {
      const burst = await one.run(jobs);
      pairs.push([burst, await two.run(jobs)]);
    } else {
      const burst = await two.run(jobs);
      pairs.push([await one.run(jobs), burst]);
    }
  }
  await one.stop();
  await two.stop();
  return pairs;
}

const warmUpJobs = 4_000;

async function startRunner(bench: LoadBench, homes: StoreHomes, program: Program, { jobs, concurrency }: LoadSize) {
  const home = await homes.fresh();
  const target = await startTarget(home, program);
  const meter = await CostMeter.open(target.service.pid, home);
  // The service closes idle connections. So each burst opens new connections, before its measurement begins.
  const connected = async <Value>(work: (connections: readonly Connection[]) => Promise<Value>) => {
    const connections = await Connection.openMany(target.port, concurrency);
    const value = await work(connections);
    for (const connection of connections) connection.close();
    return value;
  };
  const runJob = await connected((connections) => bench.prepare(target, connections, jobs));
  let from = 0;
  return {
    run: async (many: number): Promise<Burst> => {
      const { cost, result } = await connected((connections) =>
        meter.measure(() => runJobs(connections, runJob, { from, to: from + many })),
      );
      from += many;
      return { seconds: result.seconds, processorMs: cost.serviceMs + (cost.databaseMs ?? 0) };
    },
    stop: async () => {
      await meter.close();
      await target.service.stop();
      await home.discard();
    },
  };
}

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openStoreHomes, type StoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { type LoadBench, type LoadResult, runLoadBench } from "./load-bench.ts";
import { type BenchOptions, parseBenchOptions, UsageError } from "./options.ts";
import { type AgainstResult, builtFile, runAgainstBench } from "./runs/against.ts";
import { runChildrenBench } from "./runs/children.ts";
import { runCostBench } from "./runs/cost.ts";
import { runDefinitionsBench } from "./runs/definitions.ts";
import { runDelaysBench } from "./runs/delays.ts";
import { event } from "./runs/event.ts";
import { runForEachBench } from "./runs/for-each.ts";
import { runIdleBench } from "./runs/idle.ts";
import { loop } from "./runs/loop.ts";
import { runMetricsBench } from "./runs/metrics.ts";
import { noop3 } from "./runs/noop3.ts";
import { noop3Poll } from "./runs/noop3-poll.ts";
import { exceededBounds, runPlansBench } from "./runs/plans.ts";
import { runSignInBench } from "./runs/sign-in.ts";
import { runStartupBench } from "./runs/startup.ts";
import { runTasksBench } from "./runs/tasks.ts";
import { medianBy } from "./samples.ts";

const usage = `Usage: npm run bench -- NAME [--store embedded|postgres] [--jobs N] [--concurrency N] [--runs N]
       npm run bench -- for-each [--store embedded|postgres] [--jobs N] [--concurrency N] [--body noop|transform|delay|task]
       npm run bench -- noop3|noop3-poll|event|loop --against DIRECTORY [--store embedded|postgres] [--jobs N] [--runs N]
       npm run bench -- plans [--jobs N] [--organizations N] [--keys N]

  noop3        jobs of three no-op steps; the submission waits for the result
  noop3-poll   the same, submitted and then polled
  event        jobs that wait for an event; send it, wait for the end
  loop         jobs of 1,000 transforms in a loop, one job at a time; the submission waits for the result
  delays       jobs that all sleep until one instant: how late they go on, and what another organization notices
  tasks        --jobs tasks by one worker, --concurrency at once; and how soon a task is handed out at 100 a second
  for-each     a forEach over --jobs items and one over a tenth: seconds, cost of one item, memory of the service
  children     a tree of --jobs child jobs over ten levels: jobs a second, and the time until its root has ended
  sign-in      reads while 100 passwords at once wait for their check, and while none does
  metrics      a month of metrics over 10 million jobs, and how fast old history of --jobs jobs is counted
  cost         what one job or event costs a PostgreSQL server: bytes of its log, statements, time (with --store postgres)
  plans        the statements that take many keys, in a store of --jobs jobs of --organizations organizations: time and plan, against their bounds
  idle         what a node asks its database in --jobs seconds while nobody asks anything of it (with --store postgres)
  startup      from the start of the process to the first finished job, and memory when idle
  definitions  the definitions, patterns and values that take longest to check and to compile
  all          each of these in turn

Each result is one line of JSON on stdout.
--runs N repeats noop3, noop3-poll, event, loop, sign-in or startup and reports the median; for definitions it reports the mean.
--against DIRECTORY compares with the build in another clone: both run at the same time, with --runs bursts of --jobs jobs in turn.
With --store postgres: the server that STEPWELL_BENCH_DATABASE_URL or DATABASE_URL names, else one of our own.
`;

const loadBenches: Readonly<Record<string, LoadBench>> = { noop3, "noop3-poll": noop3Poll, event, loop };
const againstSize = { jobs: 1_000, bursts: 40 };
const defaultRuns = { load: 1, startup: 5, definitions: 5 };
const delaysSize = { jobs: 100_000, concurrency: 100 };
const tasksSize = { jobs: 10_000, concurrency: 100 };
const forEachSize = { items: 10_000, concurrency: 10 };
const childrenSize = { jobs: 100_000, concurrency: 50 };
const signInSize = { reads: 4_000, concurrency: 100 };
const metricsJobs = 1_000_000;
const costRequests = 50;
const plansSize = { jobs: 1_000_000, organizations: 1_000, keys: 400 };
const idleSeconds = 10;
const startupSize = { jobs: 1_000, concurrency: 16 };

async function main(args: readonly string[]): Promise<number> {
  try {
    return await run(parseBenchOptions(args));
  } catch (error) {
    if (error instanceof UsageError) {
      progress(`${error.message}\n\n${usage}`);
      return 2;
    }
    progress(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  }
}

/** Returns the exit code: 1 when a bound is exceeded. */
async function run(options: BenchOptions): Promise<number> {
  if (options.against !== undefined) requireComparable(options.names, options.against);
  let exitCode = 0;
  const homes = await openStoreHomes(options.store);
  for (const name of options.names) {
    const bench = loadBenches[name];
    if (bench !== undefined && options.against !== undefined)
      report(await against(name, bench, homes, { ...options, against: options.against }));
    else if (bench !== undefined) report(await medianRun(name, bench, homes, options));
    else if (name === "definitions") definitions(options);
    else if (name === "delays") report(await runDelaysBench(homes, sizeOf(options, delaysSize), progress));
    else if (name === "tasks") report(await runTasksBench(homes, sizeOf(options, tasksSize), progress));
    else if (name === "for-each") for (const result of await forEach(homes, options)) report(result);
    else if (name === "children") report(await children(homes, options));
    else if (name === "sign-in") report(await signIn(homes, options));
    else if (name === "metrics") report(await runMetricsBench(homes, options.jobs ?? metricsJobs, progress));
    else if (name === "cost") for (const result of await cost(homes, options)) report(result);
    else if (name === "plans") exitCode = await plans(options);
    else if (name === "idle") await idle(homes, options);
    else for (const result of await startup(homes, options)) report(result);
  }
  await homes.close();
  return exitCode;
}

async function medianRun(
  name: string,
  bench: LoadBench,
  homes: StoreHomes,
  options: BenchOptions,
): Promise<LoadResult> {
  const size = sizeOf(options, bench);
  const runs = options.runs ?? defaultRuns.load;
  const results: LoadResult[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const result = await runLoadBench(name, bench, homes, size);
    results.push(result);
    progress(`${name} ${run}/${runs}: ${result.jobsPerSecond} jobs/s, p50 ${result.p50Ms} ms, p99 ${result.p99Ms} ms`);
  }
  return medianBy(results, ({ jobsPerSecond }) => jobsPerSecond);
}

function requireComparable(names: readonly string[], directory: string): void {
  const other = names.find((name) => loadBenches[name] === undefined);
  if (other !== undefined)
    throw new UsageError(`--against compares one of: ${Object.keys(loadBenches).join(", ")}; not ${other}.`);
  if (!existsSync(join(directory, builtFile)))
    throw new UsageError(`--against must be the directory of another build, and ${directory} has no ${builtFile}.`);
}

async function against(
  name: string,
  bench: LoadBench,
  homes: StoreHomes,
  options: BenchOptions & { readonly against: string },
): Promise<AgainstResult> {
  return await runAgainstBench(name, bench, homes, resolve(options.against), {
    jobs: options.jobs ?? againstSize.jobs,
    concurrency: options.concurrency ?? bench.concurrency,
    bursts: options.runs ?? againstSize.bursts,
  });
}

interface Size {
  readonly jobs: number;
  readonly concurrency: number;
}

function sizeOf(options: BenchOptions, defaults: Size): Size {
  return { jobs: options.jobs ?? defaults.jobs, concurrency: options.concurrency ?? defaults.concurrency };
}

function children(homes: StoreHomes, options: BenchOptions) {
  const size = sizeOf(options, childrenSize);
  if (size.jobs < 10) throw new UsageError("--jobs must be at least 10: the tree has ten levels.");
  return runChildrenBench(homes, size, progress);
}

function forEach(homes: StoreHomes, options: BenchOptions) {
  const size = {
    items: options.jobs ?? forEachSize.items,
    concurrency: options.concurrency ?? forEachSize.concurrency,
    body: options.body ?? "noop",
  };
  return runForEachBench(homes, size, progress);
}

function signIn(homes: StoreHomes, options: BenchOptions) {
  const size = {
    reads: options.jobs ?? signInSize.reads,
    concurrency: options.concurrency ?? signInSize.concurrency,
  };
  return runSignInBench(homes, size, options.runs ?? defaultRuns.load, progress);
}

function definitions(options: BenchOptions): void {
  for (const result of runDefinitionsBench(options.runs ?? defaultRuns.definitions, progress)) report(result);
}

async function cost(homes: StoreHomes, options: BenchOptions) {
  // The statements of the embedded store cannot be counted, so this bench is skipped on that store.
  if (homes.kind === "postgres") return await runCostBench(homes, options.jobs ?? costRequests);
  progress("cost needs --store postgres");
  return [];
}

async function idle(homes: StoreHomes, options: BenchOptions): Promise<void> {
  // Only a PostgreSQL server can have Citus, so this bench is skipped on the embedded store.
  if (homes.kind === "postgres") report(await runIdleBench(homes, options.jobs ?? idleSeconds));
  else progress("idle needs --store postgres");
}

/**
 * This bench always uses a PostgreSQL server, whatever `--store` says: the embedded store makes the same plans, but is too small for so many jobs.
 */
async function plans(options: BenchOptions): Promise<number> {
  const size = {
    jobs: options.jobs ?? plansSize.jobs,
    organizations: options.organizations ?? plansSize.organizations,
    keys: options.keys ?? plansSize.keys,
  };
  if (size.jobs < 2 * size.keys * size.organizations)
    throw new UsageError(
      "--jobs must be at least 2 * --keys * --organizations: each organization needs --keys running jobs, and only half of its jobs are running.",
    );
  const results = await runPlansBench(size, progress);
  for (const result of results) report(result);
  const exceeded = exceededBounds(results);
  progress(exceeded === undefined ? "plans: every bound holds" : `plans: ${exceeded}`);
  return exceeded === undefined ? 0 : 1;
}

function startup(homes: StoreHomes, options: BenchOptions) {
  const size = {
    jobs: options.jobs ?? startupSize.jobs,
    concurrency: options.concurrency ?? startupSize.concurrency,
  };
  return runStartupBench(homes, size, options.runs ?? defaultRuns.startup, progress);
}

function report(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

// The exit code is set explicitly: otherwise a library that is loaded for PostgreSQL would always end this process with 0.
process.exit(await main(process.argv.slice(2)));

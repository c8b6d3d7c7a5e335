import { setTimeout as sleep } from "node:timers/promises";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { StoreHome, StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { Connection } from "../connection.ts";
import { runJobs } from "../load.ts";
import { requireSuccess } from "../requests.ts";
import { median } from "../samples.ts";
import { startTarget, type Target } from "../target/target.ts";
import { smallInput, threeNoops } from "../workflows.ts";

export interface StartupSize {
  /** The number of jobs that are added to the store between one start and the next. */
  readonly jobs: number;
  readonly concurrency: number;
}

export interface StartupResult {
  readonly bench: "startup";
  readonly store: StoreKind;
  readonly start: Start;
  readonly concurrency: 1;
  /** Jobs in the store when the process was started, without the sample job and the first job of each start. */
  readonly jobs: number;
  /** The time from the start of the process to the answer that a job of three no-op steps has succeeded. */
  readonly firstJobMs: number;
  /** The memory of the service after it was idle for five seconds; null on systems that do not report it. */
  readonly residentMb: number | null;
}

type Start = "on an empty store" | "after SIGTERM" | "after SIGKILL";

/**
 * Measures how long a service takes from its start to its first finished job, on an empty store, after SIGTERM and after SIGKILL, and how much memory
 * it uses when idle.
 */
export async function runStartupBench(
  homes: StoreHomes,
  size: StartupSize,
  runs: number,
  progress: (line: string) => void,
): Promise<StartupResult[]> {
  const results: StartupResult[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const ofRun = await measureLife(homes, size);
    results.push(...ofRun);
    progress(`startup ${run}/${runs}: ${ofRun.map(({ start, firstJobMs }) => `${start} ${firstJobMs} ms`).join(", ")}`);
  }
  return [...Map.groupBy(results, ({ start }) => start).values()].map(medianOf);
}

const idleMs = 5_000;

async function measureLife(homes: StoreHomes, size: StartupSize): Promise<StartupResult[]> {
  const home = await homes.fresh();
  const results: StartupResult[] = [];
  const measure = async (start: Start) => {
    const { target, firstJobMs } = await startToFirstJob(home);
    await sleep(idleMs);
    const residentMb = target.service.residentMb();
    const jobs = results.length * size.jobs;
    results.push({ bench: "startup", store: homes.kind, start, concurrency: 1, jobs, firstJobMs, residentMb });
    await submitJobs(target, size);
    return target.service;
  };
  await (await measure("on an empty store")).stop();
  await (await measure("after SIGTERM")).kill();
  await (await measure("after SIGKILL")).stop();
  await home.discard();
  return results;
}

/** Starts the service and runs one job. Registers a new workflow even on an existing store, so that all three starts do the same work. */
async function startToFirstJob(home: StoreHome): Promise<{ readonly target: Target; readonly firstJobMs: number }> {
  const startedAt = performance.now();
  const target = await startTarget(home);
  await submitJobs(target, { jobs: 1, concurrency: 1 });
  return { target, firstJobMs: Math.round(performance.now() - startedAt) };
}

async function submitJobs({ api, organizationId, port, requests }: Target, size: StartupSize): Promise<void> {
  const workflowId = await registerWorkflow(api, organizationId, threeNoops(`startup-${performance.now()}`));
  const submit = Buffer.from(
    requests.post(`/organizations/${organizationId}/jobs?waitSeconds=30`, { workflowId, inputJson: smallInput }),
  );
  const connections = await Connection.openMany(port, size.concurrency);
  await runJobs(connections, async (connection) => requireSuccess(await connection.ask(submit)), {
    from: 0,
    to: size.jobs,
  });
  for (const connection of connections) connection.close();
}

function medianOf(results: readonly StartupResult[]): StartupResult {
  const [first] = results;
  if (first === undefined) throw new Error("Nothing was measured.");
  const residents = results.flatMap(({ residentMb }) => residentMb ?? []);
  return {
    ...first,
    firstJobMs: median(results.map(({ firstJobMs }) => firstJobMs)),
    residentMb: residents.length === 0 ? null : median(residents),
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { Connection } from "../connection.ts";
import { runJobs } from "../load.ts";
import { jobIdIn, RequestWriter, requireSuccess } from "../requests.ts";
import { percentile, rounded } from "../samples.ts";
import { startTarget, type Target } from "../target/target.ts";
import { oneDelay, smallInput, threeNoops } from "../workflows.ts";

export interface DelaysSize {
  /** Jobs that sleep until one instant. */
  readonly jobs: number;
  /** Connections that submit them. */
  readonly concurrency: number;
}

export interface DelaysResult extends DelaysSize {
  readonly bench: "delays";
  readonly store: StoreKind;
  /** The time from the instant until a job finished, according to its `finishedAt`. */
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  /** The latency of another organization's jobs: first while all sleepers sleep, then from the instant until the last submitted sleeper ends. */
  readonly neighbourAsleepP50Ms: number;
  readonly neighbourAsleepP99Ms: number;
  readonly neighbourAwakeP50Ms: number;
  readonly neighbourAwakeP99Ms: number;
  /** The memory of the service's process, before there is a sleeper and while all sleep; null on systems that do not report it. */
  readonly emptyMb: number | null;
  readonly asleepMb: number | null;
}

const neighbours = 10;
/** Each of the neighbour's connections submits at most ten jobs a second. The machine can do far more, so this load alone causes no waiting. */
const pauseMs = 100;
const asleepMs = 10_000;
/** A wake-up that takes longer than this is not slow but broken. */
const mostMs = 600_000;

/** Measures many jobs that all sleep until one instant: how late they continue, and how much they slow another organization. */
export async function runDelaysBench(
  homes: StoreHomes,
  size: DelaysSize,
  progress: (line: string) => void,
): Promise<DelaysResult> {
  const home = await homes.fresh();
  try {
    const target = await startTarget(home);
    try {
      return { bench: "delays", store: homes.kind, ...size, ...(await measure(target, size, progress)) };
    } finally {
      // Stopping the service also closes the connections.
      await target.service.stop();
    }
  } finally {
    await home.discard();
  }
}

async function measure(target: Target, size: DelaysSize, progress: (line: string) => void) {
  const submitting = await Connection.openMany(target.port, size.concurrency);
  const submitOfNeighbour = await neighbour(target);

  const emptyMb = target.service.residentMb();
  const { workflowId, instant, lastJobId } = await submitSleepers(target, submitting, size.jobs, progress);
  for (const connection of submitting) connection.close();
  // These connections are opened only now, since the service closes idle connections.
  const neighbouring = await Connection.openMany(target.port, neighbours);
  const asleep = await submitAsLong(neighbouring, submitOfNeighbour, () => Date.now() < instant - 500);
  const asleepMb = target.service.residentMb();
  await sleep(Math.max(0, instant - Date.now()));
  let areAwake = false;
  const waking = untilAwake(target, lastJobId, instant).finally(() => {
    areAwake = true;
  });
  const [awake] = await Promise.all([submitAsLong(neighbouring, submitOfNeighbour, () => !areAwake), waking]);
  await untilAllAreAwake(target, workflowId, instant);
  const lateMs = await latenesses(target, workflowId, instant, size.jobs);
  return {
    lateP50Ms: percentile(lateMs, 50),
    lateP99Ms: percentile(lateMs, 99),
    lateMaxMs: percentile(lateMs, 100),
    neighbourAsleepP50Ms: rounded(percentile(asleep, 50)),
    neighbourAsleepP99Ms: rounded(percentile(asleep, 99)),
    neighbourAwakeP50Ms: rounded(percentile(awake, 50)),
    neighbourAwakeP99Ms: rounded(percentile(awake, 99)),
    emptyMb,
    asleepMb,
  };
}

/** Creates another organization, and returns the request with which it submits a job and waits for the job's end. */
async function neighbour({ api, port }: Target): Promise<Buffer> {
  const { organizationId } = await api.post<{ organizationId: string }>("/organizations", {
    name: "neighbour",
    displayName: "Neighbour",
  });
  const tokens = `/organizations/${organizationId}/api-tokens`;
  const { token } = await api.post<{ token: string }>(tokens, {
    name: "load",
    permissions: ["job:submit", "job:read"],
  });
  const workflowId = await registerWorkflow(api, organizationId, threeNoops("neighbour"));
  const path = `/organizations/${organizationId}/jobs?waitSeconds=30`;
  return Buffer.from(new RequestWriter(port, token).post(path, { workflowId, inputJson: smallInput }));
}

/**
 * Submits the jobs. Returns the instant until which they all sleep, their workflow, and the id of the last job. The instant is a part of the
 * definition, so a trial run first measures how long the submissions take.
 */
async function submitSleepers(
  target: Target,
  connections: readonly Connection[],
  jobs: number,
  progress: (line: string) => void,
): Promise<{ readonly workflowId: string; readonly instant: number; readonly lastJobId: string }> {
  const trialCount = 2_000;
  const trial = await submitMany(target, connections, Date.now() + 24 * 3_600_000, "trial", trialCount);
  const instant = Math.round(Date.now() + 1.5 * jobs * (trial.tookMs / trialCount) + asleepMs);
  const { workflowId, lastJobId, tookMs } = await submitMany(target, connections, instant, "sleepers", jobs);
  progress(`delays: ${jobs} jobs were submitted in ${Math.round(tookMs / 1000)} s`);
  if (Date.now() > instant - asleepMs / 2) throw new Error("Submitting took longer than in the trial: try again.");
  return { workflowId, instant, lastJobId };
}

async function submitMany(
  { api, organizationId, requests }: Target,
  connections: readonly Connection[],
  until: number,
  name: string,
  jobs: number,
): Promise<{ readonly workflowId: string; readonly lastJobId: string; readonly tookMs: number }> {
  const workflowId = await registerWorkflow(api, organizationId, oneDelay(name, new Date(until).toISOString()));
  const path = `/organizations/${organizationId}/jobs`;
  const submit = Buffer.from(requests.post(path, { workflowId, inputJson: smallInput }));
  let lastJobId = "";
  const submitOne = async (connection: Connection) => {
    lastJobId = jobIdIn(await connection.ask(submit));
  };
  const { seconds } = await runJobs(connections, submitOne, { from: 0, to: jobs });
  return { workflowId, lastJobId, tookMs: seconds * 1000 };
}

async function submitAsLong(
  connections: readonly Connection[],
  submit: Buffer,
  mayGoOn: () => boolean,
): Promise<Float64Array> {
  const latenciesMs: number[] = [];
  await Promise.all(
    connections.map(async (connection, index) => {
      // The connections do not all begin at the same moment, but one after the other.
      await sleep((pauseMs * index) / connections.length);
      do {
        const startedAt = performance.now();
        requireSuccess(await connection.ask(submit));
        latenciesMs.push(performance.now() - startedAt);
        await sleep(pauseMs);
      } while (mayGoOn());
    }),
  );
  return Float64Array.from(latenciesMs);
}

interface Page {
  readonly jobs: readonly { readonly finishedAt?: string }[];
  readonly nextPageToken?: string;
}

/**
 * Waits until the last submitted job, which is among the last to wake, has succeeded. This function does not list the sleeping jobs: for such a list
 * the service must skip the jobs that already woke, and this work would slow the neighbour.
 */
async function untilAwake({ api, organizationId }: Target, jobId: string, instant: number): Promise<void> {
  for (;;) {
    const { status } = await api.get<{ status: string }>(`/organizations/${organizationId}/jobs/${jobId}`);
    if (status === "SUCCEEDED") return;
    refuseEndlessSleep(instant);
    await sleep(200);
  }
}

async function untilAllAreAwake(target: Target, workflowId: string, instant: number): Promise<void> {
  for (;;) {
    const { jobs } = await listSleepers(target, `workflowId=${workflowId}&status=RUNNING&pageSize=1`);
    if (jobs.length === 0) return;
    refuseEndlessSleep(instant);
    await sleep(200);
  }
}

function refuseEndlessSleep(instant: number): void {
  if (Date.now() > instant + mostMs) throw new Error(`Jobs still sleep ${mostMs / 1000} s after their time.`);
}

/** The lateness of each job, in whole milliseconds. */
async function latenesses(target: Target, workflowId: string, instant: number, jobs: number): Promise<Float64Array> {
  const lateMs: number[] = [];
  let page: Page | undefined;
  do {
    const token: string = page?.nextPageToken === undefined ? "" : `&pageToken=${page.nextPageToken}`;
    page = await listSleepers(target, `workflowId=${workflowId}&status=SUCCEEDED&pageSize=200${token}`);
    for (const { finishedAt = "" } of page.jobs) lateMs.push(Date.parse(finishedAt) - instant);
  } while (page.nextPageToken !== undefined);
  if (lateMs.length !== jobs) throw new Error(`${lateMs.length} of ${jobs} jobs succeeded.`);
  if (lateMs.some((late) => late < 0)) throw new Error("A job woke before its time.");
  return Float64Array.from(lateMs);
}

function listSleepers({ api, organizationId }: Target, query: string): Promise<Page> {
  return api.get(`/organizations/${organizationId}/jobs?${query}`);
}

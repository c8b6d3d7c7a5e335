import { setTimeout as sleep } from "node:timers/promises";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { createClient, type Task, Worker } from "@stepwell/testing/worker.ts";
import { Connection } from "../connection.ts";
import { CostMeter, costOfOne } from "../cost-meter.ts";
import { runJobs } from "../load.ts";
import { jobIdIn } from "../requests.ts";
import { percentile, rounded } from "../samples.ts";
import { startTarget, type Target } from "../target/target.ts";
import { oneTask, smallInput } from "../workflows.ts";

export interface TasksSize {
  /** Tasks that wait when the worker starts. */
  readonly jobs: number;
  /** The number of tasks that the worker does at the same time. */
  readonly concurrency: number;
}

export interface TasksResult extends TasksSize {
  readonly bench: "tasks";
  readonly store: StoreKind;
  /** How many waiting tasks the worker did in a second, from its start until all of them were answered. */
  readonly tasksPerSecond: number;
  /** The cost of one task; `benchUs` is the processor time of the worker. */
  readonly perTask: ReturnType<typeof costOfOne>;
  /**
   * How many tasks became due in each second while `handedOutP50Ms` and `handedOutP99Ms` were measured. These two are the times from the moment when
   * a task became due until the worker had it.
   */
  readonly pacedPerSecond: number;
  readonly handedOutP50Ms: number;
  readonly handedOutP99Ms: number;
}

const submitters = 50;
const pacedPerSecond = 100;
const pacedSeconds = 20;
const warmUpTasks = 1_000;

/** Measures one worker of the client library: how fast it does waiting tasks, and how soon it gets tasks that become due. */
export async function runTasksBench(
  homes: StoreHomes,
  size: TasksSize,
  progress: (line: string) => void,
): Promise<TasksResult> {
  const home = await homes.fresh();
  const target = await startTarget(home);
  const workflowId = await registerWorkflow(target.api, target.organizationId, oneTask("tasks", "bench"));
  const { token } = await target.api.post<{ token: string }>(`/organizations/${target.organizationId}/api-tokens`, {
    name: "worker",
    permissions: ["task:work"],
  });
  const work = { target, token, workflowId, concurrency: size.concurrency };
  const meter = await CostMeter.open(target.service.pid, home);
  await drain(work, warmUpTasks, meter);
  const { seconds, cost } = await drain(work, size.jobs, meter);
  progress(`tasks: ${size.jobs} tasks in ${rounded(seconds)} s`);
  const handedOutMs = await handOutTimes(work);
  await meter.close();
  await target.service.stop();
  await home.discard();
  return {
    bench: "tasks",
    store: homes.kind,
    ...size,
    tasksPerSecond: Math.round(size.jobs / seconds),
    perTask: costOfOne(cost, size.jobs),
    pacedPerSecond,
    handedOutP50Ms: percentile(handedOutMs, 50),
    handedOutP99Ms: percentile(handedOutMs, 99),
  };
}

interface Work {
  readonly target: Target;
  readonly token: string;
  readonly workflowId: string;
  readonly concurrency: number;
}

/** Submits the tasks, then starts a worker. Returns how many seconds the worker takes for them, and the cost of all of them. */
async function drain(work: Work, count: number, meter: CostMeter) {
  const connections = await Connection.openMany(work.target.port, submitters);
  const submit = submission(work);
  await runJobs(connections, async (connection) => void jobIdIn(await connection.ask(submit)), { from: 0, to: count });
  for (const connection of connections) connection.close();
  const { cost, result: seconds } = await meter.measure(() => doAll(work, count));
  return { cost, seconds };
}

async function doAll(work: Work, count: number): Promise<number> {
  const begunAt = performance.now();
  const done = Promise.withResolvers<void>();
  let doneCount = 0;
  const worker = startWorker(work, ({ input }) => {
    doneCount += 1;
    if (doneCount === count) done.resolve();
    return input;
  });
  await Promise.race([done.promise, worker.ended]);
  // The last answers are still being sent, and the worker waits until they have arrived.
  await worker.stop();
  return (performance.now() - begunAt) / 1000;
}

/** Submits tasks at a fixed pace. Returns, for each task, how long after its due time the worker got it. */
async function handOutTimes(work: Work): Promise<Float64Array> {
  const count = pacedPerSecond * pacedSeconds;
  const times: number[] = [];
  const done = Promise.withResolvers<void>();
  const worker = startWorker(work, ({ input, dueAt }) => {
    times.push(Date.now() - Date.parse(dueAt));
    if (times.length === count) done.resolve();
    return input;
  });
  const connections = await Connection.openMany(work.target.port, submitters);
  const submit = submission(work);
  const begunAt = performance.now();
  const submitted: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    await sleep(Math.max(0, begunAt + (index * 1000) / pacedPerSecond - performance.now()));
    const connection = connections[index % connections.length];
    if (connection !== undefined) submitted.push(connection.ask(submit).then(jobIdIn));
  }
  await Promise.all(submitted);
  await Promise.race([done.promise, worker.ended]);
  await worker.stop();
  for (const connection of connections) connection.close();
  return Float64Array.from(times);
}

function startWorker({ target, token, concurrency }: Work, work: (task: Task) => unknown): Worker {
  const client = createClient({ baseUrl: `http://127.0.0.1:${target.port}`, token });
  return new Worker({ client, organizationId: target.organizationId, queue: "bench", concurrency, work });
}

function submission({ target: { requests, organizationId }, workflowId }: Work): Buffer {
  return Buffer.from(requests.post(`/organizations/${organizationId}/jobs`, { workflowId, inputJson: smallInput }));
}

import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "../bench/connection.ts";
import { type RequestWriter, requireStatus } from "../bench/requests.ts";
import { mainLine } from "./branches.ts";
import type { FinalEvent, FinalJob, FinalParent, FinalStep } from "./check/final-job.ts";
import { addressesOf } from "./check/histories.ts";
import { type Entry, foldHistory, NotAPath } from "./check/history-automaton.ts";
import { wayOf } from "./check/way.ts";
import { isTerminal, type JobStatus } from "./operation.ts";
import type { WorkflowShape } from "./workflows.ts";

/** Reads every job of a campaign's workflows through the API, including its history and its events. */
export async function* readFinalJobs(
  port: number,
  requests: RequestWriter,
  { organizationIds, shapes }: Scope,
): AsyncGenerator<FinalJob> {
  await untilTasksAreDone(port, requests, organizationIds);
  const connections = await Connection.openMany(port, readersAtOnce);
  const readers = connections.map((connection) => new Reader(connection, requests));
  const [lister] = readers;
  if (lister === undefined) throw new Error("Nobody reads.");
  // All jobs have the same deadline. It is late enough for every job of a sound service to come to rest.
  const deadlineMs = performance.now() + restMs;
  for (const organizationId of organizationIds) {
    const jobs = `/organizations/${organizationId}/jobs`;
    for await (const page of lister.pages<ListedJob>(jobs, "jobs")) {
      const ours = page.filter(({ workflowId }) => shapes.has(workflowId));
      yield* await sharedOut(ours, readers, (reader, listed) =>
        readJob(reader, organizationId, listed, { shape: shapes.get(listed.workflowId), deadlineMs }),
      );
    }
  }
  for (const connection of connections) connection.close();
}

interface Scope {
  readonly organizationIds: readonly string[];
  /** The shapes by the ids of their workflows. Jobs of other workflows, such as the service's sample job, do not belong to the campaign. */
  readonly shapes: ReadonlyMap<string, WorkflowShape>;
}

/**
 * Waits until the workers have done all tasks, since the clients put tasks into the queues faster than the workers do them. If the number of tasks
 * does not fall for `restMs`, the tasks are stuck, and the wait ends.
 */
async function untilTasksAreDone(
  port: number,
  requests: RequestWriter,
  organizationIds: readonly string[],
): Promise<void> {
  const [connection] = await Connection.openMany(port, 1);
  if (connection === undefined) throw new Error("Nobody counts.");
  const reader = new Reader(connection, requests);
  let fewest = Number.POSITIVE_INFINITY;
  for (let giveUpAtMs = 0; ; ) {
    const left = await countTasks(reader, organizationIds);
    if (left < fewest) giveUpAtMs = performance.now() + restMs;
    fewest = Math.min(fewest, left);
    if (left === 0 || performance.now() > giveUpAtMs) break;
    await sleep(200);
  }
  connection.close();
}

async function countTasks(reader: Reader, organizationIds: readonly string[]): Promise<number> {
  let count = 0;
  for (const organizationId of organizationIds) {
    const queues = await reader.all<ShownQueue>(`/organizations/${organizationId}/task-queues`, "queues");
    for (const { waitingCount, heldCount } of queues) count += waitingCount + heldCount;
  }
  return count;
}

interface ShownQueue {
  readonly waitingCount: number;
  readonly heldCount: number;
}

const readersAtOnce = 8;
const restMs = 60_000;

/** `shape` tells when the job is at rest. At `deadlineMs`, the job is taken as it is. */
interface Rest {
  readonly shape: WorkflowShape | undefined;
  readonly deadlineMs: number;
}

async function readJob(reader: Reader, organizationId: string, listed: ListedJob, rest: Rest): Promise<FinalJob> {
  const jobs = `/organizations/${organizationId}/jobs`;
  const { shown, entries, events } = await readAtRest(reader, jobs, listed.jobId, rest);
  const { jobId, workflowId, status, input, steps, currentStep, parentJob } = shown;
  const missingEventIds = currentStep?.awaiting?.missingEventIds;
  return {
    organizationId,
    jobId,
    workflowId,
    status,
    // The job may have changed after the list was read. So the checker compares the status in the list only if it is final.
    listedStatus: isTerminal(listed.status) ? listed.status : status,
    input,
    steps: steps.map(({ name, branch = mainLine, visit, status }) => ({ name, branch, visit, status })),
    ...(missingEventIds && { missingEventIds }),
    ...(parentJob && { parent: finalParent(parentJob) }),
    entries: entries.map(withoutValues),
    events,
  };
}

/**
 * Reads the job again and again until it has ended or waits. This takes only a short time, because every call of these jobs is short. A job that does
 * neither by the deadline is returned as it is.
 */
async function readAtRest(reader: Reader, jobs: string, jobId: string, { shape, deadlineMs }: Rest) {
  const path = `${jobs}/${jobId}`;
  for (;;) {
    const known = await reader.get<ShownJob>(path);
    const entries = await reader.all<Entry>(`${path}/history`, "entries");
    const events = (await reader.all<ShownEvent>(`${path}/events`, "events")).map(finalEvent);
    const isAtRest =
      isTerminal(known.status) || (isResting(entries, events, shape) && (await isAwaited(reader, jobs, known)));
    // The job may have changed between the first read and the read of its history, so it is read again. A job at rest does not change.
    if (isAtRest || performance.now() > deadlineMs) return { shown: await reader.get<ShownJob>(path), entries, events };
    await sleep(50);
  }
}

/** Tells whether the job may stay at rest: no step began it, or the step that began it still waits for it. Any other job is soon cancelled. */
async function isAwaited(reader: Reader, jobs: string, { parentJob }: ShownJob): Promise<boolean> {
  if (parentJob === undefined) return true;
  const { branch, step, visit } = parentJob;
  const { status, steps } = await reader.get<ShownJob>(`${jobs}/${parentJob.jobId}`);
  const isRunning = steps.some(
    (one) => one.name === step && one.visit === visit && one.branch === branch && one.status === "running",
  );
  return isRunning && !isTerminal(status);
}

function isResting(entries: readonly Entry[], events: readonly FinalEvent[], shape: WorkflowShape | undefined) {
  try {
    return shape !== undefined && wayOf(foldHistory(entries, addressesOf(events)), shape.steps).state === "resting";
  } catch (error) {
    // A history with an entry that cannot follow those before it counts as resting, since the checker reports what is wrong with it.
    if (error instanceof NotAPath) return true;
    throw error;
  }
}

/** The values are most of the bytes of a history, and the checker does not read them. */
function withoutValues(entry: Entry): Entry {
  if (entry.type === "step.started") return { ...entry, input: { same: "jobInput" } };
  if (entry.type === "step.succeeded") return { ...entry, output: { same: "stepInput" } };
  return entry;
}

function finalParent({ jobId, step, branch = mainLine, visit }: ShownParent): FinalParent {
  return { jobId, step, branch, visit };
}

function finalEvent({
  eventNumber,
  eventId,
  outcome,
  payload,
  step,
  branch = mainLine,
  visit,
}: ShownEvent): FinalEvent {
  const nonce = (payload as { readonly nonce?: unknown } | null)?.nonce;
  return {
    eventNumber,
    eventId,
    outcome,
    ...(step !== undefined && visit !== undefined && { address: { step, branch, visit } }),
    nonce: typeof nonce === "string" ? nonce : undefined,
  };
}

/** Gives each reader the next item as soon as the reader is free. The results are in the order of the items. */
async function sharedOut<Item, Result>(
  items: readonly Item[],
  readers: readonly Reader[],
  read: (reader: Reader, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  await Promise.all(
    readers.map(async (reader) => {
      for (const [index, item] of waiting) results[index] = await read(reader, item);
    }),
  );
  return results;
}

class Reader {
  readonly #connection: Connection;
  readonly #requests: RequestWriter;

  constructor(connection: Connection, requests: RequestWriter) {
    this.#connection = connection;
    this.#requests = requests;
  }

  async get<Result>(path: string): Promise<Result> {
    const answer = requireStatus(await this.#connection.ask(this.#requests.get(path)), 200);
    return JSON.parse(answer.body.toString()) as Result;
  }

  /** `items` is the name of the field that has the items of a page. */
  async *pages<Item>(path: string, items: string): AsyncGenerator<readonly Item[]> {
    let pageToken: string | undefined;
    do {
      const token: string = pageToken === undefined ? "" : `&pageToken=${encodeURIComponent(pageToken)}`;
      const page = await this.get<Record<string, unknown>>(`${path}?pageSize=200${token}`);
      yield page[items] as readonly Item[];
      pageToken = page.nextPageToken as string | undefined;
    } while (pageToken !== undefined);
  }

  async all<Item>(path: string, items: string): Promise<Item[]> {
    const found: Item[] = [];
    for await (const page of this.pages<Item>(path, items)) found.push(...page);
    return found;
  }
}

interface ListedJob {
  readonly jobId: string;
  readonly workflowId: string;
  readonly status: JobStatus;
}

interface ShownJob extends ListedJob {
  readonly input: unknown;
  readonly steps: readonly (Omit<FinalStep, "branch"> & { readonly branch?: string })[];
  readonly currentStep?: {
    readonly awaiting?: { readonly missingEventIds: readonly string[] };
  };
  readonly parentJob?: ShownParent;
}

/** For the main line, `branch` is absent. */
type ShownParent = Omit<FinalParent, "branch"> & { readonly branch?: string };

interface ShownEvent {
  readonly eventNumber: number;
  readonly eventId: string;
  readonly step?: string;
  readonly branch?: string;
  readonly visit?: number;
  readonly outcome: string;
  readonly payload?: unknown;
}

import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "../bench/connection.ts";
import { type RequestWriter, requireStatus } from "../bench/requests.ts";
import type { FinalEvent, FinalJob, FinalStep } from "./check/final-job.ts";
import type { Entry } from "./check/history-automaton.ts";
import { isTerminal, type JobStatus } from "./operation.ts";

/** Reads every job of the organizations of a campaign through the API, with its history and its events. */
export async function* readFinalJobs(
  port: number,
  requests: RequestWriter,
  { organizationIds, isOurs }: Scope,
): AsyncGenerator<FinalJob> {
  const connections = await Connection.openMany(port, readersAtOnce);
  const readers = connections.map((connection) => new Reader(connection, requests));
  const [lister] = readers;
  if (lister === undefined) throw new Error("Nobody reads.");
  for (const organizationId of organizationIds) {
    const jobs = `/organizations/${organizationId}/jobs`;
    for await (const page of lister.pages<ListedJob>(jobs, "jobs")) {
      const ours = page.filter(({ workflowId }) => isOurs(workflowId));
      yield* await sharedOut(ours, readers, (reader, listed) => readJob(reader, organizationId, listed));
    }
  }
  for (const connection of connections) connection.close();
}

interface Scope {
  readonly organizationIds: readonly string[];
  /** Whether the jobs of a workflow are the campaign's: the service has a sample job of its own. */
  readonly isOurs: (workflowId: string) => boolean;
}

const readersAtOnce = 8;

async function readJob(reader: Reader, organizationId: string, listed: ListedJob): Promise<FinalJob> {
  const path = `/organizations/${organizationId}/jobs/${listed.jobId}`;
  const shown = await readAtRest(reader, path);
  const entries = await reader.all<Entry>(`${path}/history`, "entries");
  const events = await reader.all<ShownEvent>(`${path}/events`, "events");
  const { jobId, workflowId, status, input, steps, currentStep } = shown;
  const missingEventIds = currentStep?.awaiting?.missingEventIds;
  return {
    organizationId,
    jobId,
    workflowId,
    status,
    // A job that came to rest only after it was listed is not held against the list.
    listedStatus: isTerminal(listed.status) ? listed.status : status,
    input,
    steps: steps.map(({ name, visit, status }) => ({ name, visit, status })),
    ...(missingEventIds && { missingEventIds }),
    entries: entries.map(withoutValues),
    events: events.map(finalEvent),
  };
}

/** No job of a campaign calls anything, so each soon ends or waits. One that does not is handed on as it is. */
async function readAtRest(reader: Reader, path: string): Promise<ShownJob> {
  const deadlineMs = performance.now() + 60_000;
  for (;;) {
    const job = await reader.get<ShownJob>(path);
    const isAtRest = isTerminal(job.status) || job.currentStep?.status === "successful_but_incomplete";
    if (isAtRest || performance.now() > deadlineMs) return job;
    await sleep(50);
  }
}

/** The values are most of the bytes, and the checker does not look at them. */
function withoutValues(entry: Entry): Entry {
  if (entry.type === "step.started") return { ...entry, input: { same: "jobInput" } };
  if (entry.type === "step.succeeded") return { ...entry, output: { same: "stepInput" } };
  return entry;
}

function finalEvent({ eventId, outcome, payload }: ShownEvent): FinalEvent {
  const nonce = (payload as { readonly nonce?: unknown } | null)?.nonce;
  return { eventId, outcome, nonce: typeof nonce === "string" ? nonce : undefined };
}

/** Gives each reader the next item as soon as it is free; the results stand in the order of the items. */
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

  /** The pages of a list; its items are in the field `items` of each answer. */
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
  readonly steps: readonly FinalStep[];
  readonly currentStep?: {
    readonly status: string;
    readonly awaiting?: { readonly missingEventIds: readonly string[] };
  };
}

interface ShownEvent {
  readonly eventId: string;
  readonly outcome: string;
  readonly payload?: unknown;
}

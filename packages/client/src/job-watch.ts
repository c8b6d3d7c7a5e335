import { foreignAnswer, noAnswer } from "./error.ts";
import type { components } from "./generated/api.ts";
import { operationTable } from "./generated/operations.ts";
import { Outage, type OutageOptions } from "./outage.ts";
import { type ServerSentEvent, ServerSentReader } from "./server-sent.ts";
import { withinTime } from "./time-limit.ts";
import { parsed, resultOf, type Transport } from "./transport.ts";

/** One entry of a job's history, such as `step.started`. `sequence` counts from 1 without gaps. The `type` decides which other fields there are. */
export type HistoryEntry = components["schemas"]["HistoryEntry"];

export interface WatchOptions extends OutageOptions {
  /** The `sequence` of the last entry that the caller already has. Default 0: from the beginning. */
  readonly after?: number;
  /** How long the stream may be silent, in milliseconds, before it is opened again. Default 40,000: the service sends a sign of life every 15 s. */
  readonly maxSilenceMs?: number;
}

/** Reads the stream of a job's history. When it breaks, ends early or falls silent, opens it again and goes on after the last entry read. */
export async function* watchJob(
  transport: Transport,
  path: { readonly organizationId: string; readonly jobId: string },
  { after = 0, maxSilenceMs = 40_000, ...options }: WatchOptions,
): AsyncGenerator<HistoryEntry, void, undefined> {
  const { signal } = options;
  const outage = new Outage(options);
  const limit = {
    signal,
    ms: maxSilenceMs,
    late: () => noAnswer(`The stream sent nothing for ${maxSilenceMs / 1000} s.`),
  };
  let sequence = after;
  let isFinished = false;
  while (!isFinished) {
    try {
      const header = { "Last-Event-ID": String(sequence) };
      const open = (signal: AbortSignal) =>
        transport.open(operationTable.WatchJob, { path, header }, { signal, maxAttempts: 1 });
      const reply = await withinTime({ ...limit, ms: undefined }, open);
      resultOf(reply, operationTable.WatchJob);
      const { response } = reply;
      if (response.status === 204) return;
      for await (const event of eventsOf(response, limit, () => outage.heard())) {
        const entry = entryIn(event, response);
        sequence = entry.sequence;
        isFinished = finishing.has(entry.type);
        yield entry;
      }
      // A node that is being stopped ends its streams, so the end of a stream is not always the end of the job.
      if (!isFinished) throw noAnswer("The stream ended before the job did.");
    } catch (error) {
      isFinished = false;
      await outage.waitAfter(error);
    }
  }
}

/** The entries with which a job ends. The stream ends after such an entry, unless the job was resumed: then more entries follow. */
const finishing: ReadonlySet<HistoryEntry["type"]> = new Set(["job.succeeded", "job.failed", "job.cancelled"]);

/** Yields the events of a stream, and calls `heard` for each piece of data that arrives. An open stream without data is no sign of life. */
async function* eventsOf(
  { body, headers, status }: Response,
  limit: Parameters<typeof withinTime>[0],
  heard: () => void,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  if (!headers.get("content-type")?.startsWith("text/event-stream")) {
    await body?.cancel();
    throw foreignAnswer(status, "something that is not a stream of events");
  }
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events = new ServerSentReader();
  const readOn = () =>
    reader.read().catch((cause: unknown) => {
      throw noAnswer("The connection was lost during the stream.", cause);
    });
  try {
    for (;;) {
      const { done, value } = await withinTime(limit, readOn);
      if (done) return;
      heard();
      yield* events.read(decoder.decode(value, { stream: true }));
    }
  } finally {
    // When the caller stops reading, the connection must end.
    await reader.cancel().catch(() => {});
  }
}

function entryIn({ data }: ServerSentEvent, { status }: Response): HistoryEntry {
  const entry = parsed(data) as Partial<HistoryEntry> | null | undefined;
  if (typeof entry?.sequence === "number" && typeof entry.type === "string") return entry as HistoryEntry;
  throw foreignAnswer(status, "a stream that is not the history of a job");
}

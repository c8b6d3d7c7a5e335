import { baseUrl } from "../base-url.ts";
import { signedInFetch } from "./api.ts";
import type { Schemas } from "./document.ts";
import type { JobKey } from "./job.ts";
import { asProblem, type ProblemError, problemOf } from "./problem.ts";
import { ServerSentReader } from "./server-sent.ts";

export type HistoryEntry = Schemas["HistoryEntry"];

export interface JobFeed {
  /** The job's history up to now, in order. */
  readonly entries: readonly HistoryEntry[];
  readonly connection: "connecting" | "live" | "interrupted" | "finished";
  /** Why there is no stream and will be none. */
  readonly error?: ProblemError;
}

const nothing: JobFeed = { entries: [], connection: "connecting" };
const longestPauseMs = 8_000;
/** The service says that it is there every 15 s. */
const silenceMs = 40_000;
/** A page that nobody sees holds no connection: browsers allow few of them. */
const hiddenMs = 60_000;
/** A finished job may be resumed by somebody else; to ask costs next to nothing. */
const finishedLookMs = 10_000;

/** Follows one job by its stream, over interruptions, for as long as somebody listens. */
export class JobWatch {
  readonly #key: JobKey;
  #feed = nothing;
  #listeners = new Set<() => void>();
  #stop: AbortController | undefined;
  /** Resolved when waiting any longer makes no sense. */
  #nudge = Promise.withResolvers<void>();

  constructor(key: JobKey) {
    this.#key = key;
  }

  readonly current = (): JobFeed => this.#feed;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#stop === undefined) this.#begin();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.abort();
      this.#stop = undefined;
    };
  };

  /** Looks at once: the job was resumed here, or the network came back. */
  readonly lookAgain = (): void => {
    this.#nudge.resolve();
  };

  #begin(): void {
    const stop = new AbortController();
    this.#stop = stop;
    window.addEventListener("online", this.lookAgain, { signal: stop.signal });
    document.addEventListener("visibilitychange", this.lookAgain, { signal: stop.signal });
    void this.#follow(stop.signal);
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    let pauseMs = 250;
    while (!stopped.aborted) {
      await untilVisible(stopped);
      try {
        const isRead = await this.#readOnce(stopped);
        pauseMs = isRead ? 250 : pauseMs;
      } catch (thrown) {
        if (stopped.aborted) return;
        const error = asProblem(thrown);
        if (isFinal(error)) return this.#become({ connection: "interrupted", error });
      }
      if (stopped.aborted) return;
      const { entries } = this.#feed;
      const isFinished = isEnd(entries.at(-1));
      this.#become({ connection: isFinished ? "finished" : "interrupted" });
      await this.#pause(isFinished ? finishedLookMs : pauseMs, stopped);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  /** True when the stream was open; it ends when the job or the network does, when the page is hidden, or when nothing is heard. */
  async #readOnce(stopped: AbortSignal): Promise<boolean> {
    const silent = new AbortController();
    const giveUp = () => silent.abort();
    const stopHiding = whenHidden(giveUp);
    window.addEventListener("offline", giveUp);
    try {
      const response = await this.#connect(AbortSignal.any([stopped, silent.signal]));
      if (response.status === 204) return true;
      if (!response.ok) throw problemOf(await response.json().catch(() => undefined), response);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const events = new ServerSentReader();
      for (;;) {
        const timer = setTimeout(giveUp, silenceMs);
        const { value, done = true } = (await reader?.read()) ?? {};
        clearTimeout(timer);
        if (done) return true;
        this.#add(events.read(value ?? "").map(({ data }) => JSON.parse(data) as HistoryEntry));
      }
    } catch (error) {
      if (silent.signal.aborted) return true;
      throw error;
    } finally {
      stopHiding();
      window.removeEventListener("offline", giveUp);
    }
  }

  async #connect(signal: AbortSignal): Promise<Response> {
    const { organizationId, jobId } = this.#key;
    const last = this.#feed.entries.at(-1)?.sequence;
    const headers = { accept: "text/event-stream", ...(last !== undefined && { "last-event-id": String(last) }) };
    const url = `${baseUrl}/organizations/${organizationId}/jobs/${jobId}/stream`;
    return await signedInFetch(new Request(url, { headers, signal, cache: "no-store" }));
  }

  #add(received: readonly HistoryEntry[]): void {
    const last = this.#feed.entries.at(-1)?.sequence ?? 0;
    const fresh = received.filter(({ sequence }) => sequence > last);
    if (fresh.length === 0 && this.#feed.connection === "live") return;
    this.#become({ connection: "live", ...(fresh.length > 0 && { entries: [...this.#feed.entries, ...fresh] }) });
  }

  #become(change: Partial<JobFeed>): void {
    this.#feed = { entries: this.#feed.entries, connection: this.#feed.connection, ...change };
    for (const listener of this.#listeners) listener();
  }

  async #pause(ms: number, stopped: AbortSignal): Promise<void> {
    const timer = setTimeout(this.lookAgain, ms);
    stopped.addEventListener("abort", this.lookAgain, { once: true });
    await this.#nudge.promise;
    stopped.removeEventListener("abort", this.lookAgain);
    clearTimeout(timer);
    this.#nudge = Promise.withResolvers();
  }
}

function isEnd(entry: HistoryEntry | undefined): boolean {
  return entry?.type === "job.succeeded" || entry?.type === "job.failed" || entry?.type === "job.cancelled";
}

/** Trying again helps against networks and restarts, not against what is not there or not allowed. */
function isFinal({ status }: ProblemError): boolean {
  return status === 400 || status === 401 || status === 403 || status === 404;
}

async function untilVisible(stopped: AbortSignal): Promise<void> {
  while (document.visibilityState === "hidden" && !stopped.aborted) {
    await new Promise<void>((resolve) => {
      const done = () => resolve();
      document.addEventListener("visibilitychange", done, { once: true });
      stopped.addEventListener("abort", done, { once: true });
    });
  }
}

/** Calls back when the page was hidden for long. Answers how to stop that. */
function whenHidden(callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = setTimeout(callback, hiddenMs);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

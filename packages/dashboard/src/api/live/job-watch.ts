import { historyPage, type JobKey } from "../job.ts";
import { asProblem, ProblemError } from "../problem.ts";
import { firstSignMs, type HistoryEntry, type JobName, type StreamNews, silenceMs } from "./many-jobs-stream.ts";
import { sharedStream } from "./shared-stream.ts";

export interface JobFeed {
  /** The job's history up to now, in order. */
  readonly entries: readonly HistoryEntry[];
  /** `polling` means that nothing arrives on the stream, so the page asks again and again. */
  readonly connection: "connecting" | "live" | "polling" | "interrupted" | "finished";
  /** The reason why nothing more about the job will arrive. */
  readonly error?: ProblemError;
}

const nothing: JobFeed = { entries: [], connection: "connecting" };
const pollMs = 2_000;
/** The time between two requests for a finished job. Such requests are needed because another user can resume the job. */
const finishedPollMs = 10_000;
/** The stream has this long to report a change that was made on this page. After that, the page asks. */
const ownActMs = 1_000;

const watches = new Set<JobWatch>();

/** Makes the page look earlier than usual for the result of a user's action on the job. */
export function expectNews({ organizationId, jobId }: JobKey): void {
  sharedStream.lookAgain();
  for (const watch of watches) if (watch.name === `${organizationId}/${jobId}`) watch.expectNews();
}

/** Follows one job while this watch has listeners: by the stream that all pages share or, if nothing arrives on it, by asking for the history. */
export class JobWatch {
  readonly name: JobName;
  readonly #key: JobKey;
  #feed = nothing;
  readonly #listeners = new Set<() => void>();
  #stop: AbortController | undefined;
  /** The stream counts as working until this time, even if nothing more arrives on it. */
  #aliveUntil = 0;
  /** True while the stream continues without this job, for example because the job's organization has its maximum of waiting requests. */
  #isLeftOut = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The page of the history where the last reading ended. */
  #pageToken: string | undefined;

  constructor(key: JobKey) {
    this.#key = key;
    this.name = `${key.organizationId}/${key.jobId}`;
  }

  get sequence(): number {
    return this.#feed.entries.at(-1)?.sequence ?? 0;
  }

  readonly current = (): JobFeed => this.#feed;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stop ??= this.#begin();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.abort();
      this.#stop = undefined;
    };
  };

  readonly expectNews = (): void => this.#askIn(this.#isStreamAlive ? ownActMs : 0);

  readonly hear = (news: StreamNews): void => {
    if (this.#feed.error !== undefined) return;
    switch (news.type) {
      case "entries":
        this.#isLeftOut = false;
        this.#add(news.entries);
        return;
      case "alive":
        if (this.#isLeftOut) return;
        this.#aliveUntil = performance.now() + silenceMs;
        this.#askIn(silenceMs);
        this.#become({ connection: this.#isFinished ? "finished" : "live" });
        return;
      case "unreadable": {
        const error = new ProblemError(news.problem);
        if (isFinal(error)) {
          this.#fail(error);
          return;
        }
        this.#isLeftOut = true;
        this.#aliveUntil = 0;
        this.#askIn(0);
        return;
      }
      case "lost":
        this.#isLeftOut = false;
        this.#aliveUntil = 0;
        this.#askIn(firstSignMs);
        if (this.#feed.connection !== "polling") this.#become({ connection: "interrupted" });
        return;
    }
  };

  #begin(): AbortController {
    const stop = new AbortController();
    const { signal } = stop;
    const unwatch = sharedStream.watch(this);
    watches.add(this);
    signal.addEventListener("abort", () => {
      unwatch();
      watches.delete(this);
      clearTimeout(this.#timer);
    });
    document.addEventListener("visibilitychange", () => this.#askIn(firstSignMs), { signal });
    this.#askIn(firstSignMs);
    return stop;
  }

  /** Asks for the history when this time has passed, unless something arrives on the stream earlier. */
  #askIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#feed.error === undefined) this.#timer = setTimeout(() => void this.#ask(), ms);
  }

  async #ask(): Promise<void> {
    const stop = this.#stop;
    // A hidden page does not ask. It asks again when it becomes visible.
    if (stop === undefined || document.visibilityState === "hidden") return;
    try {
      await this.#readHistory(stop.signal);
      if (stop.signal.aborted) return;
      if (!this.#isStreamAlive) this.#become({ connection: this.#isFinished ? "finished" : "polling" });
    } catch (thrown) {
      if (stop.signal.aborted) return;
      const error = asProblem(thrown);
      if (isFinal(error)) {
        this.#fail(error);
        return;
      }
      if (!this.#isStreamAlive) this.#become({ connection: "interrupted" });
    }
    if (this.#isStreamAlive) this.#askIn(silenceMs);
    else this.#askIn(this.#isFinished ? finishedPollMs : pollMs);
  }

  async #readHistory(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { entries, nextPageToken } = await historyPage(this.#key, this.#pageToken, signal);
      this.#add(entries);
      if (nextPageToken === undefined) return;
      this.#pageToken = nextPageToken;
    }
  }

  /**
   * Adds the entries that directly follow the last one here. Skips the others: they are here already, or entries before them have been requested but
   * have not come yet.
   */
  #add(received: readonly HistoryEntry[]): void {
    let next = this.sequence + 1;
    const fresh = received.filter(({ sequence }) => {
      const isNext = sequence === next;
      if (isNext) next += 1;
      return isNext;
    });
    if (fresh.length > 0) this.#become({ entries: [...this.#feed.entries, ...fresh] });
  }

  /** Stops following the job, so that no stream is opened for a job that cannot be read. */
  #fail(error: ProblemError): void {
    this.#stop?.abort();
    this.#become({ connection: "interrupted", error });
  }

  get #isStreamAlive(): boolean {
    return performance.now() < this.#aliveUntil;
  }

  get #isFinished(): boolean {
    const type = this.#feed.entries.at(-1)?.type;
    return type === "job.succeeded" || type === "job.failed" || type === "job.cancelled";
  }

  #become(change: Partial<JobFeed>): void {
    const isSame = change.entries === undefined && change.error === undefined;
    if (isSame && change.connection === this.#feed.connection) return;
    this.#feed = { ...this.#feed, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Tells whether the error is final. Another attempt can help when the network fails or the service restarts. It cannot help when the job is missing
 * or access is denied.
 */
function isFinal({ status }: ProblemError): boolean {
  return status === 400 || status === 401 || status === 403 || status === 404;
}

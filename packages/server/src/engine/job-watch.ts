import { ServiceError } from "../core/service-error.ts";
import type { Queryable } from "../store/database.ts";
import { type JobKey, readSequences } from "../store/jobs.ts";
import type { Duty } from "./maintenance/duty.ts";

/** Tells who waits for a job that it changed: at once for changes of this node, by polling for those of others. */
export class JobWatch {
  readonly #db: Queryable;
  readonly #maxWatchers: number;
  readonly #watched = new Map<string, Watched>();
  #watcherCount = 0;
  #isClosed = false;

  constructor(db: Queryable, maxWatchers: number) {
    this.#db = db;
    this.#maxWatchers = maxWatchers;
  }

  /** Throws `ServiceError` when too many wait already or the node leaves. */
  add(key: JobKey, onChange: () => void): () => void {
    if (this.#isClosed)
      throw new ServiceError("UnavailableError", "This node is shutting down. Ask again.", { retryAfterSeconds: 1 });
    if (this.#watcherCount >= this.#maxWatchers) {
      const message = `${this.#maxWatchers} requests wait for jobs already. Ask again in a moment, or poll.`;
      throw new ServiceError("UnavailableError", message, { retryAfterSeconds: 2 });
    }
    const watched = this.#watched.get(key.jobId) ?? { key, listeners: new Set(), sequence: undefined };
    this.#watched.set(key.jobId, watched);
    watched.listeners.add(onChange);
    this.#watcherCount += 1;
    return () => {
      if (!watched.listeners.delete(onChange)) return;
      this.#watcherCount -= 1;
      if (watched.listeners.size === 0 && this.#watched.get(key.jobId) === watched) this.#watched.delete(key.jobId);
    };
  }

  notify(jobId: string): void {
    const watched = this.#watched.get(jobId);
    if (watched === undefined) return;
    for (const listener of [...watched.listeners]) listener();
  }

  get watcherCount(): number {
    return this.#watcherCount;
  }

  /** Looks for changes that other nodes made. */
  pollDuty(everyMs: number, hasOthers: () => boolean): Duty {
    return {
      name: "job-watch",
      everyMs,
      runOnce: async () => {
        if (this.#watched.size === 0 || !hasOthers()) return undefined;
        const keys = [...this.#watched.values()].map(({ key }) => key);
        for (const { jobId, sequence } of await readSequences(this.#db, keys)) {
          const watched = this.#watched.get(jobId);
          if (watched === undefined || watched.sequence === sequence) continue;
          watched.sequence = sequence;
          this.notify(jobId);
        }
        return undefined;
      },
    };
  }

  /** Wakes everybody: they look at their job once more and answer. */
  close(): void {
    this.#isClosed = true;
    for (const jobId of [...this.#watched.keys()]) this.notify(jobId);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }
}

interface Watched {
  readonly key: JobKey;
  readonly listeners: Set<() => void>;
  /** As last seen by the poll. */
  sequence: number | undefined;
}

import { ServiceError } from "../../core/service-error.ts";
import type { Queryable } from "../../store/home/database.ts";
import { type JobKey, readStandings } from "../../store/jobs/jobs.ts";
import type { Duty } from "../maintenance/duty.ts";
import type { WaitingPlaces } from "./waiting-places.ts";

/** Wakes the requests that wait for a change of a job: at once when this node makes the change, and by polling when another node makes it. */
export class JobWatch {
  readonly #db: Queryable;
  readonly #places: WaitingPlaces;
  readonly #watched = new Map<string, Watched>();
  #isClosed = false;

  constructor(db: Queryable, places: WaitingPlaces) {
    this.#db = db;
    this.#places = places;
  }

  /**
   * Calls `onChange` when the job may have changed, until the returned function is called. Throws `ServiceError` when too many requests wait
   * already (`WaitingPlaces`) or when the node is shutting down.
   */
  add(key: JobKey, onChange: () => void): () => void {
    if (this.#isClosed)
      throw new ServiceError("UnavailableError", "This node is shutting down. Ask again.", { retryAfterSeconds: 1 });
    const leave = this.#places.take(key.organizationId);
    const name = nameOf(key);
    const watched = this.#watched.get(name) ?? { key, listeners: new Set(), sequence: undefined };
    this.#watched.set(name, watched);
    watched.listeners.add(onChange);
    return () => {
      if (!watched.listeners.delete(onChange)) return;
      leave();
      if (watched.listeners.size === 0 && this.#watched.get(name) === watched) this.#watched.delete(name);
    };
  }

  notify(key: JobKey): void {
    ring(this.#watched.get(nameOf(key)));
  }

  pollDuty(everyMs: number, hasOthers: () => boolean): Duty {
    return {
      name: "job-watch",
      everyMs,
      runOnce: async () => {
        if (this.#watched.size === 0 || !hasOthers()) return undefined;
        const keys = [...this.#watched.values()].map(({ key }) => key);
        for (const standing of await readStandings(this.#db, keys)) {
          const { sequence } = standing;
          const watched = this.#watched.get(nameOf(standing));
          if (watched === undefined || watched.sequence === sequence) continue;
          watched.sequence = sequence;
          ring(watched);
        }
        return undefined;
      },
    };
  }

  /** Wakes all waiting requests. Each of them reads its job once more and answers. */
  close(): void {
    this.#isClosed = true;
    for (const watched of [...this.#watched.values()]) ring(watched);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }
}

interface Watched {
  readonly key: JobKey;
  readonly listeners: Set<() => void>;
  /** The job's sequence when the poll last saw it; undefined before the first poll. */
  sequence: number | undefined;
}

/**
 * The name includes the organization, so that a request that combines a job with the wrong organization cannot affect the requests of the job's
 * owner.
 */
function nameOf({ organizationId, jobId }: JobKey): string {
  return `${organizationId} ${jobId}`;
}

function ring(watched: Watched | undefined): void {
  for (const listener of [...(watched?.listeners ?? [])]) listener();
}

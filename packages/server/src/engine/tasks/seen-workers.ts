import type { Timestamp } from "../../core/time.ts";
import type { Database } from "../../store/home/database.ts";
import { deleteIdleQueues, deleteOldWorkers, noteWorkers, type SeenWorker } from "../../store/jobs/task-queues.ts";
import type { Duty } from "../maintenance/duty.ts";

/** Remembers which workers asked for tasks, and writes that to the store later, so that their requests do not wait for it. */
export class SeenWorkers {
  readonly #database: Database;
  readonly #now: () => Timestamp;
  #seen = new Map<string, Map<string, SeenWorker>>();

  constructor(database: Database, now: () => Timestamp) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Notes that a worker asked. Beyond a bound, further workers of an organization are ignored, because an organization may invent any number of
   * names.
   */
  note({ organizationId, queue, worker }: SeenWorker): void {
    const ofOrganization = this.#seen.get(organizationId) ?? new Map<string, SeenWorker>();
    if (ofOrganization.size >= maxWorkersOfOne) return;
    this.#seen.set(organizationId, ofOrganization.set(`${queue} ${worker}`, { organizationId, queue, worker }));
  }

  /**
   * Makes the duty that writes the workers to the store, and deletes old workers and idle queues from it. `waiting` lists the workers that wait now,
   * however long ago they asked.
   */
  duty(everyMs: number, waiting: () => Iterable<SeenWorker>): Duty {
    return {
      name: "seen-workers",
      everyMs,
      runOnce: async () => {
        for (const worker of waiting()) this.note(worker);
        const seen = [...this.#seen.values()].flatMap((ofOne) => [...ofOne.values()]);
        this.#seen = new Map();
        const groups = Map.groupBy(seen, ({ organizationId }) => this.#database.groupOf(organizationId));
        for (const group of groups.values()) {
          for (let first = 0; first < group.length; first += maxAtOnce) {
            const part = group.slice(first, first + maxAtOnce);
            await this.#database.transaction((transaction) => noteWorkers(transaction, part, this.#now()));
          }
        }
        const gone = await deleteOldWorkers(this.#database, maxAtOnce);
        await deleteIdleQueues(this.#database, gone);
        return gone.length === maxAtOnce ? { againInMs: 0 } : undefined;
      },
    };
  }
}

const maxWorkersOfOne = 1_000;
const maxAtOnce = 500;

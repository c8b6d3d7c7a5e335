import { isStoreAway } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";

/** Groups reads of single jobs. Reads that arrive in one turn of the event loop share a statement. */
export class TurnReads<Found extends JobKey> {
  readonly #readAll: (keys: readonly JobKey[]) => Promise<readonly Found[]>;
  #waiting: Waiting<Found>[] = [];

  constructor(readAll: (keys: readonly JobKey[]) => Promise<readonly Found[]>) {
    this.#readAll = readAll;
  }

  async read(key: JobKey): Promise<Found | undefined> {
    return await new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => void this.#answerTurn());
      this.#waiting.push({ key, resolve, reject });
    });
  }

  async #answerTurn(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += maxReadsAtOnce) {
      await this.#answer(waiting.slice(start, start + maxReadsAtOnce));
    }
  }

  async #answer(waiting: readonly Waiting<Found>[]): Promise<void> {
    try {
      const rows = await this.#readAll(waiting.map(({ key }) => key));
      const found = new Map(rows.map((row) => [row.jobId, row]));
      for (const { key, resolve } of waiting) {
        const row = found.get(key.jobId);
        // Job ids are unique, but an id gives access only together with its organization.
        resolve(row?.organizationId === key.organizationId ? row : undefined);
      }
    } catch (error) {
      await this.#answerApart(waiting, error);
    }
  }

  /**
   * After a shared read has failed, reads each half separately. So one job that cannot be read does not keep the others from being read. When the
   * store is out of reach, all reads fail.
   */
  async #answerApart(waiting: readonly Waiting<Found>[], error: unknown): Promise<void> {
    if (waiting.length === 1 || isStoreAway(error)) {
      for (const { reject } of waiting) reject(error);
      return;
    }
    const middle = Math.ceil(waiting.length / 2);
    await this.#answer(waiting.slice(0, middle));
    await this.#answer(waiting.slice(middle));
  }
}

interface Waiting<Found> {
  readonly key: JobKey;
  readonly resolve: (found: Found | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const maxReadsAtOnce = 200;

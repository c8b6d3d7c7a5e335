import { type Database, DiskFullError, isStoreAway, statement } from "./database.ts";

/**
 * Knows whether the store's disk is full, as far as this process was told. A full disk lets small changes pass, a heartbeat among them, so only a statement that
 * fails for want of room tells of it; and only one that needs room tells that there is some again.
 */
export class DiskRoom {
  readonly #onChange: (isFull: boolean) => void;
  #isFull = false;

  constructor(onChange: (isFull: boolean) => void) {
    this.#onChange = onChange;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes note of what a statement failed with. */
  note(error: unknown): void {
    if (error instanceof DiskFullError) this.#set(true);
  }

  /** Writes a temporary file: it goes where the tables are, and leaves nothing behind. */
  async look(transact: Database["transaction"]): Promise<void> {
    try {
      await transact(async (transaction) => {
        await transaction.query(useLittleMemory, []);
        await transaction.query(sortOnDisk, []);
      });
      this.#set(false);
    } catch (error) {
      if (!(error instanceof DiskFullError) && !isStoreAway(error)) throw error;
    }
  }

  #set(isFull: boolean): void {
    if (this.#isFull === isFull) return;
    this.#isFull = isFull;
    this.#onChange(isFull);
  }
}

const useLittleMemory = statement<never>(
  "use_little_memory",
  "global",
  "SELECT set_config('work_mem', '64kB', true)",
  "each-time",
);

/** Sorts about two megabytes. */
const sortOnDisk = statement<never>(
  "sort_on_disk",
  "global",
  "SELECT count(*) FROM (SELECT number FROM generate_series(1, 100000) number ORDER BY number DESC OFFSET 1) sorted",
  "each-time",
);

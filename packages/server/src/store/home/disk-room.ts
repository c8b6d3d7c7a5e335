import { type Database, DiskFullError, isStoreAway, statement } from "./database.ts";

/**
 * Tracks whether the store's disk is full, as far as this process knows. A full disk still accepts small changes, such as a heartbeat. So only a
 * statement that fails for lack of room shows that the disk is full, and only a statement that needs room shows that the disk has room again.
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

  note(error: unknown): void {
    if (error instanceof DiskFullError) this.#set(true);
  }

  /** Checks whether the disk has room: PostgreSQL writes a temporary file to the disk of the tables, and removes it afterwards. */
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

/** Sorts about two megabytes. With little memory, PostgreSQL needs a temporary file for them. */
const sortOnDisk = statement<never>(
  "sort_on_disk",
  "global",
  "SELECT count(*) FROM (SELECT number FROM generate_series(1, 100000) number ORDER BY number DESC OFFSET 1) sorted",
  "each-time",
);

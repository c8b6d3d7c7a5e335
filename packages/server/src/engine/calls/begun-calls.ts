import { type Database, shortLockTimeoutMs } from "../../store/home/database.ts";
import { type CallKey, markBegun } from "../../store/jobs/job-calls.ts";
import { inHalves } from "../in-halves.ts";

/**
 * Stores a note that a call begins, for calls that had to wait for their turn. When a node dies, the notes tell which of its calls it had begun.
 * Calls that come while notes are being written are noted together after that.
 */
export class BegunCalls {
  readonly #database: Database;
  readonly #nodeId: string;
  #queue: Waiting[] = [];
  #isDraining = false;

  constructor(database: Database, nodeId: string) {
    this.#database = database;
    this.#nodeId = nodeId;
  }

  /** Returns false when this node does not hold the call any more. The node must not begin the call then. */
  async note(call: CallKey): Promise<boolean> {
    const noted = new Promise<boolean>((resolve, reject) => this.#queue.push({ call, resolve, reject }));
    void this.#drain();
    return await noted;
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    while (this.#queue.length > 0) {
      const waiting = this.#queue;
      this.#queue = [];
      const groups = Map.groupBy(waiting, ({ call }) => this.#database.groupOf(call.organizationId));
      await Promise.all([...groups.values()].map((group) => this.#noteGroup(group)));
    }
    this.#isDraining = false;
  }

  /** If the row of one call cannot be written, the other calls are noted nevertheless. */
  async #noteGroup(group: readonly Waiting[]): Promise<void> {
    const failed = new Set<Waiting>();
    const note = (part: readonly Waiting[]) =>
      this.#database.transaction(
        (transaction) =>
          markBegun(
            transaction,
            this.#nodeId,
            part.map(({ call }) => call),
          ),
        { lockTimeoutMs: shortLockTimeoutMs },
      );
    try {
      const held = await inHalves(group, note, (waiting, error) => {
        failed.add(waiting);
        waiting.reject(error);
      });
      const heldKeys = new Set(held.map(textOf));
      for (const waiting of group) if (!failed.has(waiting)) waiting.resolve(heldKeys.has(textOf(waiting.call)));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

function textOf({ jobId, epoch }: CallKey): string {
  return `${jobId} ${epoch}`;
}

interface Waiting {
  readonly call: CallKey;
  readonly resolve: (isOurs: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gives each workflow its turn in a queue, so that one with few tasks does not wait for all the tasks of another. Which workflow comes next is known to this node
 * alone and until it stops: in the long run every node is fair by itself.
 */
export class LineTurns {
  /** The workflow that had the last turn, by queue. */
  readonly #last = new Map<string, string>();

  /** The workflow after which the next one has its turn; undefined where none had one yet. */
  lastOf(queue: string): string | undefined {
    return this.#last.get(queue);
  }

  note(queue: string, workflowId: string): void {
    this.#last.delete(queue);
    this.#last.set(queue, workflowId);
    const [oldest] = this.#last.keys();
    if (this.#last.size > maxQueues && oldest !== undefined) this.#last.delete(oldest);
  }
}

/** Beyond these, the queue that nobody asked for the longest begins anew. */
const maxQueues = 10_000;

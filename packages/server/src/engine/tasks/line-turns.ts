/**
 * Lets the workflows of a queue take turns, so that a workflow with few tasks does not wait for all the tasks of another. Each node keeps the turns
 * in memory and loses them when it stops. Each node is fair on its own, so the whole service is fair in the long run.
 */
export class LineTurns {
  /** The workflow that had the last turn, by queue. */
  readonly #last = new Map<string, string>();

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

/** The bound on the queues in memory. Beyond it, the queue whose last turn was longest ago is forgotten. */
const maxQueues = 10_000;

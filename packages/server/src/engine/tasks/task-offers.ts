import type { Job } from "../../core/job/job-state.ts";
import type { HandedTask } from "../../store/jobs/job-calls.ts";
import type { QueueKey, TakenTask } from "../../store/jobs/tasks.ts";

/** A task that a commit makes. */
export type NewTask = Omit<TakenTask, "place" | "leaseUntil"> & { readonly job: Job };

/**
 * Offers tasks to workers that wait on this node, in one attempt of the commit that makes the tasks. The workers hold their tasks from the beginning,
 * so a task waits only for this commit. Otherwise separate statements would have to find and take the tasks.
 */
export interface TaskOffers {
  /**
   * Returns for each task the name of the worker to which it is offered. Either all tasks of a queue are offered or none, because only the store can
   * decide which waiting tasks of a queue come first.
   */
  offer(tasks: readonly NewTask[]): readonly (string | undefined)[];
  /** Notes the tasks that this attempt gives to workers. The workers hold them once the attempt is committed. */
  note(handed: readonly HandedTask[]): void;
  /** Ends the offers. Call it when the outcome of the attempt is known. */
  end(isCommitted: boolean): void;
}

/** A task that a worker holds from the beginning, because the worker was waiting for a task. */
export interface HandedOver<Waiter> {
  readonly waiter: Waiter;
  readonly task: NewTask & Pick<HandedTask, "leaseUntil">;
}

export interface WaiterOffersOptions<Waiter extends { readonly worker: string }> {
  /**
   * Reserves the places of waiting workers for the tasks of a queue, one place for each of `count` tasks. Reserves none when there are fewer places.
   */
  readonly reserve: (key: QueueKey, count: number) => readonly Waiter[];
  /** Hands over the tasks and lets the polls that get no task continue to wait. All reservations end. */
  readonly end: (reserved: ReadonlySet<Waiter>, handed: readonly HandedOver<Waiter>[]) => void;
}

/** Offers tasks to the workers that wait at the desk of a node. */
export class WaiterOffers<Waiter extends { readonly worker: string }> implements TaskOffers {
  readonly #options: WaiterOffersOptions<Waiter>;
  readonly #reserved = new Set<Waiter>();
  readonly #free = new Map<string, Waiter[]>();
  readonly #offered = new Map<string, { readonly waiter: Waiter; readonly task: NewTask }>();
  #handed: readonly HandedOver<Waiter>[] = [];

  constructor(options: WaiterOffersOptions<Waiter>) {
    this.#options = options;
  }

  offer(tasks: readonly NewTask[]): readonly (string | undefined)[] {
    for (const [name, [first, ...others]] of Map.groupBy(tasks, queueOf)) {
      if (first === undefined) continue;
      const waiters = this.#options.reserve(first, 1 + others.length);
      for (const waiter of waiters) this.#reserved.add(waiter);
      this.#free.set(name, [...waiters].reverse());
    }
    return tasks.map((task) => {
      const waiter = this.#free.get(queueOf(task))?.pop();
      if (waiter !== undefined) this.#offered.set(nameOf(task), { waiter, task });
      return waiter?.worker;
    });
  }

  note(handed: readonly HandedTask[]): void {
    this.#handed = handed.flatMap(({ leaseUntil, ...name }) => {
      const offered = this.#offered.get(nameOf(name));
      return offered === undefined ? [] : { waiter: offered.waiter, task: { ...offered.task, leaseUntil } };
    });
  }

  end(isCommitted: boolean): void {
    if (this.#reserved.size > 0) this.#options.end(this.#reserved, isCommitted ? this.#handed : []);
  }
}

function queueOf({ organizationId, queue }: QueueKey): string {
  return `${organizationId} ${queue}`;
}

function nameOf({ jobId, branch }: Pick<HandedTask, "jobId" | "branch">): string {
  return `${jobId} ${branch}`;
}

import { sizeOfJson } from "../../core/json/json-size.ts";
import { ServiceError } from "../../core/service-error.ts";
import {
  findQueuesWithTasks,
  findWaitingLines,
  putTasksBack,
  type QueueKey,
  type TakenTask,
  takeTasks,
} from "../../store/jobs/tasks.ts";
import type { Duty } from "../maintenance/duty.ts";
import type { WaitingPlaces } from "../reading/waiting-places.ts";
import { LineTurns } from "./line-turns.ts";
import { type ReadTasks, readTasks, type Task, type TaskInputsOptions } from "./task-inputs.ts";
import { type HandedOver, type TaskOffers, WaiterOffers } from "./task-offers.ts";

export interface TaskDeskOptions extends TaskInputsOptions {
  readonly places: WaitingPlaces;
}

/** A worker that asks a queue for tasks. */
export interface Poll extends QueueKey {
  readonly worker: string;
  readonly maxTasks: number;
  /** The time until which the worker waits for a task, as `performance.now()` measures it. */
  readonly deadline: number;
  /** A signal that is aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Hands tasks out to the workers that ask this node. All durable data is in the store: a poll lives in memory only, and a task that becomes due while
 * no worker waits stays in its row. A commit of this node that puts a task into a queue calls `ring`. For tasks from other nodes, `pollDuty` asks the
 * store again and again.
 */
export class TaskDesk {
  readonly #options: TaskDeskOptions;
  readonly #counters = new Map<string, Counter>();
  readonly #turns = new LineTurns();
  #isClosed = false;

  constructor(options: TaskDeskOptions) {
    this.#options = options;
  }

  /**
   * Returns as soon as there are tasks, or with none at the deadline. Throws `ServiceError` when too many requests wait already (`WaitingPlaces`) or
   * when the node is shutting down.
   */
  async poll(poll: Poll): Promise<readonly Task[]> {
    if (this.#isClosed)
      throw new ServiceError("UnavailableError", "This node is shutting down. Ask again.", { retryAfterSeconds: 1 });
    const leave = this.#options.places.take(poll.organizationId);
    const counter = this.#counterOf(poll);
    const { promise, resolve, reject } = Promise.withResolvers<readonly Task[]>();
    const waiter: Waiter = { ...poll, isLate: false, isReserved: false, resolve, reject };
    const end = () => {
      waiter.isLate = true;
      if (!counter.isBusy) this.#dismissLate(counter);
    };
    counter.waiters.add(waiter);
    const timer = setTimeout(end, Math.max(0, poll.deadline - performance.now()));
    poll.signal.addEventListener("abort", end, { once: true });
    void this.#serve(counter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      poll.signal.removeEventListener("abort", end);
      leave();
    }
  }

  /** Tells the desk that this queue may have a task. */
  ring(key: QueueKey): void {
    const counter = this.#counters.get(nameOf(key));
    if (counter !== undefined) void this.#serve(counter);
  }

  /** Makes the object through which a commit offers its tasks to the workers that wait here. */
  offers(): TaskOffers {
    return new WaiterOffers<Waiter>({
      reserve: (key, count) => this.#reserve(key, count),
      end: (reserved, handed) => this.#endOffers(reserved, handed),
    });
  }

  *waiting(): Iterable<Poll> {
    for (const { waiters } of this.#counters.values()) yield* waiters;
  }

  /** Puts tasks back into their queues, because they could not be given to their workers. */
  async putBack(tasks: readonly TakenTask[]): Promise<void> {
    await putTasksBack(this.#options.database, tasks);
    for (const { organizationId, queue } of tasks) this.ring({ organizationId, queue });
  }

  /** Looks for tasks that other nodes have put into queues, and for queues that they have resumed. */
  pollDuty(everyMs: number, hasOthers: () => boolean): Duty {
    return {
      name: "task-desk",
      everyMs,
      runOnce: async () => {
        const keys = [...this.#counters.values()].map(({ key }) => key);
        if (keys.length === 0) return undefined;
        for (const key of await findQueuesWithTasks(this.#options.database, keys)) this.ring(key);
        return hasOthers() ? undefined : { againInMs: aloneFactor * everyMs };
      },
    };
  }

  /** Answers every waiting poll: with the tasks that are being handed out to it, or with none. */
  close(): void {
    this.#isClosed = true;
    for (const counter of [...this.#counters.values()]) {
      for (const waiter of counter.waiters) waiter.isLate = true;
      if (!counter.isBusy) this.#dismissLate(counter);
    }
  }

  #counterOf({ organizationId, queue }: QueueKey): Counter {
    const name = nameOf({ organizationId, queue });
    const known = this.#counters.get(name);
    if (known !== undefined) return known;
    const key = { organizationId, queue };
    const counter: Counter = { key, waiters: new Set(), isBusy: false, isRung: false };
    this.#counters.set(name, counter);
    return counter;
  }

  /** Serves one round at a time for each queue; polls that come meanwhile are served in the next round. */
  async #serve(counter: Counter): Promise<void> {
    counter.isRung = true;
    if (counter.isBusy) return;
    counter.isBusy = true;
    try {
      while (counter.isRung && counter.waiters.size > 0) {
        counter.isRung = false;
        while (counter.waiters.size > 0 && (await this.#handOut(counter)));
      }
    } catch (error) {
      for (const waiter of counter.waiters) waiter.reject(error);
      counter.waiters.clear();
    } finally {
      counter.isBusy = false;
      this.#dismissLate(counter);
    }
  }

  /** Hands out tasks once. Returns whether there may be more tasks for the polls that still wait. */
  async #handOut(counter: Counter): Promise<boolean> {
    const dealt = deal(freeOf(counter));
    if (dealt.length === 0) return false;
    const taken = await this.#take(
      counter.key,
      dealt.map(({ worker }) => worker),
    );
    // The database returns the rows in no particular order.
    const inOrder = taken.toSorted((one, other) => one.place - other.place);
    const left = this.#give(counter, dealt, await readTasks(this.#options, inOrder));
    if (left.length > 0) await putTasksBack(this.#options.database, left);
    // A task that could not be given to one worker may go to another.
    return taken.length === dealt.length || left.length > 0;
  }

  /** Gives tasks to the polls to which they were dealt. Returns the tasks that were not given. */
  #give(counter: Counter, dealt: readonly Waiter[], { read, unread }: ReadTasks): readonly TakenTask[] {
    const byWaiter = Map.groupBy(
      read.toSorted((one, other) => one.place - other.place),
      ({ place }) => dealt[place - 1],
    );
    const left: TakenTask[] = [...unread];
    for (const [waiter, ofWaiter] of byWaiter) {
      // The poll may have been answered meanwhile, because its time was up or the store was out of reach.
      if (waiter === undefined || waiter.signal.aborted || !counter.waiters.has(waiter)) {
        left.push(...ofWaiter);
        continue;
      }
      const [given, tooMuch] = cutAtSize(ofWaiter);
      left.push(...tooMuch);
      counter.waiters.delete(waiter);
      waiter.resolve(given);
    }
    return left;
  }

  /**
   * Reserves polls for the tasks of a commit. It reserves none while tasks are being handed out, because it is not yet known which polls will still
   * wait.
   */
  #reserve(key: QueueKey, count: number): readonly Waiter[] {
    const counter = this.#counters.get(nameOf(key));
    if (counter === undefined || counter.isBusy || this.#isClosed) return [];
    const dealt = deal(freeOf(counter)).slice(0, count);
    if (dealt.length < count) return [];
    for (const waiter of dealt) waiter.isReserved = true;
    return dealt;
  }

  #endOffers(reserved: ReadonlySet<Waiter>, handed: readonly HandedOver<Waiter>[]): void {
    for (const ofQueue of Map.groupBy(handed, ({ task }) => nameOf(task)).values()) void this.#handOver(ofQueue);
    this.#release(reserved.difference(new Set(handed.map(({ waiter }) => waiter))));
  }

  #release(waiters: Iterable<Waiter>): void {
    for (const waiter of waiters) {
      waiter.isReserved = false;
      const counter = this.#counters.get(nameOf(waiter));
      // While a poll was reserved, it missed the tasks that came into the queue.
      if (counter?.waiters.has(waiter)) void this.#serve(counter);
    }
  }

  /** Answers polls with tasks that a commit has given to their workers. */
  async #handOver(handed: readonly HandedOver<Waiter>[]): Promise<void> {
    const dealt = handed.map(({ waiter }) => waiter);
    const taken = handed.map(({ task: { job: _, ...task } }, index) => ({ ...task, place: index + 1 }));
    try {
      const tasks = await readTasks(this.#options, taken, ({ place }) => handed[place - 1]?.task.job);
      const [first] = taken;
      const counter = first && this.#counters.get(nameOf(first));
      const left = counter === undefined ? taken : this.#give(counter, dealt, tasks);
      if (counter?.isBusy === false) this.#dismissLate(counter);
      if (left.length > 0) await this.putBack(left);
    } catch (error) {
      // The workers did not receive these tasks. The tasks return to the queue when their leases end.
      this.#options.onFailure(error);
    } finally {
      this.#release(dealt);
    }
  }

  /**
   * Takes tasks for these workers. A worker that may get several tasks is in the list once for each. Ends when all have a task, or when no tasks are
   * left.
   */
  async #take(key: QueueKey, workers: readonly string[]): Promise<readonly TakenTask[]> {
    const { database } = this.#options;
    const taken: TakenTask[] = [];
    while (taken.length < workers.length) {
      const left = workers.slice(taken.length);
      const lines = await findWaitingLines(database, key, this.#turns.lastOf(nameOf(key)), left.length);
      const chosen = lines.filter(({ priority }) => priority === lines[0]?.priority);
      const last = chosen.at(-1);
      if (last === undefined) break;
      this.#turns.note(nameOf(key), last.workflowId);
      // Each line (the waiting tasks of one workflow) gives the same number of tasks, or fewer if it has fewer. The next pass of this loop takes the
      // rest. It begins with the line that follows the last of these lines.
      const share = Math.floor(left.length / chosen.length);
      const portion = await takeTasks(database, key, chosen, share, left);
      const before = taken.length;
      taken.push(...portion.map((task) => ({ ...task, place: task.place + before })));
      // After an empty portion, another pass would get no tasks either: another node may have locked those that are left. A single line has already
      // given all that it has.
      if (portion.length === 0 || lines.length === 1) break;
    }
    return taken;
  }

  #dismissLate(counter: Counter): void {
    for (const waiter of counter.waiters) {
      if (!waiter.isLate) continue;
      counter.waiters.delete(waiter);
      waiter.resolve([]);
    }
    if (counter.waiters.size === 0 && !counter.isBusy && this.#counters.get(nameOf(counter.key)) === counter)
      this.#counters.delete(nameOf(counter.key));
  }
}

/** The waiting polls of one queue. */
interface Counter {
  readonly key: QueueKey;
  readonly waiters: Set<Waiter>;
  /** Whether tasks are being handed out now. */
  isBusy: boolean;
  /** Whether another round is needed. */
  isRung: boolean;
}

interface Waiter extends Poll {
  isLate: boolean;
  /** Whether a commit that is under way may give a task to this poll. */
  isReserved: boolean;
  readonly resolve: (tasks: readonly Task[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The polls that may be given tasks. */
function freeOf({ waiters }: Counter): Waiter[] {
  return [...waiters].filter(({ signal, isReserved }) => !signal.aborted && !isReserved);
}

/**
 * Lists the polls in the order in which they get tasks. A poll is in the list once for each task that it may get. The list is made in rounds. In
 * each round, every poll that wants more tasks is added one time. So a few tasks are spread over all polls.
 */
function deal(waiters: readonly Waiter[]): Waiter[] {
  const dealt: Waiter[] = [];
  for (let round = 0; dealt.length < maxTasksAtOnce; round += 1) {
    const wanting = waiters.filter(({ maxTasks }) => maxTasks > round);
    if (wanting.length === 0) break;
    dealt.push(...wanting);
  }
  return dealt.slice(0, maxTasksAtOnce);
}

/** Splits the tasks into those that fit into one answer (always including the first) and the others. */
function cutAtSize(tasks: readonly Task[]): [given: Task[], left: Task[]] {
  let size = 0;
  const isWithin = tasks.map(({ stand }, index) => {
    size += sizeOfJson(stand.input, maxAnswerSize);
    return index === 0 || size <= maxAnswerSize;
  });
  return [tasks.filter((_, index) => isWithin[index]), tasks.filter((_, index) => !isWithin[index])];
}

function nameOf({ organizationId, queue }: QueueKey): string {
  return `${organizationId} ${queue}`;
}

/** The largest number of tasks that one statement takes; the next statement takes the rest. */
const maxTasksAtOnce = 500;
/** The bound on the inputs in one answer (`sizeOfJson`): a few megabytes. */
const maxAnswerSize = 4_000_000;
/**
 * A node that is alone polls less often by this factor. It has put nearly every task into the task's queue itself. The exceptions are tasks from
 * before it started and tasks of commits whose outcome it did not learn.
 */
const aloneFactor = 10;

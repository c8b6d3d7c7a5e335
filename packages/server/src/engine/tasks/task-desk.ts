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
  /** A reading of `performance.now()` until which it waits for a task. */
  readonly deadline: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Hands tasks out to the workers that ask this node. Everything durable is in the store: a poll lives in memory only, and what becomes due while
 * none is here waits in its row. A commit of this node that puts a task into a queue rings; what other nodes put there is looked for.
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
   * Answers as soon as there is a task, with those that are there; none at the deadline. Throws `ServiceError` when too many wait already (`WaitingPlaces`) or the node
   * leaves.
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

  /** A task may wait in this queue. */
  ring(key: QueueKey): void {
    const counter = this.#counters.get(nameOf(key));
    if (counter !== undefined) void this.#serve(counter);
  }

  /** Offers the tasks of a commit to those that wait here. */
  offers(): TaskOffers {
    return new WaiterOffers<Waiter>({
      reserve: (key, count) => this.#reserve(key, count),
      end: (reserved, handed) => this.#endOffers(reserved, handed),
    });
  }

  /** Those that wait here. */
  *waiting(): Iterable<Poll> {
    for (const { waiters } of this.#counters.values()) yield* waiters;
  }

  /** Puts tasks back that could not be given to their worker. */
  async putBack(tasks: readonly TakenTask[]): Promise<void> {
    await putTasksBack(this.#options.database, tasks);
    for (const { organizationId, queue } of tasks) this.ring({ organizationId, queue });
  }

  /** Looks for tasks that other nodes have put into queues, and for queues that they let go on. */
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

  /** Answers everybody who waits: with what there is. */
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

  /** One at a time for each queue: those who come meanwhile are dealt to next. */
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

  /** Hands out once. Answers whether there may be more for those who still wait. */
  async #handOut(counter: Counter): Promise<boolean> {
    const dealt = deal(freeOf(counter));
    if (dealt.length === 0) return false;
    const taken = await this.#take(
      counter.key,
      dealt.map(({ worker }) => worker),
    );
    // The database answers them in any order.
    const inOrder = taken.toSorted((one, other) => one.place - other.place);
    const left = this.#give(counter, dealt, await readTasks(this.#options, inOrder));
    if (left.length > 0) await putTasksBack(this.#options.database, left);
    // A task that could not be given to one may be for another.
    return taken.length === dealt.length || left.length > 0;
  }

  /** Gives tasks to those to whom they were dealt. Answers the tasks that nobody was given. */
  #give(counter: Counter, dealt: readonly Waiter[], { read, unread }: ReadTasks): readonly TakenTask[] {
    const byWaiter = Map.groupBy(
      read.toSorted((one, other) => one.place - other.place),
      ({ place }) => dealt[place - 1],
    );
    const left: TakenTask[] = [...unread];
    for (const [waiter, ofWaiter] of byWaiter) {
      // It may have been answered meanwhile: since its time was up, or the store was out of reach.
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

  /** While tasks are being handed out, it is not known who will still wait. */
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
      // One who waits on was not given the tasks that came into the queue meanwhile.
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
      // The tasks come again after their leases.
      this.#options.onFailure(error);
    } finally {
      this.#release(dealt);
    }
  }

  /** Takes a task for each of these places, as far as there are tasks. */
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
      // Each line gives an equal share: the next round takes the rest, from the line that follows.
      const share = Math.floor(left.length / chosen.length);
      const portion = await takeTasks(database, key, chosen, share, left);
      const before = taken.length;
      taken.push(...portion.map((task) => ({ ...task, place: task.place + before })));
      // Another node may hold those that are left. A single line was taken to its end.
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

/** The polls of one queue that wait here. */
interface Counter {
  readonly key: QueueKey;
  readonly waiters: Set<Waiter>;
  /** Whether tasks are being handed out now. */
  isBusy: boolean;
  /** Whether there is reason to look once more. */
  isRung: boolean;
}

interface Waiter extends Poll {
  isLate: boolean;
  /** Whether a commit that is under way may give it a task. */
  isReserved: boolean;
  readonly resolve: (tasks: readonly Task[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Those to whom tasks may be given. */
function freeOf({ waiters }: Counter): Waiter[] {
  return [...waiters].filter(({ signal, isReserved }) => !signal.aborted && !isReserved);
}

/** One place to each in turn, so that few tasks are spread over all who wait, up to what each asks for. */
function deal(waiters: readonly Waiter[]): Waiter[] {
  const dealt: Waiter[] = [];
  for (let round = 0; dealt.length < maxTasksAtOnce; round += 1) {
    const wanting = waiters.filter(({ maxTasks }) => maxTasks > round);
    if (wanting.length === 0) break;
    dealt.push(...wanting);
  }
  return dealt.slice(0, maxTasksAtOnce);
}

/** The first task, and those after it that fit into one answer with it; and the others. */
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

/** One statement takes so many at most; the rest comes with the next one. */
const maxTasksAtOnce = 500;
/** In characters and members, roughly: an answer of some megabytes. */
const maxAnswerSize = 4_000_000;
/** A node alone has put every task there is into its queue itself, but for those that were there before it started, or whose commit it does not know of. */
const aloneFactor = 10;

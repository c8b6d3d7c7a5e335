import { setTimeout } from "node:timers/promises";
import type { Database, Queryable } from "../../store/home/database.ts";
import {
  listBusyQueues,
  listOrganizationsWithTasks,
  readTaskQueues,
  type TaskQueue,
} from "../../store/jobs/task-queues.ts";

/** The state of a queue of tasks, under the labels by which Prometheus knows it. */
export interface QueueGauge {
  readonly organization: string;
  readonly queue: string;
  readonly waitingCount: number;
  readonly heldCount: number;
  /** The seconds for which the oldest waiting task has been due; 0 when none waits. */
  readonly oldestSeconds: number;
  readonly workerCount: number;
  readonly isPaused: boolean;
}

export interface QueueGaugesOptions {
  readonly database: Database;
  /** The number of queues that get labels of their own. */
  readonly maxQueues: number;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Measures the queues of tasks of all organizations when somebody asks for metrics. The names of queues come from definitions and inputs, so their
 * number has no bound. The queues that are seen first get labels of their own, and all others share one set of labels.
 */
export class QueueGauges {
  readonly #options: QueueGaugesOptions;
  /** The time when each queue with labels of its own was last seen with tasks, by its labels. */
  readonly #labelled = new Map<string, number>();
  #last: Promise<readonly QueueGauge[]> = Promise.resolve([]);
  #isMeasuring = false;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(options: QueueGaugesOptions) {
    this.#options = options;
  }

  /**
   * Measures at most every few seconds. Returns an empty list when the store takes too long, because the node's other metrics must not wait for it.
   */
  async read(): Promise<readonly QueueGauge[]> {
    const at = this.#options.now();
    if (!this.#isMeasuring && at - this.#measuredAt >= maxAgeMs) {
      this.#measuredAt = at;
      this.#last = this.#measureOnce();
    }
    return await Promise.race([this.#last, setTimeout(maxWaitMs, [], { ref: false })]);
  }

  async #measureOnce(): Promise<readonly QueueGauge[]> {
    this.#isMeasuring = true;
    try {
      return await this.#measure();
    } catch (error) {
      this.#options.onFailure(error);
      return [];
    } finally {
      this.#isMeasuring = false;
    }
  }

  async #measure(): Promise<readonly QueueGauge[]> {
    const { database, now } = this.#options;
    const at = now();
    for (const [labels, seenAt] of this.#labelled) if (at - seenAt > maxIdleMs) this.#labelled.delete(labels);
    // These reads take turns with the reads of organizations.
    const reader = database.reader("Prometheus");
    const gauges: QueueGauge[] = [];
    for (const [organizationId, queues] of await this.#findQueues(reader)) {
      const found = await readTaskQueues(reader, organizationId, queues);
      gauges.push(...found.map((queue) => gaugeOf(organizationId, queue, at)));
    }
    const [own, others] = this.#divide(gauges, at);
    return others.length === 0 ? own : [...own, others.reduce(sumOf, noQueues)];
  }

  /** Finds the queues that have tasks now, and those that have labels of their own. */
  async #findQueues(db: Queryable): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, Set<string>>();
    for (const labels of this.#labelled.keys()) {
      const [organizationId = "", queue = ""] = labels.split(" ");
      found.set(organizationId, (found.get(organizationId) ?? new Set()).add(queue));
    }
    let left = maxMeasured;
    for (const organizationId of await listOrganizationsWithTasks(db, maxMeasured)) {
      if (left === 0) break;
      const queues = await listBusyQueues(db, organizationId, left);
      left -= queues.length;
      found.set(organizationId, new Set([...(found.get(organizationId) ?? []), ...queues]));
    }
    return new Map([...found].map(([organizationId, queues]) => [organizationId, [...queues]]));
  }

  /** Divides the queues. Queues with tasks get labels of their own until `maxQueues` queues have them. */
  #divide(gauges: readonly QueueGauge[], at: number): [own: QueueGauge[], others: QueueGauge[]] {
    const own: QueueGauge[] = [];
    const others: QueueGauge[] = [];
    for (const gauge of gauges) {
      const labels = `${gauge.organization} ${gauge.queue}`;
      const isBusy = gauge.waitingCount + gauge.heldCount > 0;
      const isOwn = this.#labelled.has(labels) || (isBusy && this.#labelled.size < this.#options.maxQueues);
      if (isOwn && isBusy) this.#labelled.set(labels, at);
      (isOwn ? own : others).push(gauge);
    }
    return [own, others];
  }
}

function gaugeOf(organization: string, found: TaskQueue, at: number): QueueGauge {
  const { queue, waitingCount, heldCount, oldestDueAt, workerCount, pausedAt } = found;
  const oldestSeconds = oldestDueAt === null ? 0 : Math.max(0, at - oldestDueAt) / 1_000;
  return { organization, queue, waitingCount, heldCount, oldestSeconds, workerCount, isPaused: pausedAt !== null };
}

const noQueues: QueueGauge = {
  organization: "other",
  queue: "other",
  waitingCount: 0,
  heldCount: 0,
  oldestSeconds: 0,
  workerCount: 0,
  isPaused: false,
};

function sumOf(sum: QueueGauge, gauge: QueueGauge): QueueGauge {
  return {
    ...sum,
    waitingCount: sum.waitingCount + gauge.waitingCount,
    heldCount: sum.heldCount + gauge.heldCount,
    oldestSeconds: Math.max(sum.oldestSeconds, gauge.oldestSeconds),
    workerCount: sum.workerCount + gauge.workerCount,
  };
}

/** Measuring costs a few statements for each organization with tasks, so it is not done for each request. */
const maxAgeMs = 5_000;
/** Prometheus itself waits for ten seconds by default. */
const maxWaitMs = 3_000;
/** A queue loses its labels when it has been empty for this long. */
const maxIdleMs = 3_600_000;
/** A measurement searches for at most this many queues with tasks. It also reads all queues with labels of their own. */
const maxMeasured = 1_000;

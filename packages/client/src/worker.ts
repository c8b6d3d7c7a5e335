import type { StepwellClient } from "./client.ts";
import { StepwellError } from "./error.ts";
import type { components } from "./generated/api.ts";
import { onAbort } from "./on-abort.ts";
import { backoffMs, pause } from "./pause.ts";

/** A step of a job that a worker carries out. */
export type Task = components["schemas"]["Task"];

export interface WorkerOptions {
  readonly client: StepwellClient;
  readonly organizationId: string;
  readonly queue: string;
  /** Does one task, and returns the step's output. An exception fails the task; `TaskFailure` says more about the failure. */
  readonly work: (task: Task, control: TaskControl) => unknown;
  /** How many tasks the worker does at the same time. Default 10. */
  readonly concurrency?: number;
  /** The worker's name for people, such as its host and process. Default: the id of the token or user. */
  readonly name?: string;
  /** Stops the worker, as `stop()` does. */
  readonly signal?: AbortSignal;
  /** Called with errors after which the worker continues, such as a failed poll or a lost task, and with the error that ends the worker. */
  readonly onError?: (error: unknown, task?: Task) => void;
}

/** What the work of a task may use besides its input. */
export interface TaskControl {
  /** Aborted when the worker no longer holds the task, when the service no longer accepts the worker, and when `graceSeconds` of `stop` are over. */
  readonly signal: AbortSignal;
  /** Says how far the work has come, for people, as any JSON value. It is sent with the next heartbeat. */
  readonly progress: (value: unknown) => void;
}

/** Thrown by the work of a task, to give details of the failure. */
export class TaskFailure extends Error {
  /** A name for the error, which `retry.on` and `onFailure` can refer to. */
  readonly type: string | undefined;
  /** False if another attempt would fail as well. */
  readonly retryable: boolean;
  /** The least time before the next attempt. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: { readonly type?: string; readonly retryable?: boolean; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = "TaskFailure";
    this.type = details.type;
    this.retryable = details.retryable ?? true;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/**
 * Takes tasks of one queue, several at the same time, holds them by heartbeats, and answers them. After an outage of the service, the worker
 * continues by itself.
 */
export class Worker {
  /**
   * Settles when the worker takes no more tasks and those under way are over: resolves after `stop`, and rejects with a `StepwellError` when the
   * service does not accept the worker (400, 401, 403 or 404).
   */
  readonly ended: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #concurrency: number;
  readonly #running = new Map<AbortController, Promise<void>>();
  readonly #stopping = new AbortController();
  #onSlot: (() => void) | undefined;
  /** True when the worker has already waited for more free slots before this poll. */
  #isGathered = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#concurrency = options.concurrency ?? 10;
    const { signal } = options;
    if (signal?.aborted) this.#stopping.abort();
    const polling = this.#run();
    polling.catch((error: unknown) => options.onError?.(error));
    const forget = onAbort(signal, () => void this.stop());
    this.ended = polling.finally(() => Promise.all(this.#running.values())).finally(forget);
    this.ended.catch(() => {});
  }

  /** The number of tasks under way. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Takes no more tasks, waits up to `graceSeconds` for those under way, and gives back the rest, so that other workers get them at once. */
  async stop(graceSeconds = 30): Promise<void> {
    this.#stopping.abort();
    this.#onSlot?.();
    const ended = this.ended.catch(() => {});
    await inTime(ended, graceSeconds * 1000);
    for (const control of this.#running.keys()) control.abort(stopped);
    await ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let failedPolls = 0;
    while (!signal.aborted) {
      const free = this.#concurrency - this.#running.size;
      if (free <= 0) {
        await new Promise<void>((resolve) => {
          this.#onSlot = resolve;
        });
        continue;
      }
      // A busy worker waits a moment for more free slots. Otherwise, if several of its tasks ended at the same time, it would ask for one task first,
      // and then again for the others.
      if (free * leastShare < this.#concurrency && !this.#isGathered) {
        this.#isGathered = true;
        await pause(gatherMs, signal);
        continue;
      }
      this.#isGathered = false;
      try {
        for (const task of await this.#poll(Math.min(free, maxTasksAtOnce))) this.#begin(task);
        failedPolls = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (isClosed(error)) throw error;
        this.#options.onError?.(error);
        failedPolls += 1;
        await pause(pauseAfter(error, failedPolls), signal);
      }
    }
  }

  async #poll(maxTasks: number): Promise<readonly Task[]> {
    const { client, organizationId, queue, name } = this.#options;
    const body = { maxTasks, ...(name !== undefined && { worker: name }) };
    const { signal } = this.#stopping;
    return await client.pollTasks(organizationId, queue, body, { waitSeconds: pollSeconds, signal, maxAttempts: 1 });
  }

  #begin(task: Task): void {
    const control = new AbortController();
    const done = this.#carryOut(task, control)
      .catch((error: unknown) => this.#options.onError?.(error, task))
      .finally(() => {
        this.#running.delete(control);
        this.#onSlot?.();
      });
    this.#running.set(control, done);
  }

  async #carryOut(task: Task, control: AbortController): Promise<void> {
    const { signal } = control;
    const progress: { said?: unknown } = {};
    const timer = setInterval(() => void this.#beat(task, control, progress), (task.heartbeatSeconds * 1000) / beats);
    try {
      const outcome = await this.#outcomeOf(task, signal, progress);
      if (signal.aborted && signal.reason !== stopped) throw signal.reason;
      await this.#answer(task, outcome, signal);
    } finally {
      clearInterval(timer);
    }
  }

  async #beat(task: Task, control: AbortController, progress: { said?: unknown }): Promise<void> {
    const { client, organizationId, onError } = this.#options;
    const { said } = progress;
    delete progress.said;
    try {
      await client.heartbeatTask(organizationId, task.taskId, said, { maxAttempts: 1 });
    } catch (error) {
      // If the service does not accept the progress, the next heartbeat is sent without it.
      if (!isTemporary(error) && said !== undefined && !isOver(error)) onError?.(error, task);
      else if (isOver(error) || isClosed(error)) control.abort(error);
      else if (said !== undefined && !("said" in progress)) progress.said = said;
    }
  }

  /** Does the work of a task. Also returns when the signal is aborted: work that ignores its signal must not keep the worker from ending. */
  async #outcomeOf(task: Task, signal: AbortSignal, progress: { said?: unknown }): Promise<Outcome> {
    const say = (value: unknown) => {
      progress.said = value;
    };
    const aborted = new Promise<Outcome>((resolve) => {
      signal.addEventListener("abort", () => resolve({ type: "release" }), { once: true });
    });
    const work = async (): Promise<Outcome> => {
      try {
        return { type: "complete", output: (await this.#options.work(task, { signal, progress: say })) ?? null };
      } catch (error) {
        return { type: "fail", failure: failureOf(error) };
      }
    };
    return await Promise.race([work(), aborted]);
  }

  /**
   * Sends an answer until the service has accepted it, as long as the worker holds the task, but at most for `maxAnswerMs`. If the worker gave up at
   * the first failure, a restart of the service would cause finished work to be done again.
   */
  async #answer(task: Task, outcome: Outcome, signal: AbortSignal): Promise<void> {
    const { onError } = this.#options;
    const giveUpAt = performance.now() + maxAnswerMs;
    let mayHaveArrived = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#send(task, outcome);
        return;
      } catch (error) {
        // Either an earlier attempt has arrived, or the worker has lost the task. In both cases nothing is left to do.
        if (mayHaveArrived && isOver(error)) return;
        const instead = isUnsendable(error) ? insteadOf(outcome, error) : undefined;
        if (instead !== undefined) {
          await this.#answer(task, instead, signal);
          return;
        }
        if (!isTemporary(error) || signal.aborted || performance.now() > giveUpAt) throw error;
        mayHaveArrived ||= error.status !== 429;
        onError?.(error, task);
        await pause(pauseAfter(error, attempt), signal);
      }
    }
  }

  async #send({ taskId }: Task, outcome: Outcome): Promise<void> {
    const { client, organizationId } = this.#options;
    switch (outcome.type) {
      case "complete":
        return await client.answerTask(organizationId, taskId, "complete", { output: outcome.output });
      case "fail":
        return await client.answerTask(organizationId, taskId, "fail", outcome.failure);
      case "release":
        return await client.answerTask(organizationId, taskId, "release", {});
    }
  }
}

type Outcome =
  | { readonly type: "complete"; readonly output: unknown }
  | { readonly type: "fail"; readonly failure: Failure }
  | { readonly type: "release" };

interface Failure {
  readonly message: string;
  readonly type?: string;
  readonly retryable?: boolean;
  readonly retryAfterSeconds?: number;
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: bounded(String(error)) };
  const message = bounded(error.message);
  if (!(error instanceof TaskFailure))
    return { message, ...(error.name !== "Error" && error.name !== "" && { type: error.name }) };
  const { type, retryable, retryAfterSeconds } = error;
  return {
    message,
    retryable,
    ...(type !== undefined && { type }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** Returns the answer to send in place of one that the service cannot accept. Without an answer, the task would go from worker to worker. */
function insteadOf(outcome: Outcome, error: unknown): Outcome | undefined {
  if (outcome.type === "complete") return { type: "fail", failure: { ...failureOf(error), retryable: false } };
  if (outcome.type === "release" || outcome.failure.message === untold) return undefined;
  const { retryable } = outcome.failure;
  return { type: "fail", failure: { message: untold, ...(retryable !== undefined && { retryable }) } };
}

const untold =
  "The work failed, and the service rejected the report of the failure: FailTask does not allow its type, message or retryAfterSeconds.";

/** The service accepts no failure whose message is empty or longer than 10,000 characters. */
function bounded(message: string): string {
  return message === "" ? "The work failed and gave no reason." : message.slice(0, 10_000);
}

/** Tells whether the worker no longer holds the task. */
function isOver(error: unknown): boolean {
  return error instanceof StepwellError && (error.status === 404 || error.status === 409);
}

/** Tells whether the service does not accept the worker. */
function isClosed(error: unknown): boolean {
  return error instanceof StepwellError && [400, 401, 403, 404].includes(error.status);
}

/** Tells whether the answer can never be accepted: it cannot be written as JSON, the service refuses its content (400), or it is too large (413). */
function isUnsendable(error: unknown): boolean {
  return !(error instanceof StepwellError) || error.status === 400 || error.status === 413;
}

/** Tells whether another attempt may succeed: the service is out of reach or busy, or has failed for a transient reason. */
function isTemporary(error: unknown): error is StepwellError {
  return error instanceof StepwellError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Returns the longer of two pauses: the one that the service asks for, up to `maxAskedSeconds`, and one that grows with the number of failures. */
function pauseAfter(error: unknown, failures: number): number {
  const askedSeconds = error instanceof StepwellError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.max(Math.min(askedSeconds, maxAskedSeconds) * 1000, backoffMs(failures));
}

/** The reason why a task is given back. */
const stopped = new Error("The worker stops.");

/** Waits for the end of some work, but at most this many milliseconds. */
async function inTime(work: Promise<unknown>, ms: number): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([work.finally(() => waiting.abort()), pause(ms, waiting.signal)]);
}

const pollSeconds = 30;
const maxTasksAtOnce = 100;
/** If fewer than a tenth of the slots are free, the worker waits a moment for more free slots before it asks for tasks. */
const leastShare = 10;
const gatherMs = 5;
/** A rate limit asks for a pause of one minute at most. The worker never pauses for longer than that, whatever an answer asks for. */
const maxAskedSeconds = 60;
/** After this time, an answer that the service has not accepted is given up. Another worker gets the task when its lease has ended. */
const maxAnswerMs = 600_000;
/** The number of heartbeats in the time of one lease. If one heartbeat is lost, the next one comes before the lease ends. */
const beats = 3;

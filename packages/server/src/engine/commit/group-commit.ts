import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JobLimits } from "../../core/job/draft.ts";
import { ServiceError } from "../../core/service-error.ts";
import {
  type Database,
  RowHeldError,
  StatementGivenUpError,
  StoreUnavailableError,
  shortLockTimeoutMs,
  type Transaction,
  TransactionAbortedError,
} from "../../store/home/database.ts";
import { hasCommit } from "../../store/jobs/jobs.ts";
import type { DatabaseClock } from "../node/clock.ts";
import { jobParked } from "../plans/parking.ts";
import type { Plans } from "../plans/plans.ts";
import type { TaskOffers } from "../tasks/task-offers.ts";
import type { RecentValues } from "../values/recent-values.ts";
import { type AppliedBatch, applyBatch, type BatchContext, type ChangedJob } from "./batch.ts";
import type { Command, Outcome } from "./command.ts";
import { heldAgain, heldByOthers } from "./held.ts";
import { jobCountsOf, type Queued, takeNextBatch } from "./next-batch.ts";
import { Resting } from "./resting.ts";
import { Turns } from "./turns.ts";

export interface GroupCommitOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly plans: Plans;
  readonly nodeId: string;
  readonly limits: JobLimits;
  readonly maxBatchSize: number;
  readonly maxBatchBytes: number;
  readonly maxDescendantsPerJob: number;
  readonly maxQueuedFacts: number;
  readonly maxQueuedFactsPerOrganization: number;
  readonly commitTimeoutMs: number;
  /** Without this cache, the store is asked for every value again. */
  readonly recentValues?: RecentValues;
  readonly idempotencyHours: number;
  readonly hasRoomForCall: (organizationId: string) => boolean;
  readonly storeFullError: (organizationId: string) => ServiceError | undefined;
  /**
   * Returns a function that tells whether a call of one batch will begin at once. Run the function once for each call, in order, because it counts
   * them.
   */
  readonly beginsAtOnce: () => (organizationId: string) => boolean;
  /** Begins to offer the tasks of one batch to workers that wait on this node. Without it, a batch only puts its tasks into their queues. */
  readonly offers?: () => TaskOffers;
  /** This node's lease term, under which it holds the calls that a commit hands to it. */
  readonly leaseTerm: () => number;
  /** Called after each commit, before its callers are answered. Must not throw. */
  readonly onCommitted: (changed: readonly ChangedJob[], stats: CommitStats) => void;
  /** Called with a command that failed, to log the error. If the command is a fact of the engine, its job is parked instead. */
  readonly onDefect: (error: unknown, command: Command) => void;
}

export interface CommitStats {
  readonly commandCount: number;
  readonly durationMs: number;
  /**
   * The lease term in which the commit began. During an outage of the store, for example, it may take long to learn whether the commit landed, and
   * other nodes may have taken over its calls by then.
   */
  readonly leaseTerm: number;
}

/** The final outcome of a command. */
type Answer = Exclude<Outcome, { type: "held" | "deferred" }>;

export type Done = Extract<Outcome, { type: "done" | "replayed" }>;

/** The sender of a command. A caller's command has a deadline; the engine's own facts wait until the store is back. */
export type Sender = "caller" | "engine";

/**
 * Makes all durable changes of jobs. Commands queue up. The whole queue, up to a bound, becomes one transaction. When no batch is under way, the
 * queue becomes a batch at the end of the same turn of the event loop, so a single caller waits for one commit only. Under load the batches grow by
 * themselves. A batch never waits for a timer before it begins.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #groups = new Map<string, Group>();
  readonly #queuedByOrganization = new Map<string, number>();
  #queued = 0;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Returns once the change is committed. Throws `ServiceError` when the command was rejected, or when the store is out of reach. */
  async commit(command: Command, sender: Sender = "caller"): Promise<Done> {
    const { organizationId } = command;
    // A command that makes a child also needs room in the queue. Unlike the engine's facts, it can be rejected and tried again later.
    if (sender === "caller" || command.type === "submit") this.#requireRoom(organizationId);
    const deadline = sender === "caller" ? performance.now() + this.#options.commitTimeoutMs : Number.POSITIVE_INFINITY;
    this.#count(organizationId, 1);
    try {
      const outcome = await new Promise<Answer>((resolve, reject) => {
        this.#groupFor(organizationId).add({ command, sender, deadline, resolve, reject });
      });
      if (outcome.type === "rejected" || outcome.type === "failed") throw outcome.error;
      return outcome;
    } finally {
      this.#count(organizationId, -1);
    }
  }

  get queuedCount(): number {
    return this.#queued;
  }

  /** Throws when the queue has no room: RateLimitError when this organization has used its share, UnavailableError when the whole queue is full. */
  #requireRoom(organizationId: string): void {
    const { maxQueuedFacts, maxQueuedFactsPerOrganization } = this.#options;
    const retryAfterSeconds = 1;
    if (this.#queued >= maxQueuedFacts) {
      const detail = "The service has more work than it can write. Try again in a moment.";
      throw new ServiceError("UnavailableError", detail, { retryAfterSeconds });
    }
    if ((this.#queuedByOrganization.get(organizationId) ?? 0) < maxQueuedFactsPerOrganization) return;
    const detail = `On this node, ${maxQueuedFactsPerOrganization} changes of this organization already wait to be written, which is its share of the queue. Try again in a moment, and send fewer at the same time. The operator can change the share with STEPWELL_MAX_QUEUED_FACTS_PER_ORGANIZATION.`;
    throw new ServiceError("RateLimitError", detail, { retryAfterSeconds });
  }

  #count(organizationId: string, change: 1 | -1): void {
    this.#queued += change;
    const queued = (this.#queuedByOrganization.get(organizationId) ?? 0) + change;
    if (queued > 0) this.#queuedByOrganization.set(organizationId, queued);
    else this.#queuedByOrganization.delete(organizationId);
  }

  #groupFor(organizationId: string): Group {
    const name = this.#options.database.groupOf(organizationId);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = new Group(this.#options);
      this.#groups.set(name, group);
    }
    return group;
  }
}

interface Waiting extends Queued {
  readonly sender: Sender;
  /** A reading of the monotonic timer after which the caller gets 503. */
  readonly deadline: number;
  readonly resolve: (outcome: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** The queue of commands for a group of organizations that one transaction can change together. */
class Group {
  readonly #options: GroupCommitOptions;
  readonly #turns = new Turns();
  readonly #resting = new Resting<Waiting>((commands) => {
    for (const waiting of commands) this.add(waiting);
  });
  #queue: Waiting[] = [];
  /** Commands of the batch under way that got no turn, because their organization's time was used up. They come before all later commands. */
  #deferred: Waiting[] = [];
  #isDraining = false;
  #wasCostly = false;
  #underWay: readonly Waiting[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  add(waiting: Waiting): void {
    const { organizationId } = waiting.command;
    const restMs = this.#turns.restMs(organizationId);
    if (restMs > 0 || this.#resting.has(organizationId)) {
      if (this.#canRest(waiting, restMs)) this.#resting.append(organizationId, waiting, restMs);
      return;
    }
    this.#queue.push(waiting);
    if (this.#isDraining) return;
    this.#isDraining = true;
    setImmediate(() => void this.#drain());
  }

  /** Whether the deadline of a command allows it to wait until its organization has rested. Otherwise, the command is rejected at its deadline. */
  #canRest({ deadline, reject }: Waiting, restMs: number): boolean {
    const leftMs = deadline - performance.now();
    if (leftMs > restMs) return true;
    setTimeout(() => reject(tooCostly()), Math.max(0, leftMs)).unref();
    return false;
  }

  async #drain(): Promise<void> {
    // A half-open connection neither answers nor fails, and callers must not wait for its timeout.
    const watchdog = setInterval(() => this.#dismissOverdue(), watchdogMs);
    while (this.#queue.length > 0 || this.#deferred.length > 0) {
      this.#underWay = this.#takeBatch();
      await this.#commitWhole(this.#underWay);
      // The embedded store answers within the same turn of the event loop, in which no new request can come in. Without this pause, the next batch
      // would hold only what the last answers led to, often a single command.
      await new Promise((resolve) => setImmediate(resolve));
    }
    clearInterval(watchdog);
    this.#isDraining = false;
  }

  #dismissOverdue(): void {
    const silence = new Error("The store has not answered yet.");
    this.#dismissLate(this.#underWay, silence);
    this.#deferred = this.#dismissLate(this.#deferred, silence);
    this.#queue = this.#dismissLate(this.#queue, silence);
  }

  #takeBatch(): readonly Waiting[] {
    const { maxBatchSize, maxBatchBytes, plans } = this.#options;
    const bounds = { maxBatchSize, maxBatchBytes, wasCostly: this.#wasCostly };
    const queue = [...this.#deferred, ...this.#queue];
    this.#deferred = [];
    const next = takeNextBatch(queue, { turns: this.#turns, parking: plans.parking, ...bounds });
    this.#queue = [...next.left];
    this.#wasCostly = next.isCostly;
    for (const [organizationId, { commands, restMs }] of next.resting) {
      const rest = commands.filter((waiting) => this.#canRest(waiting, restMs));
      if (rest.length > 0) this.#resting.prepend(organizationId, rest, restMs);
    }
    return next.batch;
  }

  /** Commits a batch. A batch that fails is split until the failing command is alone, or until the parts are small enough to succeed. */
  async #commitWhole(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      await this.#commitUntilKnown(batch);
    } catch (error) {
      const [first] = batch;
      if (batch.length === 1 && first !== undefined) {
        if (error instanceof RowHeldError) this.#tryLater(first, true);
        else this.#fail(first, error);
        return;
      }
      const size = error instanceof StatementGivenUpError ? partOfSlow(batch.length) : Math.ceil(batch.length / 2);
      for (let start = 0; start < batch.length; start += size) {
        // Callers whose deadline has passed are answered first.
        const part = this.#dismissLate(batch.slice(start, start + size), asError(error));
        await this.#commitWhole(this.#deferAfterDeferred(part));
      }
    }
  }

  /** Defers each command whose organization has a command in `#deferred` already, so that their order stays the same. Returns the other commands. */
  #deferAfterDeferred(part: readonly Waiting[]): readonly Waiting[] {
    const organizationIds = new Set(this.#deferred.map(({ command }) => command.organizationId));
    const isLater = ({ command }: Waiting) => organizationIds.has(command.organizationId);
    for (const waiting of part) if (isLater(waiting)) this.#deferred.push(waiting);
    return part.filter((waiting) => !isLater(waiting));
  }

  /** Tries a command again after a pause, until its deadline. The pauses grow, because a forgotten database session may lock a row for hours. */
  #tryLater(waiting: Waiting, isWaitedFor: boolean): void {
    const now = performance.now();
    const held = heldAgain(waiting.held, Math.min(waiting.deadline, now + this.#options.commitTimeoutMs), isWaitedFor);
    if (now < held.deadline) {
      setTimeout(() => this.add({ ...waiting, held }), Math.min(held.pauseMs, held.deadline - now)).unref();
      return;
    }
    const cause = new RowHeldError();
    if (waiting.sender === "engine") this.#fail(waiting, cause);
    else waiting.reject(heldByOthers(cause));
  }

  /**
   * Answers a command that failed. When a fact of the engine fails, its job is parked, because the fact would come back at once and fail again.
   */
  #fail(waiting: Waiting, error: unknown): void {
    const { command, sender, reject } = waiting;
    const { parking } = this.#options.plans;
    const isOfJob = command.type === "fact";
    if (isOfJob && sender === "engine") parking.parkJob(command, error);
    else this.#options.onDefect(error, command);
    const parked = isOfJob ? parking.findTrial(command.jobId) : undefined;
    if (parked !== undefined && error instanceof StatementGivenUpError && isOutcome(command)) {
      // When the database has too little time or memory for a while, the outcome of a call must not be lost, so it is tried again. The outcome that
      // a worker sent is tried again only until the deadline of the worker's request, because the worker then sends it again.
      const pauseMs = Math.max(parked.retryInMs, retryStoreMs);
      if (sender === "engine" || performance.now() + pauseMs < waiting.deadline) {
        const { held: _, ...again } = waiting;
        setTimeout(() => this.add(again), pauseMs).unref();
        return;
      }
    }
    reject(parked === undefined ? error : jobParked(parked, error));
  }

  /**
   * Retries while the store is out of reach; callers leave at their deadline. When the answer to a COMMIT was lost, the commit is looked up before
   * anything is applied again. The look-up happens even if all callers have left, because this node may have to make the calls of that commit.
   */
  async #commitUntilKnown(batch: readonly Waiting[]): Promise<void> {
    let waiting = batch;
    let unsure: Attempt | undefined;
    while (waiting.length > 0 || unsure !== undefined) {
      try {
        if (unsure !== undefined && (await this.#hasLanded(unsure))) return this.#answer(unsure);
        unsure?.offers?.end(false);
        unsure = undefined;
        if (waiting.length > 0) this.#answer(await this.#attempt(waiting));
        return;
      } catch (error) {
        if (error instanceof TransactionAbortedError) {
          waiting = this.#dismissLate(waiting, error);
          // Two transactions that abort each other must not begin again at the same moment.
          await delay(Math.random() * abortedPauseMs);
          continue;
        }
        if (error instanceof StatementGivenUpError && unsure === undefined) throw error;
        if (error instanceof FateUnknownError) unsure = error.attempt;
        else if (!(error instanceof StoreUnavailableError)) throw error;
        waiting = this.#dismissLate(waiting, error);
        this.#queue = this.#dismissLate(this.#queue, error);
        await delay(retryStoreMs);
      }
    }
  }

  async #attempt(batch: readonly Waiting[]): Promise<Attempt> {
    const { plans, limits, nodeId, idempotencyHours, maxBatchBytes, hasRoomForCall, beginsAtOnce, clock, database } =
      this.#options;
    const startedAt = performance.now();
    const commitId = randomUUID();
    const leaseTerm = this.#options.leaseTerm();
    const context: BatchContext = {
      plans,
      limits,
      nodeId,
      now: clock.now(),
      commitId,
      idempotencyHours,
      maxBytes: maxBatchBytes,
      maxDescendantsPerJob: this.#options.maxDescendantsPerJob,
      recentValues: this.#options.recentValues,
      turn: this.#turns.begin(jobCountsOf(batch)),
      hasRoomForCall,
      storeFullError: this.#options.storeFullError,
      beginsAtOnce: beginsAtOnce(),
      offers: this.#options.offers?.(),
    };
    const { offers } = context;
    const commands = batch.map(({ command }) => command);
    let attempt: Attempt | undefined;
    try {
      const work = async (transaction: Transaction) => {
        const applied = await applyBatch(transaction, commands, context);
        attempt = { batch, applied, commitId, startedAt, leaseTerm, offers };
        return attempt;
      };
      // An idempotency key that another node is claiming at the same time cannot be skipped. So this transaction waits for it, but only for a short
      // time.
      return await database.transaction(work, { lockTimeoutMs: shortLockTimeoutMs, isKeyed: true });
    } catch (error) {
      if (attempt !== undefined && error instanceof StoreUnavailableError && error.fate === "unknown") {
        throw new FateUnknownError(attempt, error);
      }
      offers?.end(false);
      throw error;
    }
  }

  async #hasLanded({ applied, commitId }: Attempt): Promise<boolean> {
    const [changed] = applied.changed;
    const first = changed?.entries[0];
    // When no job was changed, only counters and replays were written. Writing those again does no harm.
    if (changed === undefined || first === undefined) return false;
    return await hasCommit(this.#options.database, changed.job, first.sequence, commitId);
  }

  #answer({ batch, applied, startedAt, leaseTerm, offers }: Attempt): void {
    const durationMs = performance.now() - startedAt;
    this.#options.onCommitted(applied.changed, { commandCount: batch.length, durationMs, leaseTerm });
    offers?.end(true);
    for (const [index, waiting] of batch.entries()) {
      const outcome = applied.outcomes[index];
      if (outcome === undefined) continue;
      if (outcome.type === "failed") this.#fail(waiting, outcome.error);
      else if (outcome.type === "held") this.#tryLater(waiting, false);
      else if (outcome.type === "deferred") this.#deferred.push(waiting);
      else {
        if (outcome.type === "done") this.#options.plans.parking.releaseJob(waiting.command.jobId);
        waiting.resolve(outcome);
      }
    }
  }

  #dismissLate(waiting: readonly Waiting[], cause: Error): Waiting[] {
    const now = performance.now();
    return waiting.filter(({ deadline, reject }) => {
      if (deadline > now) return true;
      const message =
        "The store is out of reach. The result of this change is unknown. Retry with the same Idempotency-Key.";
      reject(new ServiceError("UnavailableError", message, { retryAfterSeconds: 2, cause }));
      return false;
    });
  }
}

interface Attempt {
  readonly batch: readonly Waiting[];
  readonly applied: AppliedBatch;
  readonly commitId: string;
  readonly startedAt: number;
  readonly leaseTerm: number;
  readonly offers: TaskOffers | undefined;
}

/** Thrown when the connection was lost during COMMIT. */
class FateUnknownError extends Error {
  readonly attempt: Attempt;

  constructor(attempt: Attempt, cause: unknown) {
    super("It is not known whether the commit landed.", { cause });
    this.attempt = attempt;
  }
}

/**
 * Returns the size of the parts into which a batch with a slow statement is split. Each slow statement uses its whole time limit before it is given
 * up, so the failing command must be found in few rounds. A batch of 400 commands (the default maximum) takes three: parts of 400, 20 and 1.
 */
function partOfSlow(count: number): number {
  return count > 20 ? Math.ceil(Math.sqrt(count)) : 1;
}

function isOutcome(command: Command): boolean {
  return command.type === "fact" && (command.fact.type === "step.succeeded" || command.fact.type === "step.failed");
}

function tooCostly(): ServiceError {
  const message =
    "Reading, checking and writing this organization's values takes more time than its share on this node. Nothing was changed. Send fewer jobs and events at the same time, make the values smaller, or make the schemas simpler: patterns and large enumerations cost most.";
  return new ServiceError("RateLimitError", message, { retryAfterSeconds: 1 });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** The pause before the store is tried again. */
const retryStoreMs = 200;
/** The longest pause after the database aborted a transaction. */
const abortedPauseMs = 10;
const watchdogMs = 250;

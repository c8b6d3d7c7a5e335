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
import type { RecentValues } from "../reading/recent-values.ts";
import type { TaskOffers } from "../tasks/task-offers.ts";
import { type AppliedBatch, applyBatch, type BatchContext, type ChangedJob } from "./batch.ts";
import type { Command, Outcome } from "./command.ts";
import { type Held, heldAgain, heldByOthers } from "./held.ts";
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
  /** Left out: every value is read anew. */
  readonly recentValues?: RecentValues;
  readonly idempotencyHours: number;
  readonly hasRoomForCall: (organizationId: string) => boolean;
  readonly storeFullError: (organizationId: string) => ServiceError | undefined;
  /** Begins to count the calls of one batch: answers of each in turn whether it will begin at once. */
  readonly beginsAtOnce: () => (organizationId: string) => boolean;
  /** Begins to offer the tasks of one batch to workers that wait on this node. Left out: tasks wait until somebody looks for them. */
  readonly offers?: () => TaskOffers;
  /** This node's, by which it owns the calls that a commit hands to it. */
  readonly leaseTerm: () => number;
  /** Called after each commit, before its callers are answered. Must not throw. */
  readonly onCommitted: (changed: readonly ChangedJob[], stats: CommitStats) => void;
  /** Called with a caller's command that could not be applied for a reason that is not the caller's: a defect, to be logged. */
  readonly onDefect: (error: unknown, command: Command) => void;
}

export interface CommitStats {
  readonly commandCount: number;
  readonly durationMs: number;
  /**
   * In which the commit was begun. Whether it landed may be known much later, when the store is back: then others may have taken its calls over.
   */
  readonly leaseTerm: number;
}

/** The outcome that a command is answered with in the end. */
type Answer = Exclude<Outcome, { type: "held" | "deferred" }>;

export type Done = Extract<Outcome, { type: "done" | "replayed" }>;

/** The sender of a command: a caller's command has a deadline, the engine's own facts wait until the store is back. */
export type Sender = "caller" | "engine";

/**
 * The one way in for every durable change of a job. Commands queue up; what is there, up to a bound, is one transaction. When nothing
 * is under way the queue is drained at the end of the same turn of the event loop, so a single caller waits for one commit; under load the
 * batches grow by themselves. Nothing ever waits for a timer.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #groups = new Map<string, Group>();
  readonly #queuedByOrganization = new Map<string, number>();
  #queued = 0;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Answers once the change is committed. Throws `ServiceError` when the command was rejected, or when the store is out of reach. */
  async commit(command: Command, sender: Sender = "caller"): Promise<Done> {
    const { organizationId } = command;
    // The engine's commands that make children can wait where they are.
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

  /** What one organization may not have any more, others still may: it is told so as a limit of its own. */
  #requireRoom(organizationId: string): void {
    const { maxQueuedFacts, maxQueuedFactsPerOrganization } = this.#options;
    const retryAfterSeconds = 1;
    if (this.#queued >= maxQueuedFacts) {
      const detail = "The service has more work than it can write. Try again in a moment.";
      throw new ServiceError("UnavailableError", detail, { retryAfterSeconds });
    }
    if ((this.#queuedByOrganization.get(organizationId) ?? 0) < maxQueuedFactsPerOrganization) return;
    const detail = `${maxQueuedFactsPerOrganization} changes of this organization wait to be written on this node already, which is its share of the queue. Try again in a moment, and send fewer at once. The operator can change the share with STEPWELL_MAX_QUEUED_FACTS_PER_ORGANIZATION.`;
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

interface Waiting {
  readonly command: Command;
  readonly sender: Sender;
  /** Reading of the monotonic timer past which the caller gets 503. */
  readonly deadline: number;
  readonly resolve: (outcome: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** Undefined until another transaction was found to hold what the command is about. */
  readonly held?: Held;
}

/** The commands of organizations that can change in one transaction. */
class Group {
  readonly #options: GroupCommitOptions;
  readonly #turns = new Turns();
  #queue: Waiting[] = [];
  #isDraining = false;
  #underWay: readonly Waiting[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  add(waiting: Waiting): void {
    const restMs = this.#turns.restMs(waiting.command.organizationId);
    if (restMs > 0) {
      this.#addAfter(restMs, waiting);
      return;
    }
    this.#queue.push(waiting);
    if (this.#isDraining) return;
    this.#isDraining = true;
    setImmediate(() => void this.#drain());
  }

  #addAfter(restMs: number, waiting: Waiting): void {
    const leftMs = waiting.deadline - performance.now();
    const addOrRefuse = () => (leftMs > restMs ? this.add(waiting) : waiting.reject(tooCostly()));
    setTimeout(addOrRefuse, Math.max(0, Math.min(restMs, leftMs))).unref();
  }

  async #drain(): Promise<void> {
    // A half-open connection answers nothing and fails nothing: callers must not wait for its timeout.
    const watchdog = setInterval(() => this.#dismissOverdue(), watchdogMs);
    while (this.#queue.length > 0) {
      this.#underWay = this.#takeBatch();
      await this.#commitWhole(this.#underWay);
      // The embedded store answers without a turn of the event loop: let requests in, or every batch would be of one.
      await new Promise((resolve) => setImmediate(resolve));
    }
    clearInterval(watchdog);
    this.#isDraining = false;
  }

  #dismissOverdue(): void {
    const silence = new Error("The store has not answered yet.");
    this.#dismissLate(this.#underWay, silence);
    this.#queue = this.#dismissLate(this.#queue, silence);
  }

  /**
   * In the order of arrival, up to the bounds, of each organization as many as it has room for; a second command with the same idempotency key
   * waits for the next batch. What concerns a job that failed alone goes alone from then on, so that the others' batches need not be cut up for it again.
   */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const keys = new Set<string>();
    const taken = new Map<string, number>();
    let bytes = 0;
    for (const [index, waiting] of this.#queue.entries()) {
      const { organizationId, idempotency } = waiting.command;
      const key = idempotency === undefined ? undefined : `${organizationId} ${idempotency.key}`;
      const restMs = this.#turns.restMs(organizationId);
      if (restMs > 0) {
        this.#addAfter(restMs, waiting);
        continue;
      }
      const isFull =
        batch.length >= this.#options.maxBatchSize ||
        (batch.length > 0 && bytes + waiting.command.bytes > this.#options.maxBatchBytes);
      if (isFull) {
        left.push(...this.#queue.slice(index));
        break;
      }
      const isOnTrial =
        waiting.held?.isWaitedFor === true || this.#options.plans.parking.isOnTrial(waiting.command.jobId);
      const takenOfOrganization = taken.get(organizationId) ?? 0;
      const hasRoom = takenOfOrganization < this.#turns.roomOf(organizationId);
      if ((key !== undefined && keys.has(key)) || (isOnTrial && batch.length > 0) || !hasRoom) {
        left.push(waiting);
        continue;
      }
      if (key !== undefined) keys.add(key);
      taken.set(organizationId, takenOfOrganization + 1);
      batch.push(waiting);
      bytes += waiting.command.bytes;
      if (isOnTrial) {
        left.push(...this.#queue.slice(index + 1));
        break;
      }
    }
    this.#queue = left;
    return batch;
  }

  /** Commits a batch; one that fails is cut up: until the command that it fails on fails alone, or until it is not too much at once. */
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
        // Callers that waited for too long were answered meanwhile.
        await this.#commitWhole(this.#dismissLate(batch.slice(start, start + size), asError(error)));
      }
    }
  }

  /** Another node holds a row for some milliseconds; a session that somebody forgot may hold it for hours. */
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

  /** Answers a command that failed alone. A fact of the engine parks its job: it would come back at once, and fail again. */
  #fail(waiting: Waiting, error: unknown): void {
    const { command, sender, reject } = waiting;
    const { parking } = this.#options.plans;
    const isOfJob = command.type === "fact";
    if (isOfJob && sender === "engine") parking.parkJob(command, error);
    else this.#options.onDefect(error, command);
    const parked = isOfJob ? parking.findTrial(command.jobId) : undefined;
    if (parked !== undefined && error instanceof StatementGivenUpError && isOutcome(command)) {
      // The outcome of a call must not be lost for a shortage that passes.
      const { held: _, ...again } = waiting;
      setTimeout(() => this.add(again), parked.retryInMs).unref();
      return;
    }
    reject(parked === undefined ? error : jobParked(parked, error));
  }

  /**
   * Goes on while the store is out of reach; callers leave at their deadline. A commit whose answer was lost is looked up before anything
   * is applied again, also when all its callers have left: its calls may be ours to make.
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
        if (error instanceof TransactionAbortedError) continue;
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
      turn: this.#turns.begin(isOfSeveral(batch)),
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
      // It cannot pass over an idempotency key that another node claims at this moment.
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
    // Without a changed job nothing but counters and replays was written: doing that again does no harm.
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
      else if (outcome.type === "deferred") this.add(waiting);
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
        "The store is out of reach. Whether this change was kept is not known yet: ask again, best under the same Idempotency-Key.";
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

/** The connection was lost during COMMIT. */
class FateUnknownError extends Error {
  readonly attempt: Attempt;

  constructor(attempt: Attempt, cause: unknown) {
    super("It is not known whether the commit landed.", { cause });
    this.attempt = attempt;
  }
}

function isOfSeveral(batch: readonly Waiting[]): boolean {
  return batch.some(({ command }) => command.organizationId !== batch[0]?.command.organizationId);
}

/** A statement takes its whole time before it is given up: the one row that it fails on must be found in three rounds. */
function partOfSlow(count: number): number {
  return count > 20 ? Math.ceil(Math.sqrt(count)) : 1;
}

/** True for the outcome of a call. */
function isOutcome(command: Command): boolean {
  return command.type === "fact" && (command.fact.type === "step.succeeded" || command.fact.type === "step.failed");
}

function tooCostly(): ServiceError {
  const message =
    "To hold this organization's values against its schemas takes this node longer than the organization's share of its time. Nothing was changed. Send fewer jobs and events at once, or make the schemas simpler: patterns and large enumerations cost most.";
  return new ServiceError("RateLimitError", message, { retryAfterSeconds: 1 });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** How long to wait before the store is asked again. */
const retryStoreMs = 200;
const watchdogMs = 250;

import { setTimeout as delay } from "node:timers/promises";
import { callNameOf, callsOf, idempotencyKeyOf } from "../../core/job/call.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import type { Job } from "../../core/job/job-state.ts";
import { callOf, type PlanStep } from "../../core/plan/plan.ts";
import { StatementGivenUpError, StoreUnavailableError, TransactionAbortedError } from "../../store/home/database.ts";
import { FairQueue } from "../../store/home/fair-queue.ts";
import type { CallKey } from "../../store/jobs/job-calls.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { ChangedJob } from "../commit/batch.ts";
import { type CallRequest, type CallResult, type Executor, maxTimerMs } from "../executors/executor.ts";
import { type BranchKey, type OwedCall, OwedCalls } from "./owed-calls.ts";

export interface DispatcherOptions {
  readonly executors: ReadonlyMap<string, Executor>;
  /** Reports an outcome as a fact. Returns only after the fact is committed. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** Reports, as a fact, that this node gives up a call because the node stops. Throws when the store is out of reach for too long. */
  readonly handBack: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  readonly lease: Lease;
  /** Whether this node still holds the call. */
  readonly isHolder: (call: CallKey) => Promise<boolean>;
  /** Notes that the call begins. Returns false when this node does not hold it any more. */
  readonly noteBegun: (call: CallKey) => Promise<boolean>;
  /**
   * Makes the child job of a call. Returns the outcome of the call. Returns undefined when the child will report the outcome itself, when the call is
   * over, or when another node holds it.
   */
  readonly makeChild: (call: Pick<OwedCall, "job" | "effect">) => Promise<CallResult | undefined>;
  readonly maxCalls: number;
  readonly maxCallsPerOrganization: number;
  readonly maxQueuedCalls: number;
  readonly defaultTimeoutMs: number;
  /**
   * The longest time for which a suspect (`core/job/interruptions.ts`) keeps other suspects from beginning. A call that crashes its node mostly does
   * so soon.
   */
  readonly suspectTurnMs?: number;
  readonly random: () => number;
  readonly onDefect: (error: unknown) => void;
}

/** This node's lease, under which it holds calls. */
export interface Lease {
  /** False when the lease may have run out. Another node may hold this node's calls then, so this node must begin none. */
  isLeaseValid(): boolean;
  /** Grows by one whenever the lease is renewed after it had run out. */
  leaseTerm(): number;
}

/** Carries out effects: makes the calls that this node holds. The number of calls at a time is bounded, and organizations take turns. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queue: FairQueue<OwedCall>;
  readonly #owed = new OwedCalls();
  readonly #handBacks = new Set<Promise<void>>();
  /**
   * The suspect (`core/job/interruptions.ts`) whose turn it is. Suspects begin one at a time. So if the node dies soon after a suspect began, this
   * suspect is the probable cause.
   */
  #suspect: OwedCall | undefined;
  #laterSuspects: OwedCall[] = [];
  #isLeaving = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#queue = new FairQueue({ maxRunning: options.maxCalls, maxRunningPerOwner: options.maxCallsPerOrganization });
  }

  /**
   * Receives a committed change and the lease term in which its commit began. Queues the calls that the change asks for, and gives up the calls that
   * it made obsolete.
   */
  take({ job, calls, plan }: Omit<ChangedJob, "notices">, leaseTerm: number): void {
    this.#giveUpOvertaken(job);
    for (const { effect, begun: isNoted } of calls) {
      if (effect.task !== undefined) continue;
      const step = plan.steps.get(effect.step);
      const work = step && callOf(step);
      if (step === undefined || work === undefined) throw new Error(`The plan has no step ${effect.step} that calls.`);
      const abort = new AbortController();
      const { state: _, input: __, ...known } = job;
      const owed: OwedCall = { job: known, step, work, effect, leaseTerm, isNoted, abort, finished: undefined };
      this.#owed.add(owed);
      this.#queue.add(job.organizationId, owed);
      if (this.#isLeaving) this.#handBack(owed);
    }
    if (calls.length > 0) this.#beginWhatMay();
  }

  /**
   * Whether there is room in memory for another call of this organization. If there is no room, the job waits in the store. An organization without a
   * waiting call has room even if the queue is full, so that the backlog of another organization does not delay it. A node that is stopping has no
   * room.
   */
  hasRoom(organizationId: string): boolean {
    if (this.#isLeaving) return false;
    return this.#queue.waitingCount < this.#options.maxQueuedCalls || !this.#queue.isWaiting(organizationId);
  }

  /**
   * Returns a function that tells whether a call of one commit will begin as soon as the dispatcher gets it. Run the function once for each call, in
   * order, because it counts them.
   */
  beginsAtOnce(): (organizationId: string) => boolean {
    return this.#isLeaving ? () => false : this.#queue.beginsAtOnce();
  }

  crowdedOrganizations(): readonly string[] {
    return this.#isLeaving ? [] : this.#queue.waitingOwners;
  }

  roomCount(): number {
    return this.#isLeaving ? 0 : Math.max(0, this.#options.maxQueuedCalls - this.#queue.waitingCount);
  }

  owes(call: BranchKey): boolean {
    return this.#owed.find(call) !== undefined;
  }

  /** Returns whether the call of this branch has begun; undefined when this node holds no call of the branch. */
  hasBegun(call: BranchKey): boolean | undefined {
    const owed = this.#owed.find(call);
    return owed && owed.finished !== undefined;
  }

  get runningCount(): number {
    return this.#queue.runningCount;
  }

  get waitingCount(): number {
    return this.#queue.waitingCount + this.#laterSuspects.length;
  }

  /**
   * Begins nothing more, and hands back the calls that have not begun. Waits up to `graceMs` for the calls under way, and then hands back those that
   * have not ended.
   */
  async leave(graceMs: number): Promise<void> {
    this.#isLeaving = true;
    const owed = [...this.#owed.all()];
    for (const call of owed) if (call.finished === undefined) this.#handBack(call);
    const begun = owed.map((call) => call.finished);
    await Promise.race([Promise.all(begun), delay(graceMs, undefined, { ref: false })]);
    for (const call of this.#owed.all()) this.#handBack(call);
    await Promise.all(this.#handBacks);
  }

  #beginWhatMay(): void {
    if (this.#isLeaving) return;
    for (let owed = this.#queue.next(); owed !== undefined; owed = this.#queue.next()) {
      const { organizationId } = owed.job;
      if (!this.#owed.has(owed) || this.#mustWaitAsSuspect(owed)) {
        this.#queue.done(organizationId);
        continue;
      }
      owed.finished = this.#carryOut(owed).finally(() => {
        this.#queue.done(organizationId);
        this.#clearSuspect(owed);
        this.#owed.delete(owed);
        this.#beginWhatMay();
      });
    }
  }

  #mustWaitAsSuspect(owed: OwedCall): boolean {
    if (!owed.effect.isSuspect) return false;
    if (this.#suspect !== undefined) {
      this.#laterSuspects.push(owed);
      return true;
    }
    this.#suspect = owed;
    // A suspect may wait for an answer for hours, and the next suspect may be of another organization. So the turn ends after some time.
    const endTurn = () => {
      this.#clearSuspect(owed);
      this.#beginWhatMay();
    };
    setTimeout(endTurn, this.#options.suspectTurnMs ?? usualSuspectTurnMs).unref();
    return false;
  }

  #clearSuspect(owed: OwedCall): void {
    if (this.#suspect !== owed) return;
    this.#suspect = undefined;
    const waiting = this.#laterSuspects;
    this.#laterSuspects = [];
    for (const later of waiting) this.#queue.add(later.job.organizationId, later);
  }

  async #carryOut(owed: OwedCall): Promise<void> {
    const { job, effect, abort } = owed;
    try {
      // For a call that makes a child, the commit itself checks that this node holds the call.
      if (effect.child === undefined && !(await this.#mayBegin(owed))) return;
      if (abort.signal.aborted) return;
      const result = await (effect.child === undefined ? this.#call(owed) : this.#options.makeChild(owed));
      if (abort.signal.aborted || result === undefined) return;
      const call = callNameOf(effect);
      if (result.type === "succeeded") {
        await this.#options.report(job, { type: "step.succeeded", ...call, output: result.output });
      } else {
        const { type: _, ...failure } = result;
        await this.#options.report(job, { type: "step.failed", ...call, failure, random: this.#options.random() });
      }
    } catch (error) {
      if (!abort.signal.aborted) this.#options.onDefect(error);
    }
  }

  /** Whether this node may begin the call. A node that was paused for longer than its lease must not repeat what its successor has done. */
  async #mayBegin({ job, effect, leaseTerm, isNoted, abort }: OwedCall): Promise<boolean> {
    const { lease, isHolder, noteBegun } = this.#options;
    const { organizationId, jobId } = job;
    const call = { organizationId, jobId, ...callNameOf(effect) };
    for (;;) {
      while (!lease.isLeaseValid()) await delay(leaseCheckMs, undefined, { signal: abort.signal });
      try {
        const term = lease.leaseTerm();
        const isOurs = isNoted ? leaseTerm === term || (await isHolder(call)) : await noteBegun(call);
        if (!isOurs) return false;
        // The process may have been paused for longer than its lease while it waited for the answer.
        if (lease.isLeaseValid() && lease.leaseTerm() === term) return true;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError || error instanceof TransactionAbortedError)) throw error;
        // When the database has given up a statement, the next try may also take the whole time limit, and other calls wait for their notes
        // meanwhile. So the pause is longer.
        const pauseMs = error instanceof StatementGivenUpError ? givenUpPauseMs : leaseCheckMs;
        await delay(pauseMs, undefined, { signal: abort.signal });
      }
    }
  }

  async #call(owed: OwedCall): Promise<CallResult> {
    const { step, work, abort } = owed;
    const executor = this.#options.executors.get(step.type);
    if (executor?.behaviour !== "call") throw new Error(`No executor calls ${step.type}.`);
    const timeoutMs = Math.min(work.timeoutMs ?? this.#options.defaultTimeoutMs, maxTimerMs);
    // Neither AbortSignal.timeout nor AbortSignal.any is used. The first keeps its listeners until the time is up (15 minutes by default), and the
    // second keeps them forever.
    const ending = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      ending.abort(new DOMException("The time is up.", "TimeoutError"));
    }, timeoutMs);
    abort.signal.addEventListener("abort", () => ending.abort(abort.signal.reason), { once: true });
    // An executor that ignores its signal must not delay the job.
    const ended = new Promise<CallResult>((resolve) => {
      ending.signal.addEventListener("abort", () => resolve(timedOut(step, timeoutMs)), { once: true });
    });
    const call = executor.call(requestOf(owed, timeoutMs), ending.signal).catch((error: unknown): CallResult => {
      if (isLate) return timedOut(step, timeoutMs);
      const message = error instanceof Error ? error.message : String(error);
      return { type: "failed", kind: "ordinary", error: { code: "ExecutorError", message } };
    });
    try {
      return await Promise.race([call, ended]);
    } finally {
      clearTimeout(timer);
    }
  }

  #giveUpOvertaken({ jobId, state }: Job): void {
    const owed = [...this.#owed.ofJob(jobId)];
    if (owed.length === 0) return;
    const epochs = new Set(callsOf(state).map(({ epoch }) => epoch));
    for (const known of owed) if (!epochs.has(known.effect.epoch)) this.#giveUp(known);
  }

  #giveUp(owed: OwedCall): void {
    owed.abort.abort();
    this.#owed.delete(owed);
  }

  #handBack(owed: OwedCall): void {
    this.#giveUp(owed);
    const handBack = this.#reportHandBack(owed).finally(() => this.#handBacks.delete(handBack));
    this.#handBacks.add(handBack);
  }

  async #reportHandBack(owed: OwedCall): Promise<void> {
    try {
      await this.#options.handBack(owed.job, {
        type: "call.handedBack",
        ...callNameOf(owed.effect),
        begun: owed.finished !== undefined,
      });
    } catch (error) {
      // Another node takes over the call once this node has stopped or counts as dead.
      this.#options.onDefect(error);
    }
  }
}

const usualSuspectTurnMs = 60_000;
const leaseCheckMs = 100;
const givenUpPauseMs = 5_000;

function requestOf({ job, step, effect }: OwedCall, timeoutMs: number): CallRequest {
  return {
    organizationId: job.organizationId,
    jobId: job.jobId,
    stepName: step.name,
    visit: effect.visit,
    attempt: effect.attempt,
    idempotencyKey: idempotencyKeyOf({ jobId: job.jobId, ...callNameOf(effect) }),
    config: effect.config,
    input: effect.input,
    timeoutMs,
  };
}

function timedOut(step: PlanStep, timeoutMs: number): CallResult {
  const message = `${step.name} did not answer within ${timeoutMs / 1000} s.`;
  return { type: "failed", kind: "ordinary", error: { code: "Timeout", message } };
}

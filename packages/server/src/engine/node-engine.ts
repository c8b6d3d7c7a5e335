import { randomUUID } from "node:crypto";
import type { Config, MaximumName } from "../config.ts";
import type { ForkRun, ForkSearch } from "../core/job/branch-runs.ts";
import type { UntimedFact } from "../core/job/fact.ts";
import type { PlainEntry, StepRun } from "../core/job/history.ts";
import { timeoutAtOf, wakeAtOf } from "../core/job/job-state.ts";
import type { JsonValue } from "../core/json/json.ts";
import type { Plan } from "../core/plan/plan.ts";
import { ServiceError } from "../core/service-error.ts";
import type { Timestamp } from "../core/time.ts";
import type { Database } from "../store/home/database.ts";
import { type CallKey, holdsCall } from "../store/jobs/job-calls.ts";
import type { JobKey, JobStanding } from "../store/jobs/jobs.ts";
import type { QueueKey } from "../store/jobs/tasks.ts";
import { BegunCalls } from "./calls/begun-calls.ts";
import { Dispatcher } from "./calls/dispatcher.ts";
import type { BranchKey } from "./calls/owed-calls.ts";
import { ChildMaker } from "./children/child-maker.ts";
import type { ChangedJob } from "./commit/batch.ts";
import type { Command } from "./commit/command.ts";
import { type CommitStats, type Done, GroupCommit, type Sender } from "./commit/group-commit.ts";
import type { Engine, Unreadiness } from "./engine.ts";
import type { Executor } from "./executors/executor.ts";
import { newId } from "./identifier.ts";
import { type JobDuties, jobDuties } from "./job-duties.ts";
import { type Duty, DutyRoster } from "./maintenance/duty.ts";
import { StoredBytes } from "./maintenance/stored-bytes.ts";
import { DatabaseClock } from "./node/clock.ts";
import { Node } from "./node/node.ts";
import type { Parking } from "./plans/parking.ts";
import type { Plans } from "./plans/plans.ts";
import type { EntrySearch, Portion, RunSearch } from "./reading/job-history.ts";
import { JobReader } from "./reading/job-reader.ts";
import { JobWatch } from "./reading/job-watch.ts";
import { RecentJobs } from "./reading/recent-jobs.ts";
import { WaitingPlaces } from "./reading/waiting-places.ts";
import type { WholeJob } from "./reading/whole-job.ts";
import { heartbeat } from "./tasks/heartbeat.ts";
import { SeenWorkers } from "./tasks/seen-workers.ts";
import { type Poll, TaskDesk } from "./tasks/task-desk.ts";
import type { Task } from "./tasks/task-inputs.ts";
import { RecentValues } from "./values/recent-values.ts";

export interface NodeEngineOptions {
  readonly config: Config;
  readonly database: Database;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly plans: Plans;
  /** True on the embedded store, which no second process can open. */
  readonly isAlone: boolean;
  /** An organization's maximum, as this node knows it. */
  readonly maximumOf: (organizationId: string, name: MaximumName) => number;
  /** Counts a job that another job begins. Returns the seconds to wait before a retry when the organization has reached its submit rate limit. */
  readonly countChild: (organizationId: string) => Promise<number | undefined>;
  readonly onCommitted: (changed: readonly ChangedJob[], stats: CommitStats) => void;
  /** Receives, for each task of a poll, the time in milliseconds since it was due. */
  readonly onTasksHandedOut: (dueForMs: readonly number[]) => void;
  /** Receives the number of workers' leases that this node found expired. */
  readonly onLeasesLost: (count: number) => void;
  readonly onFailure: (where: string, error: unknown) => void;
}

/** The engine of one node: it creates the parts and connects them. `service.ts` starts and stops it. */
export class NodeEngine implements Engine {
  readonly nodeId = randomUUID();
  readonly #clock = new DatabaseClock();
  readonly #config: Config;
  readonly #database: Database;
  readonly #onFailure: NodeEngineOptions["onFailure"];
  readonly #onTasksHandedOut: NodeEngineOptions["onTasksHandedOut"];
  readonly #groupCommit: GroupCommit;
  readonly #dispatcher: Dispatcher;
  readonly #parking: Parking;
  readonly #recent = new RecentJobs();
  readonly #reader: JobReader;
  readonly #places: WaitingPlaces;
  readonly #watch: JobWatch;
  readonly #node: Node;
  readonly #roster: DutyRoster;
  readonly #duties: JobDuties;
  readonly #desk: TaskDesk;
  readonly #seenWorkers: SeenWorkers;
  readonly #storedBytes: Duty;
  #isStarted = false;
  #isLeaving = false;

  constructor(options: NodeEngineOptions) {
    const { config, database, executors, plans, onFailure } = options;
    this.#config = config;
    this.#database = database;
    this.#onFailure = onFailure;
    this.#onTasksHandedOut = options.onTasksHandedOut;
    this.#parking = plans.parking;
    const { maxStepRunsPerJob: maxStepRuns, maxEventsPerJob: maxEvents, maxOutputBytes, maxCarriedBytes } = config;
    const limits = { maxStepRuns, maxEvents, maxOutputBytes, maxCarriedBytes };
    this.#node = new Node({
      database,
      clock: this.#clock,
      nodeId: this.nodeId,
      name: config.nodeName,
      leaseMs: config.leaseMs,
      heartbeatMs: config.heartbeatMs,
      isAlone: options.isAlone,
    });
    const begunCalls = new BegunCalls(database, this.nodeId);
    this.#roster = new DutyRoster((duty, error) => onFailure(`duty ${duty}`, error));
    this.#reader = new JobReader({ database, recent: this.#recent, isAlone: options.isAlone });
    this.#places = new WaitingPlaces({
      maxCount: config.maxWaitingRequests,
      maxCountOf: (organizationId) => options.maximumOf(organizationId, "waitingRequests"),
    });
    this.#watch = new JobWatch(database.requests, this.#places);
    const recentValues = new RecentValues();
    this.#desk = new TaskDesk({
      database: database.requests,
      recent: this.#recent,
      recentValues,
      places: this.#places,
      maxBytes: config.maxBatchBytes,
      onFailure: (error) => onFailure("task desk", error),
    });
    this.#seenWorkers = new SeenWorkers(database, () => this.#clock.now());
    const childMaker = new ChildMaker({
      database,
      commit: (command) => this.commit(command, "engine"),
      count: options.countChild,
      readJob: (key) => this.#reader.read(key),
    });
    this.#dispatcher = new Dispatcher({
      executors,
      report: (key, fact) => this.#report(key, fact, "engine"),
      handBack: (key, fact) => this.#report(key, fact, "caller"),
      lease: this.#node,
      noteBegun: (call) => begunCalls.note(call),
      isHolder: (call) => holdsCall(database, this.nodeId, call),
      makeChild: (call) => childMaker.make(call),
      maxCalls: config.maxCalls,
      maxCallsPerOrganization: config.maxCallsPerOrganization,
      maxQueuedCalls: config.maxQueuedCalls,
      defaultTimeoutMs: config.defaultCallTimeoutSeconds * 1000,
      random: Math.random,
      onDefect: (error) => onFailure("dispatcher", error),
    });
    const storedBytes = new StoredBytes({
      database,
      maximumMbOf: (organizationId) => options.maximumOf(organizationId, "storedMb"),
    });
    this.#storedBytes = storedBytes.duty();
    this.#groupCommit = new GroupCommit({
      database,
      clock: this.#clock,
      plans,
      nodeId: this.nodeId,
      limits,
      maxBatchSize: config.maxBatchSize,
      maxBatchBytes: config.maxBatchBytes,
      maxDescendantsPerJob: config.maxDescendantsPerJob,
      maxQueuedFacts: config.maxQueuedFacts,
      maxQueuedFactsPerOrganization: config.maxQueuedFactsPerOrganization,
      commitTimeoutMs: config.commitTimeoutMs,
      recentValues,
      idempotencyHours: config.idempotencyHours,
      hasRoomForCall: (organizationId) => this.#dispatcher.hasRoom(organizationId),
      storeFullError: (organizationId) => storedBytes.fullError(organizationId),
      beginsAtOnce: () => this.#dispatcher.beginsAtOnce(),
      offers: () => this.#desk.offers(),
      leaseTerm: () => this.#node.leaseTerm(),
      onCommitted: (changed, stats) => {
        // A batch that is committed must never look like a failed one, or it would be applied again.
        try {
          for (const job of changed) this.#follow(job, stats.leaseTerm);
          options.onCommitted(changed, stats);
        } catch (error) {
          onFailure("after a commit", error);
        }
      },
      onDefect: (error) => onFailure("group commit", error),
    });
    this.#duties = jobDuties({
      config,
      database,
      clock: this.#clock,
      nodeId: this.nodeId,
      plans,
      node: this.#node,
      dispatcher: this.#dispatcher,
      tell: (key, fact) => this.#tell(key, fact),
      report: (key, fact) => this.#report(key, fact, "engine"),
      onLeasesLost: options.onLeasesLost,
    });
  }

  /** Throws when the store cannot be reached: without a heartbeat, the node has no lease under which it could work. */
  async start(): Promise<void> {
    await this.#node.runOnce();
    this.#isStarted = true;
    const { heartbeatMs } = this.#config;
    this.#roster.start({ name: "heartbeat", everyMs: heartbeatMs, runOnce: () => this.#beat() });
    this.#roster.start(this.#duties.timers);
    this.#roster.start(this.#duties.takeover);
    this.#roster.start(this.#duties.lostTasks);
    this.#roster.start(this.#duties.jobNotices);
    this.#roster.start(this.#seenWorkers.duty(seenWorkersMs, () => this.#desk.waiting()));
    this.#roster.start(this.#storedBytes);
    this.#roster.start(this.#watch.pollDuty(watchPollMs, () => this.#node.hasOthers()));
    this.#roster.start(this.#desk.pollDuty(watchPollMs, () => this.#node.hasOthers()));
    this.#roster.hurry(this.#duties.takeover, 0);
    this.#roster.hurry(this.#duties.timers, 0);
  }

  addDuty(duty: Duty): void {
    this.#roster.start(duty);
  }

  /** Makes the node unready, and answers waiting requests with the present state. Other requests and calls go on. */
  drain(): void {
    this.#isLeaving = true;
    this.#watch.close();
    this.#desk.close();
  }

  /** Finishes the calls under way or hands them back, then removes this node from the list of nodes. */
  async stop(): Promise<void> {
    this.drain();
    await this.#dispatcher.leave(this.#config.drainSeconds * 1000);
    await this.#roster.stop(this.#config.commitTimeoutMs);
    // If this fails, the other nodes find out at the end of the lease that this node is gone.
    if (this.#isStarted) await this.#node.leave().catch((error: unknown) => this.#onFailure("leaving", error));
  }

  commit(command: Command, sender: Sender = "caller"): Promise<Done> {
    return this.#groupCommit.commit(command, sender);
  }

  readJob(key: JobKey, withValues = true): Promise<WholeJob | undefined> {
    return this.#reader.read(key, { withValues });
  }

  readStanding(key: JobKey): Promise<JobStanding | undefined> {
    return this.#reader.standing(key);
  }

  readHistory(key: JobKey, search: EntrySearch): Promise<Portion<PlainEntry> | undefined> {
    return this.#reader.readHistory(key, search);
  }

  readSteps(key: JobKey, search: RunSearch): Promise<Portion<StepRun>> {
    return this.#reader.readSteps(key, search);
  }

  readBranches(key: JobKey, plan: Plan, search: ForkSearch): Promise<ForkRun | undefined> {
    return this.#reader.readBranches(key, plan, search);
  }

  async waitForJob(
    key: JobKey,
    isReached: (standing: JobStanding) => boolean,
    deadline: number,
    signal: AbortSignal,
  ): Promise<WholeJob | undefined> {
    let changed = Promise.withResolvers<void>();
    const wake = () => changed.resolve();
    // The watch begins before the first read. Otherwise a change between the read and the watch would be missed.
    const unwatch = this.#watch.add(key, wake);
    // The timer may fire a moment before `performance.now()` reaches the deadline. So it sets a flag, and no times are compared.
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        wake();
      },
      Math.max(0, deadline - performance.now()),
    );
    signal.addEventListener("abort", wake, { once: true });
    try {
      let seen = await this.#reader.look(key);
      while (seen !== undefined) {
        const { standing, whole } = seen;
        const mustAnswer = isLate || signal.aborted || this.#watch.isClosed;
        if (mustAnswer || isReached(standing)) return whole ?? (await this.#reader.read(key, { known: standing }));
        await changed.promise;
        changed = Promise.withResolvers<void>();
        const next = await this.readStanding(key);
        seen = next && { standing: next };
      }
      return undefined;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      unwatch();
    }
  }

  watchJob(key: JobKey, onChange: () => void): () => void {
    return this.#watch.add(key, onChange);
  }

  noteQueue(key: QueueKey): void {
    this.#desk.ring(key);
  }

  async pollTasks(poll: Poll): Promise<readonly Task[]> {
    this.#seenWorkers.note(poll);
    const tasks = await this.#desk.poll(poll);
    const now = this.#clock.now();
    this.#onTasksHandedOut(tasks.map(({ dueAt }) => Math.max(0, now - dueAt)));
    return tasks;
  }

  putTasksBack(tasks: readonly Task[]): Promise<void> {
    return this.#desk.putBack(tasks);
  }

  holdTask(call: CallKey, progress: JsonValue): Promise<Timestamp | undefined> {
    // A worker's request must not take a connection from commits.
    return heartbeat(this.#database.requests, call, progress);
  }

  hasBegunCall(call: BranchKey): boolean | undefined {
    return this.#dispatcher.hasBegun(call);
  }

  waitingCountOf(organizationId: string): number {
    return this.#places.countOf(organizationId);
  }

  hasRoomForCall(organizationId: string): boolean {
    return this.#dispatcher.hasRoom(organizationId);
  }

  now(): Timestamp {
    return this.#clock.now();
  }

  newId(): string {
    return newId(this.#clock.now());
  }

  unreadiness(): Unreadiness | undefined {
    if (!this.#isStarted) return "starting";
    return this.#isLeaving ? "draining" : this.#node.storeTrouble();
  }

  /** How many nodes of the service are alive, this one included, as of the last heartbeat. */
  nodeCount(): number {
    return this.#node.livingCount();
  }

  gauges() {
    return {
      queuedFacts: this.#groupCommit.queuedCount,
      runningCalls: this.#dispatcher.runningCount,
      waitingCalls: this.#dispatcher.waitingCount,
      waitingRequests: this.#places.count,
      parkedVersions: this.#parking.versionCount,
      parkedJobs: this.#parking.jobCount,
    };
  }

  async #beat(): Promise<undefined> {
    await this.#node.runOnce();
    return undefined;
  }

  /** Acts on a committed change: starts its calls, sets its timer, and notifies those who wait for the job. */
  #follow(changed: ChangedJob, leaseTerm: number): void {
    const { job, entries, calls, notices } = changed;
    this.#recent.follow(job, entries);
    this.#dispatcher.take(changed, leaseTerm);
    for (const { effect, begun } of calls) {
      if (effect.task !== undefined && !begun)
        this.#desk.ring({ organizationId: job.organizationId, queue: effect.task.queue });
    }
    if (notices.length > 0) this.#roster.hurry(this.#duties.jobNotices, 0);
    for (const dueAt of [wakeAtOf(job.state), timeoutAtOf(job.state)]) {
      const inMs = (dueAt ?? Number.POSITIVE_INFINITY) - this.#clock.now();
      if (inMs < this.#config.pollMs) this.#roster.hurry(this.#duties.timers, inMs);
    }
    this.#watch.notify(job);
  }

  /** Returns whether the fact changed the job. Returns false for a job that is parked or gone, so that the duty continues with the other jobs. */
  async #tell(key: JobKey, fact: UntimedFact): Promise<boolean> {
    try {
      const done = await this.#report(key, fact, "engine");
      return done.type === "done" && done.entries.length > 0;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }

  async #report(key: JobKey, fact: UntimedFact, sender: Sender): Promise<Done> {
    const bytes = fact.type === "step.succeeded" ? JSON.stringify(fact.output).length : 0;
    return await this.commit({ type: "fact", ...key, fact, answer: () => ({}), bytes }, sender);
  }
}

/** How often this node looks for changes by other nodes. It looks only at jobs and queues for which somebody waits here. */
const watchPollMs = 100;
/** The precision with which the last poll of a worker is recorded. */
const seenWorkersMs = 5_000;

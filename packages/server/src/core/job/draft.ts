import { branchField, isInside, levelOf, mainBranch, parentOf, withAround } from "../branch-path.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { type ForkPlanStep, isFork, isWait, type Plan, type PlanStep, type WaitPlanStep } from "../plan/plan.ts";
import type { Timestamp } from "../time.ts";
import { type BranchResults, type NumberedResult, noResults } from "./branch-result.ts";
import { outcomeOf } from "./child-job.ts";
import { CommitWork } from "./commit-work.ts";
import { keepIndex, takeIndex } from "./cursor-index.ts";
import { type EventPayload, type EventPayloads, noPayloads } from "./events/event-payloads.ts";
import type { CallEffect, Change, ChildNotice, EventChange, Verdict } from "./fact.ts";
import { type HistoryEntry, maxShownStepRuns, type StoredValue, type Transition } from "./history.ts";
import { isSuspect } from "./interruptions.ts";
import {
  type Carried,
  type CurrentStep,
  type Cursors,
  type ForkedStep,
  type Job,
  type JobState,
  type Progress,
  type ResumePoint,
  type StepError,
  type StepPosition,
  timeoutAtOf,
  type UnfinishedState,
} from "./job-state.ts";
import { type AnyCursor, type AnyStand, resumePointOf, stopped } from "./resume-point.ts";
import { CarriedBytes, carriesNothing } from "./values/carried-bytes.ts";
import { isRead } from "./values/stored-state.ts";

/** Bounds on one job, from the configuration. */
export interface JobLimits {
  readonly maxStepRuns: number;
  readonly maxEvents: number;
  /** The bound on one output, in bytes as JSON. */
  readonly maxOutputBytes: number;
  /** The bound on the values that one branch carries for later steps, in bytes as JSON. */
  readonly maxCarriedBytes: number;
}

/** A job while one fact is applied to it. The draft collects the changes and turns them into a `Change`. */
export class JobDraft {
  readonly plan: Plan;
  readonly limits: JobLimits;
  /** The time of the fact. Future times are calculated from it. */
  readonly at: Timestamp;
  readonly job: Job;
  progress: Progress;
  /** The current branch, and the values that it carries. A change moves one branch after another; the current branch is the one that moves now. */
  branch: string = mainBranch;
  carried: Carried;
  leaseEpoch: number;
  /** The work of this change, in all branches. */
  readonly work = new CommitWork();
  /** The paths of the branches that are at a fork which may have room for another branch. The fork that was added last gets its branches first. */
  readonly forksWithRoom: string[] = [];
  /** The payloads of those kept events that a wait may read now. */
  payloads: EventPayloads;
  /** The branches' results that were read from rows of their own. */
  readonly results: BranchResults;
  /** The time that is written into the history. It never decreases, although two nodes may see the database's clock some milliseconds apart. */
  readonly #writtenAt: Timestamp;
  #startedAt: Timestamp | null;
  #stepStartedAt: Timestamp | undefined;
  #timeoutAt: Timestamp | undefined;
  #sequence: number;
  readonly #entries: HistoryEntry[] = [];
  readonly #events: EventChange[] = [];
  readonly #effects: CallEffect[] = [];
  readonly #keptResults: NumberedResult[] = [];
  #lastOutput: JsonValue | undefined;
  #startedWith: JsonValue | undefined;
  readonly #cursors: Map<string, AnyCursor>;
  /** The state in which the change leaves the job; undefined while the job runs or is unchanged. */
  #end: JobState | undefined;
  #isMoved = false;
  /** The output of a job that has succeeded. */
  #output: JsonValue = null;
  #carriedBytes: CarriedBytes | undefined;

  constructor(
    plan: Plan,
    job: Job & { readonly state: UnfinishedState },
    limits: JobLimits,
    at: Timestamp,
    payloads: EventPayloads = noPayloads,
    results: BranchResults = noResults,
  ) {
    this.plan = plan;
    this.payloads = payloads;
    this.results = results;
    this.limits = limits;
    this.at = at;
    this.#writtenAt = Math.max(at, job.updatedAt);
    this.job = job;
    const { state } = job;
    const [{ carried, stand }] = state.cursors;
    this.progress = state.progress;
    this.carried = carried;
    this.#cursors = takeIndex(state.cursors);
    this.leaseEpoch = job.leaseEpoch;
    this.#startedAt = job.startedAt;
    this.#sequence = job.sequence;
    this.#stepStartedAt = startOf(stand);
    this.#timeoutAt = timeoutAtOf(state) ?? undefined;
  }

  /** Records an entry. An entry about a step gets the current branch. */
  record(transition: Transition): void {
    this.#sequence += 1;
    const isElsewhere = this.branch !== mainBranch && "step" in transition;
    const placed = isElsewhere ? { ...transition, branch: this.branch } : transition;
    this.#entries.push({ sequence: this.#sequence, at: this.#writtenAt, ...placed });
    if (transition.type === "step.started") this.#stepStartedAt = this.#writtenAt;
  }

  /** The start of the branch's current visit. It is the same for every attempt, also after a resume. */
  get visitStartedAt(): Timestamp {
    return this.#stepStartedAt ?? this.at;
  }

  keepResult(result: NumberedResult): void {
    this.#keptResults.push(result);
  }

  changeEvent(change: EventChange): void {
    this.#events.push(change);
  }

  step(name: string): PlanStep {
    const step = this.plan.steps.get(name);
    if (step === undefined) throw new Error(`The plan of ${this.plan.workflowName} has no step ${name}.`);
    return step;
  }

  waitStep(name: string): WaitPlanStep {
    const step = this.step(name);
    if (!isWait(step)) throw new Error(`Step ${name} waits for nothing.`);
    return step;
  }

  forkStep(name: string): ForkPlanStep {
    const step = this.step(name);
    if (!isFork(step)) throw new Error(`Step ${name} has no branches.`);
    return step;
  }

  payloadOf(eventNumber: number): EventPayload {
    const payload = this.progress.bareEvents?.includes(eventNumber) ? "none" : this.payloads.get(eventNumber);
    if (payload === undefined) throw new Error(`The payload of event ${eventNumber} was not read.`);
    return payload;
  }

  /** Lets the job run from now on. Its timeout begins now. A resumed job keeps its start time and gets its whole timeout again. */
  start(): void {
    const { timeoutMs } = this.plan;
    this.#timeoutAt = timeoutMs === undefined ? undefined : this.at + timeoutMs;
    if (this.#startedAt !== null) return;
    this.#startedAt = this.#writtenAt;
    this.record({ type: "job.started" });
  }

  /** The error when the current branch carries more than it may; undefined when it does not. */
  get carriedExcess(): StepError | undefined {
    if (carriesNothing(this.carried)) return undefined;
    this.#carriedBytes ??= new CarriedBytes(this.limits.maxCarriedBytes);
    return this.#carriedBytes.excess(this.carried);
  }

  /** Sets the step at which the current branch is after this change. */
  moveTo(step: CurrentStep): void {
    const startedAt = step.phase === "next" ? undefined : this.#stepStartedAt;
    const current = startedAt === undefined ? step : { ...step, startedAt };
    this.#isMoved = true;
    this.#cursors.set(this.branch, { branch: this.branch, carried: this.carried, stand: current });
  }

  /** Makes this branch the current branch. */
  enter(branch: string): void {
    const cursor = this.#cursorAt(branch);
    this.branch = branch;
    this.carried = cursor.carried;
    this.#stepStartedAt = startOf(cursor.stand);
    this.#lastOutput = undefined;
    this.#startedWith = undefined;
  }

  /** Begins a branch and makes it the current branch. */
  begin(branch: string): void {
    this.#cursors.set(branch, { branch, carried: { visits: {}, properties: {} }, stand: null });
    this.enter(branch);
  }

  standOf(branch: string): AnyStand | undefined {
    return this.#cursors.get(branch)?.stand;
  }

  cursorOf(branch: string): AnyCursor | undefined {
    return this.#cursors.get(branch);
  }

  #cursorAt(branch: string): AnyCursor {
    const cursor = this.#cursors.get(branch);
    if (cursor === undefined) throw new Error(`The job has no branch ${branch}.`);
    return cursor;
  }

  /** The fork at which this branch is. */
  forkIn(branch: string): ForkedStep {
    const stand = this.standOf(branch);
    if (stand?.phase !== "forked") throw new Error(`The branch ${branch} is not at a fork.`);
    return stand;
  }

  branchesUnder(path: string): string[] {
    if (this.#cursors.size === 1) return [];
    return [...this.#cursors.keys()].filter((branch) => branch.startsWith(path));
  }

  /** The cursors, in the order in which the branches began. */
  get cursors(): Iterable<AnyCursor> {
    return this.#cursors.values();
  }

  /** Whether all values that the branch may read are loaded. Otherwise it cannot move in this commit. */
  isRead(branch: string): boolean {
    return isRead(branch, (path) => this.#cursors.get(path));
  }

  /** Returns the point at which the current branch stops, with the start of its visit. */
  begunAt(point: ResumePoint): ResumePoint {
    const startedAt = this.#stepStartedAt;
    return point.phase === "next" || startedAt === undefined ? point : { ...point, startedAt };
  }

  /** Removes the branch and all branches inside it. */
  drop(branch: string): void {
    this.#isMoved = true;
    const phase = this.standOf(branch)?.phase;
    this.#cursors.delete(branch);
    // Only a branch that is at a fork, or was stopped at one, has branches inside. Without this check, each of a thousand ending branches would look
    // at all others.
    if (phase !== "forked" && phase !== "stopped") return;
    for (const other of [...this.#cursors.keys()]) if (isInside(other, branch)) this.#cursors.delete(other);
  }

  /** Stops the current branch and all branches inside it, until it is known how the fork around it ends. */
  stop(point: ResumePoint): void {
    this.#isMoved = true;
    const { branch } = this;
    for (const cursor of this.#cursors.values()) {
      if (cursor.branch === branch)
        this.#replace({ ...cursor, carried: this.carried }, { phase: "stopped", name: point.name, point });
      else if (isInside(cursor.branch, branch) && cursor.stand !== null)
        this.#replace(cursor, { phase: "stopped", name: cursor.stand.name, point: resumePointOf(cursor.stand) });
    }
  }

  #replace({ branch, carried }: AnyCursor, stand: AnyStand): void {
    this.#cursors.set(branch, { branch, carried, stand });
  }

  /** The current branch and the branches around it, innermost first. The current branch may read the values of all of them. */
  levels(): readonly Level[] {
    return [...withAround(this.branch)].map((path) => {
      const carried = path === this.branch ? this.carried : this.#cursorAt(path).carried;
      const level = levelOf(path);
      return level === undefined ? { carried } : { carried, fork: this.forkIn(parentOf(path)), key: level.key };
    });
  }

  /**
   * Adds a call with a new epoch. Without `holder`, the node that commits this change makes the call. Otherwise the call is a task in a queue, or
   * asks the node to make a child job.
   */
  call(
    step: StepPosition,
    input: JsonValue,
    config: JsonObject,
    counts: { failedAttempts: number; interruptions: number },
    holder: Pick<CallEffect, "task" | "child"> = {},
  ): void {
    this.leaseEpoch += 1;
    const epoch = this.leaseEpoch;
    const { name, visit, attempt } = step;
    const { failedAttempts, interruptions } = counts;
    this.moveTo({ phase: "calling", name, visit, attempt, input, failedAttempts, interruptions, epoch });
    this.#effects.push({
      type: "call",
      branch: this.branch,
      step: name,
      visit,
      epoch,
      attempt,
      config,
      input,
      isSuspect: isSuspect(holder.task === undefined ? "node" : "worker", interruptions),
      ...holder,
    });
  }

  succeed(output: JsonValue): void {
    this.record({ type: "job.succeeded" });
    this.#output = output;
    const isCounted = this.progress.stepRunCount > maxShownStepRuns;
    const visits = { ...this.carried.visits, ...this.progress.branchVisits };
    this.end({ status: "SUCCEEDED", ...(isCounted && { visits }) });
  }

  /** Sets the state of a job that does not run any more, or that is pending again. */
  end(state: JobState): void {
    this.#end = state;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Fails the job because of the current branch. All branches stay where they are, so that a resume can continue them. */
  fail(resumeAt: ResumePoint, attempt: number, stepError: StepError): void {
    const error = { ...stepError, step: resumeAt.name, attempt, ...branchField(this.branch) };
    this.record({ type: "job.failed", error });
    this.#cursors.set(this.branch, { branch: this.branch, carried: this.carried, stand: this.begunAt(resumeAt) });
    this.end({ status: "FAILED", progress: this.progress, cursors: stopped([...this.#cursors.values()]), error });
  }

  /**
   * The input of a step, as the history stores it. If it is the same object as the job's input, or as the branch's latest output in this change, it
   * is stored as a reference to that value.
   */
  storedInput(input: JsonValue): StoredValue {
    this.#startedWith = input;
    if (input === this.job.input) return { same: "jobInput" };
    return input === this.#lastOutput ? { same: "previousOutput" } : this.#stored(input);
  }

  storedOutput(output: JsonValue, input: JsonValue): StoredValue {
    this.#lastOutput = output;
    if (output !== input) return this.#stored(output);
    // An entry must be readable without the entries of earlier commits. So the output may be stored as a reference to the step's input only if this
    // change has written that input.
    return output === this.#startedWith ? { same: "stepInput" } : { value: output };
  }

  storedItems(items: JsonValue): StoredValue {
    return this.#stored(items);
  }

  #state(): JobState {
    if (this.#end !== undefined) return this.#end;
    if (!this.#isMoved) return { ...this.job.state, progress: this.progress } as JobState;
    const cursors = [...this.#cursors.values()] as unknown as Cursors<CurrentStep>;
    keepIndex(cursors, this.#cursors);
    const timeout = this.#timeoutAt === undefined ? {} : { timeoutAt: this.#timeoutAt };
    return { status: "RUNNING", progress: this.progress, cursors, ...timeout };
  }

  /**
   * Returns the state after the change, and whether the job has finished. If it has, and its parent waits for it, this also returns the notice for
   * the parent. The state then no longer says that the parent waits, so that the notice is sent only once.
   */
  #ending(): { readonly state: JobState; readonly isFinished: boolean; readonly notice?: ChildNotice } {
    const state = this.#state();
    const isFinished = state.status !== "PENDING" && state.status !== "RUNNING";
    const epoch = this.progress.awaitedBy;
    if (!isFinished || epoch === undefined) return { state, isFinished };
    const { awaitedBy: _, ...progress } = this.progress;
    const notice = { epoch, outcome: outcomeOf(this.job.jobId, state, this.#output) };
    return { state: state.status === "SUCCEEDED" ? state : { ...state, progress }, isFinished, notice };
  }

  #stored(value: JsonValue): StoredValue {
    this.work.store(value);
    return { value };
  }

  finish(verdict: Verdict = { type: "applied" }): Change {
    const { state, isFinished, notice } = this.#ending();
    const job: Job = {
      ...this.job,
      state,
      sequence: this.#sequence,
      leaseEpoch: this.leaseEpoch,
      startedAt: this.#startedAt,
      updatedAt: this.#writtenAt,
      finishedAt: isFinished ? this.#writtenAt : null,
    };
    const results = this.#keptResults;
    const change = { job, entries: this.#entries, events: this.#events, effects: this.#effects, results, verdict };
    return notice === undefined ? change : { ...change, notice };
  }
}

/** A branch and the fork around it. The main line has no such fork. */
export interface Level {
  readonly carried: Carried;
  readonly fork?: ForkedStep;
  readonly key?: string;
}

function startOf(stand: AnyStand): Timestamp | undefined {
  return stand !== null && "startedAt" in stand ? stand.startedAt : undefined;
}

/** Begins a change of a job that is in this state. */
export type DraftFor = (state: UnfinishedState) => JobDraft;

import { isDeepStrictEqual } from "node:util";
import { mainBranch } from "../../../src/core/branch-path.ts";
import type { BranchResults } from "../../../src/core/job/branch-result.ts";
import { type CallName, callNameOf, callsOf } from "../../../src/core/job/call.ts";
import { type LeftChild, leftChildren } from "../../../src/core/job/child-job.ts";
import type { EventPayload } from "../../../src/core/job/events/event-payloads.ts";
import type { Change, Fact, UntimedFact } from "../../../src/core/job/fact.ts";
import { type Entry, plainEntries } from "../../../src/core/job/history.ts";
import { type Parent, submitJob, transition } from "../../../src/core/job/job.ts";
import { isTerminal, type Job, type JobState, standsOf, wakeAtOf } from "../../../src/core/job/job-state.ts";
import type { StoredJob } from "../../../src/core/job/values/opened-job.ts";
import { ValueBook } from "../../../src/core/job/values/value-book.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { callOf, type Plan } from "../../../src/core/plan/plan.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import { identity, someone } from "../job/jobs.ts";
import { copy, JobStore } from "./job-store.ts";
import { commitsOf, type Fate, type Happening, type Move } from "./moves.ts";

/** The state machine. A test that plants a fault uses another machine instead. */
export interface Machine {
  readonly submitJob: typeof submitJob;
  readonly transition: typeof transition;
}

export const soundMachine: Machine = { submitJob, transition };

export const limits = { maxStepRuns: 25, maxEvents: 20, maxOutputBytes: 12_000, maxCarriedBytes: 1_000_000 };

/** A fact as a commit took it. */
export interface CommittedFact {
  readonly fact: Fact;
  /** The numbers of the events whose payloads the commit had read. */
  readonly payloads: ReadonlySet<number>;
  /** The results of branches that the commit had read. */
  readonly results: BranchResults;
  readonly change: Change;
}

/** The time at which every job is submitted. */
export const startedAt = Date.parse("2026-01-31T12:00:00Z");

/** One commit as it was requested. */
export interface Delivery {
  readonly facts: readonly UntimedFact[];
  readonly fate: Fate;
  readonly at: Timestamp;
}

/** Tells whether a job with this input is accepted. It is rejected if the first step makes too large a value from the input. */
export function isTaken(plan: Plan, input: JsonObject): boolean {
  return !("problems" in submitJob(plan, { ...identity, input, at: startedAt, hasRoomForCall: true }, limits));
}

/** The call of another job that began the job of a random run. */
export const parent: Parent = {
  jobId: "0190b1f0-0000-7000-8000-0000000000ff",
  rootJobId: "0190b1f0-0000-7000-8000-0000000000ff",
  depth: 1,
  step: "begin",
  visit: 1,
  epoch: 1,
};

interface RunOptions {
  readonly hasRoomForCall: boolean;
  /** Absent for a job that no other job has begun. */
  readonly madeBy?: Parent;
}

function submitTo(machine: Machine, plan: Plan, input: JsonObject, options: RunOptions): Change {
  const change = machine.submitJob(plan, { ...identity, input, at: startedAt, ...options }, limits);
  if ("problems" in change) throw new Error(JSON.stringify(change.problems));
  return change;
}

/** A job on nodes that die. Each commit reads the job from its rows again. A commit may be lost, or its facts delivered twice. */
export class FaultyRun {
  readonly store = new JobStore();
  /** The facts that changed something, in their order. */
  readonly committed: CommittedFact[] = [];
  readonly submitted: Change;
  /** All deliveries in their order, including those that changed nothing. */
  readonly deliveries: Delivery[] = [];
  /** The children that the job has abandoned, in the order of the commits. */
  readonly left: LeftChild[] = [];
  readonly #plan: Plan;
  readonly #machine: Machine;
  readonly #calls: CallName[] = [];
  /** The children for which a call waits or has waited, by the epoch of the call. */
  readonly #children = new Map<number, string>();
  #now = startedAt;
  #parentEpoch = 1;

  constructor(plan: Plan, input: JsonObject, machine: Machine, options: RunOptions) {
    this.#plan = plan;
    this.#machine = machine;
    this.submitted = submitTo(machine, plan, input, options);
    const book = new ValueBook();
    book.learnInput(input);
    book.addResults(this.submitted.results);
    this.#note(this.submitted);
    this.store.write(book, this.submitted.job, this.submitted.entries, this.submitted.events);
  }

  run(moves: readonly Move[]): void {
    for (const { happenings, fate } of commitsOf(moves)) this.commit(happenings, fate);
  }

  /** Lets the job end, if it can. A failed job is resumed once, and continues where it failed. */
  settle(): void {
    this.#help();
    if (this.store.row.state.status !== "FAILED") return;
    this.commit([{ type: "resume" }], "lands");
    this.#help();
  }

  #help(): void {
    for (let count = 0; count < 60 && !isTerminal(this.store.row.state.status); count += 1) {
      this.commit([this.#helpfulHappening()], "lands");
    }
  }

  commit(happenings: readonly Happening[], fate: Fate): void {
    const facts = happenings.map((one) => this.#factOf(one));
    this.deliveries.push({ facts, fate, at: this.#now });
    // A lost commit is also computed, but its result is dropped with its node.
    if (fate === "lost") this.#apply(facts);
    this.#write(facts);
    if (fate === "twice") this.#write(facts);
  }

  #write(facts: readonly UntimedFact[]): void {
    const { book, before, done, job } = this.#apply(facts);
    this.#leaveChildren(before.state, job.state, facts);
    const changed = done.filter(({ change }) => change.entries.length > 0);
    if (changed.length === 0) return;
    for (const { change } of changed) this.#note(change);
    this.committed.push(...changed);
    const entries = changed.flatMap(({ change }) => change.entries);
    this.store.write(
      book,
      job,
      entries,
      done.flatMap(({ change }) => change.events),
    );
  }

  #apply(facts: readonly UntimedFact[]): { book: ValueBook; before: Job; done: CommittedFact[]; job: Job } {
    const opened = this.store.open(this.#plan, facts, this.#now);
    const payloads = this.store.payloadsFor(this.#plan, opened.job, facts);
    const results = this.store.resultsFor(opened.job, facts);
    let { job } = opened;
    const keptNow = new Map<string, number>();
    const done = facts.map((untimed): CommittedFact => {
      const fact: Fact =
        untimed.type === "event.received"
          ? { ...untimed, at: this.#now, keptAs: this.#keptAs(untimed.eventId, keptNow) }
          : { ...untimed, at: this.#now };
      const had = new Set(payloads.keys());
      const isOwed = isOutcomeOwed(job, fact);
      const change = this.#machine.transition(this.#plan, job, fact, limits, payloads, results);
      opened.values.addResults(change.results);
      if (isOwed && change.entries.length === 0)
        throw new Error(`The job waits for this, and it was lost: ${show(fact)}`);
      for (const event of change.events) {
        if (event.type !== "kept") continue;
        if (event.outcome === "unmatched") keptNow.set(event.eventId, event.eventNumber);
        if (event.payload !== undefined) payloads.set(event.eventNumber, { value: event.payload });
      }
      job = change.job;
      return { fact, payloads: had, results, change };
    });
    return { book: opened.values, before: opened.job, done, job };
  }

  #keptAs(eventId: string, keptNow: ReadonlyMap<string, number>): number | null {
    if (this.#plan.listedEventIds.has(eventId)) return null;
    return this.store.keptAs(eventId) ?? keptNow.get(eventId) ?? null;
  }

  #note({ effects }: Change): void {
    this.#calls.push(...effects.map(callNameOf));
    for (const { epoch, child } of effects) if (child?.isAwaited === true) this.#children.set(epoch, child.jobId);
  }

  /** Checks which children the job abandons in a commit: exactly those whose calls ended, but not because the child ended. */
  #leaveChildren(before: JobState, after: JobState, facts: readonly UntimedFact[]): void {
    const told = new Set(facts.flatMap((fact) => ("by" in fact && fact.by === "job" ? [fact.epoch] : [])));
    const left = leftChildren(this.#plan, identity, before, after, told);
    const open = new Set(callsOf(after).map(({ epoch }) => epoch));
    const expected = callsOf(before).flatMap((call) => {
      const childId = this.#children.get(call.epoch);
      return childId === undefined || open.has(call.epoch) || told.has(call.epoch) ? [] : [{ childId, ...call }];
    });
    if (!isEqual(left, expected)) throw new Error(`It leaves ${show(left)} instead of ${show(expected)}.`);
    this.left.push(...left);
  }

  #factOf(happening: Happening): UntimedFact {
    const owed = callsOf(this.store.state);
    const meant = "branch" in happening ? owed.find(({ branch }) => branch === happening.branch) : undefined;
    const picked = "pick" in happening ? owed[happening.pick % owed.length] : undefined;
    const newest = meant ?? picked ?? this.#calls.at(-1) ?? { branch: mainBranch, step: "none", visit: 1, epoch: 0 };
    switch (happening.type) {
      case "succeeds":
        return this.#success(newest, happening.output);
      case "succeeds late":
        return this.#success(this.#calls.at(-2 - happening.age) ?? newest, happening.output);
      case "fails": {
        const { code = "ExecutorError" as const, error: type } = happening;
        const error = { code, type, message: "no luck" };
        return { type: "step.failed", ...this.#told(newest), failure: { kind: happening.kind, error }, random: 1 };
      }
      case "is lost":
        return { type: "step.interrupted", ...newest, isNodeDead: happening.isNodeDead };
      case "is handed back":
        return { type: "call.handedBack", ...this.#told(newest), begun: happening.begun };
      case "event": {
        const { type: _, ...event } = happening;
        return { type: "event.received", ...event, sentBy: someone, keptAs: null };
      }
      case "time passes":
        this.#now += happening.ms;
        return { type: "timer.due" };
      case "cancel":
        return { type: "job.cancelled", by: someone };
      case "resume":
        return { type: "job.resumed", by: someone };
      case "is called":
        this.#parentEpoch += 1;
        return { type: "parent.called", epoch: this.#parentEpoch };
      case "is left":
        return { type: "parent.left", epoch: this.#parentEpoch - happening.age };
    }
  }

  /** The outcome of a successful call; an HTTP step gets the output as the body of an answer. */
  #success(call: CallName, output: JsonValue): UntimedFact {
    const isHttp = this.#plan.steps.get(call.step)?.type === "/service/http";
    const given = isHttp ? { status: 200, headers: {}, body: output } : output;
    return { type: "step.succeeded", ...this.#told(call), output: given };
  }

  /** Adds `by` to the call: who reports the outcome. A worker must be told if its report is too late, while a child gets no answer. */
  #told(call: CallName): CallName & { readonly by?: "worker" | "job" } {
    const step = this.#plan.steps.get(call.step);
    const work = step && callOf(step);
    if (work?.by === "job") return work.isAwaited ? { ...call, by: "job" } : call;
    return work?.by === "worker" ? { ...call, by: "worker" } : call;
  }

  #helpfulHappening(): Happening {
    const { state } = this.store;
    const stands = standsOf(state);
    const stand = ["calling", "waiting"].flatMap((phase) => stands.find((one) => one.phase === phase) ?? [])[0];
    if (stand?.phase === "calling") return { type: "succeeds", output: { a: 1, b: "one", brought: "one" }, pick: 0 };
    const wakeAt = wakeAtOf(state);
    const missing = stand?.phase === "waiting" ? stand.missingEventIds[0] : undefined;
    const isDue = wakeAt !== null && wakeAt <= this.#now;
    if (missing !== undefined && !isDue) return { type: "event", eventId: missing, payload: { a: 1, brought: "one" } };
    return { type: "time passes", ms: Math.max(0, (wakeAt ?? this.#now) - this.#now) };
  }
}

/** Tells whether the fact is the outcome for which a branch waits, so that it must change the job. */
function isOutcomeOwed(job: Job, fact: Fact): boolean {
  if (!("epoch" in fact && "step" in fact)) return false;
  return callsOf(job.state).some(({ branch, step, visit, epoch }) =>
    isDeepStrictEqual(callNameOf(fact), { branch, step, visit, epoch }),
  );
}

/** The history, the changes and the end of a job. Two runs of a job are compared by these. */
export interface Result {
  readonly entries: readonly Entry<JsonValue>[];
  readonly changes: readonly Change[];
  readonly job: Job;
}

/**
 * Runs a job on one node that does not die. The job stays in memory, and takes the facts that another run committed, one by one. `adapt` may replace
 * or drop a fact.
 */
export function replay(
  machine: Machine,
  plan: Plan,
  submitted: Change,
  facts: readonly CommittedFact[],
  adapt: (fact: Fact, job: Job) => Fact | undefined = (fact) => fact,
): Result {
  const kept = new Map<number, EventPayload>();
  const changes = [submitted];
  let { job } = submitted;
  for (const { fact, payloads, results } of facts) {
    const taken = adapt(fact, job);
    if (taken === undefined) continue;
    const known = new Map([...payloads].map((eventNumber) => [eventNumber, kept.get(eventNumber) ?? "none"]));
    const change = machine.transition(plan, job, taken, limits, known, results);
    for (const event of change.events) {
      if (event.type === "kept" && event.payload !== undefined) kept.set(event.eventNumber, { value: event.payload });
    }
    changes.push(change);
    job = change.job;
  }
  return {
    entries: [
      ...plainEntries(
        job.input,
        changes.flatMap(({ entries }) => entries),
      ),
    ],
    changes,
    job,
  };
}

/**
 * Returns undefined for an interruption, so that the call goes on. Gives every outcome the epoch of the call that its branch waits for, so that it
 * counts as the outcome of this call.
 */
export function uninterrupted(fact: Fact, job: Job): Fact | undefined {
  if (fact.type === "step.interrupted" || fact.type === "call.handedBack") return undefined;
  if (fact.type !== "step.succeeded" && fact.type !== "step.failed") return fact;
  const owed = callsOf(job.state).find(({ branch }) => branch === fact.branch);
  return owed === undefined ? fact : { ...fact, epoch: owed.epoch };
}

/** Removes from the history the effects of interruptions: their entries, and the numbers that they increase. */
export function essence(entries: readonly Entry<JsonValue>[]): unknown[] {
  const left = new Set(["step.interrupted", "step.handedBack", "step.attemptStarted"]);
  return entries
    .filter(({ type }) => !left.has(type))
    .map(({ sequence: _, ...entry }) => {
      const { attempt: __, ...others } = { attempt: 0, ...entry };
      return others.type === "job.failed" ? { ...others, error: { ...others.error, attempt: 0 } } : others;
    });
}

/** Returns the fields of a job's row that a commit may change. */
export function essenceOfRow(row: Omit<StoredJob, "input">): unknown {
  const { state, sequence, leaseEpoch, startedAt: begunAt, updatedAt, finishedAt } = row;
  return copy({ state, sequence, leaseEpoch, begunAt, updatedAt, finishedAt });
}

export function isEqual(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(copy(one), copy(other));
}

function show(value: unknown): string {
  return JSON.stringify(value).slice(0, 500);
}

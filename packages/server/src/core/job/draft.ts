import type { JsonValue } from "../json/json.ts";
import { sizeOfJson } from "../json/json-size.ts";
import type { Plan, PlanStep } from "../plan/plan.ts";
import { type EventPayload, type EventPayloads, noPayloads } from "./event-payloads.ts";
import type { CallEffect, Change, EventChange, Verdict } from "./fact.ts";
import { type HistoryEntry, maxShownStepRuns, type StoredValue, type Transition } from "./history.ts";
import type {
  CurrentStep,
  Job,
  JobState,
  Progress,
  ResumePoint,
  StepError,
  StepPosition,
  Timestamp,
} from "./job-state.ts";

/** Bounds on one job, from the configuration. */
export interface JobLimits {
  readonly maxStepRuns: number;
  readonly maxEvents: number;
  /** In bytes, as JSON. */
  readonly maxOutputBytes: number;
}

/**
 * Of the values that one change writes into the history, in characters and members: room for the input and the output of a step at their
 * limits. A chain of steps over an input of 1 MiB would otherwise write hundreds of megabytes at once, which no store takes in time.
 */
const maxStoredSize = 2_000_000;

/** A node that dies interrupts all its calls, and one of them may be why. From the second time on each of them is tried apart from the others. */
const suspectAfterInterruptions = 2;

/** One job while one fact is applied to it: what changes is collected here and becomes a `Change`. */
export class JobDraft {
  readonly plan: Plan;
  readonly limits: JobLimits;
  /** By which times to come are planned. */
  readonly at: Timestamp;
  readonly job: Job;
  progress: Progress;
  state: JobState;
  leaseEpoch: number;
  /** Of the kept events, as far as a wait may read them now. */
  payloads: EventPayloads;
  /** What is written down: two nodes read the database's clock some milliseconds apart, and no job's history shall run backwards. */
  readonly #writtenAt: Timestamp;
  #startedAt: Timestamp | null;
  #stepStartedAt: Timestamp | undefined;
  #sequence: number;
  readonly #entries: HistoryEntry[] = [];
  readonly #events: EventChange[] = [];
  readonly #effects: CallEffect[] = [];
  #lastOutput: JsonValue | undefined;
  #startedWith: JsonValue | undefined;
  #storedSize = 0;

  constructor(
    plan: Plan,
    job: Job,
    progress: Progress,
    limits: JobLimits,
    at: Timestamp,
    payloads: EventPayloads = noPayloads,
  ) {
    this.plan = plan;
    this.payloads = payloads;
    this.limits = limits;
    this.at = at;
    this.#writtenAt = Math.max(at, job.updatedAt);
    this.job = job;
    this.progress = progress;
    this.state = job.state;
    this.leaseEpoch = job.leaseEpoch;
    this.#startedAt = job.startedAt;
    this.#sequence = job.sequence;
    const { state } = job;
    this.#stepStartedAt = state.status === "RUNNING" && state.step.phase !== "next" ? state.step.startedAt : undefined;
  }

  record(transition: Transition): void {
    this.#sequence += 1;
    this.#entries.push({ sequence: this.#sequence, at: this.#writtenAt, ...transition });
    if (transition.type === "step.started") this.#stepStartedAt = this.#writtenAt;
  }

  changeEvent(change: EventChange): void {
    this.#events.push(change);
  }

  step(name: string): PlanStep {
    const step = this.plan.steps.get(name);
    if (step === undefined) throw new Error(`The plan of ${this.plan.workflowName} has no step ${name}.`);
    return step;
  }

  payloadOf(eventNumber: number): EventPayload {
    const payload = this.progress.bareEvents?.includes(eventNumber) ? "none" : this.payloads.get(eventNumber);
    if (payload === undefined) throw new Error(`The payload of event ${eventNumber} was not read.`);
    return payload;
  }

  /** The first time that the job runs; a resumed job has its start already. */
  start(): void {
    if (this.#startedAt !== null) return;
    this.#startedAt = this.#writtenAt;
    this.record({ type: "job.started" });
  }

  moveTo(step: CurrentStep): void {
    const startedAt = step.phase === "next" ? undefined : this.#stepStartedAt;
    const current = startedAt === undefined ? step : { ...step, startedAt };
    this.state = { status: "RUNNING", progress: this.progress, step: current };
  }

  /** Hands the job to whichever node commits this change, under a new epoch. */
  call(step: StepPosition, input: JsonValue, counts: { failedAttempts: number; interruptions: number }): void {
    this.leaseEpoch += 1;
    const { name, visit, attempt } = step;
    const { failedAttempts, interruptions } = counts;
    this.moveTo({ phase: "calling", name, visit, attempt, input, failedAttempts, interruptions });
    const isSuspect = interruptions >= suspectAfterInterruptions;
    this.#effects.push({ type: "call", step: name, visit, attempt, input, leaseEpoch: this.leaseEpoch, isSuspect });
  }

  succeed(): void {
    this.record({ type: "job.succeeded" });
    const { stepRunCount, visits } = this.progress;
    this.state = { status: "SUCCEEDED", ...(stepRunCount > maxShownStepRuns && { visits }) };
  }

  fail(resumeAt: ResumePoint, attempt: number, stepError: StepError): void {
    const error = { ...stepError, step: resumeAt.name, attempt };
    this.record({ type: "job.failed", error });
    this.state = { status: "FAILED", progress: this.progress, resumeAt, error };
  }

  /** A step's input for the history: the same object as an earlier value of this change is written as a reference to it. */
  storedInput(input: JsonValue): StoredValue {
    this.#startedWith = input;
    if (input === this.job.input) return { same: "jobInput" };
    return input === this.#lastOutput ? { same: "previousOutput" } : this.#stored(input);
  }

  storedOutput(output: JsonValue, input: JsonValue): StoredValue {
    this.#lastOutput = output;
    if (output !== input) return this.#stored(output);
    // An entry must be readable without those of earlier commits.
    return output === this.#startedWith ? { same: "stepInput" } : { value: output };
  }

  /** Whether the values that this change writes into the history are as many as one commit should hold. */
  get isLarge(): boolean {
    return this.#storedSize > maxStoredSize;
  }

  #stored(value: JsonValue): StoredValue {
    this.#storedSize += sizeOfJson(value, maxStoredSize);
    return { value };
  }

  finish(verdict: Verdict = { type: "applied" }): Change {
    const isFinished = this.state.status !== "PENDING" && this.state.status !== "RUNNING";
    const job: Job = {
      ...this.job,
      state: this.state,
      sequence: this.#sequence,
      leaseEpoch: this.leaseEpoch,
      startedAt: this.#startedAt,
      updatedAt: this.#writtenAt,
      finishedAt: isFinished ? this.#writtenAt : null,
    };
    return { job, entries: this.#entries, events: this.#events, effects: this.#effects, verdict };
  }
}

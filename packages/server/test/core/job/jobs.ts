import { catalog, limits as definitionLimits } from "@stepwell/testing/catalog.ts";
import type { Actor } from "../../../src/core/actor.ts";
import { mainBranch } from "../../../src/core/branch-path.ts";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { BranchResults } from "../../../src/core/job/branch-result.ts";
import { type CallName, callNameOf, callsOf } from "../../../src/core/job/call.ts";
import type { JobLimits } from "../../../src/core/job/draft.ts";
import {
  type EventPayload,
  type EventPayloads,
  holdsPayloads,
  payloadsToRead,
} from "../../../src/core/job/events/event-payloads.ts";
import type { Change, EventReceived, Failure, UntimedFact } from "../../../src/core/job/fact.ts";
import { foldSteps } from "../../../src/core/job/history.ts";
import { type Parent, submitJob, transition } from "../../../src/core/job/job.ts";
import { type Job, type StepError, standsOf } from "../../../src/core/job/job-state.ts";
import { resultsToRead } from "../../../src/core/job/result-rows.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { compilePlan, type Plan } from "../../../src/core/plan/plan.ts";

export const someone: Actor = { type: "user", id: "0190b1f0-0000-7000-8000-000000000001" };
export const jobLimits = { maxStepRuns: 50, maxEvents: 20, maxOutputBytes: 1_000, maxCarriedBytes: 1_000_000 };

/** Compiles a definition in short form. Its steps have open schemas unless they say otherwise. */
export function planOf(
  steps: readonly StepSketch[],
  definitions: Record<string, JsonObject> = {},
  more: JsonObject = {},
): Plan {
  const parsed = parseDefinition(textOf(steps, definitions, more), catalog, definitionLimits);
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  return compilePlan(parsed.definition);
}

export function textOf(
  steps: readonly StepSketch[],
  definitions: Record<string, JsonObject> = {},
  more: JsonObject = {},
): string {
  return JSON.stringify({
    workflowName: "test",
    ...more,
    steps: steps.map(({ name, type, config, input, output, mapping, ...rest }) => ({
      name,
      integrationDetails: {
        type,
        ...(config && { config }),
        inputDefinition: { $ref: `#/definitions/${input ?? "anything"}` },
        outputDefinition: { $ref: `#/definitions/${output ?? "anything"}` },
      },
      ...mapping,
      ...rest,
    })),
    definitions: { anything: {}, ...definitions },
  });
}

export interface StepSketch {
  readonly name: string;
  readonly type:
    | "/service/noop"
    | "/service/transform"
    | "/service/waitForEventIds"
    | "/service/cloud/function"
    | "/service/http"
    | "/service/delay"
    | "/service/task"
    | "/service/parallel"
    | "/service/forEach"
    | "/service/job";
  readonly config?: JsonObject;
  readonly input?: string;
  readonly output?: string;
  /** Its templates. */
  readonly mapping?: { readonly input?: JsonValue; readonly output?: JsonValue };
  readonly transitionToStep: JsonValue;
  readonly onFailure?: JsonValue;
  readonly retry?: JsonObject;
  readonly timeoutSeconds?: number;
}

export const transform = (name: string, input: JsonValue, transitionToStep: JsonValue): StepSketch => ({
  name,
  type: "/service/transform",
  mapping: { input },
  transitionToStep,
});

export const noop = (name: string, transitionToStep: string | null, more: Partial<StepSketch> = {}): StepSketch => ({
  name,
  type: "/service/noop",
  transitionToStep,
  ...more,
});

export const wait = (name: string, eventIds: JsonValue, next: string | null, more: JsonObject = {}): StepSketch => ({
  name,
  type: "/service/waitForEventIds",
  config: { eventIds, ...more },
  transitionToStep: next,
});

export const delay = (
  name: string,
  config: JsonObject,
  next: string | null,
  more: Partial<StepSketch> = {},
): StepSketch => ({
  name,
  type: "/service/delay",
  config,
  transitionToStep: next,
  ...more,
});

export const parallel = (
  name: string,
  branches: Readonly<Record<string, string>>,
  next: string | null,
  { until, ...more }: Partial<StepSketch> & { until?: "all" | "any" } = {},
): StepSketch => ({
  name,
  type: "/service/parallel",
  config: { branches, ...(until !== undefined && { until }) },
  transitionToStep: next,
  ...more,
});

export const forEach = (
  name: string,
  config: JsonObject,
  next: string | null,
  more: Partial<StepSketch> = {},
): StepSketch => ({ name, type: "/service/forEach", config, transitionToStep: next, ...more });

export const call = (name: string, next: string | null, more: Partial<StepSketch> = {}): StepSketch => ({
  name,
  type: "/service/cloud/function",
  config: { region: "eu-west-1", accountId: "123456789012", functionName: name },
  transitionToStep: next,
  ...more,
});

export const httpCall = (
  name: string,
  config: JsonObject,
  next: string | null,
  more: Partial<StepSketch> = {},
): StepSketch => ({
  name,
  type: "/service/http",
  config,
  transitionToStep: next,
  ...more,
});

export const task = (name: string, next: string | null, more: Partial<StepSketch> = {}): StepSketch => ({
  name,
  type: "/service/task",
  config: { queue: "q" },
  transitionToStep: next,
  ...more,
});

export const childJob = (
  name: string,
  workflow: string,
  next: string | null,
  { wait: isAwaited, ...more }: Partial<StepSketch> & { wait?: boolean } = {},
): StepSketch => ({
  name,
  type: "/service/job",
  config: { workflow, ...(isAwaited !== undefined && { wait: isAwaited }) },
  transitionToStep: next,
  ...more,
});

/** A job under test. Applies facts one after the other and remembers what each of them did. */
export class Story {
  readonly plan: Plan;
  job: Job;
  readonly changes: Change[] = [];
  now = 1_000_000;
  readonly #limits: JobLimits;

  constructor(
    steps: readonly StepSketch[] | Plan,
    options: {
      input?: JsonObject;
      definitions?: Record<string, JsonObject>;
      hasRoom?: boolean;
      madeBy?: Parent;
      timeoutSeconds?: number;
      maxStepRuns?: number;
      maxOutputBytes?: number;
      maxCarriedBytes?: number;
      maxEvents?: number;
    } = {},
  ) {
    const { timeoutSeconds, input = {}, definitions, hasRoom = true, madeBy, ...limits } = options;
    this.#limits = { ...jobLimits, ...limits };
    const more = timeoutSeconds === undefined ? {} : { timeoutSeconds };
    this.plan = "steps" in steps ? steps : planOf(steps, definitions, more);
    const made = madeBy === undefined ? {} : { madeBy };
    const submission = { ...identity, ...made, input, at: this.now, hasRoomForCall: hasRoom };
    const change = submitJob(this.plan, submission, this.#limits);
    if ("problems" in change) throw new Error(JSON.stringify(change.problems));
    this.changes.push(change);
    this.job = change.job;
  }

  apply(fact: UntimedFact): Change {
    return this.#applyWith(fact, this.#payloadsFor([fact]));
  }

  /** Applies facts like one commit, which reads the payloads once for all of them. */
  applyTogether(facts: readonly UntimedFact[]): void {
    const payloads = new Map(this.#payloadsFor(facts));
    for (const fact of facts) {
      for (const event of this.#applyWith(fact, payloads).events) {
        if (event.type === "kept" && event.payload !== undefined)
          payloads.set(event.eventNumber, { value: event.payload });
      }
    }
  }

  #applyWith(fact: UntimedFact, payloads: EventPayloads): Change {
    const results = this.#resultsFor([fact]);
    const change = transition(this.plan, this.job, { ...fact, at: this.now }, this.#limits, payloads, results);
    this.changes.push(change);
    this.job = change.job;
    return change;
  }

  /** Replaces the job by what the store would return. */
  reload(): void {
    this.job = JSON.parse(JSON.stringify(this.job)) as Job;
  }

  /** Returns the payloads that the engine would read from the store for these facts, and no others. */
  #payloadsFor(facts: readonly UntimedFact[]): EventPayloads {
    if (!holdsPayloads(this.plan, this.job)) return new Map();
    const kept = this.changes.flatMap(({ events }) => events).filter((event) => event.type === "kept");
    const payloadOf = (eventNumber: number): EventPayload => {
      const payload = kept.find((event) => event.eventNumber === eventNumber)?.payload;
      return payload === undefined ? "none" : { value: payload };
    };
    const wanted = payloadsToRead(this.plan, this.job, facts);
    return new Map(wanted.map((eventNumber) => [eventNumber, payloadOf(eventNumber)]));
  }

  /** Returns the results that the engine would read from the store for these facts. */
  #resultsFor(facts: readonly UntimedFact[]): BranchResults {
    const range = resultsToRead(this.job, facts);
    const kept = this.changes.flatMap(({ results }) => results);
    const isWanted = (valueNumber: number) =>
      range !== undefined && valueNumber >= range.first && valueNumber < range.first + range.count;
    return new Map(
      kept.flatMap(({ valueNumber, result }) => (isWanted(valueNumber) ? [[valueNumber, result] as const] : [])),
    );
  }

  send(eventId: string, more: Partial<Pick<EventReceived, "payload" | "step" | "visit" | "branch">> = {}): string {
    const { verdict } = this.apply({ type: "event.received", eventId, ...more, sentBy: someone, keptAs: null });
    if (verdict.type === "event") return verdict.outcome;
    return verdict.type === "rejected" ? verdict.code : verdict.type;
  }

  /** The newest call that the job has made, even if the call has ended. */
  get call(): CallName {
    const effect = this.changes.findLast(({ effects }) => effects.length > 0)?.effects.at(-1);
    return effect === undefined ? { branch: mainBranch, step: "none", visit: 1, epoch: 0 } : callNameOf(effect);
  }

  /** The call that the job owes or has under way in this branch. */
  callIn(branch: string): CallName {
    const call = callsOf(this.job.state).find((one) => one.branch === branch);
    if (call === undefined) throw new Error(`No call is under way in ${branch}.`);
    return call;
  }

  succeed(output: JsonValue, call = this.call): Change {
    return this.apply({ type: "step.succeeded", ...call, output });
  }

  interrupt(isNodeDead = true): Change {
    return this.apply({ type: "step.interrupted", ...this.call, isNodeDead });
  }

  handBack(begun: boolean): Change {
    return this.apply({ type: "call.handedBack", ...this.call, begun });
  }

  fail(kind: Failure["kind"] = "ordinary", named: Partial<StepError> = {}, call = this.call): Change {
    const failure = { kind, error: { code: "ExecutorError" as const, message: "no luck", ...named } };
    return this.apply({ type: "step.failed", ...call, failure, random: 1 });
  }

  later(ms: number): Change {
    this.now += ms;
    return this.apply({ type: "timer.due" });
  }

  /** The paths of the branches that are open. */
  get branches(): string[] {
    const { state } = this.job;
    return state.status === "SUCCEEDED" ? [] : state.cursors.slice(1).map(({ branch }) => branch);
  }

  /** The output of the last run of a step on the main line. */
  outputOf(step: string): JsonValue | undefined {
    const runs = foldSteps(this.job.input, this.entries);
    return runs.findLast(({ name, branch }) => name === step && branch === undefined)?.output;
  }

  get entries() {
    return this.changes.flatMap((change) => change.entries);
  }

  get types(): string[] {
    return this.entries.map((entry) => entry.type);
  }

  get status(): string {
    return this.job.state.status;
  }

  get step() {
    const [stand] = standsOf(this.job.state);
    if (stand === undefined) throw new Error(`The job is ${this.status}.`);
    return stand;
  }
}

export const identity = {
  organizationId: "0190b1f0-0000-7000-8000-0000000000aa",
  jobId: "0190b1f0-0000-7000-8000-0000000000bb",
  workflowId: "0190b1f0-0000-7000-8000-0000000000cc",
  workflowName: "test",
  versionId: "0190b1f0-0000-7000-8000-0000000000dd",
  versionNumber: 1,
  tag: "$LIVE",
  submittedBy: someone,
};

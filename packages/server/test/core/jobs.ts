import { catalog, limits as definitionLimits } from "@stepwell/testing/catalog.ts";
import { parseDefinition } from "../../src/core/definition/definition.ts";
import {
  type EventPayload,
  type EventPayloads,
  holdsPayloads,
  payloadsToRead,
} from "../../src/core/job/event-payloads.ts";
import type { Change, EventReceived, UntimedFact } from "../../src/core/job/fact.ts";
import { submitJob, transition } from "../../src/core/job/job.ts";
import type { Actor, Job } from "../../src/core/job/job-state.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { compilePlan, type Plan } from "../../src/core/plan/plan.ts";

export const someone: Actor = { type: "user", id: "0190b1f0-0000-7000-8000-000000000001" };
export const jobLimits = { maxStepRuns: 50, maxEvents: 20, maxOutputBytes: 1_000 };

/** A definition in short form: steps with open schemas unless they say otherwise. */
export function planOf(steps: readonly StepSketch[], definitions: Record<string, JsonObject> = {}): Plan {
  const text = JSON.stringify({
    workflowName: "test",
    steps: steps.map(({ name, type, config, input, output, ...rest }) => ({
      name,
      integrationDetails: {
        type,
        ...(config && { config }),
        inputDefinition: { $ref: `#/definitions/${input ?? "anything"}` },
        outputDefinition: { $ref: `#/definitions/${output ?? "anything"}` },
      },
      ...rest,
    })),
    definitions: { anything: {}, ...definitions },
  });
  const parsed = parseDefinition(text, catalog, definitionLimits);
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  return compilePlan(parsed.definition);
}

export interface StepSketch {
  readonly name: string;
  readonly type: "/service/noop" | "/service/waitForEventIds" | "/service/cloud/function";
  readonly config?: JsonObject;
  readonly input?: string;
  readonly output?: string;
  readonly transitionToStep: string | null;
  readonly onFailure?: string;
  readonly retry?: JsonObject;
  readonly timeoutSeconds?: number;
}

export const noop = (name: string, transitionToStep: string | null, more: Partial<StepSketch> = {}): StepSketch => ({
  name,
  type: "/service/noop",
  transitionToStep,
  ...more,
});

export const wait = (name: string, eventIds: string[], next: string | null, more: JsonObject = {}): StepSketch => ({
  name,
  type: "/service/waitForEventIds",
  config: { eventIds, ...more },
  transitionToStep: next,
});

export const call = (name: string, next: string | null, more: Partial<StepSketch> = {}): StepSketch => ({
  name,
  type: "/service/cloud/function",
  config: { region: "eu-west-1", accountId: "123456789012", functionName: name },
  transitionToStep: next,
  ...more,
});

/** A job under test: applies facts one after the other and remembers what each did. */
export class Story {
  readonly plan: Plan;
  job: Job;
  readonly changes: Change[] = [];
  now = 1_000_000;

  constructor(
    steps: readonly StepSketch[],
    options: { input?: JsonObject; definitions?: Record<string, JsonObject>; hasRoom?: boolean } = {},
  ) {
    this.plan = planOf(steps, options.definitions);
    const change = submitJob(
      this.plan,
      { ...identity, input: options.input ?? {}, at: this.now, hasRoomForCall: options.hasRoom ?? true },
      jobLimits,
    );
    if ("problems" in change) throw new Error(JSON.stringify(change.problems));
    this.changes.push(change);
    this.job = change.job;
  }

  apply(fact: UntimedFact): Change {
    return this.#applyWith(fact, this.#payloadsFor([fact]));
  }

  /** As one commit does, which reads once for all of its facts. */
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
    const change = transition(this.plan, this.job, { ...fact, at: this.now }, jobLimits, payloads);
    this.changes.push(change);
    this.job = change.job;
    return change;
  }

  /** As the store gives it back. */
  reload(): void {
    this.job = JSON.parse(JSON.stringify(this.job)) as Job;
  }

  /** As the engine reads them from the store: those that are asked for, and no others. */
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

  send(eventId: string, more: Partial<Pick<EventReceived, "payload" | "step" | "visit">> = {}): string {
    const { verdict } = this.apply({ type: "event.received", eventId, ...more, sentBy: someone, keptAs: null });
    if (verdict.type === "event") return verdict.outcome;
    return verdict.type === "rejected" ? verdict.code : verdict.type;
  }

  succeed(output: JsonObject): Change {
    return this.apply({ type: "step.succeeded", leaseEpoch: this.job.leaseEpoch, output });
  }

  fail(kind: "permanent" | "ordinary" | "transient" = "ordinary"): Change {
    const failure = { kind, error: { code: "ExecutorError" as const, message: "no luck" } };
    return this.apply({ type: "step.failed", leaseEpoch: this.job.leaseEpoch, failure, random: 1 });
  }

  later(ms: number): Change {
    this.now += ms;
    return this.apply({ type: "timer.due" });
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
    if (this.job.state.status !== "RUNNING") throw new Error(`The job is ${this.status}.`);
    return this.job.state.step;
  }
}

const identity = {
  organizationId: "0190b1f0-0000-7000-8000-0000000000aa",
  jobId: "0190b1f0-0000-7000-8000-0000000000bb",
  workflowId: "0190b1f0-0000-7000-8000-0000000000cc",
  workflowName: "test",
  versionId: "0190b1f0-0000-7000-8000-0000000000dd",
  versionNumber: 1,
  tag: "$LIVE",
  submittedBy: someone,
};

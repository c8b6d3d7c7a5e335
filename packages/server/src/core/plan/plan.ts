import type { Definition, StepDefinition, Steps } from "../definition/definition-parts.ts";
import type { WaitRule } from "../definition/executor-kind.ts";
import { type PayloadRule, payloadRuleOf } from "../definition/payload-rule.ts";
import type { PayloadSchemas } from "../definition/payload-schemas.ts";
import type { RetryPolicy } from "../definition/retry.ts";
import { buildGraph } from "../definition/step-graph.ts";
import type { JsonObject } from "../json/json.ts";
import { declaredProperties, isClosed, type Schema } from "../schema/schema.ts";
import { livePropertiesAfter, oncePerSchema, stepsWhoseFailureReadsLastOutput } from "./liveness.ts";

/** A definition, compiled: everything the state machine asks while a job runs. Immutable, cached by version. */
export interface Plan {
  readonly workflowName: string;
  readonly steps: ReadonlyMap<string, PlanStep>;
  readonly firstStep: PlanStep;
  /** Every event id that some wait step of this version lists. */
  readonly listedEventIds: ReadonlySet<string>;
  /** By event id: the wait steps that list it. */
  readonly waitsByEventId: ReadonlyMap<string, readonly WaitPlanStep[]>;
  /** Whether some wait step takes something out of payloads. */
  readonly readsPayloads: boolean;
}

export type WaitPlanStep = PlanStep & { readonly wait: WaitRule };

export interface PlanStep {
  readonly name: string;
  readonly type: string;
  readonly config: JsonObject;
  readonly behaviour: "pass" | "wait" | "call";
  /** Only with behaviour "wait". */
  readonly wait: WaitRule | undefined;
  /** Only with behaviour "wait". */
  readonly payloadSchemas: PayloadSchemas;
  /** Only with behaviour "wait", and only if the step takes anything out of payloads. */
  readonly payloadRule: PayloadRule | undefined;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  /**
   * The declared properties when the input definition is closed (`additionalProperties: false`, resolved through $ref);
   * undefined when it is open: then the step receives the previous output whole.
   */
  readonly inputProperties: readonly string[] | undefined;
  /** The next step's name; null ends the job. */
  readonly transitionToStep: string | null;
  /** Where a failure leads; undefined fails the job. */
  readonly onFailure: string | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly timeoutMs: number | undefined;
  /**
   * Names of properties that some step after this one (this one itself included when a loop leads back) may still take
   * from outputs made up to and including this step: what the job's state must carry on from here.
   */
  readonly livePropertiesAfter: ReadonlySet<string>;
  /** True when this step's failure leads to a step with an open input definition: it will receive the last output there is. */
  readonly failureReadsLastOutput: boolean;
}

/** Compiles a definition that `parseDefinition` found valid. */
export function compilePlan(definition: Definition): Plan {
  const { workflowName, steps } = definition;
  const compile = stepCompiler(steps);
  const firstStep = compile(steps[0], 0);
  const planSteps = steps.map((step, index) => (index === 0 ? firstStep : compile(step, index)));
  const waits = planSteps.filter(isWait);
  const waitsByEventId = byEventId(waits);
  return {
    workflowName,
    steps: new Map(planSteps.map((step) => [step.name, step])),
    firstStep,
    listedEventIds: new Set(waitsByEventId.keys()),
    waitsByEventId,
    readsPayloads: waits.some(({ payloadRule }) => payloadRule !== undefined),
  };
}

function isWait(step: PlanStep): step is WaitPlanStep {
  return step.wait !== undefined;
}

function byEventId(waits: readonly WaitPlanStep[]): ReadonlyMap<string, readonly WaitPlanStep[]> {
  const index = new Map<string, WaitPlanStep[]>();
  for (const step of waits) {
    for (const eventId of step.wait.eventIds) {
      const listing = index.get(eventId);
      if (listing === undefined) index.set(eventId, [step]);
      else listing.push(step);
    }
  }
  return index;
}

function stepCompiler(steps: Steps): (step: StepDefinition, index: number) => PlanStep {
  const graph = buildGraph(steps);
  const liveAfter = livePropertiesAfter(steps, graph);
  const readLastOutput = stepsWhoseFailureReadsLastOutput(steps);
  const inputProperties = oncePerSchema((schema) => (isClosed(schema) ? [...declaredProperties(schema)] : undefined));
  return (step, index) => {
    const { name, type, behaviour, config, inputSchema, outputSchema, transitionToStep, onFailure, retry } = step;
    const timeoutMs = step.timeoutSeconds === undefined ? undefined : toMs(step.timeoutSeconds);
    return {
      name,
      type,
      config,
      behaviour,
      wait: waitRuleOf(step, timeoutMs),
      payloadSchemas: step.payloadSchemas,
      payloadRule: payloadRuleOf(step),
      inputSchema,
      outputSchema,
      inputProperties: inputProperties(inputSchema),
      transitionToStep,
      onFailure,
      retry,
      timeoutMs: behaviour === "call" ? timeoutMs : undefined,
      livePropertiesAfter: liveAfter(index),
      failureReadsLastOutput: readLastOutput.has(name),
    };
  };
}

/** A wait has its timeout from the step or from its config; the parser saw to it that there is one at most. */
function waitRuleOf({ wait }: StepDefinition, timeoutMs: number | undefined): WaitRule | undefined {
  return wait === undefined || timeoutMs === undefined ? wait : { ...wait, timeoutMs };
}

/** A timeout below a millisecond is still one. */
function toMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

import type { Definition, StepDefinition, Steps } from "../definition/definition-parts.ts";
import { referencesOf } from "../definition/expressions-of.ts";
import type { FailureHandler } from "../definition/failures/failure-handlers.ts";
import { type Region, regionsOf } from "../definition/graph/regions.ts";
import { buildGraph, type StepGraph } from "../definition/graph/step-graph.ts";
import { type PayloadRule, payloadRuleOf } from "../definition/payload-rule.ts";
import type { CallWork, DelayWork, ForkWork, PassWork, WaitWork } from "../definition/step-work.ts";
import type { Transition } from "../definition/transition.ts";
import type { Reference, Template } from "../expression/expression.ts";
import { declaredProperties, isClosed, type Schema } from "../schema/schema.ts";
import { livePropertiesAfter, oncePerSchema, stepsWhoseFailureReadsLastOutput } from "./liveness.ts";
import { type Remembering, rememberingAfter } from "./slots.ts";

/** A compiled definition: everything that the state machine needs while a job runs. It is immutable, and cached by version. */
export interface Plan {
  readonly workflowName: string;
  /** The time that a job may run, from its start or from a resume. */
  readonly timeoutMs: number | undefined;
  readonly steps: ReadonlyMap<string, PlanStep>;
  readonly firstStep: PlanStep;
  /** Every event id that some wait step of this version lists. */
  readonly listedEventIds: ReadonlySet<string>;
  /** For each event id, the wait steps that list it. */
  readonly waitsByEventId: ReadonlyMap<string, readonly WaitPlanStep[]>;
  /** Whether a wait step of the version takes properties from payloads, or an expression reads a payload. */
  readonly readsPayloads: boolean;
  /**
   * The names of the wait steps that get event ids from expressions, and of the steps before them. While a job is in one of these steps, an event
   * with any id may be for such a wait.
   */
  readonly beforeOpenWaits: ReadonlySet<string>;
  /** The ids of the events that expressions read. */
  readonly readEventIds: ReadonlySet<string>;
  readonly makesChildren: boolean;
}

export interface PlanStep {
  readonly name: string;
  readonly type: string;
  readonly work: PlanWork;
  readonly inputRule: InputRule;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  /** The template that makes the output from the raw result. Undefined when the raw result is the output. */
  readonly outputTemplate: Template | undefined;
  readonly next: Transition;
  /**
   * The handlers of failures. After an error, the first handler that matches it takes over. When no handler matches, the branch fails, or on the main
   * line the job.
   */
  readonly onFailure: readonly FailureHandler[];
  /**
   * The names of the properties that the job's state must carry after this step. A later step may still take them from the outputs of this step
   * and of the steps before it. A loop may lead back to this step, which then counts as a later one.
   */
  readonly livePropertiesAfter: ReadonlySet<string>;
  /** True when a failure of this step leads, perhaps through further failures, to a step that receives the whole latest output. */
  readonly failureReadsLastOutput: boolean;
  /** The forks around the step, the outermost one first. Empty on the main line. */
  readonly around: readonly AroundStep[];
  /** The values that expressions of later steps may read; undefined when no expression of the version reads a slot. */
  readonly remembering: Remembering | undefined;
}

export type PlanWork = PassWork | PlannedWait | DelayWork | CallWork | ForkWork;

export interface PlannedWait extends WaitWork {
  /** Undefined when the step takes no properties from payloads. */
  readonly payloadRule: PayloadRule | undefined;
  /** The ids of the events whose payload is read by an expression of the version. */
  readonly readPayloadIds: ReadonlySet<string>;
}

export type WaitPlanStep = PlanStep & { readonly work: PlannedWait };
export type ForkPlanStep = PlanStep & { readonly work: ForkWork };

/** A fork around a step, and the branch of it in which the step is. */
export interface AroundStep {
  readonly fork: string;
  /** Undefined for the body of a forEach. */
  readonly branch: string | undefined;
}

/**
 * The rule that says where a step gets its input from. Without a template, the first step of a job receives the job's input, and a step in a branch
 * may also receive values from the branch's item or from the branches around it.
 */
export type InputRule =
  /** The step receives each property that its closed input definition declares, from the latest output that had it, or else from the job's input. */
  | { readonly kind: "carried"; readonly properties: readonly string[] }
  /** The step receives the whole latest output, because its input definition is open. */
  | { readonly kind: "whole" }
  /** The step receives the value that its `input` template makes. */
  | { readonly kind: "template"; readonly template: Template };

export function callOf({ work }: PlanStep): CallWork | undefined {
  return work.kind === "call" ? work : undefined;
}

/** Compiles a definition that `parseDefinition` found valid. */
export function compilePlan(definition: Definition): Plan {
  const { workflowName, timeoutMs, steps } = definition;
  const graph = buildGraph(steps);
  const referencesByStep = steps.map(referencesOf);
  const eventReferences = referencesByStep.flatMap((some) => some.filter(({ eventId }) => eventId !== undefined));
  const remembering = rememberingAfter(steps, graph, referencesByStep);
  const compile = stepCompiler(steps, graph, readPayloadIdsOf(eventReferences), remembering);
  const firstStep = compile(steps[0], 0);
  const planSteps = steps.map((step, index) => (index === 0 ? firstStep : compile(step, index)));
  const waits = planSteps.filter(isWait);
  const waitsByEventId = byEventId(waits);
  return {
    workflowName,
    timeoutMs,
    steps: new Map(planSteps.map((step) => [step.name, step])),
    firstStep,
    listedEventIds: new Set(waitsByEventId.keys()),
    waitsByEventId,
    readsPayloads: waits.some(({ work }) => work.payloadRule !== undefined || work.readPayloadIds.size > 0),
    beforeOpenWaits: waysToOpenWaits(steps, graph),
    readEventIds: new Set(eventReferences.flatMap(({ eventId }) => eventId ?? [])),
    makesChildren: planSteps.some((step) => callOf(step)?.by === "job"),
  };
}

function waysToOpenWaits(steps: Steps, graph: StepGraph): ReadonlySet<string> {
  const open = new Set(
    steps.flatMap(({ work }, index) => (work.kind === "wait" && work.openRule !== undefined ? index : [])),
  );
  // The loop also visits steps that it adds to the set.
  for (const index of open) for (const { from } of graph.incoming[index] ?? []) open.add(from);
  return new Set([...open].flatMap((index) => steps[index]?.name ?? []));
}

export function isWait(step: PlanStep): step is WaitPlanStep {
  return step.work.kind === "wait";
}

export function isFork(step: PlanStep): step is ForkPlanStep {
  return step.work.kind === "fork";
}

function byEventId(waits: readonly WaitPlanStep[]): ReadonlyMap<string, readonly WaitPlanStep[]> {
  const index = new Map<string, WaitPlanStep[]>();
  for (const step of waits) {
    for (const eventId of step.work.rule.eventIds) {
      const listing = index.get(eventId);
      if (listing === undefined) index.set(eventId, [step]);
      else listing.push(step);
    }
  }
  return index;
}

function stepCompiler(
  steps: Steps,
  graph: StepGraph,
  readPayloadIds: ReadonlySet<string>,
  remembering: ((index: number) => Remembering) | undefined,
): (step: StepDefinition, index: number) => PlanStep {
  const liveAfter = livePropertiesAfter(steps, graph);
  const readLastOutput = stepsWhoseFailureReadsLastOutput(steps);
  const inputRule = oncePerSchema(inputRuleOf);
  const around = forksAround(steps, graph);
  return (step, index) => {
    const { name, type, input, output, inputSchema, outputSchema, transitionToStep, onFailure } = step;
    return {
      name,
      type,
      work: workOf(step, readPayloadIds),
      inputRule: input === undefined ? inputRule(inputSchema) : { kind: "template", template: input },
      inputSchema,
      outputSchema,
      outputTemplate: output,
      next: transitionToStep,
      onFailure,
      livePropertiesAfter: liveAfter(index),
      failureReadsLastOutput: readLastOutput.has(name),
      around: around(index),
      remembering: remembering?.(index),
    };
  };
}

function forksAround(steps: Steps, graph: StepGraph): (index: number) => readonly AroundStep[] {
  if (!steps.some(({ work }) => work.kind === "fork")) return () => [];
  const { of } = regionsOf(steps, graph);
  const around = (region: Region | undefined): AroundStep[] => {
    if (region?.fork === undefined) return [];
    return [...around(region.around), { fork: steps[region.fork]?.name ?? "", branch: region.branch }];
  };
  return (index) => around(of[index]);
}

function workOf(step: StepDefinition, readPayloadIds: ReadonlySet<string>): PlanWork {
  const { work } = step;
  if (work.kind !== "wait") return work;
  return { ...work, payloadRule: payloadRuleOf(step), readPayloadIds };
}

function readPayloadIdsOf(references: readonly Reference[]): ReadonlySet<string> {
  return new Set(references.flatMap(({ eventId, part }) => (part === "payload" ? (eventId ?? []) : [])));
}

/** A definition that is a `$ref` to a closed definition also counts as closed. */
function inputRuleOf(inputSchema: Schema): InputRule {
  return isClosed(inputSchema)
    ? { kind: "carried", properties: [...declaredProperties(inputSchema)] }
    : { kind: "whole" };
}

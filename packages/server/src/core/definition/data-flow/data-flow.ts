import { type ProblemList, pointerTo } from "../../problem.ts";
import { SchemaComparison } from "../../schema/compare.ts";
import type { StepDefinition, Steps } from "../definition-parts.ts";
import { buildGraph, type StepGraph } from "../step-graph.ts";
import { type Arrival, arrivalAlong, arrivalAtStart, passedOn } from "./arrival.ts";
import { describeInputTrouble, describeOutputTrouble, type Finding, troublesOf } from "./finding.ts";
import { KnownOutputs } from "./known-outputs.ts";
import { SourceTracer } from "./sources.ts";
import { WaitOutputBudget } from "./wait-output.ts";

/**
 * Checks that on every way through a definition each step receives what its input definition asks for, as far as the schemas tell;
 * and that what a step passes on fits its output definition. What is certain to fail is a problem, what may fail a
 * warning. To be called with steps whose transitions are sound.
 */
export function checkDataFlow(steps: Steps, problems: ProblemList, warnings: ProblemList): void {
  const flow = new DataFlow(steps, problems, warnings);
  for (const index of steps.keys()) {
    if (flow.isExhausted) {
      warnings.add(
        "/steps",
        "the definition is so large that its data flow was checked only in part; mismatches show when a job runs",
      );
      return;
    }
    flow.checkStep(index);
  }
}

class DataFlow {
  readonly #steps: readonly StepDefinition[];
  readonly #graph: StepGraph;
  readonly #tracer: SourceTracer;
  readonly #comparison = new SchemaComparison();
  readonly #budget = new WaitOutputBudget();
  readonly #problems: ProblemList;
  readonly #warnings: ProblemList;

  constructor(steps: Steps, problems: ProblemList, warnings: ProblemList) {
    this.#steps = steps;
    this.#graph = buildGraph(steps);
    this.#tracer = new SourceTracer(steps, this.#graph, new KnownOutputs(steps, this.#budget));
    this.#problems = problems;
    this.#warnings = warnings;
  }

  get isExhausted(): boolean {
    return this.#tracer.isExhausted || this.#comparison.isExhausted || this.#budget.isExhausted;
  }

  checkStep(index: number): void {
    const step = this.#steps[index];
    if (step === undefined) return;
    const inputs = this.#arrivalsAt(index, step).map((arrival) => ({
      arrival,
      outcome: this.#comparison.compare(arrival.received, step.inputSchema),
    }));
    if (this.isExhausted) return;
    this.#report(index, step, "inputDefinition", inputs);
    // A call makes its own output, of which no more is known than its definition says.
    if (step.behaviour === "call") return;
    const entered = inputs.filter(({ outcome }) => !outcome.noneFits);
    const outputs = entered.map(({ arrival }) => ({
      arrival,
      outcome: this.#comparison.compare(passedOn(arrival, step, this.#budget), step.outputSchema),
    }));
    if (this.isExhausted) return;
    this.#report(index, step, "outputDefinition", outputs);
  }

  #arrivalsAt(index: number, step: StepDefinition): Arrival[] {
    const atStart = index === 0 ? [arrivalAtStart(step)] : [];
    const along = (this.#graph.incoming[index] ?? []).flatMap((edge) => {
      const before = this.#steps[edge.from];
      return before === undefined ? [] : [arrivalAlong(edge, step, before, this.#tracer)];
    });
    return [...atStart, ...along];
  }

  #report(
    index: number,
    step: StepDefinition,
    field: "inputDefinition" | "outputDefinition",
    findings: Finding[],
  ): void {
    const pointer = `${pointerTo("/steps", index)}/integrationDetails/${field}`;
    const hint = (property: string) => this.#problems.hint(property, this.#tracer.names);
    const scene = { step, steps: this.#steps, arrivalCount: findings.length, hint };
    const describe = field === "inputDefinition" ? describeInputTrouble : describeOutputTrouble;
    for (const trouble of troublesOf(findings)) {
      const list = trouble.isCertain ? this.#problems : this.#warnings;
      if (!list.isFull) list.add(pointer, describe(trouble, scene));
    }
  }
}

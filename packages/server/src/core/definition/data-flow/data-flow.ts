import { type ProblemList, pointerTo, quoted } from "../../problem.ts";
import { SchemaComparison } from "../../schema/compare/compare.ts";
import type { StepDefinition, Steps } from "../definition-parts.ts";
import type { ForkRule } from "../executor-kind.ts";
import { buildGraph, type StepGraph } from "../graph/step-graph.ts";
import type { ForkWork } from "../step-work.ts";
import { type Arrival, arrivalAlong, arrivalAtStart, arrivalOfTemplate } from "./arrival.ts";
import { withBranchStarts } from "./branch-starts.ts";
import { ExpressionChecks } from "./expression-checks.ts";
import { describeInputTrouble, describeOutputTrouble, type Finding, troublesOf } from "./finding.ts";
import { KnownOutputs } from "./known-outputs.ts";
import { describeLargeList } from "./list-size.ts";
import { passedOn } from "./passed-on.ts";
import { SourceTracer } from "./sources.ts";
import { TemplateTypes } from "./template-types.ts";
import { WaitOutputBudget } from "./wait-output.ts";

/**
 * Checks every path through a definition, as far as the schemas tell: each step must receive a value that fits its input definition, and pass on a
 * value that fits its output definition. A failure that is certain is a problem, and one that is only possible is a warning. Call this only with
 * steps whose transitions are valid.
 */
export function checkDataFlow(
  steps: Steps,
  problems: ProblemList,
  warnings: ProblemList,
  limits: { readonly maxOutputBytes: number },
): void {
  const flow = new DataFlow(withBranchStarts(steps), problems, warnings, limits.maxOutputBytes);
  for (const index of steps.keys()) {
    if (flow.isExhausted) flow.tellProblems(index);
    else flow.checkStep(index);
  }
  if (!flow.isExhausted) return;
  warnings.add(
    "/steps",
    "the definition is so large that its data flow was checked only in part; other mismatches appear only when a job runs",
  );
}

class DataFlow {
  readonly #steps: readonly StepDefinition[];
  readonly #graph: StepGraph;
  readonly #tracer: SourceTracer;
  readonly #types: TemplateTypes;
  readonly #expressions: ExpressionChecks;
  readonly #comparison = new SchemaComparison();
  readonly #budget = new WaitOutputBudget();
  readonly #problems: ProblemList;
  readonly #warnings: ProblemList;
  readonly #maxOutputBytes: number;

  constructor(steps: Steps, problems: ProblemList, warnings: ProblemList, maxOutputBytes: number) {
    this.#steps = steps;
    this.#maxOutputBytes = maxOutputBytes;
    this.#graph = buildGraph(steps);
    this.#types = new TemplateTypes(steps, this.#graph, this.#budget);
    this.#tracer = new SourceTracer(steps, this.#graph, new KnownOutputs(steps, this.#budget, this.#types));
    this.#expressions = new ExpressionChecks(this.#types, this.#comparison, { problems, warnings });
    this.#problems = problems;
    this.#warnings = warnings;
  }

  get isExhausted(): boolean {
    return this.#tracer.isExhausted || this.#comparison.isExhausted || this.#types.isExhausted;
  }

  /** Reports expressions that certainly fail, as far as their types are known. Looks only at the `input` and the `output` of the step. */
  tellProblems(index: number): void {
    this.#expressions.tellProblems(index);
  }

  checkStep(index: number): void {
    const step = this.#steps[index];
    if (step === undefined) return;
    const inputs = this.#arrivalsAt(index, step).map((arrival) => ({
      arrival,
      outcome: this.#comparison.compare(arrival.received, step.inputSchema),
    }));
    if (this.isExhausted) {
      this.tellProblems(index);
      return;
    }
    // When a template makes the input, `#expressions` reports a value that does not fit, at the place of the template.
    if (step.input === undefined) this.#report(index, step, "inputDefinition", inputs);
    this.#expressions.check(index, step);
    if (step.work.kind === "fork") this.#warnOfLargeList(index, step, step.work.rule);
    // The output of a call does not come from the value that the step received. An `output` template was checked with the other expressions.
    if (step.work.kind === "call" || step.output !== undefined) return;
    if (step.work.kind === "fork") {
      this.#checkForkResult(index, step, step.work);
      return;
    }
    const entered = inputs.filter(({ outcome }) => !outcome.noneFits);
    const outputs = entered.map(({ arrival }) => ({
      arrival,
      outcome: this.#comparison.compare(passedOn(arrival.received, step, this.#budget), step.outputSchema),
    }));
    if (this.isExhausted) return;
    this.#report(index, step, "outputDefinition", outputs);
  }

  #warnOfLargeList(index: number, step: StepDefinition, rule: ForkRule): void {
    if (rule.kind !== "items" || rule.output !== "list") return;
    const bound = this.#maxOutputBytes;
    const found = describeLargeList(this.#types.itemCount(index), this.#types.branchOutput(index, undefined), bound);
    if (found === undefined) return;
    const detail = `${quoted(step.name)} ${found}; with a list of more than ${bound} bytes it fails with \`OutputTooLarge\``;
    const advice = 'Give less for each item, or set `"output": "counts"`';
    this.#warnings.add(`${pointerTo("/steps", index)}/integrationDetails/config`, `${detail}. ${advice}`);
  }

  #checkForkResult(index: number, step: StepDefinition, work: ForkWork): void {
    const made = this.#types.forkResult(index, work);
    const outcome = this.#comparison.compare([made], step.outputSchema);
    if (!this.isExhausted)
      this.#report(index, step, "outputDefinition", [{ arrival: arrivalOfTemplate(made), outcome }]);
  }

  #arrivalsAt(index: number, step: StepDefinition): Arrival[] {
    const made = this.#types.input(index);
    if (made !== undefined) return [arrivalOfTemplate(made.schema)];
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

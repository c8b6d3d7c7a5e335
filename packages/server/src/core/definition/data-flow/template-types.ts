import {
  itemCountOf,
  itemSchemaOf,
  type TemplateType,
  type TypeScope,
  templateType,
} from "../../expression/expression.ts";
import type { JsonValue } from "../../json/json.ts";
import { allOfSchemas, allowOnly, anyOfSchemas, anything, newSchema, type Schema } from "../../schema/node.ts";
import { typeSets } from "../../schema/type-set.ts";
import type { StepDefinition, Steps } from "../definition-parts.ts";
import { forkResultSchema, type ItemCount } from "../fork-result.ts";
import { branchEnds, type Regions, regionsOf } from "../graph/regions.ts";
import type { StepGraph } from "../graph/step-graph.ts";
import type { ForkWork } from "../step-work.ts";
import { ExpressionScopes } from "./expression-scope.ts";
import { checkedOutput, KnownOutput, knownOutputOf } from "./known-output.ts";
import { passedOn } from "./passed-on.ts";
import { readOrder } from "./read-order.ts";
import type { WaitOutputBudget } from "./wait-output.ts";

/**
 * The types of the templates of a definition. In a loop, the type of a template depends on the types of later steps, or on itself. The first round
 * uses only the definitions of such steps. Each further round uses the types that the round before found. The types of every round are correct,
 * because the round starts from correct types. So the number of rounds only decides how precise the types are.
 */
export class TemplateTypes {
  readonly #steps: Steps;
  readonly #budget: WaitOutputBudget;
  readonly #scopes: ExpressionScopes;
  readonly #inputs = new Map<number, TemplateType>();
  readonly #outputs = new Map<number, TemplateType>();
  readonly #outputSchemas = new Map<number, Schema>();
  readonly #regions: Regions;
  readonly #branchEnds: ReturnType<typeof branchEnds>;
  /** The schemas of the lists of forEach steps whose lists are given by expressions. */
  readonly #lists = new Map<number, Schema>();
  /** The results of forks. They depend on the types of other steps, so they are dropped whenever the type of a step is computed. */
  readonly #forkResults = new Map<number, Schema>();

  constructor(steps: Steps, graph: StepGraph, budget: WaitOutputBudget) {
    this.#steps = steps;
    this.#budget = budget;
    this.#regions = regionsOf(steps, graph);
    this.#branchEnds = branchEnds(steps, this.#regions);
    this.#scopes = new ExpressionScopes(steps, graph, this.#regions, {
      outputOf: (step) => this.outputSchema(step),
      receivedBy: (step) => this.#received(step, this.#steps[step]),
      itemOf: (fork) => itemSchemaOf(this.#list(fork)),
    });
    for (const index of readOrder(steps, graph, maxRounds)) {
      if (this.isExhausted) return;
      this.#findTypes(index, steps[index]);
    }
  }

  get isExhausted(): boolean {
    return this.#scopes.isExhausted || this.#budget.isExhausted;
  }

  /** The type of a step's `input` template; undefined when the step has none. */
  input(index: number): TemplateType | undefined {
    return this.#inputs.get(index);
  }

  /** The type of a step's `output` template; undefined when the step has none. */
  output(index: number): TemplateType | undefined {
    return this.#outputs.get(index);
  }

  scopeOfConfig(index: number, step: StepDefinition): TypeScope {
    return this.#scopes.at(index, { input: this.#received(index, step) });
  }

  scopeOfChoice(index: number, step: StepDefinition): TypeScope {
    return this.#scopes.at(index, {
      input: this.#received(index, step),
      result: step.output === undefined ? this.outputSchema(index) : this.#result(index, step),
      output: this.outputSchema(index),
      hasConsumed: true,
    });
  }

  /** The schema of a step's output, as far as it is known. */
  outputSchema(index: number): Schema {
    const step = this.#steps[index];
    const known = this.#outputSchemas.get(index);
    if (known !== undefined || step === undefined) return known ?? anything;
    if (step.work.kind === "fork" && step.output === undefined)
      return allOfSchemas([step.outputSchema, this.forkResult(index, step.work)]);
    const schema = step.output === undefined ? checkedOutput(step, this.#budget) : step.outputSchema;
    this.#outputSchemas.set(index, schema);
    return schema;
  }

  /** Returns what is known about the output of a step. For a step with an `output` template, and for a fork, this is only the schema. */
  knownOutput(index: number, step: StepDefinition): KnownOutput {
    if (step.output !== undefined || step.work.kind === "fork") return new KnownOutput(this.outputSchema(index), false);
    return knownOutputOf(step, this.#budget, this.input(index)?.schema);
  }

  #findTypes(index: number, step: StepDefinition | undefined): void {
    if (step === undefined) return;
    this.#forkResults.clear();
    if (step.input !== undefined) this.#inputs.set(index, templateType(step.input, this.#scopes.at(index, {})));
    if (step.work.kind === "fork") this.#findList(index, step, step.work);
    if (step.output === undefined) {
      if (step.work.kind === "fork") return;
      this.#outputSchemas.set(index, checkedOutput(step, this.#budget, this.input(index)?.schema));
      return;
    }
    const scope = this.#scopes.at(index, {
      input: this.#received(index, step),
      result: this.#result(index, step),
      hasConsumed: true,
    });
    const type = templateType(step.output, scope);
    this.#outputs.set(index, type);
    this.#outputSchemas.set(index, allOfSchemas([step.outputSchema, type.schema]));
  }

  /** The schema of a fork's raw result, before its `output` template. */
  forkResult(index: number, { rule }: ForkWork): Schema {
    const known = this.#forkResults.get(index);
    if (known !== undefined) return known;
    const result = forkResultSchema(rule, this.itemCount(index), (branch) => this.branchOutput(index, branch));
    this.#forkResults.set(index, result);
    return result;
  }

  itemCount(fork: number): ItemCount {
    return itemCountOf({ schema: this.#list(fork) });
  }

  /** The schema of a branch's result: the output of any step that ends the branch. */
  branchOutput(fork: number, branch: string | undefined): Schema {
    const ends = this.#branchEnds.get(fork)?.get(branch) ?? [];
    return anyOfSchemas(ends.map((end) => this.outputSchema(end)));
  }

  /** The schema of the list of a forEach. */
  #list(index: number): Schema {
    const work = this.#steps[index]?.work;
    const isConstant = work?.kind === "fork" && !("template" in work.items);
    return isConstant ? listOf(work.items) : (this.#lists.get(index) ?? anything);
  }

  #findList(index: number, step: StepDefinition, { items }: ForkWork): void {
    if (!("template" in items)) return;
    const { root, references } = items.template;
    const list = root.kind === "map" ? root.entries.find(([field]) => field === "items")?.[1] : undefined;
    if (list === undefined) return;
    this.#lists.set(index, templateType({ root: list, references }, this.scopeOfConfig(index, step)).schema);
  }

  /** The schema of an input that passed the check of the step's input definition. */
  #received(index: number, step: StepDefinition | undefined): Schema {
    const made = this.input(index)?.schema;
    return allOfSchemas([step?.inputSchema ?? anything, ...(made === undefined ? [] : [made])]);
  }

  /** The schema of the raw result. When the step has an `output` template, the raw result is not checked against the output definition. */
  #result(index: number, step: StepDefinition): Schema {
    const { work } = step;
    if (work.kind === "fork") return this.forkResult(index, work);
    if (work.kind === "call") return work.resultSchema ?? anything;
    // When expressions give the ids of events, the payloads of these events were not checked when they were sent.
    if (work.kind === "wait" && work.openRule !== undefined) return anything;
    return allOfSchemas(passedOn([this.#received(index, step)], step, this.#budget));
  }
}

/** A type needs two rounds to go around a loop once; a counter, for example, is then known to be a number. A third round lets it go around twice. */
const maxRounds = 3;

/** The schema of a list that is written in the definition. */
function listOf(items: readonly JsonValue[]): Schema {
  const { length } = items;
  const item = newSchema({ allowed: allowOnly(items) });
  const arrays = { prefix: undefined, items: item, minItems: length, maxItems: length };
  return newSchema({ types: typeSets.array, arrays });
}

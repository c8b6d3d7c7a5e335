import { anyOfSchemas } from "../../schema/node.ts";
import type { Schema } from "../../schema/schema.ts";
import type { StepDefinition } from "../definition-parts.ts";
import { type Effect, type KnownOutput, knownJobInput, knownOutputOf } from "./known-output.ts";
import type { TemplateTypes } from "./template-types.ts";
import type { Provenance } from "./trace.ts";
import type { WaitOutputBudget } from "./wait-output.ts";

/** The knowledge about all outputs of a definition and about the job's input. Most steps of one kind with the same definitions share one entry. */
export class KnownOutputs {
  readonly jobInput: KnownOutput;
  readonly #byStep: readonly KnownOutput[];
  readonly #stepsOf: ReadonlyMap<KnownOutput, readonly number[]>;
  readonly #effectsOnOthers: readonly Effect[];
  readonly #positions: ReadonlyMap<KnownOutput, number>;
  /** For each property, the outputs whose schemas name it. */
  readonly #namedBy: ReadonlyMap<string, readonly KnownOutput[]>;
  readonly #groups = new Map<string, OutputGroup>();

  constructor(steps: readonly [StepDefinition, ...StepDefinition[]], budget: WaitOutputBudget, types: TemplateTypes) {
    this.jobInput = knownJobInput(steps[0]);
    this.#byStep = sharedOutputs(steps, budget, types);
    this.#stepsOf = Map.groupBy(this.#byStep.keys(), (step) => this.#byStep[step] ?? this.jobInput);
    this.#effectsOnOthers = this.#byStep.map(({ effectOnOthers }) => effectOnOthers);
    const different = [this.jobInput, ...new Set(this.#byStep)];
    this.#positions = new Map(different.map((output, position) => [output, position]));
    this.#namedBy = indexByName(different);
  }

  get names(): Iterable<string> {
    return this.#namedBy.keys();
  }

  /**
   * Returns the effects of all steps on a property, by the index of the step. Only the effects of the few outputs that name the property are computed
   * here. Any other output has one effect on all properties that it does not name.
   */
  effectsOn(name: string): Effect[] {
    const effects = [...this.#effectsOnOthers];
    for (const output of this.#namedBy.get(name) ?? []) {
      const effect = output.effectOn(name);
      for (const step of this.#stepsOf.get(output) ?? []) effects[step] = effect;
    }
    return effects;
  }

  /** A key of a property. Two properties have the same key only when every output has the same effect on both. */
  patternOf(name: string): string {
    const namedBy = this.#namedBy.get(name) ?? [];
    return namedBy.map((output) => `${this.#positions.get(output)}${output.effectOn(name)}`).join();
  }

  /** The outputs from which a value may come. */
  group(provenance: Provenance): OutputGroup {
    const outputs = new Set(provenance.steps.flatMap((step) => this.#byStep[step] ?? []));
    if (provenance.mayBeJobInput) outputs.add(this.jobInput);
    const key = [...outputs].map((output) => this.#positions.get(output)).join();
    const group = this.#groups.get(key) ?? new OutputGroup([...outputs]);
    this.#groups.set(key, group);
    return group;
  }
}

/** A set of outputs. A value may come from any of them. */
export class OutputGroup {
  readonly #outputs: readonly KnownOutput[];
  readonly #properties = new Map<string, Schema>();
  readonly schema: Schema;

  constructor(outputs: readonly KnownOutput[]) {
    this.#outputs = outputs;
    this.schema = anyOfSchemas(outputs.map(({ schema }) => schema));
  }

  property(name: string): Schema {
    const known = this.#properties.get(name);
    if (known !== undefined) return known;
    const schema = anyOfSchemas(this.#outputs.map((output) => output.property(name)));
    this.#properties.set(name, schema);
    return schema;
  }
}

function sharedOutputs(
  steps: readonly StepDefinition[],
  budget: WaitOutputBudget,
  types: TemplateTypes,
): KnownOutput[] {
  const numbers = new Map<Schema, number>();
  const numberOf = (schema: Schema): number => {
    const number = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, number);
    return number;
  };
  const shared = new Map<string, KnownOutput>();
  return steps.map((step, index) => {
    // Each template makes a new value, so a step with an `input` or `output` template has an entry of its own. Each fork has its own entry, too.
    if (step.input !== undefined || step.output !== undefined || step.work.kind === "fork")
      return types.knownOutput(index, step);
    // Payload definitions also decide which properties an event must bring, so a step with payload definitions has an entry of its own.
    const own = step.work.kind === "wait" && step.work.payloadSchemas.size > 0 ? ` ${index}` : "";
    const result = "resultSchema" in step.work && step.work.resultSchema;
    const made = result ? ` ${numberOf(result)}` : "";
    const key = `${step.work.kind}${made} ${numberOf(step.inputSchema)} ${numberOf(step.outputSchema)}${own}`;
    const output = shared.get(key) ?? knownOutputOf(step, budget);
    shared.set(key, output);
    return output;
  });
}

function indexByName(outputs: readonly KnownOutput[]): ReadonlyMap<string, readonly KnownOutput[]> {
  const index = new Map<string, KnownOutput[]>();
  for (const output of outputs) {
    for (const name of output.names) {
      const naming = index.get(name);
      if (naming === undefined) index.set(name, [output]);
      else naming.push(output);
    }
  }
  return index;
}

import type { StepDefinition } from "../definition.ts";
import { anything } from "../schema/node.ts";
import type { Schema } from "../schema.ts";
import type { Edge, StepGraph } from "../step-graph.ts";
import { type KnownOutput, knownOutputOf, passesLatestOutputOn } from "./known-output.ts";
import { type Origin, Trace } from "./trace.ts";

/** A place that a value comes from, and what is known of the value there. Without a step it is the job's input. */
export interface Source {
  readonly step: StepDefinition | undefined;
  readonly schema: Schema;
}

/** Where a value may come from that a step receives on some way; and whether it may be that nothing on the way has it. */
export interface Sources {
  readonly sources: readonly Source[];
  readonly mayBeMissing: boolean;
}

/** Five hundred steps that each take ten thousand properties from each other would hold the process for seconds. */
const maxLookUps = 500_000;

/** Traces what a step receives back to the outputs that it may come from, or the job's input. */
export class SourceTracer {
  readonly #graph: StepGraph;
  readonly #jobInput: KnownOutput;
  /** By step. Steps with the same definitions share what is known of their outputs. */
  readonly #outputs: readonly StepOutput[];
  /** The outputs whose schemas name a property, by their position in the list of all. */
  readonly #namedBy: ReadonlyMap<string, readonly (readonly [number, KnownOutput])[]>;
  readonly #traces = new Map<string, Trace>();
  readonly #latestOutputTrace: Trace;
  #remaining = maxLookUps;

  constructor(steps: readonly StepDefinition[], graph: StepGraph, jobInput: KnownOutput) {
    this.#graph = graph;
    this.#jobInput = jobInput;
    this.#outputs = outputsOf(steps);
    this.#namedBy = indexByName([jobInput, ...new Set(this.#outputs.map(({ known }) => known))]);
    const effects = steps.map((step) => (passesLatestOutputOn(step) ? "leaves" : "gives"));
    this.#latestOutputTrace = new Trace(graph, effects, "gives");
  }

  /** Every property that some output or the job's input names. */
  get names(): Iterable<string> {
    return this.#namedBy.keys();
  }

  /** Whether so much was asked that the answers since then say nothing any more. */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  /** Where a property comes from that a step with a closed input definition takes when it is entered along this way. */
  sourcesOfProperty(edge: Edge, name: string): Sources {
    if (this.isExhausted) return { sources: [{ step: undefined, schema: anything }], mayBeMissing: true };
    return this.#describe(this.#traceOf(name).originOn(edge), (output) => output.property(name));
  }

  /** Where the latest output comes from when a step is entered along this way. */
  sourcesOfLatestOutput(edge: Edge): Sources {
    return this.#describe(this.#latestOutputTrace.originOn(edge), (output) => output.schema);
  }

  #describe(origin: Origin, schemaOf: (output: KnownOutput) => Schema): Sources {
    this.#remaining -= origin.steps.length + 1;
    const outputs = origin.steps.flatMap((index) => this.#outputs[index] ?? []);
    const sources: Source[] = outputs.map(({ step, known }) => ({ step, schema: schemaOf(known) }));
    if (origin.mayBeJobInput) sources.push({ step: undefined, schema: schemaOf(this.#jobInput) });
    return { sources, mayBeMissing: origin.mayBeMissing };
  }

  /** Properties that the same outputs name, with the same effect, come from the same places: most share a trace. */
  #traceOf(name: string): Trace {
    const namedBy = this.#namedBy.get(name) ?? [];
    const key = namedBy.map(([position, output]) => `${position}${output.effectOn(name)}`).join();
    const earlier = this.#traces.get(key);
    if (earlier !== undefined) return earlier;
    const effects = this.#outputs.map(({ known }) => known.effectOn(name));
    const trace = new Trace(this.#graph, effects, this.#jobInput.effectOn(name));
    this.#traces.set(key, trace);
    return trace;
  }
}

interface StepOutput {
  readonly step: StepDefinition;
  readonly known: KnownOutput;
}

function outputsOf(steps: readonly StepDefinition[]): StepOutput[] {
  const numbers = new Map<Schema, number>();
  const numberOf = (schema: Schema): number => {
    const number = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, number);
    return number;
  };
  const shared = new Map<string, KnownOutput>();
  return steps.map((step) => {
    const key = `${step.behaviour} ${numberOf(step.inputSchema)} ${numberOf(step.outputSchema)}`;
    const known = shared.get(key) ?? knownOutputOf(step);
    shared.set(key, known);
    return { step, known };
  });
}

function indexByName(
  outputs: readonly KnownOutput[],
): ReadonlyMap<string, readonly (readonly [number, KnownOutput])[]> {
  const index = new Map<string, [number, KnownOutput][]>();
  for (const [position, output] of outputs.entries()) {
    for (const name of output.names) {
      const entries = index.get(name);
      if (entries === undefined) index.set(name, [[position, output]]);
      else entries.push([position, output]);
    }
  }
  return index;
}

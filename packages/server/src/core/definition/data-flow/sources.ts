import { anything } from "../../schema/node.ts";
import type { Schema } from "../../schema/schema.ts";
import type { StepDefinition } from "../definition-parts.ts";
import type { Edge, StepGraph } from "../step-graph.ts";
import { passesLatestOutputOn } from "./known-output.ts";
import type { KnownOutputs, OutputGroup } from "./known-outputs.ts";
import { type Provenance, Trace } from "./trace.ts";

/** Where a value may come from that a step receives on some way, and what it fits, if it is there, wherever it comes from. */
export interface Sources {
  readonly provenance: Provenance;
  readonly schema: Schema;
}

export function hasSource({ provenance }: Sources): boolean {
  return provenance.mayBeJobInput || provenance.steps.length > 0;
}

/** Five hundred steps that each take ten thousand properties from each other would hold the process for seconds. */
const maxLookUps = 150_000;

/** Traces what a step receives back to the outputs that it may come from, or the job's input. */
export class SourceTracer {
  readonly #graph: StepGraph;
  readonly #outputs: KnownOutputs;
  readonly #latestOutput: Trace;
  readonly #properties = new Map<string, Trace>();
  /** Properties that the same outputs name, with the same effect, come from the same places: most share a trace. */
  readonly #shared = new Map<string, Trace>();
  readonly #groups = new Map<Provenance, OutputGroup>();
  #remaining = maxLookUps;

  constructor(steps: readonly StepDefinition[], graph: StepGraph, outputs: KnownOutputs) {
    this.#graph = graph;
    this.#outputs = outputs;
    const effects = steps.map((step) => (passesLatestOutputOn(step) ? "leaves" : "gives"));
    this.#latestOutput = new Trace(graph, effects, "gives");
  }

  /** Whether so much was asked that the answers since then say nothing any more. */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  /** Every property that some output or the job's input names. */
  get names(): Iterable<string> {
    return this.#outputs.names;
  }

  /** Where a property comes from that a step with a closed input definition takes when it is entered along this way. */
  sourcesOfProperty(edge: Edge, name: string): Sources {
    if (--this.#remaining < 0) return unknownSources;
    const provenance = this.#traceOf(name).provenanceOn(edge);
    return { provenance, schema: this.#groupOf(provenance).property(name) };
  }

  /** Where the latest output comes from when a step is entered along this way. */
  sourcesOfLatestOutput(edge: Edge): Sources {
    const provenance = this.#latestOutput.provenanceOn(edge);
    return { provenance, schema: this.#groupOf(provenance).schema };
  }

  #groupOf(provenance: Provenance): OutputGroup {
    const known = this.#groups.get(provenance);
    if (known !== undefined) return known;
    const group = this.#outputs.group(provenance);
    this.#groups.set(provenance, group);
    return group;
  }

  #traceOf(name: string): Trace {
    const known = this.#properties.get(name);
    if (known !== undefined) return known;
    const pattern = this.#outputs.patternOf(name);
    const trace = this.#shared.get(pattern) ?? this.#newTrace(name);
    this.#shared.set(pattern, trace);
    this.#properties.set(name, trace);
    return trace;
  }

  #newTrace(name: string): Trace {
    const trace = new Trace(this.#graph, this.#outputs.effectsOn(name), this.#outputs.jobInput.effectOn(name));
    this.#remaining -= trace.visitCount / visitsPerLookUp;
    return trace;
  }
}

/** To visit an edge of the graph costs a fraction of a look-up. */
const visitsPerLookUp = 8;

const unknownSources: Sources = {
  provenance: { steps: [], mayBeJobInput: true, mayBeMissing: true },
  schema: anything,
};

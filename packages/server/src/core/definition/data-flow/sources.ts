import { anything } from "../../schema/node.ts";
import type { Schema } from "../../schema/schema.ts";
import type { StepDefinition } from "../definition-parts.ts";
import type { Edge, StepGraph } from "../graph/step-graph.ts";
import { passesLatestOutputOn } from "./known-output.ts";
import type { KnownOutputs, OutputGroup } from "./known-outputs.ts";
import { type Provenance, Trace } from "./trace.ts";

/** The possible sources of a received value. If the value is present, it fits the schema, whatever its source. */
export interface Sources {
  readonly provenance: Provenance;
  readonly schema: Schema;
}

export function hasSource({ provenance }: Sources): boolean {
  return provenance.mayBeJobInput || provenance.steps.length > 0;
}

/**
 * The bound on look-ups. Without it, five hundred steps that each take ten thousand properties from each other would block the process for seconds.
 */
const maxLookUps = 150_000;

/** Traces a received value back to its possible sources: outputs, or the job's input. */
export class SourceTracer {
  readonly #graph: StepGraph;
  readonly #outputs: KnownOutputs;
  readonly #latestOutput: Trace;
  readonly #properties = new Map<string, Trace>();
  /** Most properties share a trace: two properties have the same sources when the same outputs name them with the same effect. */
  readonly #shared = new Map<string, Trace>();
  readonly #groups = new Map<Provenance, OutputGroup>();
  #remaining = maxLookUps;

  constructor(steps: readonly StepDefinition[], graph: StepGraph, outputs: KnownOutputs) {
    this.#graph = graph;
    this.#outputs = outputs;
    const effects = steps.map((step) => (passesLatestOutputOn(step) ? "leaves" : "gives"));
    this.#latestOutput = new Trace(graph, effects, "gives");
  }

  /** Whether the budget is used up. From then on, the sources of every property are unknown. */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  /** Every property that some output or the job's input names. */
  get names(): Iterable<string> {
    return this.#outputs.names;
  }

  /** The sources of a property that a step with a closed input definition takes when it is entered along this edge. */
  sourcesOfProperty(edge: Edge, name: string): Sources {
    if (--this.#remaining < 0) return unknownSources;
    const provenance = this.#traceOf(name).provenanceOn(edge);
    return { provenance, schema: this.#groupOf(provenance).property(name) };
  }

  /** The sources of the latest output when a step is entered along this edge. */
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

/** The number of visits to edges of the graph that cost as much as one look-up. */
const visitsPerLookUp = 8;

const unknownSources: Sources = {
  provenance: { steps: [], mayBeJobInput: true, mayBeMissing: true },
  schema: anything,
};

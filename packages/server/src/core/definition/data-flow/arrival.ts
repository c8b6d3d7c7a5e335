import { closedObject } from "../../schema/node.ts";
import { declaredProperties, isClosed, type Schema } from "../../schema/schema.ts";
import { typeSets } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import type { Edge } from "../step-graph.ts";
import { anyObject, passesLatestOutputOn } from "./known-output.ts";
import { hasSource, type Sources, type SourceTracer } from "./sources.ts";

/** One edge into a step, or the start of the job, and what is known of what the step receives there. */
export interface Arrival {
  /** Undefined for the start of a job. */
  readonly edge: Edge | undefined;
  /** The received value fits each of these. */
  readonly received: readonly Schema[];
  /** Where the received properties come from, of a step with a closed input definition. */
  readonly properties: ReadonlyMap<string, Sources>;
  /** Where the received value comes from, of a step with an open one. */
  readonly whole: Sources | undefined;
}

/** The job's input: an object, which has been checked. */
export function arrivalAtStart(firstStep: StepDefinition): Arrival {
  return { edge: undefined, received: [firstStep.inputSchema, anyObject], properties: new Map(), whole: undefined };
}

/** The input of the step makes what it receives, whichever way leads there. */
export function arrivalOfTemplate(made: Schema): Arrival {
  return { edge: undefined, received: [made], properties: new Map(), whole: undefined };
}

/** A closed input definition receives the properties that it declares, an open one the latest output whole. */
export function arrivalAlong(edge: Edge, step: StepDefinition, before: StepDefinition, tracer: SourceTracer): Arrival {
  if (!isClosed(step.inputSchema)) return arrivalOfWhole(edge, before, tracer);
  const properties = new Map<string, Sources>();
  const schemas = new Map<string, Schema>();
  const required: string[] = [];
  for (const name of declaredProperties(step.inputSchema)) {
    const sources = tracer.sourcesOfProperty(edge, name);
    properties.set(name, sources);
    if (hasSource(sources)) schemas.set(name, sources.schema);
    if (!sources.provenance.mayBeMissing) required.push(name);
  }
  return { edge, received: [closedObject(schemas, required, typeSets.object)], properties, whole: undefined };
}

function arrivalOfWhole(edge: Edge, before: StepDefinition, tracer: SourceTracer): Arrival {
  const whole = tracer.sourcesOfLatestOutput(edge);
  // A step that passes the latest output on has checked it twice more.
  const isChecked = edge.kind === "transition" && passesLatestOutputOn(before);
  const checked = isChecked ? [before.inputSchema, before.outputSchema] : [];
  return { edge, received: [whole.schema, ...checked], properties: new Map(), whole };
}

import { closedObject } from "../../schema/node.ts";
import { declaredProperties, isClosed, type Schema } from "../../schema/schema.ts";
import { typeSets } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import type { Edge } from "../graph/step-graph.ts";
import { anyObject, passesLatestOutputOn } from "./known-output.ts";
import { hasSource, type Sources, type SourceTracer } from "./sources.ts";

/** One way in which a step gets a value, such as along an edge or at the start of the job, with what is known about the value. */
export interface Arrival {
  /** Undefined for the start of a job, for the result of a fork, and when the step's `input` makes the value. */
  readonly edge: Edge | undefined;
  /** The received value fits each of these schemas. */
  readonly received: readonly Schema[];
  /** The sources of the received properties, for a step with a closed input definition. */
  readonly properties: ReadonlyMap<string, Sources>;
  /** The sources of the received value, for a step with an open input definition. */
  readonly whole: Sources | undefined;
}

/** The arrival of the job's input at the first step. The input was checked, and it is an object. */
export function arrivalAtStart(firstStep: StepDefinition): Arrival {
  return { edge: undefined, received: [firstStep.inputSchema, anyObject], properties: new Map(), whole: undefined };
}

/** The arrival of a value that does not depend on an edge: the `input` template of a step makes it, or it is the result of a fork. */
export function arrivalOfTemplate(made: Schema): Arrival {
  return { edge: undefined, received: [made], properties: new Map(), whole: undefined };
}

/**
 * The arrival along an edge. A step with a closed input definition receives the properties that the definition declares. A step with an open one
 * receives the whole latest output.
 */
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
  // If a step passes the latest output on, it has checked that output two more times: against its input definition and against its output definition.
  const isChecked = edge.kind === "transition" && passesLatestOutputOn(before);
  const checked = isChecked ? [before.inputSchema, before.outputSchema] : [];
  return { edge, received: [whole.schema, ...checked], properties: new Map(), whole };
}

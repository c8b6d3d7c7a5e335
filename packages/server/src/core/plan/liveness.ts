import type { StepDefinition } from "../definition/definition-parts.ts";
import type { StepGraph } from "../definition/graph/step-graph.ts";
import { payloadRuleOf } from "../definition/payload-rule.ts";
import { declaredProperties, isClosed, requiredProperties, type Schema } from "../schema/schema.ts";
import { liveAfter, rowMaker } from "./live-sets.ts";

/**
 * Returns, by step, the properties of outputs that must be carried on after the step. A later step may take them by the rule of its input definition.
 */
export function livePropertiesAfter(
  steps: readonly StepDefinition[],
  graph: StepGraph,
): (step: number) => ReadonlySet<string> {
  const takers = steps.filter(({ input }) => input === undefined);
  const inputSchemas = new Set(takers.map(({ inputSchema }) => inputSchema));
  const names = [...new Set([...inputSchemas].flatMap((schema) => [...takenProperties(schema)]))];
  const toRow = rowMaker(names);
  const none = toRow([]);
  const takenBy = oncePerSchema((schema) => toRow(takenProperties(schema)));
  const overwrittenBy = oncePerSchema((schema) => toRow(requiredProperties(schema)));
  const read = steps.map(({ input, inputSchema }) => (input === undefined ? takenBy(inputSchema) : none));
  // A wait step takes some properties only from its events. Such a property loses its earlier value, whether or not an event brings a new one.
  const overwritten = steps.map((step) => {
    const fromEvents = step.output === undefined ? payloadRuleOf(step)?.fromEvents : undefined;
    const required = overwrittenBy(step.outputSchema);
    if (fromEvents === undefined) return required;
    const both = toRow(fromEvents);
    both.rows.addRow(both.row, required);
    return both;
  });
  return liveAfter({
    graph,
    names,
    readBy: (step) => read[step] ?? none,
    // A failed step has made no output.
    overwrittenOn: ({ kind, from }) => (kind === "transition" ? overwritten[from] : undefined),
  });
}

/** The names of the steps whose failure leads to a step that receives the whole latest output. It may lead there through further failures. */
export function stepsWhoseFailureReadsLastOutput(steps: readonly StepDefinition[]): ReadonlySet<string> {
  const readers = new Set(
    steps.filter(({ input, inputSchema }) => input === undefined && !isClosed(inputSchema)).map(({ name }) => name),
  );
  const failedBefore = new Map<string, string[]>();
  for (const { name, onFailure } of steps) {
    for (const { step } of onFailure) failedBefore.set(step, [...(failedBefore.get(step) ?? []), name]);
  }
  const found = new Set([...readers].flatMap((reader) => failedBefore.get(reader) ?? []));
  // The loop also visits names that it adds to the set.
  for (const name of found) {
    for (const earlier of failedBefore.get(name) ?? []) found.add(earlier);
  }
  return found;
}

function takenProperties(inputSchema: Schema): ReadonlySet<string> {
  return isClosed(inputSchema) ? declaredProperties(inputSchema) : new Set();
}

/** Several steps may have the same schema. So a result that depends only on the schema is computed once. */
export function oncePerSchema<Value>(compute: (schema: Schema) => Value): (schema: Schema) => Value {
  const values = new Map<Schema, Value>();
  return (schema) => {
    const known = values.get(schema);
    if (known !== undefined) return known;
    const value = compute(schema);
    values.set(schema, value);
    return value;
  };
}

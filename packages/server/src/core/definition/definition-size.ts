import { sizeOfExpression, sizeOfTemplate } from "../expression/expression.ts";
import type { ProblemList } from "../problem.ts";
import { schemasBeside } from "../schema/rare-rules.ts";
import type { Schema } from "../schema/schema.ts";
import type { StepDefinition } from "./definition-parts.ts";
import { conditionsOf, templatesOf } from "./expressions-of.ts";

/**
 * Refuses definitions that would take too much time or memory to compile. A definition may be compiled each time one of its jobs moves. Returns
 * whether the definition may be checked further.
 */
export function checkSize(steps: readonly StepDefinition[], problems: ProblemList): boolean {
  const parts = steps.reduce((sum, step) => sum + expressionPartsOf(step), 0);
  if (parts > maxExpressionParts) {
    const detail = `the expressions of all steps have ${parts} parts together; a definition may have ${maxExpressionParts}`;
    problems.add(
      "/steps",
      `${detail}. Take whole objects instead of their properties one by one, or divide the workflow`,
    );
    return false;
  }
  if (nameCountOf(steps, maxNames) <= maxNames) return true;
  const detail = `the steps, their events and the properties in their definitions make more than ${maxNames} combinations`;
  problems.add(
    "/steps",
    `${detail}; let steps share definitions, declare fewer properties in them, or list fewer events`,
  );
  return false;
}

/**
 * Reading this many parts takes up to 30 ms. Each name, operator and literal is one part, and each expression counts as two more. Twenty thousand
 * expressions fit if each reads one property.
 */
const maxExpressionParts = 80_000;

function expressionPartsOf(step: StepDefinition): number {
  const sizes = [...templatesOf(step).map(sizeOfTemplate), ...conditionsOf(step).map(sizeOfExpression)];
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Compiling this many names takes up to 25 ms, and they take 16 MB in memory. A definition of two hundred steps with two hundred properties each
 * takes a fifth of this.
 */
const maxNames = 200_000;

/**
 * The number of property names in a plan of these steps. A plan has names for each step and each event, so a few hundred steps with a few thousand
 * properties or events make a large number. The number is an upper bound, because a plan shares equal sets. Counting stops above `limit`.
 */
export function nameCountOf(steps: readonly StepDefinition[], limit: number): number {
  const counter = new NameCounter(limit);
  counter.add(steps.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]));
  const schemasByEventId = new Map<string, Set<Schema>>();
  for (const { work, inputSchema, outputSchema } of steps) {
    if (work.kind !== "wait") continue;
    const { payloadSchemas, rule } = work;
    // Steps without payload definitions share one rule if they have the same input and output definitions, which are counted above.
    if (payloadSchemas.size > 0) counter.add([inputSchema, outputSchema, ...payloadSchemas.values()]);
    for (const eventId of rule.eventIds) {
      const schemas = schemasByEventId.get(eventId) ?? new Set();
      schemasByEventId.set(eventId, schemas.add(outputSchema).add(payloadSchemas.get(eventId) ?? outputSchema));
    }
  }
  for (const schemas of schemasByEventId.values()) counter.add(schemas);
  return counter.count;
}

class NameCounter {
  readonly #limit: number;
  readonly #known = new Map<Schema, number>();
  count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(schemas: Iterable<Schema>): void {
    for (const schema of new Set(schemas)) {
      if (this.count > this.#limit) return;
      const known = this.#known.get(schema) ?? this.#namesIn(schema);
      this.#known.set(schema, known);
      this.count += known;
    }
  }

  /** Counts the names in a schema, without those inside its properties. Each part of the schema counts as one name more. */
  #namesIn(schema: Schema): number {
    let count = 0;
    // The loop also visits schemas that it adds to the set.
    const parts = new Set([schema]);
    for (const part of parts) {
      count += 1 + namesOf(part);
      if (count > this.#limit) break;
      for (const other of schemasBeside(part)) parts.add(other);
    }
    return count;
  }
}

function namesOf({ objects, rare }: Schema): number {
  const dependents = [...(rare?.dependentRequired?.values() ?? [])].reduce((sum, names) => sum + 1 + names.length, 0);
  return objects === undefined ? dependents : dependents + objects.properties.size + objects.required.length;
}

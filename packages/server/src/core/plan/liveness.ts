import { BitRows, type RowOf } from "../definition/bit-rows.ts";
import type { StepDefinition } from "../definition/definition-parts.ts";
import { payloadRuleOf } from "../definition/payload-rule.ts";
import type { StepGraph } from "../definition/step-graph.ts";
import { declaredProperties, isClosed, requiredProperties, type Schema } from "../schema/schema.ts";

/**
 * Which properties of outputs must be carried on after a step, because some step on a way from there takes them; asked by the
 * step's index. It may name too many, which costs room in the state of a job, but never too few.
 */
export function livePropertiesAfter(
  steps: readonly StepDefinition[],
  graph: StepGraph,
): (step: number) => ReadonlySet<string> {
  const inputSchemas = new Set(steps.map(({ inputSchema }) => inputSchema));
  const names = [...new Set([...inputSchemas].flatMap((schema) => [...takenProperties(schema)]))];
  const live = solve(steps, graph, names);
  const sets = new SharedSets(names);
  return (step) => {
    if (live === undefined) return sets.all;
    const after = new BitRows(1, names.length);
    for (const { to } of graph.outgoing[step] ?? []) after.addRow(0, { rows: live, row: to });
    return sets.of(after);
  };
}

/** The names of the steps whose failure leads, perhaps over more failures, to a step that receives the latest output whole. */
export function stepsWhoseFailureReadsLastOutput(steps: readonly StepDefinition[]): ReadonlySet<string> {
  const readers = new Set(steps.filter(({ inputSchema }) => !isClosed(inputSchema)).map(({ name }) => name));
  const failedBefore = new Map<string, string[]>();
  for (const { name, onFailure } of steps) {
    if (onFailure !== undefined) failedBefore.set(onFailure, [...(failedBefore.get(onFailure) ?? []), name]);
  }
  const found = new Set([...readers].flatMap((reader) => failedBefore.get(reader) ?? []));
  // A set that grows while it is walked is walked to its end.
  for (const name of found) {
    for (const earlier of failedBefore.get(name) ?? []) found.add(earlier);
  }
  return found;
}

/**
 * The classic analysis of live variables. Answers by step what is live when it is entered: what it takes itself; what is live where
 * it leads, but what its output certainly overwrites; and what is live where its failure leads, which overwrites nothing.
 * Goes round against the direction of the edges, and every other time along it, until nothing changes. Undefined when that
 * takes too long, as only a contrived tangle of loops does.
 */
function solve(steps: readonly StepDefinition[], graph: StepGraph, names: readonly string[]): BitRows | undefined {
  const numbers = new Map(names.map((name, number) => [name, number]));
  const toRow = (properties: ReadonlySet<string>): RowOf => {
    const rows = new BitRows(1, names.length);
    for (const number of [...properties].flatMap((name) => numbers.get(name) ?? [])) rows.add(0, number);
    return { rows, row: 0 };
  };
  const takenBy = oncePerSchema((schema) => toRow(takenProperties(schema)));
  const overwrittenBy = oncePerSchema((schema) => toRow(requiredProperties(schema)));
  const live = new BitRows(steps.length, names.length);
  for (const [step, { inputSchema }] of steps.entries()) live.addRow(step, takenBy(inputSchema));
  // What a wait step takes from its events alone is never what was there before, whether an event brought it or not.
  const overwritten = steps.map((step) => {
    const fromEvents = payloadRuleOf(step)?.fromEvents;
    const required = overwrittenBy(step.outputSchema);
    if (fromEvents === undefined) return required;
    const both = toRow(fromEvents);
    both.rows.addRow(both.row, required);
    return both;
  });
  for (let round = 0; round < maxRounds; round++) {
    let isChanged = false;
    for (const edge of (round % 2 === 0 ? graph.backwards : graph.order).flatMap(
      (step) => graph.outgoing[step] ?? [],
    )) {
      const except = edge.kind === "transition" ? overwritten[edge.from] : undefined;
      if (live.addRow(edge.from, { rows: live, row: edge.to }, except)) isChanged = true;
    }
    if (!isChanged) return live;
  }
  return undefined;
}

const maxRounds = 50;

/** The sets of names that the plan keeps. Equal ones are one, since hundreds of steps may share a definition of thousands of names. */
class SharedSets {
  readonly all: ReadonlySet<string>;
  readonly #names: readonly string[];
  readonly #sets = new Map<string, ReadonlySet<string>>();
  #room = maxNamesInSets;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.all = new Set(names);
  }

  /** The set of the names in the only row; of all names once there is no more room, since plans are kept by the hundred. */
  of(rows: BitRows): ReadonlySet<string> {
    if (this.#room < 0) return this.all;
    const key = rows.key(0);
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const set = new Set(rows.values(0).flatMap((number) => this.#names[number] ?? []));
    this.#sets.set(key, set);
    this.#room -= set.size;
    return set;
  }
}

const maxNamesInSets = 100_000;

function takenProperties(inputSchema: Schema): ReadonlySet<string> {
  return isClosed(inputSchema) ? declaredProperties(inputSchema) : new Set();
}

/** Steps share their definitions, so what follows from a schema is computed once for all of them, and shared too. */
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

import { BitRows, type RowOf } from "../definition/bit-rows.ts";
import type { Edge, StepGraph } from "../definition/step-graph.ts";

/** A question about names that must be remembered between steps: where each is read, and where it gets another value. */
export interface LiveQuestion {
  readonly graph: StepGraph;
  readonly names: readonly string[];
  /** The names that a step reads. */
  readonly readBy: (step: number) => RowOf;
  /** The names for which the step at the beginning of this edge gives a new value, or ends the old one. */
  readonly overwrittenOn: (edge: Edge) => RowOf | undefined;
  /** Where names get their first value; left out where all may have one from the start. */
  readonly given?: Given;
}

export interface Given {
  readonly atStart: RowOf;
  readonly by: (step: number) => RowOf;
}

/**
 * Answers by the step's index which names are live after it, because they may have a value there and some step on a way from there reads them. It may answer too
 * many, which costs room in the state of a job, but never too few.
 */
export function liveAfter(question: LiveQuestion): (step: number) => ReadonlySet<string> {
  const { graph, names, given } = question;
  const live = findLive(question);
  const present = given && findPresent(question, given);
  const sets = new SharedSets(names);
  const after = new BitRows(graph.stepCount, names.length);
  return (step) => {
    if (live === undefined) return sets.all;
    // The branches of a fork are over when the step is.
    for (const { to, kind } of graph.outgoing[step] ?? []) {
      if (kind !== "fork") after.addRow(step, { rows: live, row: to });
    }
    if (present !== undefined) after.keepRow(step, { rows: present, row: step });
    return sets.of(after, step);
  };
}

/** The row of these names, as far as they are among `names`. */
export function rowMaker(names: readonly string[]): (wanted: Iterable<string>) => RowOf {
  const numbers = new Map(names.map((name, number) => [name, number]));
  return (wanted) => {
    const rows = new BitRows(1, names.length);
    for (const name of wanted) {
      const number = numbers.get(name);
      if (number !== undefined) rows.add(0, number);
    }
    return { rows, row: 0 };
  };
}

/**
 * The classic analysis of live variables. Answers by step what is live when it is entered: what it reads itself, and what is live where it leads, but
 * what it overwrites on the way.
 */
function findLive({ graph, names, readBy, overwrittenOn }: LiveQuestion): BitRows | undefined {
  const live = new BitRows(graph.stepCount, names.length);
  for (let step = 0; step < graph.stepCount; step++) live.addRow(step, readBy(step));
  return settle([graph.backwards, graph.order], live, (step) => {
    let isChanged = false;
    for (const edge of graph.outgoing[step] ?? []) {
      if (live.addRow(step, { rows: live, row: edge.to }, overwrittenOn(edge))) isChanged = true;
    }
    return isChanged;
  });
}

/**
 * Answers by step the names that may have a value when it is left. In a chain in which each step reads of itself, whether it ran before, each name would else be
 * remembered from the first step on, though it has no value before its own.
 */
function findPresent({ graph, names }: LiveQuestion, { atStart, by }: Given): BitRows | undefined {
  const present = new BitRows(graph.stepCount, names.length);
  for (let step = 0; step < graph.stepCount; step++) present.addRow(step, by(step));
  present.addRow(0, atStart);
  return settle([graph.order, graph.backwards], present, (step) => {
    let isChanged = false;
    for (const { from } of graph.incoming[step] ?? []) {
      if (present.addRow(step, { rows: present, row: from })) isChanged = true;
    }
    return isChanged;
  });
}

/**
 * Visits the steps in the one order and the other in turn, until no visit changes the rows; the first order should be that in which the changes go. Undefined when that takes
 * too long, as only a contrived tangle of loops does.
 */
function settle(
  orders: readonly [readonly number[], readonly number[]],
  rows: BitRows,
  visit: (step: number) => boolean,
): BitRows | undefined {
  for (let round = 0; round < maxRounds; round++) {
    let isChanged = false;
    for (const step of orders[round % 2 === 0 ? 0 : 1]) {
      if (visit(step)) isChanged = true;
    }
    if (!isChanged) return rows;
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

  /** The set of the names in a row; of all names once there is no more room, since plans are kept by the hundred. */
  of(rows: BitRows, row: number): ReadonlySet<string> {
    if (this.#room < 0) return this.all;
    const key = rows.key(row);
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const set = new Set(rows.values(row).flatMap((number) => this.#names[number] ?? []));
    this.#sets.set(key, set);
    this.#room -= set.size;
    return set;
  }
}

const maxNamesInSets = 100_000;

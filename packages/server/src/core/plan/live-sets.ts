import { BitRows, type RowOf } from "../definition/graph/bit-rows.ts";
import type { Edge, StepGraph } from "../definition/graph/step-graph.ts";

/** The question of which names must be remembered between steps. It says where each name is read and where it gets another value. */
export interface LiveQuestion {
  readonly graph: StepGraph;
  readonly names: readonly string[];
  readonly readBy: (step: number) => RowOf;
  /** The names that get a new value, or lose their value, at the step where this edge begins. */
  readonly overwrittenOn: (edge: Edge) => RowOf | undefined;
  /** The places where names get their first value. Left out when every name may have a value from the start. */
  readonly given?: Given;
}

export interface Given {
  readonly atStart: RowOf;
  readonly by: (step: number) => RowOf;
}

/**
 * Returns a function that says which names are live after a step, by the step's index. A live name may have a value there, and a later step may read
 * it. The answer may have too many names, which takes room in the state of a job, but it never has too few.
 */
export function liveAfter(question: LiveQuestion): (step: number) => ReadonlySet<string> {
  const { graph, names, given } = question;
  const live = findLive(question);
  const present = given && findPresent(question, given);
  const sets = new SharedSets(names);
  const after = new BitRows(graph.stepCount, names.length);
  return (step) => {
    if (live === undefined) return sets.all;
    // The branches of a fork are over when its step ends, so the edges into them do not count.
    for (const { to, kind } of graph.outgoing[step] ?? []) {
      if (kind !== "fork") after.addRow(step, { rows: live, row: to });
    }
    if (present !== undefined) after.keepRow(step, { rows: present, row: step });
    return sets.of(after, step);
  };
}

/** Returns a function that makes a row of the wanted names. A wanted name that is not in `names` is left out. */
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
 * The classic analysis of live variables. Returns, by step, the names that are live at the step's start: the names that the step reads itself, and
 * those that are live at its successors and are not overwritten on the way.
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
 * Returns, by step, the names that may have a value at the step's end. This is needed for a chain in which each step asks whether it ran before.
 * Otherwise each name in the chain would be remembered from the first step on, although the name has no value yet.
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
 * Visits the steps in the two orders alternately until no visit changes the rows. The first order should follow the direction of the changes.
 * Undefined when this takes too long. Only an artificial tangle of loops takes so long.
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

/** The sets of names that the plan keeps. Equal sets are shared, because hundreds of steps may share a definition of thousands of names. */
class SharedSets {
  readonly all: ReadonlySet<string>;
  readonly #names: readonly string[];
  readonly #sets = new Map<string, ReadonlySet<string>>();
  #room = maxNamesInSets;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.all = new Set(names);
  }

  /** Returns the set of the names in this row. Once the room is used up, it returns the set of all names, so that hundreds of plans fit in memory. */
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

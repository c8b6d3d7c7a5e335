import { BitRows } from "../bit-rows.ts";
import type { Edge, StepGraph } from "../step-graph.ts";
import type { Effect } from "./known-output.ts";

/** Where one thing may come from. */
export interface Provenance {
  /** Indexes of the steps whose output may be it. */
  readonly steps: readonly number[];
  readonly mayBeJobInput: boolean;
  /** Whether there is a way on which nothing has it. */
  readonly mayBeMissing: boolean;
}

/**
 * Where one property, or the latest output, may come from, at each step. A later output wins over an earlier one; so what reaches a
 * step is what some way leads there without another output that certainly has the property. These are the classic reaching
 * definitions: sets go along the edges until nothing changes. Ways are never listed, since there are too many.
 */
export class Trace {
  readonly #effects: readonly Effect[];
  /** By step: the provenances of what is there when it is entered. Two more numbers stand for the job's input and for nothing. */
  readonly #entering: BitRows;
  readonly #jobInput: number;
  readonly #missing: number;
  readonly #provenances = new Map<Edge, Provenance>();
  /** How many times it went along an edge: what the trace cost. */
  visitCount = 0;

  /** `effects` is by step. */
  constructor(graph: StepGraph, effects: readonly Effect[], effectOfJobInput: Effect) {
    this.#effects = effects;
    this.#jobInput = graph.stepCount;
    this.#missing = graph.stepCount + 1;
    this.#entering = new BitRows(graph.stepCount, graph.stepCount + 2);
    if (effectOfJobInput !== "leaves") this.#entering.add(0, this.#jobInput);
    if (effectOfJobInput !== "gives") this.#entering.add(0, this.#missing);
    // Until nothing changes, along the edges and against them in turn: loops that lead back step by step need no more rounds then.
    for (let round = 0; this.#goRound(graph, round % 2 === 0 ? graph.order : graph.backwards); ) round++;
  }

  /** Where it comes from when the step at the end of this edge is entered. */
  provenanceOn(edge: Edge): Provenance {
    const known = this.#provenances.get(edge);
    if (known !== undefined) return known;
    const leaving = new BitRows(1, this.#missing + 1);
    this.#addLeaving(edge, leaving, 0);
    const provenance = {
      steps: leaving.values(0).filter((value) => value < this.#jobInput),
      mayBeJobInput: leaving.has(0, this.#jobInput),
      mayBeMissing: leaving.has(0, this.#missing),
    };
    this.#provenances.set(edge, provenance);
    return provenance;
  }

  #goRound(graph: StepGraph, order: readonly number[]): boolean {
    let isChanged = false;
    for (const step of order) {
      for (const edge of graph.outgoing[step] ?? []) {
        this.visitCount++;
        if (this.#addLeaving(edge, this.#entering, edge.to)) isChanged = true;
      }
    }
    return isChanged;
  }

  /** Adds to a row what comes along the edge; answers whether any of it is new there. */
  #addLeaving(edge: Edge, rows: BitRows, row: number): boolean {
    const effect = edge.kind !== "transition" ? "leaves" : this.#effects[edge.from];
    const isOwnNew = effect !== "leaves" && rows.add(row, edge.from);
    if (effect === "replaces") return rows.add(row, this.#missing) || isOwnNew;
    const isOtherNew = effect !== "gives" && rows.addRow(row, { rows: this.#entering, row: edge.from });
    return isOwnNew || isOtherNew;
  }
}

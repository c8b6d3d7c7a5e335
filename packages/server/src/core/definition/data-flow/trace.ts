import { BitRows } from "../graph/bit-rows.ts";
import type { Edge, StepGraph } from "../graph/step-graph.ts";
import type { Effect } from "./known-output.ts";

/** The possible sources of one value. */
export interface Provenance {
  /** The indexes of the steps from whose outputs the value may come. */
  readonly steps: readonly number[];
  readonly mayBeJobInput: boolean;
  /** Whether there is a path on which no source gives the value. */
  readonly mayBeMissing: boolean;
}

/**
 * The possible sources, at each step, of one property or of the latest output. A later output replaces an earlier one. So a source reaches a step if,
 * on at least one path from the source to the step, no other output certainly replaces or removes the value. This is the classic analysis of reaching
 * definitions: sets move along the edges until nothing changes. The paths are not listed one by one, because there are too many.
 */
export class Trace {
  readonly #effects: readonly Effect[];
  /**
   * The sources at the start of each step, by the step's index. Besides the indexes of steps, a set may have two more numbers: one for the job's
   * input, and one for no source.
   */
  readonly #entering: BitRows;
  readonly #jobInput: number;
  readonly #missing: number;
  readonly #provenances = new Map<Edge, Provenance>();
  /** The number of edges visited, which is the cost of the trace. */
  visitCount = 0;

  /** `effects` has the effect of each step, by its index. */
  constructor(graph: StepGraph, effects: readonly Effect[], effectOfJobInput: Effect) {
    this.#effects = effects;
    this.#jobInput = graph.stepCount;
    this.#missing = graph.stepCount + 1;
    this.#entering = new BitRows(graph.stepCount, graph.stepCount + 2);
    if (effectOfJobInput !== "leaves") this.#entering.add(0, this.#jobInput);
    if (effectOfJobInput !== "gives") this.#entering.add(0, this.#missing);
    // Rounds visit the steps forwards and backwards in turn, until nothing changes. If every round went forwards, a loop that leads back one step at
    // a time would need a round for each of its steps.
    for (let round = 0; this.#goRound(graph, round % 2 === 0 ? graph.order : graph.backwards); ) round++;
  }

  /** The sources with which a step is entered along this edge. */
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

  /** Adds to a row the sources that come along the edge. Returns whether any source was added. */
  #addLeaving(edge: Edge, rows: BitRows, row: number): boolean {
    const effect = edge.kind !== "transition" ? "leaves" : this.#effects[edge.from];
    const isOwnNew = effect !== "leaves" && rows.add(row, edge.from);
    if (effect === "replaces") return rows.add(row, this.#missing) || isOwnNew;
    const isOtherNew = effect !== "gives" && rows.addRow(row, { rows: this.#entering, row: edge.from });
    return isOwnNew || isOtherNew;
  }
}

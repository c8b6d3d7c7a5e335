import type { PartType, TypingBudget } from "../../expression/expression.ts";
import type { Edge, StepGraph } from "../graph/step-graph.ts";

export type Presence = PartType["presence"];

/**
 * The effect that leaving a step has on a value that expressions read. From there on the value is present (`gives`), absent (`takes`) or perhaps
 * present (`mayGive`). Undefined means that nothing changes.
 */
export type Change = "gives" | "takes" | "mayGive" | undefined;

/** The number of visits to steps or edges that cost as much as one unit of the budget. */
const visitsPerUnit = 256;

const present = 1;
const absent = 2;
const notYet = 255;

/** Returns a function that says, by a step's index, whether a value is present at the start of the step. At the start of a job nothing is present. */
export function presenceAt(
  graph: StepGraph,
  changeBy: (step: number, kind: Edge["kind"]) => Change,
  budget: TypingBudget,
): (step: number) => Presence {
  const entering = new Uint8Array(graph.stepCount);
  const carriedOn = new Uint8Array(graph.stepCount).fill(notYet);
  entering[0] = absent;
  // Rounds visit the steps forwards and backwards in turn, until nothing changes. If every round went forwards, a loop that leads back one step at a
  // time would need a round for each of its steps.
  for (let [round, isChanged] = [0, true]; isChanged && !budget.isExhausted; round++) {
    isChanged = false;
    for (const step of round % 2 === 0 ? graph.order : graph.backwards) {
      budget.charge(1 / visitsPerUnit);
      const state = entering[step] ?? 0;
      if (state === carriedOn[step]) continue;
      carriedOn[step] = state;
      const edges = graph.outgoing[step] ?? [];
      budget.charge(edges.length / visitsPerUnit);
      const left = {
        transition: leaving(state, changeBy(step, "transition")),
        failure: leaving(state, changeBy(step, "failure")),
        fork: leaving(state, changeBy(step, "fork")),
      };
      for (const { to, kind } of edges) {
        const before = entering[to] ?? 0;
        const after = before | left[kind];
        if (after === before) continue;
        entering[to] = after;
        isChanged = true;
      }
    }
  }
  return (step) => {
    const state = entering[step] ?? 0;
    return state === present ? "always" : state === absent ? "never" : "maybe";
  };
}

function leaving(state: number, change: Change): number {
  switch (change) {
    case "gives":
      return present;
    case "takes":
      return absent;
    case "mayGive":
      return state | present;
    case undefined:
      return state;
  }
}

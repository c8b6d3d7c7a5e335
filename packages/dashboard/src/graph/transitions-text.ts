import { texts } from "../texts/texts.ts";
import type { GraphBranch, GraphStep } from "./graph-step.ts";
import type { Lane } from "./regions.ts";

/** Describes the transitions that lead from a step: "if output.isGood: ship, else the end, on failure tell". */
export function transitionsText({ next, onFailure, branches = [] }: GraphStep, lane?: Lane): string {
  const { graph } = texts;
  const end = lane === undefined ? graph.endsTheJob : graph.endsTheBranch;
  const transitions = [
    ...branches.map((branch) => graph.branchTo(laneText(branch), branch.step)),
    ...next.map(({ step, condition }) => {
      const place = step ?? end;
      if (condition === undefined) return branches.length === 0 ? place : graph.afterBranches(place);
      return condition === "else" ? graph.elseTo(place) : graph.conditionTo(condition, place);
    }),
    ...onFailure.map(({ step, on }) => (on.length === 0 ? graph.onFailureTo(step) : graph.onErrorsTo(on, step))),
  ];
  return transitions.join(", ");
}

/** Describes a branch: "branch left", or "for each item". */
export function laneText({ name }: Pick<GraphBranch, "name">): string {
  return name === undefined ? texts.graph.forEachItem : texts.graph.branch(name);
}

/** Describes the innermost branch of a step: "In branch left of split", or "In the body of each". */
export function placeText({ name, fork }: Lane): string {
  return name === undefined ? texts.graph.inBody(fork) : texts.graph.inBranch(name, fork);
}

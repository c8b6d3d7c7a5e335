import type { Expression } from "../expression/expression.ts";

/** Where a job goes next: to the step with this name, to the end of the job or branch (null), or to the target of the first condition that holds. */
export type Transition = string | null | Choice;

export interface Choice {
  readonly options: readonly ChoiceOption[];
  /** The step to go to when no condition is true; null ends the job or the branch. */
  readonly otherwise: string | null;
}

export interface ChoiceOption {
  readonly condition: Expression;
  readonly then: string | null;
}

export function isChoice(transition: Transition): transition is Choice {
  return transition !== null && typeof transition === "object";
}

/** Returns every target of a transition, each once. */
export function targetsOf(transition: Transition): readonly (string | null)[] {
  if (!isChoice(transition)) return [transition];
  return [...new Set([...transition.options.map(({ then }) => then), transition.otherwise])];
}

import type { Plan } from "../plan/plan.ts";
import { mayComplete } from "./event-payloads.ts";
import type { UntimedFact } from "./fact.ts";
import type { JobState } from "./job-state.ts";

/**
 * Whether a job may look into the values of its state while it takes these facts, so that they must be read. Most events only are noted, and what
 * ends a job or hands its call back only moves its values. Where it cannot be told for certain the answer is yes.
 */
export function looksIntoValues(plan: Plan, state: JobState, facts: readonly UntimedFact[]): boolean {
  return facts.some(({ type }) => looks(plan, state, type, facts));
}

function looks(plan: Plan, state: JobState, type: UntimedFact["type"], facts: readonly UntimedFact[]): boolean {
  switch (type) {
    case "job.cancelled":
    case "job.resumed":
    case "call.handedBack":
      return false;
    case "event.received":
      return completesWait(plan, state, facts);
    case "step.failed":
      return goesOnAfterFailure(plan, state);
    case "step.succeeded":
      return goesOnAfterSuccess(plan, state) || goesOnAfterFailure(plan, state);
    case "step.interrupted":
    case "timer.due":
      return true;
  }
}

function completesWait(plan: Plan, state: JobState, facts: readonly UntimedFact[]): boolean {
  if (state.status !== "RUNNING" || state.step.phase !== "waiting") return false;
  const { name, visit } = state.step;
  const step = plan.steps.get(name);
  return step === undefined || mayComplete(state.progress, step, { step: name, visit }, facts);
}

function goesOnAfterFailure(plan: Plan, state: JobState): boolean {
  return state.status === "RUNNING" && plan.steps.get(state.step.name)?.onFailure !== undefined;
}

function goesOnAfterSuccess(plan: Plan, state: JobState): boolean {
  return state.status === "RUNNING" && plan.steps.get(state.step.name)?.transitionToStep !== null;
}

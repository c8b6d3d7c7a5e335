import { didYouMean } from "../closest-name.ts";
import { getOwn } from "../json/record.ts";
import type { Plan } from "../plan/plan.ts";
import { type Problem, quoted } from "../problem.ts";
import type { EventReceived } from "./fact.ts";
import type { PendingState, RunningState, WaitVisit } from "./job-state.ts";

/** The one visit of a wait step that an event was sent for, if it was sent for one; or why it cannot be. */
export type EventAddress =
  | { readonly type: "any" }
  | ({ readonly type: "one" } & WaitVisit)
  | { readonly type: "wrong"; readonly problem: Problem }
  | { readonly type: "over"; readonly detail: string };

export function addressOf(plan: Plan, state: PendingState | RunningState, fact: EventReceived): EventAddress {
  const { eventId, step, visit } = fact;
  if (step === undefined) {
    if (visit === undefined) return { type: "any" };
    const detail = "is a visit of no step; name the step in `step`, or leave `visit` out";
    return { type: "wrong", problem: { pointer: "/visit", detail } };
  }
  const listing = (plan.waitsByEventId.get(eventId) ?? []).map(({ name }) => name);
  if (!listing.includes(step)) {
    const detail = plan.steps.has(step)
      ? `the step ${quoted(step)} does not list the event ${quoted(eventId)}`
      : `the job's version has no step ${quoted(step)}${didYouMean(step, listing)}`;
    return { type: "wrong", problem: { pointer: "/step", detail } };
  }
  const visitCount = getOwn(state.progress.visits, step) ?? 0;
  const isOpen = stepAt(state) === step;
  const next = isOpen ? visitCount : visitCount + 1;
  if (visit !== undefined && visit < next) {
    return {
      type: "over",
      detail: `Visit ${visit} of ${quoted(step)} is over. The next that can take an event is ${next}.`,
    };
  }
  return { type: "one", step, visit: visit ?? next };
}

/** The step that the job is in, or goes back into. */
function stepAt(state: PendingState | RunningState): string | undefined {
  if (state.status === "PENDING") return state.resumeAt?.phase === "in" ? state.resumeAt.name : undefined;
  return state.step.phase === "next" ? undefined : state.step.name;
}

import { ended } from "./ended.ts";
import type { Circumstances, Explanation } from "./explanation-parts.ts";
import { moving } from "./moving.ts";
import { waiting } from "./waiting.ts";

/** Answers "why is it not moving?": the sentence is for the eye, the facts are what it was made from. */
export function explainJob(circumstances: Circumstances): Explanation {
  const { state } = circumstances.job;
  switch (state.status) {
    case "PENDING":
      return moving(circumstances, state);
    case "RUNNING":
      return state.step.phase === "waiting" ? waiting(circumstances, state.step) : moving(circumstances, state);
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
      return ended(circumstances, state);
  }
}

import type { RunningState } from "../job/job-state.ts";
import { ended } from "./ended.ts";
import type { Circumstances, Explanation } from "./explanation-parts.ts";
import { pending, running } from "./moving.ts";
import { duration } from "./words.ts";

/** Answers the question "why is it not moving?". The sentence is for people, and the facts show what it is based on. */
export function explainJob(circumstances: Circumstances): Explanation {
  const { state } = circumstances.job;
  switch (state.status) {
    case "PENDING":
      return pending(circumstances, state.cursors[0].stand);
    case "RUNNING":
      return withJobTimeout(circumstances, state, running(circumstances, state.cursors[0].stand));
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
      return ended(circumstances, state);
  }
}

function withJobTimeout({ now }: Circumstances, { timeoutAt }: RunningState, explained: Explanation): Explanation {
  if (timeoutAt === undefined) return explained;
  const left = timeoutAt - now;
  const end =
    left > 0 ? `The whole job fails in ${duration(left)} if it has not ended by then.` : "The whole job's time is up.";
  return {
    ...explained,
    sentence: `${explained.sentence} ${end}`,
    facts: { ...explained.facts, jobTimeoutAt: timeoutAt },
  };
}

import type { Timestamp } from "../time.ts";
import type { Circumstances, Explanation, ExplanationFacts } from "./explanation-parts.ts";
import { duration } from "./words.ts";

interface DueJob {
  readonly facts: ExplanationFacts;
  /** The beginning of the sentence, which says what is due. */
  readonly clause: string;
  readonly dueAt: Timestamp;
  /** False when no call is made. A wait that times out, for example, ends even when many calls are under way. */
  readonly needsRoom: boolean;
}

/** Explains a job that can continue and only waits for a node to find it or to have room. */
export function due(circumstances: Circumstances, { facts, clause, dueAt, needsRoom }: DueJob): Explanation {
  const { now, hasRoom, callCounts, maxCallsPerNode } = circumstances;
  const start = clause.charAt(0).toUpperCase() + clause.slice(1);
  if (!needsRoom || hasRoom) {
    const late = now - dueAt;
    const overdue =
      late < expectedMs
        ? ""
        : ` It is ${duration(late)} overdue. Check whether nodes are running and can reach the store.`;
    return { state: "due", sentence: `${start}: a node only has to find the job.${overdue}`, facts };
  }
  const callCount = callCounts.values().reduce((sum, count) => sum + count, 0);
  const room = `its organization has ${callCount} calls under way or queued, and one node runs at most ${maxCallsPerNode} of them at once`;
  return {
    state: "roomFull",
    sentence: `${start}, but there has been no room for its call for ${duration(now - dueAt)}: ${room}.`,
    facts: { ...facts, callCount, maxCallsPerNode },
  };
}

/** The time within which a node usually finds a due job. By default nodes look twice a second, but a busy node takes longer. */
const expectedMs = 5_000;

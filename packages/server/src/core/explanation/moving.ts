import { type RetryPolicy, transientPolicy } from "../definition/retry.ts";
import type { Entry } from "../job/history.ts";
import type { CallingStep, NextStep, PendingState, RetryingStep, RunningState, Timestamp } from "../job/job-state.ts";
import { quoted } from "../problem.ts";
import { due } from "./due.ts";
import type { Circumstances, Explanation, ExplanationFacts, NodeFacts } from "./explanation-parts.ts";
import { duration, errorText } from "./words.ts";

/** The job goes on without anybody's help: it is about to start, is called, or tries again. */
export function moving(circumstances: Circumstances, state: PendingState | RunningState): Explanation {
  if (state.status === "PENDING") return pending(circumstances, state);
  const { step } = state;
  switch (step.phase) {
    case "calling":
      return calling(circumstances, step);
    case "retrying":
      return retrying(circumstances, step);
    case "next":
      return between(circumstances, step);
    case "waiting":
      throw new Error("A job that waits is explained by `waiting`.");
  }
}

function pending(circumstances: Circumstances, { resumeAt }: PendingState): Explanation {
  const { plan, entries, job } = circumstances;
  const since = lastAt(entries, ["job.submitted", "job.resumed"]) ?? job.createdAt;
  const name = resumeAt?.name ?? plan.firstStep.name;
  const how = resumeAt === null ? "the job is accepted and starts" : "the job was resumed and goes on";
  const facts = { since, step: name, operations: ["CancelJob"] as const };
  return due(circumstances, { facts, clause: `${how} with ${quoted(name)}`, dueAt: since, needsRoom: true });
}

function between(circumstances: Circumstances, step: NextStep): Explanation {
  const facts = { since: step.wakeAt, step: step.name, operations: ["CancelJob"] as const };
  const clause = `the next step is ${quoted(step.name)}`;
  return due(circumstances, { facts, clause, dueAt: step.wakeAt, needsRoom: true });
}

function retrying(circumstances: Circumstances, step: RetryingStep): Explanation {
  const { plan, entries, steps, now } = circumstances;
  const policy = plan.steps.get(step.name)?.retry ?? transientPolicy;
  const lastError = steps.at(-1)?.error;
  const since = lastAt(entries, ["step.attemptFailed", "step.handedBack"]) ?? step.wakeAt;
  const attempt = step.attempt + 1;
  const isCounted = step.failedAttempts > 0;
  const facts: ExplanationFacts = {
    since,
    step: step.name,
    visit: step.visit,
    attempt,
    ...(isCounted && { maxAttempts: lastAttempt(policy, attempt, step.failedAttempts) }),
    nextAttemptAt: step.wakeAt,
    ...(lastError !== undefined && { lastError }),
    operations: ["CancelJob"],
  };
  const which = `attempt ${attempt}${facts.maxAttempts === undefined ? "" : ` of ${facts.maxAttempts}`} of ${quoted(step.name)}`;
  const why =
    lastError === undefined
      ? "Its node left and handed the call back."
      : `Attempt ${step.attempt} failed ${duration(now - since)} ago with ${errorText(lastError)}`;
  if (step.wakeAt > now) {
    const sentence = `${which.charAt(0).toUpperCase()}${which.slice(1)} starts in ${duration(step.wakeAt - now)}. ${why}`;
    return { state: "retrying", sentence, facts };
  }
  const explained = due(circumstances, { facts, clause: `${which} is due`, dueAt: step.wakeAt, needsRoom: true });
  return { ...explained, sentence: `${explained.sentence} ${why}` };
}

function calling(circumstances: Circumstances, step: CallingStep): Explanation {
  const { plan, entries, job, now, node, hasCallBegun, callCounts, maxCallsPerNode } = circumstances;
  const planStep = plan.steps.get(step.name);
  const since = lastAt(entries, ["step.started", "step.attemptStarted"]) ?? job.updatedAt;
  const timeoutAt = since + (planStep?.timeoutMs ?? circumstances.defaultTimeoutMs);
  const maxAttempts = planStep?.retry && lastAttempt(planStep.retry, step.attempt, step.failedAttempts);
  const callCount = callCounts.get(job.nodeId ?? "") ?? 1;
  const facts: ExplanationFacts = {
    since,
    step: step.name,
    visit: step.visit,
    attempt: step.attempt,
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(node !== null && { node }),
    operations: ["CancelJob"],
  };
  const which = `Attempt ${step.attempt}${maxAttempts === undefined ? "" : ` of ${maxAttempts}`} of ${quoted(step.name)}`;
  if (node !== null && !node.isAlive) {
    const call = `attempt ${step.attempt} of ${quoted(step.name)}`;
    const sentence = `${lost(node, call, now)}: another node takes it over soon.`;
    return { state: "nodeLost", sentence, facts };
  }
  const where = node?.name === undefined ? "" : ` on node ${quoted(node.name)}`;
  if (hasCallBegun === false || (hasCallBegun === undefined && callCount > maxCallsPerNode)) {
    const certain = hasCallBegun === false ? "has waited for its turn" : "is in line, or under way,";
    const room = `the organization has ${callCount} calls there, of which ${maxCallsPerNode} run at once`;
    const sentence = `${which} ${certain} for ${duration(now - since)}${where}: ${room}.`;
    return { state: "queued", sentence, facts: { ...facts, callCount, maxCallsPerNode } };
  }
  const left = timeoutAt - now;
  const end = left > 0 ? `it is given up in ${duration(left)}` : "its time is up";
  return {
    state: "calling",
    sentence: `${which} has been under way for ${duration(now - since)}${where}${heard(node, now)}; ${end}.`,
    facts: { ...facts, timeoutAt },
  };
}

function heard(node: NodeFacts | null, now: Timestamp): string {
  return node?.heartbeatAt === undefined ? "" : `, which was heard of ${duration(now - node.heartbeatAt)} ago`;
}

function lost(node: NodeFacts, call: string, now: Timestamp): string {
  if (node.name === undefined || node.heartbeatAt === undefined) return `The node that holds ${call} is gone`;
  return `The node ${quoted(node.name)}, which holds ${call}, was not heard of for ${duration(now - node.heartbeatAt)}`;
}

/** Attempts count on over resumes and lost nodes, which the policy does not count: so it is reckoned from here. */
function lastAttempt(policy: RetryPolicy, attempt: number, failedAttempts: number): number {
  return attempt + Math.max(0, policy.maxAttempts - failedAttempts - 1);
}

function lastAt(entries: readonly Entry<unknown>[], types: readonly Entry<unknown>["type"][]): Timestamp | undefined {
  return entries.findLast((entry) => types.includes(entry.type))?.at;
}

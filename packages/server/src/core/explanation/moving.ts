import { mainBranch } from "../branch-path.ts";
import { policyAfter, type RetryPolicy, transientPolicy } from "../definition/failures/retry.ts";
import type { Entry } from "../job/history.ts";
import type {
  CallingStep,
  CurrentStep,
  DelayedStep,
  ForkedStep,
  NextStep,
  ResumePoint,
  RetryingStep,
} from "../job/job-state.ts";
import { callOf } from "../plan/plan.ts";
import { quoted } from "../problem.ts";
import type { Timestamp } from "../time.ts";
import { toTime } from "../time.ts";
import { branchText } from "./branch-text.ts";
import { due } from "./due.ts";
import type { ChildFacts, Circumstances, Explanation, ExplanationFacts, NodeFacts } from "./explanation-parts.ts";
import { ofTask } from "./task.ts";
import { waiting } from "./waiting.ts";
import { duration, errorText, isOrAre } from "./words.ts";

/** Explains a job, or one of its branches, that is in a step or on its way to one. */
export function running(circumstances: Circumstances, step: CurrentStep, branch = mainBranch): Explanation {
  switch (step.phase) {
    case "calling":
      return calling(circumstances, step);
    case "retrying":
      return retrying(circumstances, step);
    case "delayed":
      return delayed(circumstances, step);
    case "next":
      return between(circumstances, step);
    case "waiting":
      return waiting(circumstances, step, branch);
    case "forked":
      return forked(circumstances, step);
    case "stopped":
      throw new Error("The job runs, but its main line is stopped.");
  }
}

function forked(circumstances: Circumstances, step: ForkedStep): Explanation {
  const { job, entries, now } = circumstances;
  const since = step.startedAt ?? lastAt(entries, ["step.forked"]) ?? job.updatedAt;
  const { name, visit, attempt, wakeAt, branchCount, begunCount, succeededCount, failedCount } = step;
  const counts = { branchCount, openCount: begunCount - succeededCount - failedCount, succeededCount, failedCount };
  const facts: ExplanationFacts = { since, step: name, visit, attempt, ...counts, operations: ["CancelJob"] };
  if (wakeAt !== undefined) {
    return due(circumstances, {
      facts,
      clause: `${quoted(name)} begins more branches`,
      dueAt: wakeAt,
      needsRoom: true,
    });
  }
  const longest = openLongest(circumstances);
  const failures = failedCount === 0 ? "" : `, ${failedCount} failed`;
  const sentence = `${quoted(name)} has run its branches for ${duration(now - since)}: ${succeededCount} of ${branchCount} ${isOrAre(succeededCount)} done${failures}, and ${counts.openCount} ${isOrAre(counts.openCount)} open.`;
  if (longest === undefined) return { state: "forked", sentence, facts };
  const { branch, explained } = longest;
  const { step: branchStep, visit: branchVisit, operations } = explained.facts;
  const stand = { ...(branchStep !== undefined && { branchStep }), ...(branchVisit !== undefined && { branchVisit }) };
  return {
    state: "forked",
    sentence: `${sentence} In ${branchText(job, branch)}: ${explained.sentence}`,
    facts: { ...explained.facts, ...facts, branch, ...stand, operations },
  };
}

/** Explains the branch that has been open longest among those that wait for events, a worker, a child job, the next attempt or the end of a sleep. */
function openLongest(circumstances: Circumstances): { branch: string; explained: Explanation } | undefined {
  const { job, entries, steps, task, child, call } = circumstances;
  if (job.state.status !== "RUNNING") return undefined;
  const found = job.state.cursors.find(
    ({ branch, stand: { phase } }) =>
      ["waiting", "retrying", "delayed"].includes(phase) ||
      (phase === "calling" && (task ?? child) !== null && call?.branch === branch),
  );
  if (found === undefined) return undefined;
  const { branch, stand } = found;
  const own = {
    ...circumstances,
    entries: entries.filter((entry) => !("step" in entry) || entry.branch === branch),
    steps: steps.filter((step) => step.branch === branch),
  };
  return { branch, explained: running(own, stand, branch) };
}

/** Explains a job that continues by itself, but that no node has found yet. */
export function pending(circumstances: Circumstances, resumeAt: ResumePoint | null): Explanation {
  const { plan, entries, job } = circumstances;
  const since = lastAt(entries, ["job.submitted", "job.resumed"]) ?? job.createdAt;
  const name = resumeAt?.name ?? plan.firstStep.name;
  const how = resumeAt === null ? "the job is accepted and starts" : "the job was resumed and continues";
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
  const lastError = steps.at(-1)?.error;
  const planStep = plan.steps.get(step.name);
  const own = planStep && callOf(planStep)?.retry;
  // It is certain that there is a next attempt. So if the step's own policy does not name the error, the policy for transient failures applies.
  const policy = (lastError === undefined ? own : policyAfter(own, lastError, true)) ?? transientPolicy;
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
      ? "The node that held the call stopped."
      : `Attempt ${step.attempt} failed ${duration(now - since)} ago with ${errorText(lastError)}`;
  if (step.wakeAt > now) {
    const sentence = `${which.charAt(0).toUpperCase()}${which.slice(1)} starts in ${duration(step.wakeAt - now)}. ${why}`;
    return { state: "retrying", sentence, facts };
  }
  const explained = due(circumstances, { facts, clause: `${which} is due`, dueAt: step.wakeAt, needsRoom: true });
  return { ...explained, sentence: `${explained.sentence} ${why}` };
}

function delayed(circumstances: Circumstances, step: DelayedStep): Explanation {
  const { entries, job, now } = circumstances;
  const since = lastAt(entries, ["step.delayed"]) ?? job.updatedAt;
  const { name, visit, attempt, wakeAt } = step;
  const facts: ExplanationFacts = { since, step: name, visit, attempt, delayEndsAt: wakeAt, operations: ["CancelJob"] };
  if (wakeAt <= now) {
    return due(circumstances, {
      facts,
      clause: `${quoted(name)} has slept long enough`,
      dueAt: wakeAt,
      needsRoom: true,
    });
  }
  const sentence = `${quoted(name)} has slept for ${duration(now - since)} and sleeps ${duration(wakeAt - now)} longer, until ${toTime(wakeAt)}.`;
  return { state: "delayed", sentence, facts };
}

function calling(circumstances: Circumstances, step: CallingStep): Explanation {
  const { plan, entries, job, now, node, task, child, hasCallBegun, callCounts, maxCallsPerNode } = circumstances;
  const planStep = plan.steps.get(step.name);
  const since = lastAt(entries, ["step.started", "step.attemptStarted"]) ?? job.updatedAt;
  const work = planStep && callOf(planStep);
  const timeoutAt = since + (work?.timeoutMs ?? circumstances.defaultTimeoutMs);
  const maxAttempts = work?.retry && lastAttempt(work.retry, step.attempt, step.failedAttempts);
  const callCount = callCounts.get(node?.nodeId ?? "") ?? 1;
  const facts: ExplanationFacts = {
    since,
    step: step.name,
    visit: step.visit,
    attempt: step.attempt,
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(node !== null && { node }),
    operations: ["CancelJob"],
  };
  if (task !== null) {
    const end = work?.timeoutMs === undefined ? {} : { timeoutAt };
    return ofTask(circumstances, step, task, { ...facts, ...end });
  }
  // `child` is also null when the caller may not see the child. A node holds the call until the child exists. So if none holds it, there is a child.
  if (child !== null || (work?.by === "job" && node === null)) {
    const end = work?.timeoutMs === undefined ? {} : { timeoutAt };
    return waitingForJob(step, child, { ...facts, ...end }, now);
  }
  const which = `Attempt ${step.attempt}${maxAttempts === undefined ? "" : ` of ${maxAttempts}`} of ${quoted(step.name)}`;
  if (node !== null && !node.isAlive) {
    const call = `attempt ${step.attempt} of ${quoted(step.name)}`;
    const sentence = `${lost(node, call, now)}: another node takes the call over soon.`;
    return { state: "nodeLost", sentence, facts };
  }
  const where = node?.name === undefined ? "" : ` on node ${quoted(node.name)}`;
  if (hasCallBegun === false || (hasCallBegun === undefined && callCount > maxCallsPerNode)) {
    const certain = hasCallBegun === false ? "has waited for its turn" : "has been queued or under way";
    const why =
      callCount > maxCallsPerNode
        ? `the organization has ${callCount} calls there, of which at most ${maxCallsPerNode} run at the same time`
        : "the node makes other calls first";
    const sentence = `${which} ${certain} for ${duration(now - since)}${where}: ${why}.`;
    return { state: "queued", sentence, facts: { ...facts, callCount, maxCallsPerNode } };
  }
  const left = timeoutAt - now;
  const end = left > 0 ? `the attempt is given up in ${duration(left)}` : "the attempt's time is up";
  return {
    state: "calling",
    sentence: `${which} has been under way for ${duration(now - since)}${where}${heard(node, now)}; ${end}.`,
    facts: { ...facts, timeoutAt },
  };
}

/** Explains a step that has begun another job and waits for its end. */
function waitingForJob(
  { name }: CallingStep,
  child: ChildFacts | null,
  facts: ExplanationFacts,
  now: Timestamp,
): Explanation {
  const left = facts.timeoutAt === undefined ? undefined : facts.timeoutAt - now;
  const ends =
    left === undefined
      ? ""
      : left > 0
        ? ` The attempt fails in ${duration(left)} if that job has not ended by then.`
        : " The attempt's time is up.";
  const has = `${quoted(name)} has waited for ${duration(now - facts.since)}`;
  if (child === null) return { state: "waitingForJob", sentence: `${has} for the job that it began.${ends}`, facts };
  const { jobId, workflowName, status } = child;
  const sentence = `${has} for the job ${quoted(jobId)} of ${quoted(workflowName)}, which is ${status}.${ends} Ask for that job's explanation.`;
  return { state: "waitingForJob", sentence, facts: { ...facts, childJob: child } };
}

function heard(node: NodeFacts | null, now: Timestamp): string {
  return node?.heartbeatAt === undefined ? "" : `, whose last heartbeat was ${duration(now - node.heartbeatAt)} ago`;
}

function lost(node: NodeFacts, call: string, now: Timestamp): string {
  if (node.name === undefined || node.heartbeatAt === undefined) return `The node that holds ${call} is gone`;
  return `The node ${quoted(node.name)}, which holds ${call}, has sent no heartbeat for ${duration(now - node.heartbeatAt)}`;
}

/**
 * The number of the last attempt that the policy allows. Some attempts have a number although the policy does not count them, for example those
 * before a resume or on a lost node. So the attempts that the policy still allows are added to the number of the present attempt.
 */
function lastAttempt(policy: RetryPolicy, attempt: number, failedAttempts: number): number {
  return attempt + Math.max(0, policy.maxAttempts - failedAttempts - 1);
}

function lastAt(entries: readonly Entry<unknown>[], types: readonly Entry<unknown>["type"][]): Timestamp | undefined {
  return entries.findLast((entry) => types.includes(entry.type))?.at;
}

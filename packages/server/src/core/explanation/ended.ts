import { isBeforeWork } from "../job/expressions.ts";
import {
  type CancelledState,
  type FailedState,
  type JobError,
  jobTimeoutType,
  type SucceededState,
} from "../job/job-state.ts";
import type { Plan } from "../plan/plan.ts";
import { quoted } from "../problem.ts";
import type { Circumstances, Explanation, HelpfulOperation, NamedActor } from "./explanation-parts.ts";
import { duration, errorText } from "./words.ts";

/** Explains a job that has ended: how, when and why it ended, and what can be done about it. */
export function ended(circumstances: Circumstances, state: SucceededState | FailedState | CancelledState): Explanation {
  switch (state.status) {
    case "SUCCEEDED":
      return succeeded(circumstances);
    case "FAILED":
      return failed(circumstances, state);
    case "CANCELLED":
      return cancelled(circumstances, state);
  }
}

function succeeded({ job, now }: Circumstances): Explanation {
  const since = job.finishedAt ?? job.updatedAt;
  const took = duration(since - job.createdAt);
  return {
    state: "succeeded",
    sentence: `The job succeeded ${duration(now - since)} ago, ${took} after it was submitted.`,
    facts: { since, operations: [] },
  };
}

function failed({ plan, job, now }: Circumstances, { error }: FailedState): Explanation {
  const since = job.finishedAt ?? job.updatedAt;
  const { advice, operation } = wayOut(plan, error);
  const where = `attempt ${error.attempt} of ${quoted(error.step)}`;
  return {
    state: "failed",
    sentence: `The job failed ${duration(now - since)} ago: ${where} ended with ${errorText(error)} ${advice}`,
    facts: { since, step: error.step, attempt: error.attempt, error, operations: [operation] },
  };
}

/**
 * Advises what to do about a failed job. Its input, its version and the outputs of earlier steps never change. So a failure that depends only on
 * these happens again after each resume.
 */
function wayOut(plan: Plan, error: JobError): { advice: string; operation: HelpfulOperation } {
  const step = quoted(error.step);
  const resume = `then resume the job: it continues with ${step}`;
  const submit = (what: string) => ({
    advice: `${what}, and submit a new job, because this job would fail again if you resumed it.`,
    operation: "SubmitJob" as const,
  });
  const kind = plan.steps.get(error.step)?.work.kind;
  const isCall = kind === "call";
  if (error.code === "Timeout" && error.type === jobTimeoutType) {
    const advice = `Find out what took so long, ${resume}, and the timeout of the whole job starts again.`;
    return { advice, operation: "ResumeJob" };
  }
  const waitAnew = {
    advice: `Resume the job: ${step} then waits again, for events whose payloads fit.`,
    operation: "ResumeJob" as const,
  };
  switch (error.code) {
    case "InputMismatch":
      return submit("Send an input that fits, or register a version whose definitions fit");
    case "ExpressionFailed":
      if (isBeforeWork(error) || (!isCall && kind !== "wait"))
        return submit("Register a version whose expression has a value in this case too");
      if (!isCall) return waitAnew;
      return {
        advice: `Fix what ${step} calls so that the expression has a value, ${resume}.`,
        operation: "ResumeJob",
      };
    case "StepLimitExceeded":
      return submit("Register a version whose loop ends");
    case "ValueLimitExceeded":
      if (kind === "wait")
        return submit(
          "Register a version whose steps pass smaller values to later steps, and whose waits name fewer event ids",
        );
      return submit("Register a version whose steps pass smaller values to later steps");
    case "OutputMismatch":
      if (kind === "wait") return waitAnew;
      if (!isCall) return submit("Register a version whose definitions fit");
      return { advice: `Fix what ${step} calls so that its output fits, ${resume}.`, operation: "ResumeJob" };
    case "OutputTooLarge":
      if (isBeforeWork(error))
        return submit("Register a version in which the step's input and config are small enough for such a job");
      if (kind === "fork") return submit("Register a version whose branches have smaller outputs");
      if (kind === "wait") return waitAnew;
      if (!isCall) return submit("Register a version whose step has a smaller output");
      return { advice: `Change what ${step} calls so that its output is smaller, ${resume}.`, operation: "ResumeJob" };
    case "Timeout":
      if (!isCall) return { advice: `Resume the job: ${step} then waits again.`, operation: "ResumeJob" };
      return { advice: `Find out why ${step} takes so long, ${resume}.`, operation: "ResumeJob" };
    case "BranchFailed":
    case "ItemFailed":
    case "TooManyFailures":
      return {
        advice: `Fix what failed in the branch, then resume the job: what failed in ${step} runs again, and what succeeded does not.`,
        operation: "ResumeJob",
      };
    case "ChildFailed":
      return {
        advice: `Fix what failed in the child job ${quoted(error.cause?.jobId ?? "")} of ${step}, then resume this job: it resumes the child job, which continues where it ended.`,
        operation: "ResumeJob",
      };
    case "ChildNotStarted":
      return { advice: `Fix what the error names, ${resume}.`, operation: "ResumeJob" };
    case "TooManyChildren":
      return submit("Register versions that begin fewer jobs");
    case "Interrupted":
      return {
        advice: `Find out why the nodes or workers that run ${step} are lost, ${resume}.`,
        operation: "ResumeJob",
      };
    case "ExecutorError":
    case "Cancelled":
      return { advice: `Fix what ${step} calls, ${resume}.`, operation: "ResumeJob" };
  }
}

function cancelled({ job, now, entries, cancelledByName }: Circumstances, state: CancelledState): Explanation {
  const resumeAt = state.cursors[0].stand;
  const since = job.finishedAt ?? job.updatedAt;
  const by = entries.findLast((entry) => entry.type === "job.cancelled")?.by;
  const cancelledBy: NamedActor | undefined =
    by === undefined ? undefined : { ...by, ...(cancelledByName !== undefined && { name: cancelledByName }) };
  const where = resumeAt === null ? "before its first step" : `at ${quoted(resumeAt.name)}`;
  const then = resumeAt === null ? "starts" : "continues from there";
  const who = cancelledBy === undefined ? "" : ` by ${actorText(cancelledBy)}`;
  return {
    state: "cancelled",
    sentence: `The job was cancelled ${duration(now - since)} ago${who}, ${where}. If you resume it, it ${then}.`,
    facts: {
      since,
      ...(resumeAt !== null && { step: resumeAt.name }),
      ...(cancelledBy !== undefined && { cancelledBy }),
      operations: ["ResumeJob"],
    },
  };
}

function actorText({ type, id, name }: NamedActor): string {
  const kind = { user: "the user", apiToken: "the API token", service: "the service" }[type];
  return `${kind} ${name === undefined ? id : quoted(name)}`;
}

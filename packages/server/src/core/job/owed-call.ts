import type { CallWork, ChildWork, TaskWork } from "../definition/step-work.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import type { PlanStep } from "../plan/plan.ts";
import { childIdOf, maxDepth } from "./child-job.ts";
import type { JobDraft } from "./draft.ts";
import { configValue, render } from "./expressions.ts";
import { configScope } from "./job-scope.ts";
import type { StepError, StepPosition } from "./job-state.ts";

/**
 * Adds a call to the effects, or returns the reason why it cannot be made. Every attempt of a visit gets the same config, because all attempts have
 * the same idempotency key.
 */
export function oweCall(
  draft: JobDraft,
  { name }: PlanStep,
  work: CallWork,
  position: StepPosition,
  input: JsonValue,
  counts: CallCounts,
): StepError | undefined {
  if (work.by === "worker") return giveTask(draft, work, position, input, counts);
  if (work.by === "job") return makeChild(draft, work, position, input, counts);
  const { config, openConfig } = work;
  if (openConfig === undefined) {
    draft.call(position, input, config, counts);
    return undefined;
  }
  const rendered = render(draft, openConfig.template, configScope(draft, name, input), {
    step: name,
    what: "`config`",
  });
  if ("error" in rendered) return rendered.error;
  draft.call(position, input, { ...config, ...(rendered.value as JsonObject) }, counts);
  return undefined;
}

/** Makes the call a task in a queue. Its timeout counts from now, so it includes the time in the queue. */
function giveTask(
  draft: JobDraft,
  { terms, timeoutMs }: TaskWork,
  position: StepPosition,
  input: JsonValue,
  counts: CallCounts,
): StepError | undefined {
  const resolved = configValue(draft, terms, position.name, input);
  if ("error" in resolved) return resolved.error;
  const timeoutAt = timeoutMs === undefined ? null : draft.at + timeoutMs;
  draft.call(position, input, {}, counts, { task: { ...resolved.value, timeoutAt } });
  return undefined;
}

/** Lets a node make the child job. The timeout counts from now. */
function makeChild(
  draft: JobDraft,
  { terms, timeoutMs }: ChildWork,
  position: StepPosition,
  input: JsonValue,
  counts: CallCounts,
): StepError | undefined {
  const { name } = position;
  const { job, branch } = draft;
  const resolved = configValue(draft, terms, name, input);
  if ("error" in resolved) return resolved.error;
  if (!isJsonObject(input)) {
    const message = `The input of a job is an object, and the input of ${name} is not an object. Give the step an \`input\`.`;
    return { code: "ChildNotStarted", message };
  }
  if ((job.parent?.depth ?? 0) >= maxDepth) {
    const message = `${name} would start a job ${maxDepth + 1} levels below the first one, and ${maxDepth} is the maximum. Check whether a workflow starts jobs of itself without end.`;
    return { code: "TooManyChildren", message };
  }
  const jobId = childIdOf({ ...job, branch, step: name, visit: position.visit }, draft.visitStartedAt);
  const timeoutAt = timeoutMs === undefined ? null : draft.at + timeoutMs;
  draft.call(position, input, {}, counts, { child: { ...resolved.value, jobId, timeoutAt } });
  return undefined;
}

/** The numbers of failed and of lost attempts since the visit began or the job was resumed. The limits of a visit apply to these numbers. */
export interface CallCounts {
  readonly failedAttempts: number;
  readonly interruptions: number;
}

import { mainLine } from "../branches.ts";
import type { HandedOut, OutsideLog } from "../outside/outside-log.ts";
import { type Line, stepsWithin, type WorkflowShape } from "../workflows.ts";
import type { FinalJob } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import { runsOf } from "./histories.ts";
import type { StepFold } from "./history-automaton.ts";

/**
 * Compares the attempts that functions and workers received, and the workers' answers, with the history of the job. Each attempt must be given out at
 * most once, under the key of its visit, and not after the end of the step was recorded. An attempt that succeeded must have been received. An answer
 * that the service accepted must be the result of the step.
 */
export function checkOutside(job: FinalJob, shape: WorkflowShape | undefined, log: OutsideLog): Finding[] {
  const runs = new Map(runsOf(job).map((run) => [keyOf(job, run), run]));
  const byKey = Map.groupBy(log.handedOutOf(job.jobId), ({ idempotencyKey }) => idempotencyKey);
  const findings = [...byKey].flatMap(([key, handed]) => [...checkVisit(job, key, runs.get(key), handed)]);
  for (const [key, handed] of byKey) {
    const wasLost = (runs.get(key)?.lostCount ?? 0) > 0;
    if (wasLost && new Set(handed.map(({ holder }) => holder)).size > 1) log.countHandedOn();
  }
  const outside = new Set(shape === undefined ? [] : outsideSteps(shape.steps));
  for (const [key, { name, phase, attempt }] of runs) {
    if (phase !== "succeeded" || !outside.has(name)) continue;
    if (byKey.get(key)?.some((one) => one.attempt === attempt)) continue;
    findings.push(
      violation(job.jobId, `${key} succeeded in attempt ${attempt}, which no function or worker received.`),
    );
  }
  for (const { idempotencyKey, attempt, holder, isTaken } of log.answersOf(job.jobId)) {
    const run = runs.get(idempotencyKey);
    if (!isTaken || (run?.phase === "succeeded" && run.attempt === attempt)) continue;
    const stands = run === undefined ? "is not there" : `is ${run.phase} in attempt ${run.attempt}`;
    const detail = `${holder}'s output of ${idempotencyKey}, attempt ${attempt}, was acknowledged, and the step ${stands}.`;
    findings.push({ kind: "lost", subject: job.jobId, detail });
  }
  return findings;
}

function* checkVisit(
  { jobId }: FinalJob,
  key: string,
  run: StepFold | undefined,
  handed: readonly HandedOut[],
): Generator<Finding> {
  if (run === undefined) {
    yield violation(jobId, `${key} was handed out, and the history has no such step.`);
    return;
  }
  const attempts = handed.map(({ attempt }) => attempt);
  for (const attempt of new Set(attempts)) {
    const holders = handed.filter((one) => one.attempt === attempt).map(({ holder }) => holder);
    if (holders.length === 1) continue;
    const detail = `Attempt ${attempt} of ${key} was given to ${holders.join(", ")}.`;
    yield { kind: "duplicated", subject: jobId, detail };
  }
  const last = Math.max(...attempts);
  if ((run.phase === "succeeded" || run.phase === "failed") && last > run.attempt) {
    yield violation(jobId, `${key} had ${run.phase} in attempt ${run.attempt}, and attempt ${last} was handed out.`);
  }
}

/** The idempotency key that all attempts of the visit share. */
function keyOf({ jobId }: FinalJob, { branch, name, visit }: StepFold): string {
  return [jobId, name, visit, ...(branch === mainLine ? [] : [branch])].join(":");
}

function outsideSteps(line: Line): string[] {
  const steps = [...stepsWithin(line)].filter(({ kind }) => kind === "call" || kind === "task");
  return steps.map(({ name }) => name);
}

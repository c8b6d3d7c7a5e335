import { isTerminal } from "../operation.ts";
import { stepsWithin, type WorkflowShape } from "../workflows.ts";
import type { FinalJob, FinalParent } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import { runsOf } from "./histories.ts";
import type { StepFold } from "./history-automaton.ts";

/**
 * Compares each child job with the step that began it: each visit of a step begins one job. If the step has succeeded or failed, the job must have
 * ended accordingly. If the step was cut off, the job must also have ended, in whatever way. A campaign reads children before their parents, so both
 * are compared at the end.
 */
export class Families {
  readonly #children = new Map<string, Child[]>();
  readonly #steps = new Map<string, StepWithChild>();

  add(job: FinalJob, shape: WorkflowShape | undefined): void {
    const { jobId, status, parent } = job;
    if (parent !== undefined) {
      const key = keyOf(parent);
      this.#children.set(key, [...(this.#children.get(key) ?? []), { jobId, status }]);
    }
    const beginning = [...stepsWithin(shape?.steps ?? [])].filter(({ kind }) => kind === "child");
    const names = new Set(beginning.map(({ name }) => name));
    if (names.size === 0) return;
    for (const run of runsOf(job)) {
      const { name: step, branch, visit } = run;
      if (names.has(step)) this.#steps.set(keyOf({ jobId, step, branch, visit }), { jobId, run });
    }
  }

  get childCount(): number {
    return [...this.#children.values()].reduce((count, children) => count + children.length, 0);
  }

  *findings(): Generator<Finding> {
    for (const [key, children] of this.#children) {
      const [child] = children;
      if (child === undefined) continue;
      if (!this.#steps.has(key)) yield violation(child.jobId, `It is the child of ${key}, and no such step was begun.`);
      if (children.length === 1) continue;
      const detail = `${key} began ${children.length} jobs: ${children.map(({ jobId }) => jobId).join(", ")}.`;
      yield { kind: "duplicated", subject: child.jobId, detail };
    }
    for (const [key, { jobId, run }] of this.#steps) {
      const complaint = complaintAbout(run, this.#children.get(key)?.[0]);
      if (complaint !== undefined) yield violation(jobId, `${key} ${complaint}`);
    }
  }
}

type Child = Pick<FinalJob, "jobId" | "status">;

interface StepWithChild {
  readonly jobId: string;
  readonly run: StepFold;
}

function complaintAbout({ phase, isCut }: StepFold, child: Child | undefined): string | undefined {
  if (phase === "succeeded") {
    return child?.status === "SUCCEEDED" ? undefined : `succeeded, and its child is ${child?.status ?? "not there"}.`;
  }
  if (child === undefined) return undefined;
  if (phase === "failed") {
    const hasStopped = child.status === "FAILED" || child.status === "CANCELLED";
    return hasStopped ? undefined : `failed, and its child is ${child.status}.`;
  }
  // A child is cancelled when its parent no longer waits for it, unless the child has already ended.
  return isCut && !isTerminal(child.status) ? `is over, and its child is ${child.status}.` : undefined;
}

function keyOf({ jobId, step, branch, visit }: FinalParent): string {
  return [jobId, step, visit, ...(branch === "" ? [] : [branch])].join(":");
}

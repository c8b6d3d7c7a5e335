import type { Problem } from "../problem.ts";
import type { Change, Verdict } from "./fact.ts";
import type { Job } from "./job-state.ts";

/** The change when a fact has no effect. It is not written. */
export function ignored(job: Job): Change {
  return { job, entries: [], events: [], effects: [], results: [], verdict: { type: "ignored" } };
}

export function invalid(job: Job, detail: string, problems: readonly Problem[]): Change {
  return { ...ignored(job), verdict: { type: "rejected", code: "ValidationError", detail, problems } };
}

export function rejected(job: Job, detail: string): Change {
  const verdict: Verdict = { type: "rejected", code: "ConflictError", detail };
  return { ...ignored(job), verdict };
}

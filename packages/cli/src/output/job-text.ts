import type { Job } from "@stepwell/client";
import { age, ageOf } from "./age.ts";
import { list, table } from "./table.ts";

type Step = Job["steps"][number];

export function describeJob(job: Job): string {
  const { workflowName, workflowVersion, input, output, error } = job;
  const version = `${workflowName} version ${workflowVersion.versionNumber}`;
  const facts = list({
    status: describeStatus(job),
    workflow: workflowVersion.tag === undefined ? version : `${version} (${workflowVersion.tag})`,
    submitted: `${job.createdAt} (${ageOf(job.createdAt)} ago)`,
    finished:
      job.finishedAt === undefined ? undefined : `${job.finishedAt} (after ${duration(job.createdAt, job.finishedAt)})`,
    input: compact(input),
    output: job.status === "SUCCEEDED" ? compact(output) : undefined,
    error: error === undefined ? undefined : `${error.code} in ${error.step}: ${error.message}`,
  });
  const parts = [`Job ${job.jobId}`, facts];
  if (job.steps.length > 0)
    parts.push("", table(["STEP", "VISIT", "STATUS", "ATTEMPTS", "TIME"], job.steps.map(rowOf)));
  return parts.join("\n");
}

/** The status in a few words, and what the job waits for. */
export function describeStatus({ status, currentStep }: Pick<Job, "status" | "currentStep">): string {
  if (status !== "RUNNING" || currentStep === undefined) return status;
  const missing = currentStep.awaiting?.missingEventIds ?? [];
  const at = `${status} in ${currentStep.name}`;
  return missing.length === 0 ? at : `${at}, which waits for ${missing.join(", ")}`;
}

export function hasEnded({ status }: { readonly status: Job["status"] }): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

function compact(value: unknown): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length <= maxShownCharacters ? text : `${text.slice(0, maxShownCharacters)}… (all of it: --json)`;
}

/** A few lines of a terminal. */
const maxShownCharacters = 500;

function rowOf({ name, visit, status, attempts, startedAt, finishedAt }: Step): string[] {
  return [
    name,
    String(visit),
    stepWords[status],
    String(attempts),
    finishedAt === undefined ? "-" : duration(startedAt, finishedAt),
  ];
}

const stepWords: Readonly<Record<Step["status"], string>> = {
  running: "running",
  success: "succeeded",
  failure: "failed",
  successful_but_incomplete: "waiting",
};

function duration(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms < 10_000 ? `${ms} ms` : age(ms);
}

import type { components, HistoryEntry, Job, StepwellError } from "@stepwell/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { connect, type Place } from "../connection/connection.ts";
import { exitCodes } from "../exit-code.ts";
import { isId } from "../id.ts";
import { withLimit, withWait } from "../option.ts";
import { ageOf } from "../output/age.ts";
import { describeEntry } from "../output/history-text.ts";
import { waitFor } from "../output/job-progress.ts";
import { describeJob } from "../output/job-text.ts";
import { listed } from "../output/listed.ts";
import { table } from "../output/table.ts";
import { show, showNext, warn } from "../output/terminal.ts";

export function declareJob(program: Command): void {
  const job = program.command("job").description("list, follow, cancel and resume jobs");
  withLimit(job.command("list").description("list jobs, the newest first"))
    .addOption(new Option("--status <status>", "only jobs with this status").choices(statuses).argParser(status))
    .option("--workflow <workflow>", "only jobs of this workflow: its name or its id")
    .option("--waiting", "only jobs that wait for events")
    .action(listJobs);
  withWait(job.command("show").argument("<jobId>").description("show a job and its steps")).action(showJob);
  job
    .command("watch")
    .argument("<jobId>")
    .description(
      "follow a job until it has ended, and print each entry of its history; exits with 1 if the job failed or was cancelled",
    )
    .action(watch);
  job
    .command("explain")
    .argument("<jobId>")
    .description("say where a job is, and why it does not move")
    .action(explain);
  job.command("cancel").argument("<jobId>").description("cancel a job").action(cancel);
  job
    .command("resume")
    .argument("<jobId>")
    .description("resume a failed or cancelled job at the step where it ended")
    .action(resume);
  withLimit(job.command("history").argument("<jobId>"), 1_000)
    .description("list what happened to a job, entry by entry")
    .action(history);
}

const statuses: readonly Job["status"][] = ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"];

/** Parses a status, which may be in lower case. */
function status(text: string): string {
  const wanted = text.toUpperCase();
  if (statuses.some((known) => known === wanted)) return wanted;
  throw new InvalidArgumentError(`Give one of ${statuses.join(", ")}.`);
}

interface ListOptions extends Place {
  readonly limit: number;
  readonly status?: Job["status"];
  readonly workflow?: string;
  readonly waiting?: boolean;
}

async function listJobs({ limit, status, workflow, waiting, ...place }: ListOptions): Promise<void> {
  const { client, organizationId } = await connect(place);
  const filter = {
    ...(status !== undefined && { status }),
    ...(workflow !== undefined && (isId(workflow) ? { workflowId: workflow } : { workflowName: workflow })),
    ...(waiting === true && { isWaiting: true }),
  };
  const path = { organizationId };
  const jobs = await listed(limit, (pageSize) => client.list("ListJobs", { path, query: { ...filter, pageSize } }));
  const text =
    jobs.length === 0 ? "There is no such job." : table(["JOB", "WORKFLOW", "STATUS", "STEP", "AGE"], jobs.map(rowOf));
  show({ value: jobs, text, quiet: jobs.map(({ jobId }) => jobId) });
}

function rowOf(job: components["schemas"]["ListedJob"]): string[] {
  const { awaitingEventIds = [] } = job;
  const step =
    awaitingEventIds.length === 0 ? job.stepName : `${job.stepName}: waits for ${awaitingEventIds.join(", ")}`;
  return [job.jobId, job.workflowName, job.status, step ?? "-", ageOf(job.createdAt)];
}

async function showJob(jobId: string, { wait, ...place }: Place & { readonly wait: number }): Promise<void> {
  const connection = await connect(place);
  const job = await waitFor(connection, jobId, wait);
  showOne(job);
  if (wait > 0) endAs(job);
}

export function showOne(job: Job): void {
  show({ value: job, text: describeJob(job), quiet: job.jobId });
}

/** Sets the exit code 1 if the job failed or was cancelled, so that a script that waits for the job learns this. */
export function endAs({ status }: { readonly status: Job["status"] }): void {
  if (status === "FAILED" || status === "CANCELLED") process.exitCode = exitCodes.failed;
}

async function watch(jobId: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  for await (const entry of client.watchJob(organizationId, jobId, { onOutage: tellOutage })) showEntry(entry);
  endAs(await client.getJob(organizationId, jobId));
}

function showEntry(entry: HistoryEntry): void {
  showNext({ value: entry, text: describeEntry(entry) });
}

/** Reports an outage at once. Otherwise a person who watches the job would think that nothing happens in it. */
function tellOutage({ detail }: StepwellError): void {
  warn(`stepwell: ${detail} Connecting again, for up to 2 minutes …`);
}

async function explain(jobId: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  const explanation = await client.explainJob(organizationId, jobId);
  show({ value: explanation, text: explanation.sentence, quiet: explanation.state });
}

async function cancel(jobId: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  const job = await client.cancelJob(organizationId, jobId);
  show({ value: job, text: `The job ${job.jobId} is ${job.status}.`, quiet: job.jobId });
}

async function resume(jobId: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  const job = await client.resumeJob(organizationId, jobId);
  show({ value: job, text: `The job ${job.jobId} continues: it is ${job.status}.`, quiet: job.jobId });
}

async function history(jobId: string, { limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const { client, organizationId } = await connect(place);
  const path = { organizationId, jobId };
  const entries = await listed(limit, (pageSize) => client.list("GetJobHistory", { path, query: { pageSize } }));
  show({ value: entries, text: entries.map(describeEntry).join("\n") });
}

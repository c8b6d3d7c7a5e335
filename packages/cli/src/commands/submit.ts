import { type Command, Option } from "commander";
import { type Connection, connect, type Place } from "../connection/connection.ts";
import { parseJson, withWait } from "../option.ts";
import { waitFor } from "../output/job-progress.ts";
import { hasLiveTerminal, show } from "../output/terminal.ts";
import { endAs, showOne } from "./job.ts";
import { type NamedVersion, parseVersion } from "./version.ts";
import { workflowIdOf } from "./workflow.ts";

export function declareSubmit(program: Command): void {
  const command = program
    .command("submit")
    .argument("<workflow>", "a workflow's name or id")
    .option("--input <json>", "the job's input: JSON, @FILE, or - for standard input", parseJson, {})
    .option("--tag <tag>", "run the version with this tag", "$LIVE")
    .addOption(
      new Option("--version <version>", "run this version instead of a tagged one: its number or its id")
        .argParser(parseVersion)
        .conflicts("tag"),
    )
    .option(
      "--idempotency-key <key>",
      "a key for safe repetition: submitting again with the same key returns the same job",
    )
    .description("submit a job; without --wait its status is PENDING, and `stepwell job watch` follows it");
  withWait(command).action(submit);
}

interface SubmitOptions extends Place {
  readonly input: unknown;
  readonly tag: string;
  readonly version?: NamedVersion;
  readonly idempotencyKey?: string;
  readonly wait: number;
}

async function submit(workflow: string, options: SubmitOptions): Promise<void> {
  const { input, tag, version = { tag }, idempotencyKey, wait, ...place } = options;
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const workflowId = await workflowIdOf(connection, workflow);
  const body = { workflowId, workflowVersion: version, inputJson: input as Record<string, unknown> };
  const began = performance.now();
  const job = await client.submitJob(organizationId, body, {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...firstWait(wait),
  });
  await showSubmitted(connection, job, wait, began);
}

/**
 * Returns for how long the service may hold its answer to the submission. Most jobs soon end or wait for events, so this first request is often
 * enough. On a terminal, the submission does not wait for the job, so that the progress can be shown.
 */
export function firstWait(wait: number): { readonly waitSeconds?: number } {
  return wait === 0 || hasLiveTerminal() ? {} : { waitSeconds: Math.min(wait, maxFirstWaitSeconds) };
}

const maxFirstWaitSeconds = 30;

interface Submitted {
  readonly jobId: string;
  readonly status: string;
}

/** Shows a job as it was submitted. With `--wait`, shows the job as it is after the wait. The wait began with the submission, at `began`. */
export async function showSubmitted(
  connection: Connection,
  submitted: Submitted,
  wait: number,
  began: number,
): Promise<void> {
  const { jobId, status } = submitted;
  if (wait === 0) {
    const text = `Job ${jobId} is ${status}. Follow it: stepwell job watch ${jobId}`;
    return show({ value: submitted, text, quiet: jobId });
  }
  const job = await waitFor(connection, jobId, wait - (performance.now() - began) / 1_000);
  showOne(job);
  endAs(job);
}

import { randomUUID } from "node:crypto";
import type { Client } from "./client.ts";

export interface RegisteredVersion {
  readonly workflowId: string;
  readonly versionId: string;
  readonly versionNumber: number;
}

/** The fields of a job that most tests read. `Client` checks the whole answer against the API's document. */
export interface JobBody {
  readonly jobId: string;
  readonly status: string;
  readonly output: unknown;
  readonly workflowVersion: { readonly versionId: string; readonly versionNumber: number; readonly tag?: string };
  readonly currentStep?: {
    readonly name: string;
    readonly status: string;
    readonly awaiting?: { readonly missingEventIds: readonly string[] };
  };
  readonly steps: readonly { readonly name: string; readonly status: string; readonly output?: unknown }[];
}

/** Registers a workflow and one version with this definition, and points `$LIVE` at the version. */
export async function deploy(api: Client, definition: string, name: string = randomUUID()): Promise<RegisteredVersion> {
  const workflow = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name } });
  const { workflowId } = workflow.body;
  const version = await registerVersion(api, workflowId, definition);
  await api.call("SetWorkflowVersionTag", {
    params: { workflowId, tag: "$LIVE" },
    body: { versionId: version.versionId },
  });
  return version;
}

export async function registerVersion(api: Client, workflowId: string, definition: string): Promise<RegisteredVersion> {
  const params = { workflowId };
  const { body } = await api.call<RegisteredVersion>("RegisterWorkflowVersion", { params, body: { definition } });
  return body;
}

/** Submits a job. Returns when the job has ended or waits for events, or after 20 seconds. */
export async function submitAndWait(api: Client, workflowId: string, inputJson: object = {}): Promise<JobBody> {
  const { body } = await api.call<JobBody>("SubmitJob", {
    query: { waitSeconds: 20 },
    body: { workflowId, inputJson },
  });
  return body;
}

import type { JobKey, WholeJob } from "../../api/job.ts";
import { shellWord } from "../../parts/shell-word.ts";

/** The same call from a shell. The token is the caller's to put in: none of this page's leaves it. */
export function curlOf(baseUrl: string, path: string, body?: unknown): string {
  const parts = [`curl -sS -H "Authorization: Bearer $STEPWELL_TOKEN"`];
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${shellWord(JSON.stringify(body))}`);
  parts.push(shellWord(baseUrl + path));
  return parts.join(" \\\n  ");
}

export function jobPath({ organizationId, jobId }: JobKey): string {
  return `/organizations/${organizationId}/jobs/${jobId}`;
}

/** A job like this one: of the tag by which this one was chosen, or of its very version. */
export function resubmission({ workflowId, workflowVersion, input }: WholeJob) {
  const { tag, versionId } = workflowVersion;
  return { workflowId, workflowVersion: tag === undefined ? { versionId } : { tag }, inputJson: input };
}

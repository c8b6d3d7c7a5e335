import { isDeepStrictEqual } from "node:util";
import type { FinalJob } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import type { Ledger, SubmissionRecord } from "./ledger.ts";

/** Checks that a client requested the job, and that the job is as requested. */
export function checkOrigin(job: FinalJob, { submissions }: Ledger): Finding[] {
  const nonce = nonceOf(job);
  const record = nonce === undefined ? undefined : submissions.get(nonce);
  if (record === undefined) return [violation(job.jobId, "Nobody asked for this job.")];
  const { submission, attempts } = record;
  const findings: Finding[] = [];
  if (!isDeepStrictEqual(job.input, submission.input)) {
    const inputs = `${JSON.stringify(job.input)}, but ${JSON.stringify(submission.input)} was sent`;
    findings.push(violation(job.jobId, `Its input is ${inputs}.`));
  }
  if (job.workflowId !== submission.workflowId || job.organizationId !== submission.organizationId) {
    findings.push(violation(job.jobId, "It belongs to another workflow or organization than the client asked for."));
  }
  if (attempts.every(({ outcome }) => outcome.type === "rejected")) {
    findings.push(violation(job.jobId, "Its submission was refused, but the job exists."));
  }
  return findings;
}

/**
 * Checks that each acknowledged submission has its job, and that no submission has several jobs or was rejected. `found` has the ids of the existing
 * jobs by nonce.
 */
export function checkSubmissions(ledger: Ledger, found: ReadonlyMap<string, readonly string[]>): Finding[] {
  return [...ledger.submissions.values()].flatMap((record) =>
    checkSubmission(record, found.get(record.submission.nonce) ?? []),
  );
}

function checkSubmission({ submission, attempts }: SubmissionRecord, found: readonly string[]): Finding[] {
  const { nonce, idempotencyKey } = submission;
  const key = idempotencyKey === null ? "without a key" : `with the key ${idempotencyKey}`;
  const findings: Finding[] = [];
  const acknowledged = new Set(
    attempts.flatMap(({ outcome }) => (outcome.type === "ok" ? [outcome.answer.jobId] : [])),
  );
  for (const jobId of acknowledged) {
    if (found.includes(jobId)) continue;
    findings.push({
      kind: "lost",
      subject: nonce,
      detail: `Job ${jobId}, submitted ${key}, was acknowledged and is gone.`,
    });
  }
  if (found.length > 1) {
    const detail = `It was submitted ${key} in ${attempts.length} requests and became ${found.length} jobs: ${found.join(", ")}.`;
    findings.push({ kind: "duplicated", subject: nonce, detail });
  }
  if (acknowledged.size > 1) {
    findings.push(
      violation(nonce, `It was submitted ${key} and answered with different jobs: ${[...acknowledged].join(", ")}.`),
    );
  }
  for (const { outcome } of attempts) {
    if (outcome.type !== "rejected") continue;
    findings.push(violation(nonce, `It was submitted ${key} and refused: ${outcome.httpStatus} ${outcome.code}.`));
  }
  return findings;
}

export function nonceOf(job: FinalJob): string | undefined {
  const nonce = (job.input as { readonly nonce?: unknown } | null)?.nonce;
  return typeof nonce === "string" ? nonce : undefined;
}

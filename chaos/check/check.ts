import type { Operation } from "../operation.ts";
import type { OutsideLog } from "../outside/outside-log.ts";
import type { WorkflowShape } from "../workflows.ts";
import { checkEvents, findLostEvents } from "./events.ts";
import { Families } from "./families.ts";
import type { FinalJob } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import { checkHistory } from "./histories.ts";
import { type Ledger, ledgerOf } from "./ledger.ts";
import { checkObservations } from "./observations.ts";
import { checkOutside } from "./outside.ts";
import { checkOrigin, checkSubmissions, nonceOf } from "./submissions.ts";

/**
 * Compares the requests and answers of the clients with the final state of the service. `shapes` has the campaign's workflows by their id. `log` has
 * what functions and workers did for the jobs. `families` collects the parent and the children of each job. `jobs` must have the newest job first, so
 * that children come before their parents. `jobs` gives one job at a time, since the jobs of a long campaign do not fit into memory together.
 */
export async function checkCampaign(
  operations: Iterable<Operation>,
  jobs: AsyncIterable<FinalJob> | Iterable<FinalJob>,
  shapes: ReadonlyMap<string, WorkflowShape>,
  log: OutsideLog,
  families = new Families(),
): Promise<Finding[]> {
  const ledger = ledgerOf(operations);
  const found = new Map<string, string[]>();
  const seen = new Set<string>();
  const endedByLostWorkers = new Set<string>();
  const findings: Finding[] = [];
  for await (const job of jobs) {
    if (seen.has(job.jobId)) {
      findings.push(violation(job.jobId, "It is listed twice."));
      continue;
    }
    seen.add(job.jobId);
    const nonce = nonceOf(job);
    if (nonce !== undefined) found.set(nonce, [...(found.get(nonce) ?? []), job.jobId]);
    const shape = shapes.get(job.workflowId);
    findings.push(
      ...checkJob(job, ledger),
      ...checkHistory(job, shape, endedByLostWorkers),
      ...checkOutside(job, shape, log),
    );
    families.add(job, shape);
  }
  findings.push(...checkSubmissions(ledger, found), ...families.findings());
  for (const [jobId, record] of ledger.jobs) if (!seen.has(jobId)) findings.push(...findLostEvents(record));
  return findings;
}

function checkJob(job: FinalJob, ledger: Ledger): Finding[] {
  const record = ledger.jobs.get(job.jobId);
  return [
    // A child job was requested by its parent, not by a client.
    ...(job.parent === undefined ? checkOrigin(job, ledger) : []),
    ...checkEvents(job, record),
    ...checkObservations(job, record),
  ];
}

import { type Bounds, boundsOf } from "../../auth/permissions/token-bounds.ts";
import { invalidPart } from "../../core/service-error.ts";
import type { BoundTo } from "../../store/access/tokens.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findVersionOfJob } from "../../store/jobs/job-lists.ts";
import { findWorkflowIds } from "../../store/workflows/workflows.ts";

/** The bounds of a token as requests and answers name them. A field that is left out means no such bound. */
export interface NamedBounds {
  workflowIds?: string[];
  tags?: string[];
  jobEvent?: { jobId: string; eventId: string };
}

export const unbound: BoundTo = { workflowIds: null, tags: null, boundJobId: null, boundEventId: null };

export function nameBounds({ workflowIds, tags, jobEvent }: Bounds): NamedBounds {
  return {
    ...(workflowIds !== undefined && { workflowIds: [...workflowIds] }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(jobEvent !== undefined && { jobEvent: { ...jobEvent } }),
  };
}

/**
 * Reads the requested bounds of a token. Throws `ServiceError` ValidationError for ids that the organization does not have. The error is the same
 * whether another organization has the id or nobody does.
 */
export async function readBoundTo(db: Queryable, organizationId: string, named: NamedBounds): Promise<BoundTo> {
  const { workflowIds, tags, jobEvent } = named;
  if (jobEvent !== undefined && (workflowIds !== undefined || tags !== undefined)) {
    throw invalidPart("body", [
      { pointer: "/boundTo/jobEvent", detail: "cannot be combined with workflowIds or tags" },
    ]);
  }
  return {
    workflowIds: workflowIds === undefined ? null : await knownWorkflows(db, organizationId, workflowIds),
    tags: tags ?? null,
    boundJobId: jobEvent === undefined ? null : await knownJob(db, organizationId, jobEvent.jobId),
    boundEventId: jobEvent?.eventId ?? null,
  };
}

/**
 * Throws 400 for a token that is bound to one event, unless its only permission is `job:event:send`. Such a token is often sent by e-mail, so it
 * must not permit anything else. `pointer` leads to the field of the request that the error names.
 */
export function requireFitting(bound: BoundTo, permissions: readonly string[], pointer: string): void {
  if (boundsOf(bound)?.jobEvent === undefined) return;
  if (permissions.length === 1 && permissions[0] === "job:event:send") return;
  const detail = "does not fit: a token that is bound to one event has the permission `job:event:send` and no other";
  throw invalidPart("body", [{ pointer, detail }]);
}

async function knownWorkflows(
  db: Queryable,
  organizationId: string,
  workflowIds: readonly string[],
): Promise<readonly string[]> {
  const wanted = workflowIds.map((id) => id.toLowerCase());
  const found = new Set(await findWorkflowIds(db, organizationId, wanted));
  const detail = "is not a workflow of this organization";
  const problems = wanted.flatMap((id, index) =>
    found.has(id) ? [] : [{ pointer: `/boundTo/workflowIds/${index}`, detail }],
  );
  if (problems.length > 0) throw invalidPart("body", problems);
  return [...found];
}

async function knownJob(db: Queryable, organizationId: string, jobId: string): Promise<string> {
  const key = { organizationId, jobId: jobId.toLowerCase() };
  if ((await findVersionOfJob(db, key)) !== undefined) return key.jobId;
  throw invalidPart("body", [{ pointer: "/boundTo/jobEvent/jobId", detail: "is not a job of this organization" }]);
}

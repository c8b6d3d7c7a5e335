import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Caller } from "../../auth/caller.ts";
import {
  type Bounds,
  describeBounds,
  maySendEvent,
  mayUseTag,
  reachesJob,
  reachesWorkflow,
} from "../../auth/permissions/token-bounds.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { Database } from "../../store/home/database.ts";
import { findVersionOfJob } from "../../store/jobs/job-lists.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { VersionChoice } from "../../store/workflows/versions.ts";

/**
 * The rule by which an operation enforces the bounds of tokens, for each kind of bound:
 * - `path`: the workflow or the tag in its path is checked;
 * - `job`: the job in its path is checked: its workflow, the tag by which it was submitted, or the job itself;
 * - `handler`: the query or the body names the thing, and the handler calls the functions below;
 * - `unaffected`: the bound does not concern the operation.
 * An operation without a rule for a kind of bound refuses tokens with such a bound, since nobody has decided what the bound means for it.
 */
export interface BoundsRule {
  readonly workflows?: "path" | "job" | "handler" | "unaffected";
  readonly tags?: "path" | "job" | "handler" | "unaffected";
  readonly jobEvent?: "job" | "unaffected";
}

/** Runs after authorization. A token without bounds costs one comparison. */
export function enforceBounds(rule: BoundsRule | undefined, database: Database): onRequestHookHandler {
  return (request, _reply, done) => {
    if (request.caller.bounds !== undefined) {
      const checked = checkBounds(request, rule, database);
      if (checked instanceof Promise) return checked;
    }
    done();
    return undefined;
  };
}

/** Throws (or rejects with) 404 for a thing that does not exist for the caller, and 403 for anything else outside of the bounds. */
export function checkBounds(
  { caller, params }: Pick<FastifyRequest, "caller" | "params">,
  rule: BoundsRule | undefined,
  database: Database,
): undefined | Promise<undefined> {
  const { bounds } = caller;
  if (bounds === undefined) return undefined;
  const { organizationId = "", workflowId = "", tag = "", jobId = "" } = params as Readonly<Record<string, string>>;
  const { workflowIds, tags, jobEvent } = bounds;
  const isForbidden =
    (workflowIds !== undefined && rule?.workflows === undefined) ||
    (tags !== undefined && rule?.tags === undefined) ||
    (jobEvent !== undefined && rule?.jobEvent === undefined);
  if (isForbidden) throw outOfBounds(bounds, "it cannot be used for this operation");

  if (rule?.workflows === "path" && !reachesWorkflow(bounds, workflowId)) throw notFound("workflow");
  if (rule?.tags === "path") requireTag(bounds, tag);
  if (rule?.jobEvent === "job" && !reachesJob(bounds, jobId)) throw notFound("job");
  const isHeldByJob = rule?.workflows === "job" || rule?.tags === "job";
  const key = { organizationId, jobId };
  return isHeldByJob && jobEvent === undefined ? checkJob(bounds, rule, key, database) : undefined;
}

/** A job never changes its workflow or the tag by which it was submitted. So the result of this check is still right when the handler runs. */
async function checkJob(bounds: Bounds, rule: BoundsRule, key: JobKey, database: Database): Promise<undefined> {
  const job = await findVersionOfJob(database, key);
  if (job === undefined || !reachesWorkflow(bounds, job.workflowId)) throw notFound("job");
  if (rule.tags === "job") requireTag(bounds, job.tag);
}

/** Returns the only workflows that the caller reaches. Null means all workflows of the organization. */
export function reachableWorkflows({ bounds }: Caller): readonly string[] | null {
  return bounds?.workflowIds === undefined ? null : [...bounds.workflowIds];
}

export function requireSubmit({ bounds }: Caller, workflowId: string, choice: VersionChoice): void {
  if (bounds === undefined) return;
  if (!reachesWorkflow(bounds, workflowId)) throw notFound("workflow");
  requireTag(bounds, choice.by === "tag" ? choice.tag : null);
}

/** Throws when the caller may not send this event to a job that the caller reaches. */
export function requireEvent({ bounds }: Caller, eventId: string): void {
  if (bounds === undefined || maySendEvent(bounds, eventId)) return;
  throw outOfBounds(bounds, "it cannot send any other event");
}

function requireTag(bounds: Bounds, tag: string | null): void {
  if (mayUseTag(bounds, tag)) return;
  const other = tag === null ? "a version that was not chosen by such a tag" : `the tag ${tag}`;
  throw outOfBounds(bounds, `it cannot be used for ${other}`);
}

function outOfBounds(bounds: Bounds, consequence: string): ServiceError {
  const detail = `This token is bound to ${describeBounds(bounds)}, so ${consequence}. Use another token.`;
  return new ServiceError("AuthorizationError", detail);
}

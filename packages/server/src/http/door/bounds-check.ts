import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Caller } from "../../auth/authenticator.ts";
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
 * How an operation holds narrow tokens to their bounds, for each kind of bound:
 * - `path`: by the workflow or the tag that its path names;
 * - `job`: by the job that its path names: its workflow, the tag it was submitted by, or itself;
 * - `handler`: what is bound stands in the query or the body, and the handler asks the functions below;
 * - `unaffected`: the bound has no bearing on it.
 * An operation that says nothing about a kind of bound is closed to tokens with such a bound: nobody thought about it.
 */
export interface BoundsRule {
  readonly workflows?: "path" | "job" | "handler" | "unaffected";
  readonly tags?: "path" | "job" | "handler" | "unaffected";
  readonly jobEvent?: "job" | "unaffected";
}

/** Runs after authorization. Costs a token that is bound to nothing one comparison. */
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

/** Throws (or rejects with) 404 for what does not exist for the caller, and 403 for what else its bounds keep from it. */
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

/** A job's workflow, and the tag that it was submitted by, never change: nothing can come between this look and the handler's. */
async function checkJob(bounds: Bounds, rule: BoundsRule, key: JobKey, database: Database): Promise<undefined> {
  const job = await findVersionOfJob(database, key);
  if (job === undefined || !reachesWorkflow(bounds, job.workflowId)) throw notFound("job");
  if (rule.tags === "job") requireTag(bounds, job.tag);
}

/** The only workflows that there are for the caller; null: all of the organization. */
export function reachableWorkflows({ bounds }: Caller): readonly string[] | null {
  return bounds?.workflowIds === undefined ? null : [...bounds.workflowIds];
}

/** Throws when the caller may not submit a job to this workflow by this choice of a version. */
export function requireSubmit({ bounds }: Caller, workflowId: string, choice: VersionChoice): void {
  if (bounds === undefined) return;
  if (!reachesWorkflow(bounds, workflowId)) throw notFound("workflow");
  requireTag(bounds, choice.by === "tag" ? choice.tag : null);
}

/** Throws when the caller may not send this event to the job that it was let through to. */
export function requireEvent({ bounds }: Caller, eventId: string): void {
  if (bounds === undefined || maySendEvent(bounds, eventId)) return;
  throw outOfBounds(bounds, "it cannot send another event");
}

function requireTag(bounds: Bounds, tag: string | null): void {
  if (mayUseTag(bounds, tag)) return;
  const other = tag === null ? "a version that is not named by such a tag" : `the tag ${tag}`;
  throw outOfBounds(bounds, `it cannot be used for ${other}`);
}

function outOfBounds(bounds: Bounds, consequence: string): ServiceError {
  const detail = `This token is bound to ${describeBounds(bounds)}, so ${consequence}. Use another token.`;
  return new ServiceError("AuthorizationError", detail);
}

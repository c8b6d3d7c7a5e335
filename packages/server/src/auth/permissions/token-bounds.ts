import type { BoundTo } from "../../store/access/tokens.ts";

/**
 * The bounds of a narrow token. They narrow what the token's permissions allow, and never add to it. A token may be bound to both workflows and tags:
 * then both bounds apply.
 */
export interface Bounds {
  /** The only workflows that the token reaches, with their versions, tags and jobs. Undefined means all workflows. */
  readonly workflowIds: ReadonlySet<string> | undefined;
  /** The only tags that the token may set, delete and run. Undefined means all tags. */
  readonly tags: ReadonlySet<string> | undefined;
  /** The only thing that the token may do: send this event to this job. */
  readonly jobEvent: { readonly jobId: string; readonly eventId: string } | undefined;
}

/** Undefined for a token without bounds. */
export function boundsOf({ workflowIds, tags, boundJobId, boundEventId }: BoundTo): Bounds | undefined {
  if (workflowIds === null && tags === null && boundJobId === null) return undefined;
  return {
    workflowIds: workflowIds === null ? undefined : new Set(workflowIds),
    tags: tags === null ? undefined : new Set(tags),
    jobEvent: boundJobId === null ? undefined : { jobId: boundJobId, eventId: boundEventId ?? "" },
  };
}

export function reachesWorkflow({ workflowIds, jobEvent }: Bounds, workflowId: string): boolean {
  return jobEvent === undefined && (workflowIds === undefined || workflowIds.has(workflowId));
}

/**
 * Tells whether the token may set this tag, delete it, or run the version that it points at. `tag` is null for a version that was not chosen by tag.
 */
export function mayUseTag({ tags, jobEvent }: Bounds, tag: string | null): boolean {
  return jobEvent === undefined && (tags === undefined || (tag !== null && tags.has(tag)));
}

/**
 * Tells whether the bound `jobEvent` allows this job: a token that may only send one event reaches only the job of that event. The bound
 * `workflowIds` is not checked here.
 */
export function reachesJob({ jobEvent }: Bounds, jobId: string): boolean {
  return jobEvent === undefined || jobEvent.jobId === jobId;
}

export function maySendEvent({ jobEvent }: Bounds, eventId: string): boolean {
  return jobEvent === undefined || jobEvent.eventId === eventId;
}

/** Describes the bounds in words that follow "is bound to". */
export function describeBounds({ workflowIds, tags, jobEvent }: Bounds): string {
  if (jobEvent !== undefined) return `the event ${JSON.stringify(jobEvent.eventId)} of one job`;
  const parts: string[] = [];
  if (workflowIds !== undefined) parts.push(workflowIds.size === 1 ? "one workflow" : `${workflowIds.size} workflows`);
  if (tags !== undefined) parts.push(tags.size === 1 ? `the tag ${namesOf(tags)}` : `the tags ${namesOf(tags)}`);
  return parts.join(" and ");
}

const maxNames = 10;

function namesOf(tags: ReadonlySet<string>): string {
  const names = [...tags].slice(0, maxNames).join(", ");
  return tags.size > maxNames ? `${names} and ${tags.size - maxNames} more` : names;
}

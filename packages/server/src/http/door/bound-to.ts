import { type Static, Type } from "typebox";
import { type Bounds, boundsOf } from "../../auth/permissions/token-bounds.ts";
import type { Problem } from "../../core/problem.ts";
import { sentence } from "../../core/problem.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { BoundTo } from "../../store/access/tokens.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findVersionOfJob } from "../../store/jobs/job-lists.ts";
import { findWorkflowIds } from "../../store/workflows/workflows.ts";
import { closed, eventIdSchema, Id, TagName } from "./schemas.ts";

const maxBound = 100;

/** What a request binds a token to. */
export function boundToBody(maxNameLength: number) {
  return closed(
    {
      workflowIds: Type.Optional(
        Type.Array(Id, {
          minItems: 1,
          maxItems: maxBound,
          uniqueItems: true,
          description: "For the token there are only these workflows, with their versions, tags and jobs.",
        }),
      ),
      tags: Type.Optional(
        Type.Array(TagName, {
          minItems: 1,
          maxItems: maxBound,
          uniqueItems: true,
          description:
            "The token sets and deletes only these tags, submits only by them, and changes only jobs that were submitted by them. It reads as without this.",
        }),
      ),
      jobEvent: Type.Optional(
        closed(
          { jobId: Id, eventId: eventIdSchema(maxNameLength) },
          {
            description:
              "The token can do nothing but send this event to this job. It stands alone, with the permission `job:event:send` and no other.",
          },
        ),
      ),
    },
    { minProperties: 1, "x-rule": "must name what the token is bound to", description: boundDescription },
  );
}

type Body = Static<ReturnType<typeof boundToBody>>;

const boundDescription = "What the token is bound to, beside its permissions. Left out: to nothing.";

export const BoundToSchema = Type.Object(
  {
    workflowIds: Type.Optional(Type.Array(Id)),
    tags: Type.Optional(Type.Array(Type.String())),
    jobEvent: Type.Optional(Type.Object({ jobId: Id, eventId: Type.String() })),
  },
  { title: "TokenBounds", description: boundDescription },
);

export function renderBounds(bounds: Bounds | undefined): { boundTo?: Static<typeof BoundToSchema> } {
  if (bounds === undefined) return {};
  const { workflowIds, tags, jobEvent } = bounds;
  return {
    boundTo: {
      ...(workflowIds !== undefined && { workflowIds: [...workflowIds] }),
      ...(tags !== undefined && { tags: [...tags] }),
      ...(jobEvent !== undefined && { jobEvent: { ...jobEvent } }),
    },
  };
}

export const unbound: BoundTo = { workflowIds: null, tags: null, boundJobId: null, boundEventId: null };

/**
 * Reads what a token shall be bound to. Throws `ServiceError` ValidationError for ids that the organization does not have: of another
 * organization's it says the same as of those that nobody has.
 */
export async function readBoundTo(db: Queryable, organizationId: string, body: Body): Promise<BoundTo> {
  const { workflowIds, tags, jobEvent } = body;
  if (jobEvent !== undefined && (workflowIds !== undefined || tags !== undefined)) {
    throw invalid([{ pointer: "/boundTo/jobEvent", detail: "must stand alone, without workflowIds and tags" }]);
  }
  return {
    workflowIds: workflowIds === undefined ? null : await knownWorkflows(db, organizationId, workflowIds),
    tags: tags ?? null,
    boundJobId: jobEvent === undefined ? null : await knownJob(db, organizationId, jobEvent.jobId),
    boundEventId: jobEvent?.eventId ?? null,
  };
}

/** Whoever gets such a token out of a mail shall be able to do that one thing. `pointer` leads to what the request says of it. */
export function requireFitting(bound: BoundTo, permissions: readonly string[], pointer: string): void {
  if (boundsOf(bound)?.jobEvent === undefined) return;
  if (permissions.length === 1 && permissions[0] === "job:event:send") return;
  const detail = "does not fit: a token that is bound to one event has the permission `job:event:send` and no other";
  throw invalid([{ pointer, detail }]);
}

async function knownWorkflows(
  db: Queryable,
  organizationId: string,
  workflowIds: readonly string[],
): Promise<readonly string[]> {
  const wanted = workflowIds.map((id) => id.toLowerCase());
  const found = new Set(await findWorkflowIds(db, organizationId, wanted));
  const detail = "is no workflow of this organization";
  const problems = wanted.flatMap((id, index) =>
    found.has(id) ? [] : [{ pointer: `/boundTo/workflowIds/${index}`, detail }],
  );
  if (problems.length > 0) throw invalid(problems);
  return [...found];
}

async function knownJob(db: Queryable, organizationId: string, jobId: string): Promise<string> {
  const key = { organizationId, jobId: jobId.toLowerCase() };
  if ((await findVersionOfJob(db, key)) !== undefined) return key.jobId;
  throw invalid([{ pointer: "/boundTo/jobEvent/jobId", detail: "is no job of this organization" }]);
}

function invalid(problems: readonly Problem[]): ServiceError {
  const [first] = problems;
  const message = sentence(`The body is not valid: ${first?.pointer} ${first?.detail}`);
  return new ServiceError("ValidationError", message, { problems });
}

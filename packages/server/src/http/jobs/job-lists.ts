import { Type } from "typebox";
import type { Config } from "../../config.ts";
import { ServiceError } from "../../core/service-error.ts";
import { parseTime } from "../../core/time.ts";
import { countChildren } from "../../store/jobs/child-jobs.ts";
import { countJobs, type JobSearch, listJobs } from "../../store/jobs/job-lists.ts";
import { findWorkflowIdsByName } from "../../store/workflows/workflows.ts";
import type { App, ServerParts } from "../door/app.ts";
import { reachableWorkflows } from "../door/bounds-check.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { closed, OrganizationParams, oneOf } from "../door/schemas.ts";
import { maxTotalCount } from "../door/total-count.ts";
import { JobStatusSchema, ListedJobSchema, renderListed } from "./render-job.ts";

const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));
const id = (description: string) => Type.Optional(Type.String({ format: "uuid", description }));

export function jobListRoutes(app: App, { database, config, userNames }: ServerParts): void {
  app.get(
    "/organizations/:organizationId/jobs",
    {
      config: { cost: 5, bounds: { workflows: "handler", tags: "unaffected" } },
      schema: {
        operationId: "ListJobs",
        "x-permission": "job:list",
        tags: ["jobs"],
        summary: "List jobs",
        description:
          "The answer lists the jobs by the time of their submission, the newest first unless `order` says otherwise.",
        params: OrganizationParams,
        querystring: closed({ ...listParameters(config), ...pagingParameters }),
        response: {
          200: Type.Object(
            {
              jobs: Type.Array(ListedJobSchema),
              totalCount: Type.Optional(
                Type.Integer({
                  description: "The number of jobs that the filters match. It is there only with `includeTotal=true`.",
                }),
              ),
              totalCountIsMinimum: Type.Optional(
                Type.Boolean({
                  description: "True when more jobs than `totalCount` match, because counting ended at that number.",
                }),
              ),
              nextPageToken,
            },
            { description: "One page." },
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const { includeTotal, order = "newest", workflowName, ...filters } = request.query;
      const named =
        workflowName === undefined ? null : await findWorkflowIdsByName(database, organizationId, workflowName);
      const reachable = reachableWorkflows(request.caller);
      const search = searchOf(organizationId, filters, intersection(reachable, named));
      const page = pageOf(request);
      const reader = database.reader(organizationId);
      const counted = includeTotal === true ? await countJobs(reader, search, maxTotalCount + 1) : undefined;
      const found = await listJobs(reader, search, order, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (job) => job.jobId);
      const names = await userNames.of(rows.map(({ submittedBy }) => submittedBy));
      // A token that is bound to workflows must not learn of jobs of other workflows.
      const counts = reachable === null ? await countChildren(reader, rows) : [];
      const childCounts = new Map(counts.map(({ jobId, count }) => [jobId, count]));
      const shown = reachable === null ? rows : rows.map((job) => ({ ...job, parent: null }));
      return {
        jobs: shown.map((job) => renderListed(job, names, childCounts.get(job.jobId))),
        ...(counted !== undefined && { totalCount: Math.min(counted, maxTotalCount) }),
        ...(counted !== undefined && counted > maxTotalCount && { totalCountIsMinimum: true }),
        ...next,
      };
    },
  );
}

function listParameters({ maxNameLength }: Config) {
  return {
    status: Type.Optional(JobStatusSchema),
    workflowId: id("A workflow, to get only its jobs."),
    workflowName: Type.Optional(
      Type.String({
        description:
          "A name, to get only jobs of the workflow with exactly this name, or of deleted workflows that had it.",
      }),
    ),
    versionId: id("A version, to get only its jobs."),
    workflowVersionNumber: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: "A number, to get only jobs of versions with this number.",
      }),
    ),
    jobHierarchy: Type.Optional(
      oneOf(["TOP_LEVEL_ONLY", "ALL"], {
        description:
          "`ALL` (the default) finds all jobs. `TOP_LEVEL_ONLY` finds only jobs that were not started by a step of another job.",
      }),
    ),
    parentJobId: id("A job, to get only the jobs that its steps started."),
    createdAfter: time("A time, to get only jobs that were created then or later."),
    createdBefore: time("A time, to get only jobs that were created before it."),
    awaitingEventId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxNameLength,
        description: "An event id, to get only jobs that wait for this event now.",
      }),
    ),
    isWaiting: Type.Optional(
      Type.Boolean({
        description: "True to get only jobs that wait for events now, or false to get only those that do not.",
      }),
    ),
    order: Type.Optional(oneOf(["newest", "oldest"], { default: "newest", description: "The order of the jobs." })),
    includeTotal: Type.Optional(
      Type.Boolean({
        default: false,
        description: `True to get \`totalCount\` too. Counting ends at ${maxTotalCount}.`,
      }),
    ),
  };
}

interface Filters {
  readonly status?: JobSearch["status"] & string;
  readonly workflowId?: string;
  readonly versionId?: string;
  readonly workflowVersionNumber?: number;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly awaitingEventId?: string;
  readonly isWaiting?: boolean;
  readonly jobHierarchy?: "TOP_LEVEL_ONLY" | "ALL";
  readonly parentJobId?: string;
}

function searchOf(organizationId: string, filters: Filters, workflowIds: readonly string[] | null): JobSearch {
  const { versionId, workflowVersionNumber, awaitingEventId, isWaiting } = filters;
  // With one workflow id, an index gives the jobs in order. Several ids are only a filter, because jobs that this index gave for several ids would
  // have to be sorted first.
  const workflowId = filters.workflowId ?? (workflowIds?.length === 1 ? workflowIds[0] : undefined);
  // Only running jobs wait, and there is an index of running jobs.
  const status = filters.status ?? (isWaiting === true ? "RUNNING" : undefined);
  const createdAfter = optionalTime("createdAfter", filters.createdAfter);
  const createdBefore = optionalTime("createdBefore", filters.createdBefore);
  if (createdAfter !== null && createdBefore !== null && createdAfter >= createdBefore) {
    const detail = "must be later than createdAfter";
    const problems = [{ pointer: "/createdBefore", detail }];
    throw new ServiceError("ValidationError", `createdBefore ${detail}.`, { problems });
  }
  return {
    organizationId,
    status: status ?? null,
    workflowId: workflowId ?? null,
    versionId: versionId ?? null,
    versionNumber: workflowVersionNumber ?? null,
    createdAfter,
    createdBefore,
    awaitingEventId: awaitingEventId ?? null,
    isWaiting: isWaiting ?? null,
    isTopLevel: filters.jobHierarchy === "TOP_LEVEL_ONLY" ? true : null,
    parentJobId: filters.parentJobId?.toLowerCase() ?? null,
    workflowIds,
  };
}

/** Returns the workflows that are in both lists. Null stands for all workflows. */
function intersection(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  return one.filter((id) => other.includes(id));
}

function optionalTime(name: string, text: string | undefined): number | null {
  return text === undefined ? null : parseTime(name, text);
}

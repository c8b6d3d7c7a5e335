import { type Static, Type } from "typebox";
import { mainBranch } from "../../core/branch-path.ts";
import { type BranchRun, branchRunStatuses } from "../../core/job/branch-runs.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { findVersionOfJob } from "../../store/jobs/job-lists.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { answer, closed, JobParams, oneOf, Time } from "../door/schemas.ts";
import { planOfJob } from "./plan-of-job.ts";
import { BranchErrorSchema } from "./render-job.ts";

const count = (description: string) => Type.Integer({ description });

const JobBranchSchema = Type.Object(
  {
    branch: Type.String({ description: "The path of the branch, such as `each-order:1[4211]`." }),
    place: count(
      "The place of the branch among those of the step, counted from 0. In a forEach it is the place of the item in the list.",
    ),
    status: oneOf(branchRunStatuses, {
      description:
        "The status of the branch. `cancelled`: the step around the branch, or the job, ended while the branch was open.",
    }),
    step: Type.String({ description: "The step in which the branch is, or in which it ended." }),
    visit: Type.Integer({ minimum: 1 }),
    startedAt: Time,
    finishedAt: Type.Optional(Time),
    error: Type.Optional(BranchErrorSchema),
  },
  { title: "JobBranch" },
);

const JobBranchesSchema = Type.Object({
  step: Type.Optional(
    Type.String({
      description: "The step that has the branches. It is left out when the job has not come to such a step.",
    }),
  ),
  visit: Type.Optional(Type.Integer({ minimum: 1 })),
  branchCount: count("The number of branches, including those that have not begun."),
  openCount: count("The number of branches that are open."),
  succeededCount: count("The number of branches that have succeeded."),
  failedCount: count("The number of branches that have failed."),
  cancelledCount: count("The number of branches that were cancelled."),
  branches: Type.Array(JobBranchSchema, { description: "One page of the branches that have begun." }),
  nextPageToken,
});

export function jobBranchRoutes(app: App, parts: ServerParts): void {
  const { engine, database } = parts;
  app.get(
    "/organizations/:organizationId/jobs/:jobId/branches",
    {
      config: { cost: 5, bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "ListJobBranches",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "List the branches of a step of a job",
        description:
          "The answer lists the branches of one visit of a parallel or forEach step, and counts how many of them are open, how many succeeded, how many failed and how many were cancelled. Failed branches come first, then open ones, then cancelled ones, then those that succeeded. Within each of these groups, branches are in the order of the list or of the definition. Branches that have not begun are only counted.",
        params: JobParams,
        querystring: closed({
          step: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 256,
              description: "The step that has the branches. If it is left out, the latest such step is used.",
            }),
          ),
          visit: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1_000_000,
              description: "The visit of that step. If it is left out, the latest visit is used.",
            }),
          ),
          branch: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 10_000,
              description: "The path of the branch in which the step is. Leave it out for a step of the main line.",
            }),
          ),
          status: Type.Optional(
            oneOf(branchRunStatuses, { description: "A status, to get only branches that have it now." }),
          ),
          ...pagingParameters,
        }),
        response: { 200: answer("One page.", JobBranchesSchema) },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const page = pageOf(request, isRank);
      const version = await findVersionOfJob(database, request.params);
      if (version === undefined) throw notFound("job");
      const plan = await planOfJob(parts, { organizationId, ...version });
      const { status, step, visit, branch: parent = mainBranch } = request.query;
      const fork = await engine.readBranches(request.params, plan, { parent, step, visit });
      const branches = fork?.branches ?? [];
      const counts = Map.groupBy(branches, (run) => run.status);
      const countOf = (counted: BranchRun["status"]) => counts.get(counted)?.length ?? 0;
      const listed = branches
        .filter((run) => (status === undefined || run.status === status) && rankOf(run) > Number(page.after ?? -1))
        .sort((one, other) => rankOf(one) - rankOf(other));
      const { rows, ...next } = page.cut(listed, (run) => String(rankOf(run)));
      return {
        ...(fork !== undefined && { step: fork.step, visit: fork.visit }),
        branchCount: fork?.branchCount ?? 0,
        openCount: countOf("open"),
        succeededCount: countOf("succeeded"),
        failedCount: countOf("failed"),
        cancelledCount: countOf("cancelled"),
        branches: rows.map(rendered),
        ...next,
      };
    },
  );
}

/** The distance between the first ranks of two neighbouring statuses. It is larger than the number of branches that a step may have. */
const ranksOfStatus = 1_000_000;

/** Returns the number by which the answer sorts branches: by status, and by `place` within a status. */
function rankOf({ status, place }: BranchRun): number {
  return branchRunStatuses.indexOf(status) * ranksOfStatus + place;
}

function isRank(key: string): boolean {
  return /^\d{1,7}$/.test(key);
}

function rendered({ path, startedAt, finishedAt, ...run }: BranchRun): Static<typeof JobBranchSchema> {
  const end = finishedAt === undefined ? {} : { finishedAt: toTime(finishedAt) };
  return { ...run, branch: path, startedAt: toTime(startedAt), ...end };
}

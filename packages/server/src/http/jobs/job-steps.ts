import { Type } from "typebox";
import { stepRunStatuses } from "../../core/job/history.ts";
import { notFound } from "../../core/service-error.ts";
import { findVersionOfJob } from "../../store/jobs/job-lists.ts";
import { largeAnswer } from "../door/answers/large-answer.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isPositiveInteger, nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { closed, JobParams, oneOf } from "../door/schemas.ts";
import { planOfJob } from "./plan-of-job.ts";
import { renderStep, StepSchema } from "./render-job.ts";

export function jobStepRoutes(app: App, parts: ServerParts): void {
  const { engine, database } = parts;
  app.get(
    "/organizations/:organizationId/jobs/:jobId/steps",
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "ListJobSteps",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "List a job's step runs",
        description:
          "The answer lists the runs of the job's steps with their inputs and outputs, in the order in which they started. A page may have fewer runs than you asked for when their values are large or when few runs have the `status`. There are more pages as long as there is a `nextPageToken`.",
        params: JobParams,
        querystring: closed({
          status: Type.Optional(
            oneOf(stepRunStatuses, { description: "A status, to get only runs that have it now." }),
          ),
          branch: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 10_000,
              description: "The path of a branch, to get only runs in it or in branches inside of it.",
            }),
          ),
          ...pagingParameters,
        }),
        response: { 200: Type.Object({ steps: Type.Array(StepSchema), nextPageToken }, { description: "One page." }) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const page = pageOf(request, isPositiveInteger);
      const version = await findVersionOfJob(database, request.params);
      if (version === undefined) throw notFound("job");
      const plan = await planOfJob(parts, { organizationId, ...version });
      const { status, branch } = request.query;
      const search = { after: Number(page.after ?? 0), limit: page.limit, status, branch };
      const found = await engine.readSteps(request.params, search);
      const { rows, ...next } = page.cut(
        found.rows,
        (run) => String(run.sequence),
        ({ input, output }) => [input, output ?? null],
        found.moreAfter?.toString(),
      );
      return await largeAnswer(reply, { steps: rows.map((run) => renderStep(run, plan)), ...next });
    },
  );
}

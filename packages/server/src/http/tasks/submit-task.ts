import { Type } from "typebox";
import type { JsonValue } from "../../core/json/json.ts";
import { maxPriority } from "../../core/task-queue.ts";
import { prepareTaskWorkflow } from "../../management/tasks/task-workflow.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { AnyJson, closed } from "../door/schemas.ts";
import { waitSecondsSchema } from "../door/waiting.ts";
import { SubmittedSchema, submitJob } from "../jobs/jobs.ts";
import { QueueParams } from "./task-polls.ts";

export function submitTaskRoute(app: App, parts: ServerParts): void {
  app.post(
    "/organizations/:organizationId/task-queues/:queue/tasks",
    {
      config: { cost: 2, unaudited: "The job says who submitted it." },
      schema: {
        operationId: "SubmitTask",
        "x-permission": "job:submit",
        tags: ["tasks"],
        summary: "Submit a single task",
        description:
          "The task enters the queue without a workflow of your own: it is a job of the built-in workflow `stepwell-task`, which has one step. With `waitSeconds`, the answer is the whole job, and comes when the task is done or the time is up. The `output` with which the worker completes the task becomes the `output` of the job.",
        params: QueueParams,
        querystring: closed({ waitSeconds: waitSecondsSchema(parts.config) }),
        headers: IdempotencyHeaders,
        body: closed({
          input: Type.Optional({
            ...AnyJson,
            description: "The input of the task, which can be any JSON value. If it is left out, it is `{}`.",
          }),
          priority: Type.Optional(
            Type.Integer({
              minimum: -maxPriority,
              maximum: maxPriority,
              description:
                "The priority of the task. Tasks with a higher priority are handed out first. If it is left out, it is 0.",
            }),
          ),
        }),
        response: { 201: SubmittedSchema },
      },
    },
    async (request, reply) => {
      const { organizationId, queue } = request.params;
      const { input = {}, priority = 0 } = request.body as { readonly input?: JsonValue; readonly priority?: number };
      const { workflowId, versionId } = await prepareTaskWorkflow(parts, organizationId);
      const choice = { by: "versionId", versionId } as const;
      const submission = { workflowId, choice, input: { queue, priority, input } };
      return await submitJob(parts, submission, { request, reply, waitSeconds: request.query.waitSeconds });
    },
  );
}

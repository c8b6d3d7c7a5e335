import { Type } from "typebox";
import { queueNamePattern } from "../../core/task-queue.ts";
import { largeAnswer } from "../door/answers/large-answer.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isStillAllowed, requireStillAllowed } from "../door/authorization.ts";
import { closed, nameSchema } from "../door/schemas.ts";
import { deadlineIn, waitSecondsSchema, whenGone } from "../door/waiting.ts";
import { renderTask, TaskSchema } from "./render-task.ts";

const QueueName = Type.String({
  pattern: queueNamePattern,
  "x-rule": "must be 1 to 100 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`, and not begin with a dot",
  description: "The queue.",
  example: "thumbnails",
});

export const QueueParams = Type.Object({
  organizationId: Type.String({ format: "uuid", description: "The organization." }),
  queue: QueueName,
});

const maxTasks = 100;

export function taskPollRoutes(app: App, parts: ServerParts): void {
  const { engine, config } = parts;
  app.post(
    "/organizations/:organizationId/task-queues/:queue/poll",
    {
      config: {
        cost: 1,
        repetition: "without-effect",
        unaudited: "There are too many polls to record them all; the job's history shows what became of each task.",
      },
      schema: {
        operationId: "PollTasks",
        "x-permission": "task:work",
        tags: ["tasks"],
        summary: "Take tasks from a queue",
        description:
          "The answer has up to `maxTasks` tasks, which the worker then holds until their leases end. With `waitSeconds`, the answer comes as soon as there is a task, or when the time is up. Of the tasks that wait, those with the highest `priority` come first; among these, workflows take turns. The operation takes no Idempotency-Key: when the answer is lost, its tasks are handed out again after their leases have ended.",
        params: QueueParams,
        querystring: closed({ waitSeconds: waitSecondsSchema(config) }),
        body: closed({
          maxTasks: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: maxTasks,
              description: "The maximum number of tasks that the worker takes at once. If it is left out, it is 1.",
            }),
          ),
          worker: Type.Optional(
            nameSchema(
              100,
              "The name of the worker for people, such as its host and process. If it is left out, it is the id of the token or user.",
            ),
          ),
        }),
        response: {
          200: Type.Object({ tasks: Type.Array(TaskSchema) }, { title: "PolledTasks", description: "The tasks." }),
        },
      },
    },
    async (request, reply) => {
      const { organizationId, queue } = request.params;
      const { waitSeconds = 0 } = request.query;
      const { maxTasks: wanted = 1, worker = request.caller.principal.id } = request.body;
      const signal = whenGone(reply);
      const deadline = deadlineIn(waitSeconds);
      const tasks = await engine.pollTasks({ organizationId, queue, worker, maxTasks: wanted, deadline, signal });
      const mayHave = waitSeconds === 0 || (await isStillAllowed(request, "task:work", parts));
      if (mayHave && !signal.aborted) {
        // If too many large answers wait to be read, the answer becomes an error, and the worker does not get the tasks.
        reply.raw.once("finish", () => {
          if (reply.statusCode >= 400) void engine.putTasksBack(tasks).catch(() => {});
        });
        return await largeAnswer(reply, { tasks: tasks.map(renderTask) });
      }
      // The tasks never reached a worker, so they are put back at once. Otherwise they would wait until their leases end.
      await engine.putTasksBack(tasks);
      if (!mayHave) await requireStillAllowed(request, "task:work", parts);
      return { tasks: [] };
    },
  );
}

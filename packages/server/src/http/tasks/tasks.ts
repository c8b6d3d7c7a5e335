import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type CallName, callNameOf } from "../../core/job/call.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import { lateTask } from "../../core/job/job.ts";
import { readTaskId } from "../../core/job/task-id.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import type { CallKey } from "../../store/jobs/job-calls.ts";
import type { App, ServerParts } from "../door/app.ts";
import { commitOnce, IdempotencyHeaders } from "../door/idempotency.ts";
import { AnyJson, answer, closed, Id, NoBody, Time } from "../door/schemas.ts";

const TaskParams = Type.Object({
  organizationId: Type.String({ format: "uuid", description: "The organization." }),
  taskId: Type.String({ description: "The id of the task, from the answer of PollTasks." }),
});

const AnsweredTaskSchema = Type.Object(
  { taskId: Type.String(), jobId: Id },
  { title: "AnsweredTask", description: "The worker's answer about the task is committed." },
);

const path = "/organizations/:organizationId/tasks/:taskId";
const config = {
  cost: 1,
  errors: ["ConflictError"],
  unaudited: "There are too many answers to record them all; the job's history shows what became of each task.",
} as const;

export function taskRoutes(app: App, parts: ServerParts): void {
  completeTaskRoute(app, parts);
  failTaskRoute(app, parts);
  releaseTaskRoute(app, parts);
  heartbeatRoute(app, parts);
}

function completeTaskRoute(app: App, parts: ServerParts): void {
  app.post(
    `${path}/complete`,
    {
      config,
      schema: {
        operationId: "CompleteTask",
        "x-permission": "task:work",
        tags: ["tasks"],
        summary: "Complete a task",
        description:
          "The work is done, and `output` becomes the result of the step. The result is also the step's output, unless the step has an `output` template. The answer comes once the output is stored. If the worker does not hold the task any more, the answer is 409.",
        params: TaskParams,
        headers: IdempotencyHeaders,
        body: closed({ output: AnyJson }),
        response: { 200: AnsweredTaskSchema },
      },
    },
    async (request) => {
      const { output } = request.body as { readonly output: JsonValue };
      const { maxOutputBytes } = parts.config;
      if (request.bodyBytes > maxOutputBytes && Buffer.byteLength(JSON.stringify(output)) > maxOutputBytes) {
        const message = `The output has more than ${maxOutputBytes} bytes, which is the maximum of a step's values. Store the data elsewhere, and answer with its location.`;
        throw new ServiceError("PayloadTooLargeError", message);
      }
      return await tell(parts, request, (call) => ({ type: "step.succeeded", by: "worker", ...call, output }));
    },
  );
}

function failTaskRoute(app: App, parts: ServerParts): void {
  app.post(
    `${path}/fail`,
    {
      config,
      schema: {
        operationId: "FailTask",
        "x-permission": "task:work",
        tags: ["tasks"],
        summary: "Fail a task",
        description:
          "The work failed. The step is tried again as its `retry` says, unless `retryable` is false. If there is no further attempt, the step fails with `ExecutorError`, this `message` and this `type`. If the worker does not hold the task any more, the answer is 409.",
        params: TaskParams,
        headers: IdempotencyHeaders,
        body: closed({
          message: Type.String({ minLength: 1, maxLength: 10_000, description: "The reason for the failure." }),
          type: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 256,
              description: "The name of the error, which `retry.on` and `onFailure` can name.",
            }),
          ),
          retryable: Type.Optional(
            Type.Boolean({
              description: "False when another attempt would fail as well. If it is left out, it is true.",
            }),
          ),
          retryAfterSeconds: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 86_400,
              description: "The minimum number of seconds before the next attempt, if there is one.",
            }),
          ),
        }),
        response: { 200: AnsweredTaskSchema },
      },
    },
    async (request) => {
      const { message, type, retryable = true, retryAfterSeconds } = request.body;
      const error = { code: "ExecutorError", message, ...(type !== undefined && { type }) } as const;
      const failure = {
        error,
        kind: retryable ? "ordinary" : "permanent",
        ...(retryAfterSeconds !== undefined && { retryAfterMs: Math.ceil(retryAfterSeconds * 1_000) }),
      } as const;
      const random = Math.random();
      return await tell(parts, request, (call) => ({ type: "step.failed", by: "worker", ...call, failure, random }));
    },
  );
}

function releaseTaskRoute(app: App, parts: ServerParts): void {
  app.post(
    `${path}/release`,
    {
      config,
      schema: {
        operationId: "ReleaseTask",
        "x-permission": "task:work",
        tags: ["tasks"],
        summary: "Give a task back",
        description:
          "The worker gives the task back, for example because it stops. The task returns to its queue at once, under the same `idempotencyKey`, and no attempt of `retry` is used up.",
        params: TaskParams,
        headers: IdempotencyHeaders,
        body: NoBody,
        response: { 200: AnsweredTaskSchema },
      },
    },
    async (request) =>
      await tell(parts, request, (call) => ({ type: "call.handedBack", by: "worker", ...call, begun: true })),
  );
}

function heartbeatRoute(app: App, { engine }: ServerParts): void {
  app.post(
    `${path}/heartbeat`,
    {
      config: { ...config, repetition: "without-effect" },
      schema: {
        operationId: "HeartbeatTask",
        "x-permission": "task:work",
        tags: ["tasks"],
        summary: "Hold a task",
        description:
          "The worker still works on the task, and holds it for another `heartbeatSeconds` from now. If the worker does not hold the task any more, for example because its job was cancelled, the answer is 409, and the worker should stop.",
        params: TaskParams,
        body: closed({
          progress: Type.Optional({
            ...AnyJson,
            description: `The progress of the work, for people. It can be any JSON value of at most ${maxProgressBytes} bytes. If it is left out, the last reported progress stays.`,
          }),
        }),
        response: {
          200: answer(
            "The task is held.",
            Type.Object({ taskId: Type.String(), leaseUntil: Time }, { title: "HeldTask" }),
          ),
        },
      },
    },
    async (request) => {
      const { progress = null } = request.body as { readonly progress?: JsonValue };
      if (Buffer.byteLength(JSON.stringify(progress)) > maxProgressBytes) {
        const detail = `must have ${maxProgressBytes} bytes at most`;
        throw new ServiceError("ValidationError", `progress ${detail}.`, {
          problems: [{ pointer: "/progress", detail }],
        });
      }
      const call = callOf(request);
      const leaseUntil = await engine.holdTask(call, progress);
      if (leaseUntil === undefined) {
        const isKnown = (await engine.readStanding(call)) !== undefined;
        throw isKnown ? new ServiceError("ConflictError", lateTask) : notFound("job");
      }
      return { taskId: request.params.taskId, leaseUntil: toTime(leaseUntil) };
    },
  );
}

const maxProgressBytes = 4_096;

type TaskRequest = FastifyRequest<{ Params: { readonly organizationId: string; readonly taskId: string } }>;

async function tell(parts: ServerParts, request: TaskRequest, factOf: (call: CallName) => UntimedFact) {
  const call = callOf(request);
  const { organizationId, jobId } = call;
  const answered = { taskId: request.params.taskId, jobId };
  await commitOnce(parts.engine, request, {
    type: "fact",
    organizationId,
    jobId,
    fact: factOf(callNameOf(call)),
    answer: () => answered,
    bytes: request.bodyBytes,
  });
  return answered;
}

function callOf({ params: { organizationId, taskId } }: TaskRequest): CallKey {
  const name = readTaskId(taskId);
  if (name === undefined) throw notFound("job");
  return { organizationId, ...name };
}

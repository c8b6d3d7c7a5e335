import { type Static, Type } from "typebox";
import { idempotencyKeyOf } from "../../core/job/call.ts";
import { taskIdOf } from "../../core/job/task-id.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { toTime } from "../../core/time.ts";
import type { Task } from "../../engine/tasks/task-inputs.ts";
import { Id, Time } from "../door/schemas.ts";

export const TaskSchema = Type.Object(
  {
    taskId: Type.String({
      description: "The id of the task in the other operations of workers. Another attempt has another id.",
    }),
    idempotencyKey: Type.String({
      description:
        "A key that is the same for every attempt of this visit of the step, on whichever worker. The worker, or a service that the worker calls, can recognize a repetition by this key.",
    }),
    queue: Type.String(),
    jobId: Id,
    workflowId: Id,
    workflowName: Type.String(),
    versionId: Id,
    versionNumber: Type.Integer(),
    step: Type.String(),
    visit: Type.Integer({ minimum: 1 }),
    branch: Type.String({ description: "The path of the branch. It is empty on the main line." }),
    attempt: Type.Integer({ minimum: 1 }),
    input: Type.Unsafe<JsonValue>({ description: "The input of the step." }),
    dueAt: { ...Time, description: "The time since which workers can take the task." },
    leaseUntil: {
      ...Time,
      description:
        "The time until which the worker holds the task. After a heartbeat, the worker holds it for another `heartbeatSeconds`.",
    },
    heartbeatSeconds: Type.Integer({
      description:
        "The number of seconds for which the worker holds the task after taking it, and after each heartbeat.",
    }),
    timeoutAt: Type.Optional({
      ...Time,
      description: "The time at which the attempt fails with `Timeout`, if the step has `timeoutSeconds`.",
    }),
  },
  { title: "Task" },
);

export function renderTask(task: Task): Static<typeof TaskSchema> {
  const { job, stand, queue, step, visit, branch, dueAt, leaseUntil, heartbeatMs, timeoutAt } = task;
  return {
    taskId: taskIdOf(task),
    idempotencyKey: idempotencyKeyOf(task),
    queue,
    jobId: job.jobId,
    workflowId: job.workflowId,
    workflowName: job.workflowName,
    versionId: job.versionId,
    versionNumber: job.versionNumber,
    step,
    visit,
    branch,
    attempt: stand.attempt,
    input: stand.input,
    dueAt: toTime(dueAt),
    leaseUntil: toTime(leaseUntil),
    heartbeatSeconds: heartbeatMs / 1_000,
    ...(timeoutAt !== null && { timeoutAt: toTime(timeoutAt) }),
  };
}

import { type Static, Type } from "typebox";
import { taskIdOf } from "../../core/job/task-id.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { toTime } from "../../core/time.ts";
import type { Queryable } from "../../store/home/database.ts";
import {
  type HeldPlace,
  listHeldTasks,
  listWaitingTasks,
  type QueuedTask,
  type WaitingPlace,
} from "../../store/jobs/queued-tasks.ts";
import type { QueueKey } from "../../store/jobs/tasks.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { closed, Id, oneOf, Time } from "../door/schemas.ts";
import { QueueParams } from "./task-polls.ts";

const statuses = ["held", "waiting"] as const;
type Status = (typeof statuses)[number];

const QueuedTaskSchema = Type.Object(
  {
    taskId: Type.String({ description: "The id of the task in the operations of workers." }),
    status: oneOf(statuses, {
      description: "The status of the task. `waiting`: the task waits for a worker. `held`: a worker holds the task.",
    }),
    jobId: Id,
    workflowId: Id,
    workflowName: Type.String(),
    step: Type.String(),
    visit: Type.Integer({ minimum: 1 }),
    branch: Type.String({ description: "The path of the branch. It is empty on the main line." }),
    priority: Type.Integer(),
    dueAt: { ...Time, description: "The time since which workers can take the task." },
    timeoutAt: Type.Optional({
      ...Time,
      description: "The time at which the attempt fails with `Timeout`, if the step has `timeoutSeconds`.",
    }),
    worker: Type.Optional(Type.String({ description: "The worker that holds the task." })),
    takenAt: Type.Optional({ ...Time, description: "The time at which the worker took the task." }),
    leaseUntil: Type.Optional({
      ...Time,
      description:
        "The time until which the worker holds the task. When it is in the past, the worker counts as lost, and the service soon takes the task back, so that another worker can get it.",
    }),
    progress: Type.Optional(Type.Unsafe<JsonValue>({ description: "The progress that the worker reported last." })),
  },
  { title: "QueuedTask" },
);

export function queuedTaskRoutes(app: App, { database }: ServerParts): void {
  app.get(
    "/organizations/:organizationId/task-queues/:queue/tasks",
    {
      schema: {
        operationId: "ListTasks",
        "x-permission": "task-queue:read",
        tags: ["tasks"],
        summary: "List the tasks of a queue",
        description:
          "The answer first lists the tasks that workers hold, worker by worker. Then it lists the tasks that wait, ordered by priority (the highest first), then by workflow, then by the time at which they became due. It does not show the inputs of tasks: an input belongs to a job, and `job:read` is needed to read it.",
        params: QueueParams,
        querystring: closed({
          status: Type.Optional(oneOf(statuses, { description: "A status, to get only tasks that have it." })),
          ...pagingParameters,
        }),
        response: {
          200: Type.Object({ tasks: Type.Array(QueuedTaskSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const page = pageOf(request, (key) => readPlace(key) !== undefined);
      const place = page.after === null ? undefined : readPlace(page.after);
      const found = await listTasks(database.reader(organizationId), request.params, {
        status: request.query.status,
        place,
        limit: page.limit,
      });
      const { rows, ...next } = page.cut(found, placeOf);
      return { tasks: rows.map(renderQueuedTask), ...next };
    },
  );
}

interface TaskSearch {
  readonly status: Status | undefined;
  readonly place: Place | undefined;
  readonly limit: number;
}

async function listTasks(db: Queryable, key: QueueKey, { status, place, limit }: TaskSearch): Promise<QueuedTask[]> {
  const isPastHeld = status === "waiting" || place?.status === "waiting";
  const held = isPastHeld ? [] : await listHeldTasks(db, key, place ?? null, limit);
  if (status === "held" || held.length === limit) return held;
  const waiting = await listWaitingTasks(db, key, place?.status === "waiting" ? place : null, limit - held.length);
  return [...held, ...waiting];
}

/** The place in the list at which a page ends. */
type Place = ({ readonly status: "held" } & HeldPlace) | ({ readonly status: "waiting" } & WaitingPlace);

function placeOf({ worker, priority, workflowId, dueAt, jobId, epoch }: QueuedTask): string {
  return worker === null
    ? `${dueAt} ${jobId} ${epoch} waiting ${priority} ${workflowId}`
    : `${dueAt} ${jobId} ${epoch} held ${worker}`;
}

function readPlace(text: string): Place | undefined {
  const [, dueAt, jobId = "", epoch, rest = ""] = placePattern.exec(text) ?? [];
  if (dueAt === undefined) return undefined;
  const common = { dueAt: Number(dueAt), jobId, epoch: Number(epoch) };
  const [, worker] = /^held ([^\0]{1,100})$/u.exec(rest) ?? [];
  if (worker !== undefined) return { status: "held", ...common, worker };
  const [, priority, workflowId = ""] = waitingPattern.exec(rest) ?? [];
  return priority === undefined ? undefined : { status: "waiting", ...common, priority: Number(priority), workflowId };
}

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const placePattern = new RegExp(`^(\\d{1,14}) (${uuid}) (\\d{1,9}) (.*)$`, "s");
const waitingPattern = new RegExp(`^waiting (-?\\d{1,3}) (${uuid})$`);

function renderQueuedTask(task: QueuedTask): Static<typeof QueuedTaskSchema> {
  const { jobId, workflowId, workflowName, step, visit, branch, priority, dueAt } = task;
  const { timeoutAt, worker, takenAt, leaseUntil, progress } = task;
  return {
    taskId: taskIdOf(task),
    status: worker === null ? "waiting" : "held",
    ...{ jobId, workflowId, workflowName, step, visit, branch, priority },
    dueAt: toTime(dueAt),
    ...(timeoutAt !== null && { timeoutAt: toTime(timeoutAt) }),
    ...(worker !== null && { worker }),
    ...(takenAt !== null && { takenAt: toTime(takenAt) }),
    ...(leaseUntil !== null && { leaseUntil: toTime(leaseUntil) }),
    ...(progress !== null && { progress }),
  };
}

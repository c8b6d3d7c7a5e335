import { type Static, Type } from "typebox";
import { toTime } from "../../core/time.ts";
import { updateTaskQueue } from "../../management/tasks/task-queues.ts";
import { listTaskQueues, listTaskWorkers, readTaskQueue, type TaskQueue } from "../../store/jobs/task-queues.ts";
import type { QueueKey } from "../../store/jobs/tasks.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { ActorSchema, answer, closed, OrganizationParams, Time } from "../door/schemas.ts";
import { QueueParams } from "./task-polls.ts";

const queueFields = {
  queue: Type.String(),
  waitingCount: Type.Integer({ description: "The number of tasks that wait for a worker, counted up to 10,000." }),
  heldCount: Type.Integer({ description: "The number of tasks that workers hold, counted up to 10,000." }),
  oldestDueAt: Type.Optional({
    ...Time,
    description: "The time at which the oldest of the waiting tasks became due. It is left out when none waits.",
  }),
  polledAt: Type.Optional({
    ...Time,
    description:
      "The last time that a worker asked for tasks, accurate to a few seconds. It is left out when no worker has ever asked. The service soon forgets a time that is more than a day old, except for a paused queue.",
  }),
  workerCount: Type.Integer({ description: "The number of workers that asked in the last five minutes." }),
  pausedAt: Type.Optional({
    ...Time,
    description: "The time at which the queue was paused. It is left out for a queue that is not paused.",
  }),
  pausedBy: Type.Optional(ActorSchema),
};

const QueueSchema = Type.Object(queueFields, { title: "TaskQueue" });

const WorkerSchema = Type.Object(
  {
    worker: Type.String({ description: "The name of the worker, or the id of its token or user if it gave no name." }),
    firstPolledAt: Time,
    polledAt: { ...Time, description: "The last time that the worker asked, accurate to a few seconds." },
    heldCount: Type.Integer({
      description: "The number of tasks of the queue that the worker holds, counted up to 10,000.",
    }),
  },
  { title: "TaskWorker" },
);

const WholeQueueSchema = Type.Object(
  {
    ...queueFields,
    workers: Type.Array(WorkerSchema, {
      description:
        "The workers that asked for tasks within the last day, at most 100. The one with the latest `polledAt` comes first.",
    }),
  },
  { title: "WholeTaskQueue" },
);

const path = "/organizations/:organizationId/task-queues";

export function taskQueueRoutes(app: App, parts: ServerParts): void {
  listTaskQueuesRoute(app, parts);
  getTaskQueueRoute(app, parts);
  updateTaskQueueRoute(app, parts);
}

function listTaskQueuesRoute(app: App, { database }: ServerParts): void {
  app.get(
    path,
    {
      schema: {
        operationId: "ListTaskQueues",
        "x-permission": "task-queue:read",
        tags: ["tasks"],
        summary: "List task queues",
        description:
          "The answer lists queues in the order of their names. A queue is listed while tasks wait in it, while workers hold tasks of it, while it is paused, and for about a day after a worker has asked it for tasks.",
        params: OrganizationParams,
        querystring: closed({ ...pagingParameters }),
        response: {
          200: Type.Object({ queues: Type.Array(QueueSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const page = pageOf(request, (key) => key !== "");
      const found = await listTaskQueues(database.reader(organizationId), organizationId, page.after, page.limit);
      const { rows, ...next } = page.cut(found, ({ queue }) => queue);
      return { queues: rows.map(renderQueue), ...next };
    },
  );
}

function getTaskQueueRoute(app: App, parts: ServerParts): void {
  app.get(
    `${path}/:queue`,
    {
      schema: {
        operationId: "GetTaskQueue",
        "x-permission": "task-queue:read",
        tags: ["tasks"],
        summary: "Get a task queue",
        description:
          "The answer shows the queue and its workers. There is a queue for every valid name; a queue that nobody has used is empty.",
        params: QueueParams,
        response: { 200: answer("The queue.", WholeQueueSchema) },
      },
    },
    async (request) => await wholeQueue(parts, request.params),
  );
}

function updateTaskQueueRoute(app: App, parts: ServerParts): void {
  app.patch(
    `${path}/:queue`,
    {
      schema: {
        operationId: "UpdateTaskQueue",
        "x-permission": "task-queue:update",
        tags: ["tasks"],
        summary: "Pause a task queue, or resume it",
        description:
          "The service hands out no task of a paused queue. New tasks still enter the queue, and the timeouts of all its tasks keep running. Workers keep the tasks that they hold, and may complete them.",
        params: QueueParams,
        body: closed({ paused: Type.Boolean() }),
        response: { 200: answer("The queue.", WholeQueueSchema) },
      },
    },
    async (request) => {
      await updateTaskQueue(parts, callerActOf(request), request.params, request.body.paused);
      return await wholeQueue(parts, request.params);
    },
  );
}

async function wholeQueue({ database }: ServerParts, key: QueueKey): Promise<Static<typeof WholeQueueSchema>> {
  const reader = database.reader(key.organizationId);
  const queue = await readTaskQueue(reader, key);
  const workers = await listTaskWorkers(reader, key, maxShownWorkers);
  return {
    ...renderQueue(queue),
    workers: workers.map((worker) => ({
      ...worker,
      firstPolledAt: toTime(worker.firstPolledAt),
      polledAt: toTime(worker.polledAt),
    })),
  };
}

const maxShownWorkers = 100;

function renderQueue(found: TaskQueue): Static<typeof QueueSchema> {
  const { queue, waitingCount, heldCount, oldestDueAt, polledAt, workerCount, pausedAt, pausedBy } = found;
  return {
    ...{ queue, waitingCount, heldCount, workerCount },
    ...(oldestDueAt !== null && { oldestDueAt: toTime(oldestDueAt) }),
    ...(polledAt !== null && { polledAt: toTime(polledAt) }),
    ...(pausedAt !== null && { pausedAt: toTime(pausedAt) }),
    ...(pausedBy !== null && { pausedBy }),
  };
}

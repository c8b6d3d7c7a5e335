import type { Example } from "./example.ts";
import { ids } from "./story.ts";

export const tasksExamples: Readonly<Record<string, Example>> = {
  SubmitTask: {
    request: { input: { sku: "STEP-2", count: 1 }, priority: 5 },
    answer: {
      jobId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02",
      status: "PENDING",
      workflowId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b03",
      versionId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b04",
      versionNumber: 1,
    },
  },
  PollTasks: {
    request: { maxTasks: 1, worker: "packer-1" },
    answer: {
      tasks: [
        {
          taskId: ids.task,
          idempotencyKey: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02:task:1",
          queue: "packing",
          jobId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02",
          workflowId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b03",
          workflowName: "stepwell-task",
          versionId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b04",
          versionNumber: 1,
          step: "task",
          visit: 1,
          branch: "",
          attempt: 1,
          input: { sku: "STEP-2", count: 1 },
          dueAt: "2026-03-02T09:00:01.446Z",
          leaseUntil: "2026-03-02T09:01:01.487Z",
          heartbeatSeconds: 60,
        },
      ],
    },
  },
  HeartbeatTask: {
    request: { progress: { packed: 1 } },
    answer: { taskId: ids.task, leaseUntil: "2026-03-02T09:01:01.500Z" },
  },
  CompleteTask: {
    request: { output: { parcel: "P-1001" } },
    answer: { taskId: ids.task, jobId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02" },
  },
  FailTask: {
    request: { message: "The printer is out of labels.", type: "NoLabels", retryable: true, retryAfterSeconds: 60 },
    answer: { taskId: ids.task, jobId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02" },
  },
  ReleaseTask: { request: {}, answer: { taskId: ids.task, jobId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02" } },
  ListTaskQueues: {
    answer: { queues: [{ queue: "packing", waitingCount: 0, heldCount: 1, workerCount: 0 }] },
  },
  GetTaskQueue: { answer: { queue: "packing", waitingCount: 0, heldCount: 1, workerCount: 0, workers: [] } },
  UpdateTaskQueue: {
    request: { paused: true },
    answer: {
      queue: "packing",
      waitingCount: 1,
      heldCount: 0,
      workerCount: 0,
      oldestDueAt: "2026-03-02T09:00:01.606Z",
      pausedAt: "2026-03-02T09:00:01.636Z",
      pausedBy: { type: "user", id: ids.ada },
      workers: [],
    },
  },
  ListTasks: {
    answer: {
      tasks: [
        {
          taskId: ids.task,
          status: "held",
          jobId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b02",
          workflowId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b03",
          workflowName: "stepwell-task",
          step: "task",
          visit: 1,
          branch: "",
          priority: 5,
          dueAt: "2026-03-02T09:00:01.446Z",
          worker: "packer-1",
          takenAt: "2026-03-02T09:00:01.487Z",
          leaseUntil: "2026-03-02T09:01:01.500Z",
          progress: { packed: 1 },
        },
      ],
    },
  },
};

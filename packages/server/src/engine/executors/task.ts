import type { TaskTerms } from "../../core/definition/executor-kind.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { maxPriority, queueNamePattern } from "../../core/task-queue.ts";
import type { Executor } from "./executor.ts";

const queue: JsonObject = { type: "string", pattern: queueNamePattern };
const priority: JsonObject = { type: "integer", minimum: -maxPriority, maximum: maxPriority };
const heartbeatSeconds: JsonObject = { type: "integer", minimum: 1, maximum: 86_400 };

export const task: Executor = {
  type: "/service/task",
  title: "Task",
  summary:
    "Puts the step's input into a queue, from which a worker takes it; the output is the one that the worker reports.",
  behaviour: "task",
  configSchema: {
    type: "object",
    properties: {
      queue: {
        description: "The queue that workers ask for tasks: up to 100 letters, digits, dots, dashes and underscores.",
        ...queue,
      },
      priority: {
        description: `Tasks with a higher priority are handed out first: from -${maxPriority} to ${maxPriority}, by default 0.`,
        ...priority,
      },
      heartbeatSeconds: {
        description:
          "The number of seconds for which a worker holds the task after taking it, and after each heartbeat, before the service gives it to another worker: up to 86400, by default 60.",
        ...heartbeatSeconds,
      },
    },
    required: ["queue"],
    additionalProperties: false,
  },
  expressionFields: { queue, priority },
  taskTerms,
};

function taskTerms(config: JsonObject): TaskTerms {
  const terms = config as { queue: string; priority?: number; heartbeatSeconds?: number };
  return {
    queue: terms.queue,
    priority: terms.priority ?? 0,
    heartbeatMs: (terms.heartbeatSeconds ?? defaultHeartbeatSeconds) * 1_000,
  };
}

/** The default lease of a worker. It is long enough for short tasks, even when the worker sends no heartbeats. */
const defaultHeartbeatSeconds = 60;

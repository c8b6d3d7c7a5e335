import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { withoutTurns } from "../faults/turned-off.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/**
 * Has 20,000 tasks in branches, and workers that poll over 16 connections, take up to 100 tasks with each poll, and never answer: each lease ends,
 * and the task is given again.
 */
export const silentWorkers: HostileTenant = {
  name: "silent-workers",
  fix: {
    sentence:
      "An organization whose commands take long rests afterwards, and only a few lost tasks are reported to its jobs at once.",
    turnedOffBy: [
      ...withoutTurns,
      {
        file: "engine/maintenance/lost-tasks.ts",
        text: "const maxTasksAtOnce = 100;",
        replacement: "const maxTasksAtOnce = 1_000;",
      },
      {
        file: "engine/maintenance/lost-tasks.ts",
        text: "of partsOf(byJob, everyPairJoined)",
        replacement: "of [byJob]",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId, requests } = ground;
    const anything = { $ref: "#/definitions/anything" };
    const typed = { inputDefinition: anything, outputDefinition: anything };
    const items = Array.from({ length: tasksPerJob }, (_, index) => index);
    const each = { items, step: "work", concurrency: tasksPerJob, onItemFailure: "collect", output: "counts" };
    const work = { queue: "silent", heartbeatSeconds: 1 };
    const definition = {
      workflowName: "silent-workers",
      steps: [
        {
          name: "each",
          integrationDetails: { type: "/service/forEach", config: each, ...typed },
          transitionToStep: null,
        },
        {
          name: "work",
          integrationDetails: { type: "/service/task", config: work, ...typed },
          transitionToStep: null,
        },
      ],
      definitions: { anything: {} },
    };
    await submitJobs(ground, await registerWorkflow(api, organizationId, definition), jobCount);
    const queue = `/organizations/${organizationId}/task-queues/${work.queue}`;
    const poll = requests.post(`${queue}/poll?waitSeconds=5`, { maxTasks: 100 });
    return (traffic) => traffic.keepAsking(16, inTurn([poll]));
  },
};

const tasksPerJob = 1_000;
const jobCount = 20;

import type { Example } from "./example.ts";
import { ids } from "./story.ts";

export const jobReadsExamples: Readonly<Record<string, Example>> = {
  ExplainJob: {
    answer: {
      jobId: ids.job,
      state: "waitingForEvents",
      sentence: "`approve` has waited 4 s for the event `manager-approved`.",
      facts: {
        since: "2026-03-02T09:00:01.168Z",
        step: "approve",
        visit: 1,
        attempt: 1,
        eventIds: ["manager-approved"],
        missingEventIds: ["manager-approved"],
        missingCount: 1,
        operations: ["SendJobEvent", "CancelJob"],
      },
    },
  },
  GetJobState: {
    answer: {
      jobId: ids.job,
      status: "RUNNING",
      updatedAt: "2026-03-02T09:00:01.168Z",
      contentLengthBytes: 833,
      warnings: [],
      state: {
        nextStepName: "approve",
        executionData: {
          "check-orderInput": { sku: "STEP-2", count: 1 },
          "check-orderOutput": { sku: "STEP-2", count: 1 },
          approveInput: { sku: "STEP-2", count: 1 },
          workflowInput: { sku: "STEP-2", count: 1 },
        },
        executionHistory: [
          {
            id: "check-order:1",
            stepName: "check-order",
            stepExecutorType: "/service/noop",
            historySource: "executor",
            input: { sku: "STEP-2", count: 1 },
            output: { status: "successful", payload: { sku: "STEP-2", count: 1 } },
            startTimestamp: "2026-03-02T09:00:01.168Z",
            endTimestamp: "2026-03-02T09:00:01.168Z",
            errors: [],
            warnings: [],
          },
          {
            id: "approve:1",
            stepName: "approve",
            stepExecutorType: "/service/waitForEventIds",
            historySource: "event",
            input: { sku: "STEP-2", count: 1 },
            output: { status: "successful_but_incomplete" },
            startTimestamp: "2026-03-02T09:00:01.168Z",
            errors: [],
            warnings: [],
          },
        ],
      },
    },
  },
  GetJobStateMetadata: {
    answer: {
      jobId: ids.job,
      status: "RUNNING",
      updatedAt: "2026-03-02T09:00:01.168Z",
      contentLengthBytes: 833,
      warnings: [],
    },
  },
  GetJobHistory: {
    answer: {
      entries: [
        { sequence: 1, at: "2026-03-02T09:00:01.168Z", type: "job.submitted", by: { type: "user", id: ids.ada } },
        { sequence: 2, at: "2026-03-02T09:00:01.168Z", type: "job.started" },
        {
          sequence: 3,
          at: "2026-03-02T09:00:01.168Z",
          type: "step.started",
          step: "check-order",
          visit: 1,
          input: { sku: "STEP-2", count: 1 },
        },
        {
          sequence: 4,
          at: "2026-03-02T09:00:01.168Z",
          type: "step.succeeded",
          step: "check-order",
          visit: 1,
          attempt: 1,
          output: { sku: "STEP-2", count: 1 },
        },
      ],
      nextPageToken: "OWdVcWsxc2N6d3FFNA",
    },
  },
  ListJobSteps: {
    answer: {
      steps: [
        {
          name: "check-order",
          type: "/service/noop",
          visit: 1,
          status: "success",
          attempts: 1,
          input: { sku: "STEP-2", count: 1 },
          startedAt: "2026-03-02T09:00:01.168Z",
          output: { sku: "STEP-2", count: 1 },
          finishedAt: "2026-03-02T09:00:01.168Z",
        },
        {
          name: "approve",
          type: "/service/waitForEventIds",
          visit: 1,
          status: "successful_but_incomplete",
          attempts: 1,
          input: { sku: "STEP-2", count: 1 },
          startedAt: "2026-03-02T09:00:01.168Z",
        },
      ],
    },
  },
  ListJobBranches: {
    answer: {
      step: "each-order",
      visit: 1,
      branchCount: 2,
      openCount: 0,
      succeededCount: 2,
      failedCount: 0,
      cancelledCount: 0,
      branches: [
        {
          place: 0,
          step: "pack",
          visit: 1,
          status: "succeeded",
          branch: "each-order:1[0]",
          startedAt: "2026-03-02T09:00:01.410Z",
          finishedAt: "2026-03-02T09:00:01.410Z",
        },
        {
          place: 1,
          step: "pack",
          visit: 1,
          status: "succeeded",
          branch: "each-order:1[1]",
          startedAt: "2026-03-02T09:00:01.410Z",
          finishedAt: "2026-03-02T09:00:01.410Z",
        },
      ],
    },
  },
  WatchJob: {
    answer:
      'id: 1\nevent: job.submitted\ndata: {"sequence":1,"at":"2026-03-02T09:00:01.168Z","type":"job.submitted","by":{"type":"user","id":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a02"}}\n\nid: 2\nevent: job.started\ndata: {"sequence":2,"at":"2026-03-02T09:00:01.168Z","type":"job.started"}\n\n',
  },
  WatchJobs: {
    answer:
      'id: 1\nevent: job.submitted\ndata: {"organizationId":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a01","jobId":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a06","entry":{"sequence":1,"at":"2026-03-02T09:00:01.168Z","type":"job.submitted","by":{"type":"user","id":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a02"}}}\n\n',
  },
};

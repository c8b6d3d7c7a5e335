import type { Example } from "./example.ts";
import { definition, ids } from "./story.ts";

export const workflowsExamples: Readonly<Record<string, Example>> = {
  RegisterWorkflow: {
    request: { name: "order-approval" },
    answer: { workflowId: ids.workflow, name: "order-approval", createdAt: "2026-03-02T09:00:00.378Z" },
  },
  ListWorkflows: {
    answer: {
      workflows: [
        {
          workflowId: ids.workflow,
          name: "order-approval",
          createdAt: "2026-03-02T09:00:00.378Z",
          tags: [{ tag: "$LIVE", versionId: ids.version, versionNumber: 1 }],
        },
      ],
    },
  },
  GetWorkflow: {
    answer: {
      workflowId: ids.workflow,
      name: "order-approval",
      createdAt: "2026-03-02T09:00:00.378Z",
      tags: [{ tag: "$LIVE", versionId: ids.version, versionNumber: 1 }],
    },
  },
  RegisterWorkflowVersion: {
    request: { definition },
    answer: {
      workflowId: ids.workflow,
      versionId: ids.version,
      versionNumber: 1,
      createdAt: "2026-03-02T09:00:01.012Z",
      created: true,
      warnings: [],
    },
  },
  ValidateWorkflowVersion: {
    request: { definition },
    answer: { valid: true, errors: [], warnings: [], messages: [] },
  },
  ListWorkflowVersions: {
    answer: {
      versions: [
        {
          workflowId: ids.workflow,
          versionId: ids.version,
          versionNumber: 1,
          tags: ["$LIVE"],
          createdBy: { type: "user", id: ids.ada },
          createdAt: "2026-03-02T09:00:01.012Z",
        },
      ],
    },
  },
  GetWorkflowVersion: {
    answer: {
      workflowId: ids.workflow,
      versionId: ids.version,
      versionNumber: 1,
      tags: ["$LIVE"],
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.012Z",
      definition,
    },
  },
  SetWorkflowVersionTag: {
    request: { versionId: ids.version },
    answer: { tag: "$LIVE", versionId: ids.version, versionNumber: 1, success: true },
  },
  GetTaggedWorkflowVersion: {
    answer: {
      workflowId: ids.workflow,
      versionId: ids.version,
      versionNumber: 1,
      tags: ["$LIVE"],
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.012Z",
      definition,
    },
  },
  ListTags: {
    answer: {
      tags: [
        {
          tag: "$LIVE",
          versionId: ids.version,
          versionNumber: 1,
          updatedBy: { type: "user", id: ids.ada },
          updatedAt: "2026-03-02T09:00:01.031Z",
        },
      ],
    },
  },
  ListTagHistory: {
    answer: {
      changes: [
        {
          change: "set",
          versionId: ids.version,
          versionNumber: 1,
          changedBy: { type: "user", id: ids.ada },
          changedAt: "2026-03-02T09:00:01.031Z",
        },
      ],
    },
  },
};

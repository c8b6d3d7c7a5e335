import { type Static, Type } from "typebox";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { deleteWorkflow, type NewWorkflow, registerWorkflow } from "../../management/workflows/workflows.ts";
import { findTagsOfWorkflows, type Tag } from "../../store/workflows/tags.ts";
import { findWorkflow, listWorkflows, type Workflow } from "../../store/workflows/workflows.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { reachableWorkflows } from "../door/bounds-check.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import {
  answer,
  closed,
  Id,
  isName,
  nameSchema,
  noContent,
  OrganizationParams,
  Time,
  WorkflowParams,
} from "../door/schemas.ts";

const NewWorkflowSchema = Type.Object(
  { workflowId: Id, name: Type.String(), createdAt: Time },
  { title: "NewWorkflow" },
);

const WorkflowSchema = Type.Object(
  {
    workflowId: Id,
    name: Type.String(),
    createdAt: Time,
    tags: Type.Array(Type.Object({ tag: Type.String(), versionId: Id, versionNumber: Type.Integer() })),
  },
  { title: "Workflow" },
);

export function workflowRoutes(app: App, parts: ServerParts): void {
  registerWorkflowRoute(app, parts);
  listWorkflowsRoute(app, parts);
  getWorkflowRoute(app, parts);
  deleteWorkflowRoute(app, parts);
}

function registerWorkflowRoute(app: App, parts: ServerParts): void {
  const { config, basePath } = parts;
  const name = nameSchema(
    config.maxNameLength,
    "The name of the workflow. It is unique in the organization, compared byte by byte.",
  );
  app.post(
    "/organizations/:organizationId/workflows",
    {
      config: { bounds: { tags: "unaffected" } },
      schema: {
        operationId: "RegisterWorkflow",
        "x-permission": "workflow:create",
        tags: ["workflows"],
        summary: "Register a workflow",
        description:
          "The workflow has no version yet, so no job can be submitted to it. If another workflow of the organization has the name, the answer is 409.",
        params: OrganizationParams,
        headers: IdempotencyHeaders,
        body: closed({ name }),
        response: { 201: answer("The workflow.", NewWorkflowSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { name } = request.body;
      const created = await registerWorkflow(parts, callerActOf(request), { organizationId, name }, renderNewWorkflow);
      const location = `${basePath}/organizations/${organizationId}/workflows/${created.workflowId}`;
      return reply.code(201).header("location", location).send(created);
    },
  );
}

function listWorkflowsRoute(app: App, parts: ServerParts): void {
  const { database, config } = parts;
  app.get(
    "/organizations/:organizationId/workflows",
    {
      config: { bounds: { workflows: "handler", tags: "unaffected" } },
      schema: {
        operationId: "ListWorkflows",
        "x-permission": "workflow:read",
        tags: ["workflows"],
        summary: "List workflows",
        description: "The answer lists the workflows in the order of their names, compared byte by byte.",
        params: OrganizationParams,
        querystring: closed({
          name: Type.Optional(Type.String({ description: "A name, to get only the workflow with exactly this name." })),
          ...shortListParameters,
        }),
        response: {
          200: Type.Object({ workflows: Type.Array(WorkflowSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const page = pageOfShortList(request, (key) => isName(key, config.maxNameLength));
      const name = request.query.name ?? null;
      const { after: afterName, limit } = page;
      const workflowIds = reachableWorkflows(request.caller);
      const found = await listWorkflows(database, { organizationId, name, workflowIds, afterName, limit });
      const { rows, ...next } = page.cut(found, (workflow) => workflow.name);
      const tags = await findTagsOfWorkflows(
        database,
        organizationId,
        rows.map((workflow) => workflow.workflowId),
      );
      const tagsOf = Map.groupBy(tags, ({ workflowId }) => workflowId);
      return {
        workflows: rows.map((workflow) => renderWorkflow(workflow, tagsOf.get(workflow.workflowId) ?? [])),
        ...next,
      };
    },
  );
}

function getWorkflowRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    "/organizations/:organizationId/workflows/:workflowId",
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "GetWorkflow",
        "x-permission": "workflow:read",
        tags: ["workflows"],
        summary: "Get a workflow",
        description: "The answer has the name of the workflow and its tags.",
        params: WorkflowParams,
        response: { 200: answer("The workflow.", WorkflowSchema) },
      },
    },
    async (request) => {
      const { organizationId, workflowId } = request.params;
      const workflow = await findWorkflow(database, request.params);
      if (workflow === undefined) throw notFound("workflow");
      return renderWorkflow(workflow, await findTagsOfWorkflows(database, organizationId, [workflowId]));
    },
  );
}

function deleteWorkflowRoute(app: App, parts: ServerParts): void {
  app.delete(
    "/organizations/:organizationId/workflows/:workflowId",
    {
      config: { bounds: { workflows: "path" } },
      schema: {
        operationId: "DeleteWorkflow",
        "x-permission": "workflow:delete",
        tags: ["workflows"],
        summary: "Delete a workflow",
        description:
          "No job can be submitted to the workflow any more, and its name is free again. Running jobs continue, and all jobs of the workflow can still be read.",
        params: WorkflowParams,
        response: { 204: noContent("The workflow is deleted.") },
      },
    },
    async (request, reply) => {
      await deleteWorkflow(parts, callerActOf(request), request.params);
      return reply.code(204).send(null);
    },
  );
}

function renderNewWorkflow({ workflowId, name, createdAt }: NewWorkflow): Static<typeof NewWorkflowSchema> {
  return { workflowId, name, createdAt: toTime(createdAt) };
}

function renderWorkflow(workflow: Workflow, tags: readonly Tag[]): Static<typeof WorkflowSchema> {
  const { workflowId, name, createdAt } = workflow;
  return {
    workflowId,
    name,
    createdAt: toTime(createdAt),
    tags: tags.map(({ tag, versionId, versionNumber }) => ({ tag, versionId, versionNumber })),
  };
}

import { type Static, Type } from "typebox";
import { actorOf } from "../../auth/authenticator.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { findTagsOfWorkflows, type Tag } from "../../store/workflows/tags.ts";
import {
  deleteWorkflow,
  findWorkflow,
  insertWorkflow,
  listWorkflows,
  type Workflow,
} from "../../store/workflows/workflows.ts";
import type { App, ServerParts } from "../door/app.ts";
import { recordAudit } from "../door/audit-trail.ts";
import { IdempotencyHeaders, transactOnce } from "../door/idempotency.ts";
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
import { toTime } from "../door/time.ts";
import { reachableWorkflows } from "../door/token-bounds.ts";

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
  const { engine, database, config, basePath } = parts;
  const name = nameSchema(config.maxNameLength, "Unique in the organization, compared byte by byte.");

  app.post(
    "/organizations/:organizationId/workflows",
    {
      config: { bounds: { tags: "unaffected" } },
      schema: {
        operationId: "RegisterWorkflow",
        "x-permission": "workflow:create",
        tags: ["workflows"],
        summary: "Register a workflow",
        params: OrganizationParams,
        headers: IdempotencyHeaders,
        body: closed({ name }),
        response: { 201: answer("The workflow.", NewWorkflowSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const by = actorOf(request.caller);
      const created = await transactOnce(parts, request, { organizationId }, async (transaction, createdAt) => {
        const workflowId = engine.newId();
        const workflow = { organizationId, workflowId, name: request.body.name, createdBy: by, createdAt };
        if (!(await insertWorkflow(transaction, workflow))) throw nameTaken(workflow.name);
        const { name } = workflow;
        await recordAudit(transaction, request, { targetType: "workflow", targetId: workflowId, details: { name } });
        return { workflowId, name, createdAt: toTime(createdAt) };
      });
      const location = `${basePath}/organizations/${organizationId}/workflows/${created.workflowId}`;
      return reply.code(201).header("location", location).send(created);
    },
  );

  app.get(
    "/organizations/:organizationId/workflows",
    {
      config: { bounds: { workflows: "handler", tags: "unaffected" } },
      schema: {
        operationId: "ListWorkflows",
        "x-permission": "workflow:read",
        tags: ["workflows"],
        summary: "List workflows",
        description: "By name, compared byte by byte.",
        params: OrganizationParams,
        querystring: closed({
          name: Type.Optional(Type.String({ description: "Only the workflow with exactly this name." })),
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

  app.get(
    "/organizations/:organizationId/workflows/:workflowId",
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "GetWorkflow",
        "x-permission": "workflow:read",
        tags: ["workflows"],
        summary: "Get a workflow",
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
          "No job can be submitted to it any more, and its name is free again. Jobs that run go on, and all its jobs can still be read.",
        params: WorkflowParams,
        response: { 204: noContent("It is deleted.") },
      },
    },
    async (request, reply) => {
      const { workflowId } = request.params;
      await database.transaction(async (transaction) => {
        const name = await deleteWorkflow(transaction, request.params, engine.now());
        if (name === undefined) throw notFound("workflow");
        await recordAudit(transaction, request, { targetType: "workflow", targetId: workflowId, details: { name } });
      });
      return reply.code(204).send(null);
    },
  );
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

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `This organization has a workflow named ${JSON.stringify(name)} already. List it with ?name=…, or choose another name.`,
  );
}

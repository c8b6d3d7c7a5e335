import { type Static, Type } from "typebox";
import { describePlace, type PlacedProblem } from "../../core/definition/placed-problem.ts";
import { sentence } from "../../core/problem.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { registerWorkflowVersion } from "../../management/workflows/versions.ts";
import { findTagsOfVersions, type Tag } from "../../store/workflows/tags.ts";
import { findVersion, listVersions, type Version } from "../../store/workflows/versions.ts";
import { findWorkflow } from "../../store/workflows/workflows.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { isPositiveInteger, nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import {
  ActorSchema,
  answer,
  closed,
  definitionPosition,
  Id,
  Time,
  VersionParams,
  WorkflowParams,
} from "../door/schemas.ts";

const RemarkSchema = Type.Object(
  {
    pointer: Type.String({ description: "The place in the definition, as a JSON pointer." }),
    detail: Type.String(),
    ...definitionPosition,
  },
  { title: "DefinitionRemark" },
);

const NewVersionSchema = Type.Object(
  {
    workflowId: Id,
    versionId: Id,
    versionNumber: Type.Integer({ minimum: 1 }),
    createdAt: Time,
    created: Type.Boolean({
      description:
        "True when a version was registered. It is false only with `ifChanged`, when the newest version has an equal definition; the answer then shows that version.",
    }),
    warnings: Type.Array(RemarkSchema, { description: "Warnings about what may go wrong when a job runs." }),
  },
  { title: "NewWorkflowVersion" },
);

const versionFields = {
  workflowId: Id,
  versionId: Id,
  versionNumber: Type.Integer({
    minimum: 1,
    description: "The number of the version within the workflow, counted from 1.",
  }),
  tags: Type.Array(Type.String(), { description: "The tags that point at the version now." }),
  createdBy: ActorSchema,
  createdAt: Time,
};

const VersionSummarySchema = Type.Object(versionFields, { title: "WorkflowVersionSummary" });

export const VersionSchema = Type.Object(
  { ...versionFields, definition: Type.String({ description: "The text of the definition, exactly as it was sent." }) },
  { title: "WorkflowVersion" },
);

const DefinitionBody = closed({
  definition: Type.String({ description: "The definition, which is a JSON document as a string." }),
});

const ifChanged = Type.Optional(
  Type.Boolean({
    description: "True to register a version only if the definition is not equal to that of the newest version.",
  }),
);

const path = "/organizations/:organizationId/workflows/:workflowId/versions";

export function versionRoutes(app: App, parts: ServerParts): void {
  registerWorkflowVersionRoute(app, parts);
  validateWorkflowVersionRoute(app, parts);
  listWorkflowVersionsRoute(app, parts);
  getWorkflowVersionRoute(app, parts);
}

function registerWorkflowVersionRoute(app: App, parts: ServerParts): void {
  const { database, definitionChecks, basePath } = parts;
  app.post(
    path,
    {
      config: { cost: 20, bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "RegisterWorkflowVersion",
        "x-permission": "workflow:version:create",
        tags: ["versions"],
        summary: "Register a version",
        description:
          "The service checks the definition and keeps it as a version, which never changes. A definition that is not valid is rejected, and the answer lists the problems that the service found in it. With `ifChanged=true`, nothing is registered if the definition is equal, as a JSON value, to that of the newest version. The answer is then 200 with that version.",
        params: WorkflowParams,
        querystring: closed({ ifChanged }),
        headers: IdempotencyHeaders,
        body: DefinitionBody,
        response: {
          200: answer(
            "The newest version, which has an equal definition. Nothing was registered, because the request has `ifChanged`.",
            NewVersionSchema,
          ),
          201: answer("The new version.", NewVersionSchema),
        },
      },
    },
    async (request, reply) => {
      const { organizationId, workflowId } = request.params;
      const { definition } = request.body;
      const { ifChanged = false } = request.query;
      // An unknown workflow is not reported here but by `registerWorkflowVersion`, because a repetition must get the first answer even after the
      // workflow was deleted.
      const nameOfWorkflow = (await findWorkflow(database, request.params))?.name;
      const checked = await definitionChecks.check(organizationId, { text: definition, nameOfWorkflow });
      const { warnings } = checked;
      const version = { definition, problems: checked.problems, ifChanged };
      const act = callerActOf(request);
      const answered = await registerWorkflowVersion(parts, act, request.params, version, (version, created) =>
        renderNewVersion(version, { created, warnings }),
      );
      // A repetition may get a first answer that an earlier release stored, and such an answer has no `created`.
      const registered = { ...answered, created: answered.created ?? true };
      if (!registered.created) return reply.code(200).send(registered);
      const location = `${basePath}/organizations/${organizationId}/workflows/${workflowId}/versions/${registered.versionId}`;
      return reply.code(201).header("location", location).send(registered);
    },
  );
}

function validateWorkflowVersionRoute(app: App, parts: ServerParts): void {
  const { database, definitionChecks } = parts;
  app.post(
    `${path}/validate`,
    {
      config: {
        cost: 20,
        bounds: { workflows: "path", tags: "unaffected" },
        repetition: "without-effect",
        unaudited: "It changes nothing.",
      },
      schema: {
        operationId: "ValidateWorkflowVersion",
        "x-permission": "workflow:version:create",
        tags: ["versions"],
        summary: "Check a definition",
        description:
          "The answer has everything that RegisterWorkflowVersion would say about the definition, and nothing is kept. Since the operation changes nothing, it takes no Idempotency-Key.",
        params: WorkflowParams,
        body: DefinitionBody,
        response: {
          200: Type.Object(
            {
              valid: Type.Boolean(),
              errors: Type.Array(RemarkSchema),
              warnings: Type.Array(RemarkSchema),
              messages: Type.Array(Type.String(), {
                description: "The errors and then the warnings, each as a sentence for people.",
              }),
            },
            { description: "The errors and warnings of the definition. There are no errors when `valid` is true." },
          ),
        },
      },
    },
    async (request) => {
      const workflow = await findWorkflow(database, request.params);
      if (workflow === undefined) throw notFound("workflow");
      const toCheck = { text: request.body.definition, nameOfWorkflow: workflow.name };
      const { problems: errors, warnings } = await definitionChecks.check(workflow.organizationId, toCheck);
      const messages = [...messagesOf("Error", errors), ...messagesOf("Warning", warnings)];
      return { valid: errors.length === 0, errors, warnings, messages };
    },
  );
}

function listWorkflowVersionsRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    path,
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "ListWorkflowVersions",
        "x-permission": "workflow:version:read",
        tags: ["versions"],
        summary: "List versions",
        description: "The answer lists the versions without their definitions, the newest first.",
        params: WorkflowParams,
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object({ versions: Type.Array(VersionSummarySchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      if ((await findWorkflow(database, request.params)) === undefined) throw notFound("workflow");
      const page = pageOfShortList(request, isPositiveInteger);
      const beforeVersionNumber = page.after === null ? null : Number(page.after);
      const found = await listVersions(database, request.params, beforeVersionNumber, page.limit);
      const { rows, ...next } = page.cut(found, (version) => String(version.versionNumber));
      const tags = await findTagsOfVersions(
        database,
        request.params,
        rows.map((version) => version.versionId),
      );
      return { versions: rows.map((version) => renderVersion(version, tags)), ...next };
    },
  );
}

function getWorkflowVersionRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/:versionId`,
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "GetWorkflowVersion",
        "x-permission": "workflow:version:read",
        tags: ["versions"],
        summary: "Get a version",
        description: "The answer has the definition of the version, exactly as it was sent.",
        params: VersionParams,
        response: { 200: answer("The version.", VersionSchema) },
      },
    },
    async (request) => {
      const { versionId } = request.params;
      if ((await findWorkflow(database, request.params)) === undefined) throw notFound("workflow");
      const version = await findVersion(database, request.params, versionId);
      if (version === undefined) throw notFound("version of this workflow");
      const tags = await findTagsOfVersions(database, request.params, [versionId]);
      return { ...renderVersion(version, tags), definition: version.definition };
    },
  );
}

export function renderVersion(version: Version, tags: readonly Tag[]): Static<typeof VersionSummarySchema> {
  const { workflowId, versionId, versionNumber, createdBy, createdAt } = version;
  const ownTags = tags.filter((tag) => tag.versionId === versionId).map(({ tag }) => tag);
  return { workflowId, versionId, versionNumber, tags: ownTags, createdBy, createdAt: toTime(createdAt) };
}

function renderNewVersion(
  { workflowId, versionId, versionNumber, createdAt }: Version,
  { created, warnings }: { readonly created: boolean; readonly warnings: PlacedProblem[] },
): Static<typeof NewVersionSchema> {
  return { workflowId, versionId, versionNumber, createdAt: toTime(createdAt), created, warnings };
}

function messagesOf(kind: string, problems: readonly PlacedProblem[]): string[] {
  return problems.map((problem) => {
    const place = describePlace(problem);
    return sentence(`${kind}${place && ` at ${place}`}: ${problem.detail}`);
  });
}

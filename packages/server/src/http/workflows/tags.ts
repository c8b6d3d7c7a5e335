import { type Static, Type } from "typebox";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { deleteTag, etagOfTag, setWorkflowVersionTag } from "../../management/workflows/tags.ts";
import {
  findTag,
  findTagsOfVersions,
  listTagChanges,
  listTags,
  type Tag,
  type TagChange,
} from "../../store/workflows/tags.ts";
import { findVersion } from "../../store/workflows/versions.ts";
import { findWorkflow } from "../../store/workflows/workflows.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isPositiveInteger, nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { CreatingPreconditionHeaders, PreconditionHeaders } from "../door/precondition.ts";
import { ActorSchema, answer, closed, Id, noContent, oneOf, TagParams, Time, WorkflowParams } from "../door/schemas.ts";
import { renderVersion, VersionSchema } from "./versions.ts";

const TagSchema = Type.Object(
  { tag: Type.String(), versionId: Id, versionNumber: Type.Integer(), updatedBy: ActorSchema, updatedAt: Time },
  { title: "WorkflowTag" },
);

const TagChangeSchema = Type.Object(
  {
    change: oneOf(["set", "deleted"]),
    versionId: Type.Optional(Id),
    versionNumber: Type.Optional(Type.Integer()),
    changedBy: ActorSchema,
    changedAt: Time,
  },
  { title: "WorkflowTagChange" },
);

const path = "/organizations/:organizationId/workflows/:workflowId/tags";

export function tagRoutes(app: App, parts: ServerParts): void {
  setWorkflowVersionTagRoute(app, parts);
  listTagsRoute(app, parts);
  getTaggedWorkflowVersionRoute(app, parts);
  deleteTagRoute(app, parts);
  listTagHistoryRoute(app, parts);
}

function setWorkflowVersionTagRoute(app: App, parts: ServerParts): void {
  app.put(
    `${path}/:tag`,
    {
      config: { bounds: { workflows: "path", tags: "path" }, repetition: "replayed", errors: ["ConflictError"] },
      schema: {
        operationId: "SetWorkflowVersionTag",
        "x-permission": "workflow:version:create",
        tags: ["tags"],
        summary: "Point a tag at a version",
        description:
          "From now on, jobs that are submitted with this tag run that version. Jobs that were submitted before keep their version.",
        params: TagParams,
        headers: CreatingPreconditionHeaders,
        body: closed({ versionId: Id }),
        response: {
          200: Type.Object(
            { tag: Type.String(), versionId: Id, versionNumber: Type.Integer(), success: Type.Literal(true) },
            { description: "The tag points at the version." },
          ),
        },
      },
    },
    async (request, reply) => {
      const versionId = request.body.versionId.toLowerCase();
      const act = callerActOf(request);
      const pointed = await setWorkflowVersionTag(parts, act, request.params, versionId, renderPointed);
      reply.header("etag", etagOfTag(pointed));
      return pointed;
    },
  );
}

function listTagsRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    path,
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "ListTags",
        "x-permission": "workflow:version:read",
        tags: ["tags"],
        summary: "List tags",
        description: "The answer lists the tags in the order of their names.",
        params: WorkflowParams,
        querystring: closed({ ...shortListParameters }),
        response: { 200: Type.Object({ tags: Type.Array(TagSchema), nextPageToken }, { description: "One page." }) },
      },
    },
    async (request) => {
      if ((await findWorkflow(database, request.params)) === undefined) throw notFound("workflow");
      const page = pageOfShortList(request, (key) => key !== "");
      const { rows, ...next } = page.cut(
        await listTags(database, request.params, page.after, page.limit),
        ({ tag }) => tag,
      );
      return { tags: rows.map(renderTag), ...next };
    },
  );
}

function getTaggedWorkflowVersionRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/:tag`,
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "GetTaggedWorkflowVersion",
        "x-permission": "workflow:version:read",
        tags: ["tags"],
        summary: "Get the version that a tag points at",
        description: "The answer has the version with its definition.",
        params: TagParams,
        response: { 200: answer("The version.", VersionSchema) },
      },
    },
    async (request, reply) => {
      const { tag, ...workflow } = request.params;
      if ((await findWorkflow(database, workflow)) === undefined) throw notFound("workflow");
      const pointed = await findTag(database, workflow, tag);
      const version = pointed && (await findVersion(database, workflow, pointed.versionId));
      if (version === undefined) throw notFound("tag of this workflow");
      reply.header("etag", etagOfTag({ tag, versionId: version.versionId }));
      const tags = await findTagsOfVersions(database, workflow, [version.versionId]);
      return { ...renderVersion(version, tags), definition: version.definition };
    },
  );
}

function deleteTagRoute(app: App, parts: ServerParts): void {
  app.delete(
    `${path}/:tag`,
    {
      config: { bounds: { workflows: "path", tags: "path" }, repetition: "replayed" },
      schema: {
        operationId: "DeleteTag",
        "x-permission": "workflow:version:create",
        tags: ["tags"],
        summary: "Delete a tag",
        description: "The version of the tag stays, and so do the jobs that were submitted with the tag.",
        params: TagParams,
        headers: PreconditionHeaders,
        response: { 204: noContent("The tag is deleted.") },
      },
    },
    async (request, reply) => {
      await deleteTag(parts, callerActOf(request), request.params);
      return reply.code(204).send(null);
    },
  );
}

function listTagHistoryRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/:tag/history`,
    {
      config: { bounds: { workflows: "path", tags: "unaffected" } },
      schema: {
        operationId: "ListTagHistory",
        "x-permission": "workflow:version:read",
        tags: ["tags"],
        summary: "List the history of a tag",
        description:
          "The answer lists the changes of the tag, the newest first: each time that the tag was pointed at a version, and each deletion. A deleted tag keeps its history.",
        params: TagParams,
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object({ changes: Type.Array(TagChangeSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const { tag, ...workflow } = request.params;
      if ((await findWorkflow(database, workflow)) === undefined) throw notFound("workflow");
      const page = pageOfShortList(request, isPositiveInteger);
      const before = page.after === null ? null : Number(page.after);
      const found = await listTagChanges(database, workflow, tag, before, page.limit);
      const { rows, ...next } = page.cut(found, ({ changeNumber }) => String(changeNumber));
      return { changes: rows.map(renderTagChange), ...next };
    },
  );
}

function renderPointed({ tag, versionId, versionNumber }: Tag) {
  return { tag, versionId, versionNumber, success: true as const };
}

function renderTag({ tag, versionId, versionNumber, updatedBy, updatedAt }: Tag): Static<typeof TagSchema> {
  return { tag, versionId, versionNumber, updatedBy, updatedAt: toTime(updatedAt) };
}

function renderTagChange(change: TagChange): Static<typeof TagChangeSchema> {
  const { versionId, versionNumber, changedBy, changedAt } = change;
  const who = { changedBy, changedAt: toTime(changedAt) };
  if (versionId === null || versionNumber === null) return { change: "deleted", ...who };
  return { change: "set", versionId, versionNumber, ...who };
}

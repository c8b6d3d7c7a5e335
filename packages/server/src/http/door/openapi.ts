import { createRequire } from "node:module";
import swagger from "@fastify/swagger";
import { Type } from "typebox";
import type { App } from "./app.ts";
import { addExamples, type DocumentWithBodies } from "./document-examples.ts";
import { type DocumentWithOperations, describeHeaders } from "./document-headers.ts";
import { noContent } from "./schemas.ts";
import { type Asset, assetOfText, sendAsset } from "./static-asset.ts";

/** Read from the package, so that the document and the package cannot differ. */
const { version } = createRequire(import.meta.url)("../../../package.json") as { readonly version: string };

/** Collects the declarations of all routes that are registered after it. The port may be known only once the server listens. */
export function collectDeclarations(app: App, basePath: string, serverUrl: () => string): void {
  void app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Stepwell",
        version,
        summary: "A workflow orchestration service.",
        description:
          "Register a workflow, register versions of its definition, point a tag at one, and submit jobs. Every operation names its permission in `x-permission`, and in `x-cost` what a request counts as among the requests of a minute.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: basePath === "" ? "/" : basePath }],
      tags: tags.map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          bearerToken: {
            type: "http",
            scheme: "bearer",
            description: "An API token, a user token, or an id token of the sign-in.",
          },
        },
      },
    },
    transformObject: (document) =>
      "openapiObject" in document
        ? { ...tidy(document.openapiObject), servers: [{ url: serverUrl() }] }
        : document.swaggerObject,
  });
}

/** `GET /openapi.json`: this document, written once, since it is the same for everybody. */
export function openapiRoute(app: App): void {
  let document: Asset | undefined;
  app.get(
    "/openapi.json",
    {
      schema: {
        operationId: "GetOpenApiDocument",
        "x-permission": "none",
        tags: ["service"],
        summary: "This document",
        response: {
          200: Type.Unsafe<string>({ type: "object", description: "The OpenAPI document." }),
          304: noContent("You have the document already: its ETag is the one in If-None-Match."),
        },
      },
    },
    async (request, reply) => {
      document ??= assetOfText("application/json", JSON.stringify(app.swagger()));
      return sendAsset(request, reply, document, "no-cache");
    },
  );
}

const tags = [
  ["organizations", "An organization owns everything else; nothing is shared between two."],
  ["workflows", "A workflow is a name with a row of versions."],
  ["versions", "A version is one definition, never changed."],
  ["tags", "A tag points at a version and can be moved; jobs are submitted by tag."],
  ["jobs", "A job runs one version with one input."],
  ["events", "What jobs wait for."],
  ["tasks", "Steps that wait in queues for a worker, a program of yours."],
  ["metrics", "How many, how long, how often."],
  ["api-tokens", "Credentials for programs."],
  ["account", "What belongs to a person: password, second factor, user tokens. API tokens have no part in it."],
  ["members", "People in an organization, and what they may do there."],
  ["roles", "A role is a name for a set of permissions."],
  ["invitations", "How people become members: by a link that works once."],
  ["oauth-clients", "Browser applications to which members of an organization sign in."],
  ["audit", "Who changed what, and what was denied to whom."],
  ["service", "The service itself."],
] as const;

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

/**
 * What the generator leaves to be done: every schema with a title becomes one component that others refer to, so that generated clients
 * get one type with that name; and a body that may be left out says so.
 */
function tidy<Document extends object>(document: Document): Document {
  const components: Record<string, Json> = {};
  const tidied = hoist(document as unknown as Json, components) as { [key: string]: Json };
  const known = tidied.components as { [key: string]: Json };
  known.schemas = components;
  describeHeaders(tidied as unknown as DocumentWithOperations);
  addExamples(tidied as unknown as DocumentWithBodies);
  return tidied as unknown as Document;
}

function hoist(value: Json, components: Record<string, Json>): Json {
  if (Array.isArray(value)) return value.map((item) => hoist(item, components));
  if (value === null || typeof value !== "object") return value;
  const copy: { [key: string]: Json } = {};
  for (const [key, item] of Object.entries(value)) copy[key] = hoist(item, components);
  if (typeof copy["x-optional-body"] === "boolean") delete copy["x-optional-body"];
  if (isOptionalBody(value)) copy.required = false;
  const { title } = copy;
  if (typeof title !== "string" || !isSchema(copy)) return copy;
  components[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}

/** `info` has a title too. */
function isSchema(value: { [key: string]: Json }): boolean {
  return "type" in value || "anyOf" in value;
}

function isOptionalBody(value: { [key: string]: Json }): boolean {
  return "content" in value && "required" in value && JSON.stringify(value.content).includes('"x-optional-body":true');
}

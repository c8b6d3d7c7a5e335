import { createRequire } from "node:module";
import swagger from "@fastify/swagger";
import { Type } from "typebox";
import { type Asset, assetOfText, sendAsset } from "../door/answers/static-asset.ts";
import type { App } from "../door/app.ts";
import { noContent } from "../door/schemas.ts";
import { addExamples, type DocumentWithBodies } from "./document-examples.ts";
import { type DocumentWithOperations, describeHeaders } from "./document-headers.ts";

/** The version is read from the package, so that the document and the package cannot differ. */
const { version } = createRequire(import.meta.url)("../../../package.json") as { readonly version: string };

/** Collects the declarations of all routes that are registered after this call. `serverUrl` is called later, as the port may not be known yet. */
export function collectDeclarations(app: App, basePath: string, serverUrl: () => string): void {
  void app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Stepwell",
        version,
        summary: "A workflow orchestration service.",
        description:
          "You register a workflow, register versions of its definition, point a tag at one of them, and submit jobs. Every operation names its permission in `x-permission`. An operation that needs a credential says in `x-cost` how many times a request counts in the limits of requests per minute.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: basePath === "" ? "/" : basePath }],
      tags: tags.map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          bearerToken: {
            type: "http",
            scheme: "bearer",
            description:
              "The credential is an API token, a user token, an id token of the sign-in, or an access token of an issuer that the service's configuration names.",
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

/** Serves `GET /openapi.json`. The document is written once, since it is the same for all callers. */
export function openapiRoute(app: App): void {
  let document: Asset | undefined;
  app.get(
    "/openapi.json",
    {
      schema: {
        operationId: "GetOpenApiDocument",
        "x-permission": "none",
        tags: ["service"],
        summary: "Get this document",
        description:
          "The document describes every operation of the service (OpenAPI 3.1). It is the same for everybody.",
        response: {
          200: Type.Unsafe<string>({ type: "object", description: "The OpenAPI document." }),
          304: noContent("You have the document already: its ETag is the one in `If-None-Match`."),
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
  ["organizations", "An organization owns its workflows, jobs, roles and API tokens. No two organizations share them."],
  ["workflows", "A workflow has a name and a sequence of versions."],
  ["versions", "A version is one definition, which never changes."],
  [
    "tags",
    "A tag points at a version and can be moved. A job can be submitted with a tag, or with the id or the number of a version.",
  ],
  ["jobs", "A job runs one version with one input."],
  ["events", "A job waits for events, and your programs send them."],
  ["tasks", "A task is the work of one step, and waits in a queue for a worker. A worker is a program of yours."],
  ["metrics", "A metric says how many jobs and steps there were and how long they took."],
  ["api-tokens", "An API token is a credential for a program."],
  ["account", "An account is what belongs to a person: password, second factor, user tokens and sessions."],
  ["members", "A member is a person in an organization, with roles."],
  ["roles", "A role is a name for a set of permissions."],
  ["invitations", "An invitation is a link by which a person becomes a member. It works only once."],
  ["oauth-clients", "An OAuth client is a browser application to which members of an organization sign in."],
  ["audit", "The audit trail says who changed what, and what was denied to whom."],
  ["service", "The service says whether it is healthy, whose credential you use, and what its API is."],
] as const;

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

/**
 * Completes the document that the generator made. Every schema with a title becomes one component to which others refer, so that generated clients
 * get one type of that name. An optional body is marked as optional.
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

/** The document's `info` has a title too, but is not a schema. */
function isSchema(value: { [key: string]: Json }): boolean {
  return "type" in value || "anyOf" in value;
}

function isOptionalBody(value: { [key: string]: Json }): boolean {
  return "content" in value && "required" in value && JSON.stringify(value.content).includes('"x-optional-body":true');
}

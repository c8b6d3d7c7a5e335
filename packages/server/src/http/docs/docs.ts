import type { FastifyReply, FastifyRequest } from "fastify";
import { pageHeaders } from "../dashboard/page-headers.ts";
import { type Asset, sendAsset } from "../door/answers/static-asset.ts";
import type { App, ServerParts } from "../door/app.ts";
import { html } from "../pages/html.ts";
import { sendPage } from "../pages/page.ts";
import { DocsFiles } from "./docs-files.ts";

const schema = { hide: true, "x-permission": "none", tags: ["service"] } as const;

/** Serves the documentation as it was built into `dist/docs`. Its routes are not operations of the API, so the API document leaves them out. */
export function docsRoutes(app: App, { basePath, publicUrl }: ServerParts): void {
  const files = new DocsFiles({ basePath, publicUrl });

  const send = (request: FastifyRequest, reply: FastifyReply, asset: Asset | undefined, path: string) => {
    if (asset === undefined) return sendUnknown(reply, basePath);
    reply.headers(pageHeaders).header("cross-origin-resource-policy", "same-origin");
    return sendAsset(request, reply, asset, path.startsWith("assets/") ? forEver : "no-cache");
  };

  app.get("/docs", { schema: { ...schema, operationId: "ShowDocs" } }, async (request, reply) =>
    send(request, reply, files.file(""), ""),
  );

  app.get("/docs/*", { schema: { ...schema, operationId: "ShowDocsPage" } }, async (request, reply) => {
    const path = (request.params as { readonly "*": string })["*"];
    return send(request, reply, files.file(path), path);
  });

  app.get("/llms.txt", { schema: { ...schema, operationId: "GetLlmsText" } }, async (request, reply) =>
    send(request, reply, files.llms(), ""),
  );
}

/** The caching of files whose names contain a hash of the content. */
const forEver = "public, max-age=31536000, immutable";

function sendUnknown(reply: FastifyReply, basePath: string): FastifyReply {
  return sendPage(reply, {
    status: 404,
    title: "There is no such page",
    content: html`<p>The documentation has no page at this address.</p>
<p><a href="${basePath}/docs">All pages of the documentation</a></p>`,
  });
}

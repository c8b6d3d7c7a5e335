import { ServiceError } from "../../core/service-error.ts";
import { sendAsset } from "../door/answers/static-asset.ts";
import type { App, ServerParts } from "../door/app.ts";
import { DashboardFiles } from "./dashboard-files.ts";
import { pageHeaders } from "./page-headers.ts";

/**
 * The paths of the dashboard's pages. Every page except `/` and `/signed-in` is below `/app`, so that no page hides an operation of the API, and an
 * unknown path of the API stays a 404.
 */
const pagePaths = ["/", "/signed-in", "/app", "/app/*"];
const assetPath = "/assets/*";
const schema = { hide: true, "x-permission": "none", tags: ["service"] } as const;

/** Serves the dashboard as it was built into `dist/dashboard`. Its routes are not operations of the API, so the API document leaves them out. */
export function dashboardRoutes(app: App, { basePath, publicUrl }: ServerParts): void {
  const files = new DashboardFiles({ basePath, publicUrl });

  for (const url of pagePaths) {
    app.get(url, { schema: { ...schema, operationId: "ShowDashboard" } }, async (request, reply) => {
      const page = files.page();
      if (page === undefined)
        throw new ServiceError("NotFoundError", "The dashboard is not built here. Run `npm run build`.");
      reply.headers(pageHeaders);
      // A browser must ask for the page each time, so that it shows no old page whose scripts are gone.
      return sendAsset(request, reply, page, "no-cache");
    });
  }

  app.get(assetPath, { schema: { ...schema, operationId: "GetDashboardAsset" } }, async (request, reply) => {
    const asset = files.asset((request.params as { readonly "*": string })["*"]);
    if (asset === undefined) throw new ServiceError("NotFoundError", "There is no such file. Load the page again.");
    reply.header("cross-origin-resource-policy", "same-origin");
    // The name contains a hash of the content.
    return sendAsset(request, reply, asset, "public, max-age=31536000, immutable");
  });
}

/**
 * The framework's router accepts no path with a malformed percent-escape, such as `/app/%E0%A4%A`. Below `/app` and `/docs`, such a path is replaced
 * by the path of a page that does not exist, and the dashboard or the documentation says so.
 */
export function withoutMalformedPage(url: string, basePath: string): string {
  const pages = [`${basePath}/app/`, `${basePath}/docs/`].find((beginning) => url.startsWith(beginning));
  if (pages === undefined || isDecodable(url.split("?", 1)[0] ?? "")) return url;
  return `${pages}malformed/`;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

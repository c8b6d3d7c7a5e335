import type { App } from "../door/app.ts";

const path = "/api-tokens";
const aliasPath = "/api-auth-tokens";

/**
 * Registers each operation on API tokens a second time, below the path by which other clients of this interface know it, from the same
 * declaration and with the same handler. In the document it is an operation of its own, since generated clients need one method for each path;
 * the audit trail knows one action.
 */
export function aliasApiTokens(app: App): void {
  app.addHook("onRoute", ({ method, routePath, handler, schema, config }) => {
    // The alias of a GET has a HEAD of its own.
    if (!routePath.includes(path) || schema?.operationId === undefined || method === "HEAD") return;
    const { operationId, description } = schema;
    app.route({
      method,
      url: routePath.replace(path, aliasPath),
      handler,
      config: { ...config, aliasOf: operationId },
      schema: {
        ...schema,
        operationId: operationId.replace("ApiToken", "ApiAuthToken"),
        description: [`This operation does the same as ${operationId} under another path.`, description]
          .filter(Boolean)
          .join(" "),
      },
    });
  });
}

import type { App } from "../door/app.ts";

const path = "/api-tokens";
const aliasPath = "/api-auth-tokens";

/**
 * Registers each operation on API tokens a second time, below another path that some clients use, with the same declaration and handler. In the
 * document, the alias is an operation of its own, because generated clients need one method for each path. The audit trail shows the original name.
 */
export function aliasApiTokens(app: App): void {
  app.addHook("onRoute", ({ method, routePath, handler, schema, config }) => {
    // The framework adds HEAD to the alias of a GET by itself.
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

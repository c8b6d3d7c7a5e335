import { pino } from "pino";
import type { Config } from "../config.ts";
import { executorCatalog } from "../engine/executors/catalog.ts";
import { createServer, type ServerOptions } from "./server.ts";

/**
 * Makes the document of `GET /openapi.json` without a service. This works because registering a route only declares it. A route that asks the
 * running service for something during its registration fails here, since nothing exists here except the settings and the executors.
 */
export async function apiDocument(config: Config): Promise<object> {
  const logger = pino({ level: "silent" });
  const declared = { config, logger, executors: executorCatalog(config) } satisfies Partial<ServerOptions>;
  const server = createServer(declared as unknown as ServerOptions);
  await server.ready();
  try {
    return server.swagger();
  } finally {
    await server.close();
  }
}

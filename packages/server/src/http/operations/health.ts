import { Type } from "typebox";
import { ServiceError } from "../../core/service-error.ts";
import type { App, ServerParts } from "../door/app.ts";
import { oneOf } from "../door/schemas.ts";

export function healthRoutes(app: App, parts: ServerParts): void {
  getLivenessRoute(app);
  getReadinessRoute(app, parts);
}

function getLivenessRoute(app: App): void {
  app.get(
    "/health/live",
    {
      schema: {
        operationId: "GetLiveness",
        "x-permission": "none",
        tags: ["service"],
        summary: "Check whether the process runs",
        description: "The answer is 200 as long as the process runs. It says nothing about the store.",
        response: { 200: Type.Object({ status: oneOf(["live"]) }, { description: "The process runs." }) },
      },
    },
    async () => ({ status: "live" as const }),
  );
}

function getReadinessRoute(app: App, parts: ServerParts): void {
  const { engine } = parts;
  app.get(
    "/health/ready",
    {
      config: { errors: ["UnavailableError"] },
      schema: {
        operationId: "GetReadiness",
        "x-permission": "none",
        tags: ["service"],
        summary: "Check whether this node can serve requests",
        description:
          "The answer is 503 while the store cannot be reached or its disk is full, and while the node shuts down. Then send requests to another node.",
        response: { 200: Type.Object({ status: oneOf(["ready"]) }, { description: "The node can serve requests." }) },
      },
    },
    async () => {
      if (engine.isReady()) return { status: "ready" as const };
      throw new ServiceError(
        "UnavailableError",
        "The store of this node cannot be reached or its disk is full, or the node is shutting down.",
        {
          retryAfterSeconds: 1,
        },
      );
    },
  );
}

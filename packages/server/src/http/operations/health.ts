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
        summary: "Whether the process runs",
        response: { 200: Type.Object({ status: oneOf(["live"]) }, { description: "It does." }) },
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
        summary: "Whether this node takes requests",
        description:
          "503 while the store is out of reach or its disk is full, and while the node shuts down: send requests elsewhere.",
        response: { 200: Type.Object({ status: oneOf(["ready"]) }, { description: "It does." }) },
      },
    },
    async () => {
      if (engine.isReady()) return { status: "ready" as const };
      throw new ServiceError(
        "UnavailableError",
        "This node has no store, or one whose disk is full, or it is shutting down.",
        {
          retryAfterSeconds: 1,
        },
      );
    },
  );
}

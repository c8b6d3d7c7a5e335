import { Type } from "typebox";
import { ServiceError } from "../../core/service-error.ts";
import type { Unreadiness } from "../../engine/engine.ts";
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
          "The answer is 503 while the node starts or shuts down, while the store cannot be reached or its disk is full, and after the lease of the node has expired. The `detail` of the answer gives the reason. As long as the answer is 503, send requests to another node.",
        response: { 200: Type.Object({ status: oneOf(["ready"]) }, { description: "The node can serve requests." }) },
      },
    },
    async () => {
      const unreadiness = engine.unreadiness();
      if (unreadiness === undefined) return { status: "ready" as const };
      throw new ServiceError("UnavailableError", sentences[unreadiness], { retryAfterSeconds: 1 });
    },
  );
}

const sentences: Readonly<Record<Unreadiness, string>> = {
  starting: "This node is starting. It becomes ready with its first heartbeat.",
  draining: "This node is shutting down. Send requests to another node.",
  "store-full": "The disk of the store is full. Make room on it; this node finds out by itself when there is room.",
  "store-unreachable":
    "The store has not answered this node for some seconds. Check that the database runs, and that this node reaches it.",
  "lease-expired":
    "The lease of this node has expired, for example because the machine slept or its clock was set forward. Other nodes may have taken over its jobs. It becomes ready with its next heartbeat.",
};

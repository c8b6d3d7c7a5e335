import { Type } from "typebox";
import type { Usage } from "../../auth/limits/rate-limits.ts";
import { toTime } from "../../core/time.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, OrganizationParams, oneOf, Time } from "../door/schemas.ts";

const RateLimitSchema = Type.Object(
  {
    scope: oneOf(["organization", "token", "user"], {
      description:
        "The subject of the limit: all callers of the organization together, the API token that asks, or the user who asks, in this organization.",
    }),
    policy: oneOf(["requests", "submits"], {
      description:
        "What is counted. SubmitJob and SubmitTask count in both limits: as one in `submits` and, like every request, with their `x-cost` in `requests`. A job that another job starts counts as one in the `submits` of the organization.",
    }),
    limitPerMinute: Type.Optional(
      Type.Integer({ description: "The limit per minute. It is left out where there is no limit." }),
    ),
    usedCount: Type.Integer({
      description:
        "The use in this minute on all nodes, accurate to a few per cent. While the use is far below the limit, only the use on the node that answers is shown.",
    }),
  },
  { title: "RateLimit" },
);

export function rateLimitRoutes(app: App, parts: ServerParts): void {
  getRateLimitsRoute(app, parts);
}

function getRateLimitsRoute(app: App, parts: ServerParts): void {
  const { rateLimits } = parts;
  app.get(
    "/organizations/:organizationId/rate-limits",
    {
      schema: {
        operationId: "GetRateLimits",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "Get the rate limits",
        description:
          "The answer has the limits per minute of the organization and of the caller, and how much of them was used in this minute. The operator of the service sets the limits.",
        params: OrganizationParams,
        response: {
          200: answer(
            "The limits.",
            Type.Object({ rateLimits: Type.Array(RateLimitSchema), resetsAt: Time }, { title: "RateLimits" }),
          ),
        },
      },
    },
    async (request) => {
      const { usages, resetsAt } = await rateLimits.readUsage(request.caller, request.params.organizationId);
      return { rateLimits: usages.map(renderUsage), resetsAt: toTime(resetsAt) };
    },
  );
}

function renderUsage({ quota: { scope, policy, limit }, usedCount }: Usage) {
  return { scope, policy, ...(Number.isFinite(limit) && { limitPerMinute: limit }), usedCount };
}

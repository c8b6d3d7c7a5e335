import { Type } from "typebox";
import type { Usage } from "../../auth/limits/rate-limits.ts";
import { toTime } from "../../core/time.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, OrganizationParams, oneOf, Time } from "../door/schemas.ts";

const RateLimitSchema = Type.Object(
  {
    scope: oneOf(["organization", "token", "user"], {
      description:
        "Whose limit: of all callers of the organization together, of the API token that asks, or of the user who asks, in this organization.",
    }),
    policy: oneOf(["requests", "submits"], { description: "What is counted. SubmitJob counts in both." }),
    limitPerMinute: Type.Optional(Type.Integer({ description: "Left out where there is no limit." })),
    usedCount: Type.Integer({
      description:
        "In this minute, on all nodes; of what is far from its limit, on the node that answers. To a few per cent.",
    }),
  },
  { title: "RateLimit" },
);

export function rateLimitRoutes(app: App, { rateLimits }: ServerParts): void {
  app.get(
    "/organizations/:organizationId/rate-limits",
    {
      schema: {
        operationId: "GetRateLimits",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "Get the rate limits",
        description:
          "What the organization and the caller may do in a minute, and what they did in this one. The operator of the service sets the limits.",
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

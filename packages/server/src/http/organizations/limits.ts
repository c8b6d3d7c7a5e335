import { type Static, Type } from "typebox";
import { maximumNames } from "../../config.ts";
import type { UsedMaximum } from "../../management/act/act.ts";
import { readUsedMaximums } from "../../management/maximums/maximums.ts";
import { readStoredUse } from "../../management/maximums/stored-bytes.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, OrganizationParams, oneOf } from "../door/schemas.ts";

const LimitSchema = Type.Object(
  {
    name: oneOf([...maximumNames, "planMemoryMb"], {
      description:
        "The name of the limit. `members` counts open invitations too. `waitingRequests` counts streams, and requests with `waitSeconds`; a stream of several jobs counts once for each job. `storedMb` is what jobs and versions store, in megabytes. `planMemoryMb` is the memory for compiled definitions, in megabytes; when it is full, the definitions that were used longest ago are removed from it.",
    }),
    maximum: Type.Integer(),
    usedCount: Type.Integer({
      description:
        "The part of the limit that is used. For a limit of each workflow, it is the use of the workflow that uses the most; for a limit of each node, it is the use of the node that answers. `storedMb` is an estimate, and some seconds old.",
    }),
    scope: oneOf(["organization", "workflow", "node"], {
      description:
        "The scope of the limit: the whole organization, each of its workflows, or the organization on each node.",
    }),
    isOwn: Type.Boolean({
      description: "True when the operator of the service set this limit for this organization alone.",
    }),
  },
  { title: "Limit" },
);

type Limit = Static<typeof LimitSchema>;

export function limitRoutes(app: App, parts: ServerParts): void {
  const { config, engine, plans, rateLimits } = parts;
  app.get(
    "/organizations/:organizationId/limits",
    {
      config: { cost: 5 },
      schema: {
        operationId: "GetLimits",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "Get the limits",
        description:
          "The answer says how many of each thing the organization may have, and how many it has. GetRateLimits says what the organization may do in a minute. The operator of the service sets both.",
        params: OrganizationParams,
        response: {
          200: answer("The limits.", Type.Object({ limits: Type.Array(LimitSchema) }, { title: "Limits" })),
        },
      },
    },
    async ({ params: { organizationId } }) => {
      const reader = parts.database.reader(organizationId);
      const counted = await readUsedMaximums(reader, parts, organizationId);
      const stored = await readStoredUse(reader, parts, organizationId);
      const waiting = {
        ...rateLimits.readMaximum(organizationId, "waitingRequests"),
        usedCount: engine.waitingCountOf(organizationId),
      };
      const plan = {
        name: "planMemoryMb",
        maximum: Math.floor(config.planCacheMb / 2),
        usedCount: Math.ceil(plans.bytesOf(organizationId) / (1024 * 1024)),
        isOwn: false,
      } as const;
      return { limits: [...counted, waiting, stored, plan].map(renderLimit) };
    },
  );
}

function renderLimit({ name, maximum, usedCount, isOwn }: UsedMaximum<Limit["name"]>): Limit {
  return { name, maximum, usedCount, scope: scopes[name] ?? "organization", isOwn };
}

const scopes: Readonly<Partial<Record<Limit["name"], Limit["scope"]>>> = {
  versionsPerWorkflow: "workflow",
  tagsPerWorkflow: "workflow",
  waitingRequests: "node",
  planMemoryMb: "node",
};

import { Type } from "typebox";
import { readUserTokenUse } from "../../management/account/user-tokens.ts";
import { readOrganizationUse } from "../../management/maximums/organization-maximum.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, oneOf } from "../door/schemas.ts";

const AccountLimitSchema = Type.Object(
  {
    name: oneOf(["organizations", "userTokens"], {
      description:
        "What the limit counts. `organizations`: those that you created and that still exist. `userTokens`: the valid ones.",
    }),
    maximum: Type.Integer(),
    usedCount: Type.Integer(),
    isOwn: Type.Boolean({
      description: "True when the operator of the service set this limit for your account alone.",
    }),
  },
  { title: "AccountLimit" },
);

export function accountLimitRoutes(app: App, parts: ServerParts): void {
  app.get(
    "/account/limits",
    {
      schema: {
        operationId: "GetAccountLimits",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Get the limits of your account",
        description:
          "The answer says how many of each thing you may create yourself, and how many you have. For the limits of an organization, use GetLimits.",
        response: {
          200: answer(
            "The limits.",
            Type.Object({ limits: Type.Array(AccountLimitSchema) }, { title: "AccountLimits" }),
          ),
        },
      },
    },
    async ({ caller: { principal } }) => {
      const organizations = await readOrganizationUse(parts.database, parts, principal.id);
      const userTokens = await readUserTokenUse(parts.database, parts, principal.id);
      return { limits: [organizations, userTokens] };
    },
  );
}

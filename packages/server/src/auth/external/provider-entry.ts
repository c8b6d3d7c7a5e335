import { type Static, Type } from "typebox";
import { roleNamePattern } from "../permissions/roles.ts";

function words(maxLength: number) {
  const options = { minLength: 1, maxLength, pattern: "^[^\\p{Cc}]*\\S[^\\p{Cc}]*$" };
  return Type.String({ ...options, "x-rule": `must be a text of 1 to ${maxLength} characters` });
}

function listOf(pattern: string, rule: string, maxItems: number) {
  return Type.Array(Type.String({ pattern, "x-rule": rule }), {
    minItems: 1,
    maxItems,
    uniqueItems: true,
    "x-rule": `must be a list of 1 to ${maxItems} different items`,
  });
}

const Roles = listOf(roleNamePattern, "must be the name of a role: lower-case letters, digits and hyphens", 20);

export const ProviderEntrySchema = Type.Object(
  {
    id: Type.String({
      pattern: "^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$",
      "x-rule":
        "must be 1 to 40 lower-case letters, digits and hyphens, with no hyphen at either end, because it is part of addresses",
    }),
    name: words(60),
    issuer: words(500),
    clientId: words(500),
    clientSecret: Type.Optional(words(2_000)),
    clientSecretFile: Type.Optional(words(2_000)),
    scopes: Type.Optional(listOf("^[!#-\\[\\]-~]+$", "must be a scope: one word of ASCII", 30)),
    emailDomains: listOf(
      "^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z0-9-]{2,63}$",
      "must be a domain such as `example.org`; write a domain with letters outside ASCII in its `xn--` form",
      200,
    ),
    trustsEmail: Type.Optional(Type.Boolean({ "x-rule": "must be true or false" })),
    organizationId: Type.String({
      pattern: "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
      "x-rule": "must be an organization's id",
    }),
    roleClaim: Type.Optional(words(200)),
    roles: Type.Optional(
      Type.Record(Type.String(), Roles, { "x-rule": "must be an object with a list of roles for each value" }),
    ),
    defaultRoles: Type.Optional(Roles),
    bearer: Type.Optional(
      Type.Object(
        { audience: words(500) },
        { additionalProperties: false, "x-rule": "must be an object with an `audience`" },
      ),
    ),
  },
  { additionalProperties: false, "x-rule": "must be an object" },
);

export type ProviderEntry = Static<typeof ProviderEntrySchema>;

import { type Static, Type } from "typebox";
import { type ExternalProvider, redirectUriOf } from "../../auth/external/provider.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { answer, closed, OrganizationParams } from "../door/schemas.ts";

/** The fields are named as in the operator's file of providers, so that people can compare the answer with it. The client's secret is left out. */
const SignInProviderSchema = Type.Object(
  {
    id: Type.String({
      description: "The id of the provider. It is part of addresses, and sessions show it as `sso:<id>`.",
    }),
    name: Type.String({ description: "The name under which people see the provider." }),
    issuer: Type.String(),
    clientId: Type.String({ description: "The id of this service at the issuer." }),
    redirectUri: Type.String({
      description: "The address to which people come back. It must be registered at the issuer.",
    }),
    scopes: Type.Array(Type.String()),
    emailDomains: Type.Array(Type.String(), {
      description: "The e-mail domains of the people who sign in at the issuer. They cannot sign in with a password.",
    }),
    trustsEmail: Type.Boolean({
      description:
        "True when the service trusts e-mail addresses even if the issuer does not say whether it verified them.",
    }),
    roleClaim: Type.Optional(
      Type.String({ description: "The name of the claim that gives roles, or a JSON pointer to it." }),
    ),
    roles: Type.Unsafe<Record<string, string[]>>({
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" } },
      description: "The roles that each value of the claim gives.",
    }),
    defaultRoles: Type.Array(Type.String(), {
      description:
        "The roles of people to whom the claim gives none. Without a default role, they are rejected, unless a member gave them a role.",
    }),
    bearer: Type.Optional(
      Type.Object(
        { audience: Type.String() },
        {
          description:
            "The service accepts access tokens of the issuer as the Bearer value if they are for this audience.",
        },
      ),
    ),
  },
  { title: "SignInProvider" },
);

export function signInProviderRoutes(app: App, parts: ServerParts): void {
  listSignInProvidersRoute(app, parts);
}

function listSignInProvidersRoute(app: App, parts: ServerParts): void {
  const { singleSignOn, publicUrl } = parts;
  app.get(
    "/organizations/:organizationId/sign-in-providers",
    {
      schema: {
        operationId: "ListSignInProviders",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "List the sign-in providers",
        description:
          "The answer lists the external issuers with which people sign in and become members of this organization. The operator of the service configures them in a file.",
        params: OrganizationParams,
        querystring: closed({ ...shortListParameters }),
        response: {
          200: answer(
            "One page.",
            Type.Object(
              { signInProviders: Type.Array(SignInProviderSchema), nextPageToken },
              { title: "SignInProviders" },
            ),
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const page = pageOfShortList(request, isProviderId);
      const { rows, ...next } = page.cut(
        singleSignOn.providersOf(organizationId, page.after, page.limit),
        ({ id }) => id,
      );
      return { signInProviders: rows.map((provider) => render(provider, publicUrl())), ...next };
    },
  );
}

function render(provider: ExternalProvider, publicUrl: string): Static<typeof SignInProviderSchema> {
  const { id, name, issuer, clientId, scopes, emailDomains, trustsEmail } = provider;
  const { roleClaim, roles, defaultRoles, bearerAudience } = provider;
  return {
    id,
    name,
    issuer,
    clientId,
    redirectUri: redirectUriOf(publicUrl, provider),
    scopes: [...scopes],
    emailDomains: [...emailDomains],
    trustsEmail,
    ...(roleClaim !== undefined && { roleClaim }),
    roles: Object.fromEntries([...roles].map(([value, given]) => [value, [...given]])),
    defaultRoles: [...defaultRoles],
    ...(bearerAudience !== undefined && { bearer: { audience: bearerAudience } }),
  };
}

function isProviderId(key: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(key);
}

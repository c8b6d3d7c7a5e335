import { randomUUID } from "node:crypto";
import { newOrganizationOfId, writeProviderFile } from "@stepwell/testing/identities/provider-file.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import type { ProviderEntry } from "../../../src/auth/external/provider-entry.ts";

const clientSecret = "the secret of our client at the issuer";

function entry(id: string, organizationId: string, more: Partial<ProviderEntry> = {}): ProviderEntry {
  return {
    id,
    name: id.toUpperCase(),
    issuer: `https://${id}.example`,
    clientId: `stepwell-at-${id}`,
    clientSecret,
    emailDomains: [`${id}.example`],
    organizationId,
    defaultRoles: ["viewer"],
    ...more,
  };
}

interface Page {
  readonly signInProviders: readonly { readonly id: string }[];
  readonly nextPageToken?: string;
}

onOneStore((home) => {
  const organizationId = randomUUID();
  const otherId = randomUUID();
  const file = writeProviderFile([
    entry("globex", organizationId.toUpperCase()),
    entry("acme", organizationId, {
      emailDomains: ["Acme.example", "acme.test"],
      scopes: ["openid", "email", "groups"],
      trustsEmail: true,
      roleClaim: "/realm/roles",
      roles: { staff: ["viewer", "ci"], bosses: ["owner"] },
      bearer: { audience: "https://stepwell.acme.example" },
    }),
    entry("initech", organizationId),
    entry("umbrella", otherId),
  ]);
  const service = useService(home, { STEPWELL_SIGN_IN_PROVIDERS_FILE: file });

  test("an organization's sign-in providers are listed as in the file, without the client's secret, and without those of others", async () => {
    const { api } = await newOrganizationOfId(service, organizationId);
    const other = await newOrganizationOfId(service, otherId);
    const { body } = await api.call<Page>("ListSignInProviders");
    expect(body.signInProviders.map(({ id }) => id)).toEqual(["acme", "globex", "initech"]);
    expect(JSON.stringify(body)).not.toContain(clientSecret);
    expect(body.signInProviders.slice(0, 2)).toEqual([
      {
        id: "acme",
        name: "ACME",
        issuer: "https://acme.example",
        clientId: "stepwell-at-acme",
        redirectUri: `${service.baseUrl}/oidc/callback/acme`,
        scopes: ["openid", "email", "groups"],
        emailDomains: ["acme.example", "acme.test"],
        trustsEmail: true,
        roleClaim: "/realm/roles",
        roles: { staff: ["viewer", "ci"], bosses: ["owner"] },
        defaultRoles: ["viewer"],
        bearer: { audience: "https://stepwell.acme.example" },
      },
      {
        id: "globex",
        name: "GLOBEX",
        issuer: "https://globex.example",
        clientId: "stepwell-at-globex",
        redirectUri: `${service.baseUrl}/oidc/callback/globex`,
        scopes: ["openid", "email", "profile"],
        emailDomains: ["globex.example"],
        trustsEmail: false,
        roles: {},
        defaultRoles: ["viewer"],
      },
    ]);
    const { body: others } = await other.api.call<Page>("ListSignInProviders");
    expect(others.signInProviders.map(({ id }) => id)).toEqual(["umbrella"]);
    await other.client.refused("ListSignInProviders", "NotFoundError", { params: { organizationId } });

    const { body: first } = await api.call<Page>("ListSignInProviders", { query: { pageSize: 2 } });
    expect(first.signInProviders.map(({ id }) => id)).toEqual(["acme", "globex"]);
    const next = { pageSize: 2, pageToken: first.nextPageToken ?? "" };
    const { body: second } = await api.call<Page>("ListSignInProviders", { query: next });
    expect(second.signInProviders.map(({ id }) => id)).toEqual(["initech"]);
    expect(second.nextPageToken).toBeUndefined();
  });

  test("an organization without a sign-in provider has an empty list, and a member without organization:read gets none", async () => {
    const organization = await service.newOrganization();
    expect((await organization.api.call("ListSignInProviders")).body).toEqual({ signInProviders: [] });
    await organization.api.call("CreateRole", { body: { name: "modest", permissions: ["job:read"] } });
    const member = await service.newMember(organization, ["modest"]);
    const { body } = await member.api.refused("ListSignInProviders", "AuthorizationError");
    expect(body.detail).toContain("organization:read");
  });
});

import { grantablePermissions } from "../../auth/permissions/permissions.ts";
import type { Example } from "./example.ts";
import { ids } from "./story.ts";

/** Examples of organizations, their OAuth clients and sign-in providers. */
export const organizationsExamples: Readonly<Record<string, Example>> = {
  CreateOrganization: {
    request: { name: "acme", displayName: "Acme", key: "acme" },
    answer: {
      organizationId: ids.organization,
      key: "acme",
      name: "acme",
      displayName: "Acme",
      createdAt: "2026-03-02T09:00:00.000Z",
      requiresSecondFactor: false,
    },
  },
  ListOrganizations: {
    answer: {
      organizations: [
        {
          organizationId: ids.organization,
          key: "acme",
          name: "acme",
          displayName: "Acme",
          createdAt: "2026-03-02T09:00:00.000Z",
          requiresSecondFactor: false,
        },
      ],
    },
  },
  GetOrganization: {
    answer: {
      organizationId: ids.organization,
      key: "acme",
      name: "acme",
      displayName: "Acme",
      createdAt: "2026-03-02T09:00:00.000Z",
      requiresSecondFactor: false,
    },
  },
  UpdateOrganization: {
    request: { displayName: "Acme" },
    answer: {
      organizationId: ids.organization,
      key: "acme",
      name: "acme",
      displayName: "Acme",
      createdAt: "2026-03-02T09:00:00.000Z",
      requiresSecondFactor: false,
    },
  },
  GetOwnPermissions: {
    answer: {
      permissions: [...grantablePermissions],
      roles: ["owner"],
    },
  },
  CheckPermissions: {
    request: { permissions: ["job:submit", "job:cancel"] },
    answer: { allowed: { "job:submit": true, "job:cancel": true }, all: true },
  },
  CreateOAuthClient: {
    request: { name: "Acme orders", redirectUris: ["https://orders.acme.example/signed-in"] },
    answer: {
      clientId: ids.client,
      organizationId: ids.organization,
      name: "Acme orders",
      redirectUris: ["https://orders.acme.example/signed-in"],
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:02.493Z",
    },
  },
  ListOAuthClients: {
    answer: {
      oauthClients: [
        {
          clientId: ids.client,
          organizationId: ids.organization,
          name: "Acme orders",
          redirectUris: ["https://orders.acme.example/signed-in"],
          createdBy: { type: "user", id: ids.ada },
          createdAt: "2026-03-02T09:00:02.493Z",
        },
      ],
    },
  },
  GetOAuthClient: {
    answer: {
      clientId: ids.client,
      organizationId: ids.organization,
      name: "Acme orders",
      redirectUris: ["https://orders.acme.example/signed-in"],
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:02.493Z",
    },
  },
  ListSignInProviders: {
    answer: {
      signInProviders: [
        {
          id: "acme",
          name: "Acme",
          issuer: "https://login.acme.example",
          clientId: "stepwell",
          redirectUri: "https://stepwell.acme.example/oidc/callback/acme",
          scopes: ["openid", "email", "groups"],
          emailDomains: ["acme.example"],
          trustsEmail: false,
          roleClaim: "groups",
          roles: { managers: ["operator"] },
          defaultRoles: ["viewer"],
        },
      ],
    },
  },
};

import type { ClientMetadata } from "oidc-provider";
import {
  type FoundOAuthClient,
  findOAuthClient,
  hasOAuthConsent,
  type OAuthClient,
} from "../../store/access/oauth-clients.ts";
import type { Queryable } from "../../store/home/database.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { sharedMetadata } from "./clients.ts";

/** The client of an organization with this id. Undefined for every other id, and when its organization is deleted. */
export async function findOrganizationClient(db: Queryable, clientId: string): Promise<FoundOAuthClient | undefined> {
  const organizationId = organizationOfClient(clientId);
  return organizationId === undefined ? undefined : await findOAuthClient(db, organizationId, clientId);
}

/** Whether a client of an organization may act for the user: both still belong to it, and the user agreed. */
export async function mayActFor(db: Queryable, clientId: string, userId: string): Promise<boolean> {
  const organizationId = organizationOfClient(clientId);
  return organizationId !== undefined && (await hasOAuthConsent(db, { organizationId, clientId, userId }));
}

/** As the provider takes it. `web`, although some of them are at home on a loopback address: the provider lets `native` ones change their port. */
export function metadataOf({ clientId, name, redirectUris }: OAuthClient): ClientMetadata {
  return {
    ...sharedMetadata,
    client_id: clientId,
    client_name: name,
    application_type: "web",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    redirect_uris: [...redirectUris],
    post_logout_redirect_uris: [],
  };
}

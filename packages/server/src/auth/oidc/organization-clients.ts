import type { ClientMetadata } from "oidc-provider";
import type { Timestamp } from "../../core/time.ts";
import {
  deleteOAuthConsent,
  type FoundOAuthClient,
  findOAuthClient,
  hasOAuthConsent,
  type OAuthClient,
} from "../../store/access/oauth-clients.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { type EndedSession, endClientSessions } from "../../store/people/user-sessions.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { sharedMetadata } from "./clients.ts";

/** Finds an organization's OAuth client by its id. Returns undefined when no such client exists, and when the organization is deleted. */
export async function findOrganizationClient(db: Queryable, clientId: string): Promise<FoundOAuthClient | undefined> {
  const organizationId = organizationOfClient(clientId);
  return organizationId === undefined ? undefined : await findOAuthClient(db, organizationId, clientId);
}

/** Tells whether a client of an organization may act for the user: both still belong to the organization, and the user has agreed. */
export async function mayActFor(db: Queryable, clientId: string, userId: string): Promise<boolean> {
  const organizationId = organizationOfClient(clientId);
  return organizationId !== undefined && (await hasOAuthConsent(db, { organizationId, clientId, userId }));
}

/** Withdraws the user's consent to the client, and ends the user's sessions in the client. Returns these sessions. */
export async function withdrawConsent(
  transaction: Transaction,
  { clientId, userId }: { readonly clientId: string; readonly userId: string },
  at: Timestamp,
): Promise<readonly EndedSession[]> {
  const organizationId = organizationOfClient(clientId);
  if (organizationId === undefined) return [];
  const consent = { organizationId, clientId, userId };
  // If a change writes the sessions and the consent, it always writes the sessions first, so that no two changes can deadlock.
  const ended = await endClientSessions(transaction, consent, at);
  await deleteOAuthConsent(transaction, consent);
  return ended;
}

/**
 * Returns the client in the form that the provider takes. Its type is `web` even if its address is a loopback address: the provider would let a
 * `native` client change its port.
 */
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

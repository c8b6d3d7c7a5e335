import type { Authenticator } from "../../auth/authenticator.ts";
import { createClientId, organizationOfClient } from "../../auth/credentials/token-form.ts";
import type { ClientOrigins } from "../../auth/oidc/client-origins.ts";
import { originsOf } from "../../auth/oidc/clients.ts";
import { grantHashOf } from "../../auth/oidc/grant-id.ts";
import { problemOfRedirectUri } from "../../auth/oidc/redirect-uri.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { findMember } from "../../store/access/members.ts";
import {
  deleteOAuthClient as deleteOAuthClientRow,
  findOAuthClient,
  insertOAuthClient,
  type OAuthClient,
  saveOAuthConsent,
} from "../../store/access/oauth-clients.ts";
import { lockOrganization } from "../../store/access/organizations.ts";
import { deleteGrants } from "../../store/people/oidc-records.ts";
import { endClientSessions } from "../../store/people/user-sessions.ts";
import type { Act, CallerAct, ManagementParts } from "../act/act.ts";
import { type AuditNote, recordAudit } from "../act/audit-trail.ts";
import { lockGrantsFor } from "../act/grants.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";

export interface OAuthClientFields {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

export interface OAuthClientKey {
  readonly organizationId: string;
  readonly clientId: string;
}

export interface OAuthClientParts extends ManagementParts {
  readonly authenticator: Pick<Authenticator, "forgetClient">;
  readonly openId: { readonly clientOrigins: Pick<ClientOrigins, "forgetAll"> };
}

/**
 * Makes an OAuth client. `ownOrigins` are the origins of the service's own clients. Throws 400, with pointers, for redirect URIs that cannot be used,
 * and 409 when the organization has too many clients. `answerOf` makes the answer, which a repetition gets too.
 */
export async function createOAuthClient<Answer extends object>(
  parts: OAuthClientParts,
  act: CallerAct,
  organizationId: string,
  { fields, ownOrigins }: { readonly fields: OAuthClientFields; readonly ownOrigins: readonly string[] },
  answerOf: (client: OAuthClient) => Answer,
): Promise<Answer> {
  const { engine, openId } = parts;
  const { name, redirectUris } = fields;
  requireRedirectUris(redirectUris, ownOrigins);
  const answered = await transactOnce(parts, act, { organizationId }, async (transaction, createdAt) => {
    await lockGrantsFor(transaction, engine, act, organizationId);
    await requireRoom(transaction, parts, act, { organizationId }, "oauthClients");
    const clientId = createClientId(organizationId, engine.newId());
    const { type, id } = act.actor;
    const client = { organizationId, clientId, name, redirectUris, createdBy: { type, id }, createdAt };
    await insertOAuthClient(transaction, client, originsOf(redirectUris));
    await recordAudit(transaction, engine, act, { organizationId, ...noteOf(client) });
    return answerOf(client);
  });
  openId.clientOrigins.forgetAll();
  return answered;
}

/** Deletes an OAuth client. Everything that was issued to it ends on every node. Throws 404 when there is no such client. */
export async function deleteOAuthClient(
  { database, engine, authenticator, openId }: OAuthClientParts,
  act: CallerAct,
  { organizationId, clientId }: OAuthClientKey,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockGrantsFor(transaction, engine, act, organizationId);
    const client = await findOAuthClient(transaction, organizationId, clientId);
    if (client === undefined) throw notFound("OAuth client");
    // Sessions are written before consents in every transaction that writes both, so that no two transactions can deadlock.
    const ended = await endClientSessions(transaction, { organizationId, clientId }, engine.now());
    await deleteOAuthClientRow(transaction, organizationId, clientId);
    const grants = ended.map(({ userId, sessionId }) => grantHashOf({ userId, sessionId, clientId }));
    await deleteGrants(transaction, grants);
    await recordAudit(transaction, engine, act, { organizationId, ...noteOf(client) });
  });
  authenticator.forgetClient(clientId);
  openId.clientOrigins.forgetAll();
}

/**
 * Notes that a member agrees that a client acts for them. Returns false when the client is gone, or the user is no longer a member of its
 * organization.
 */
export async function consentToOAuthClient(
  { database, engine }: Pick<ManagementParts, "database" | "engine">,
  act: Act,
  clientId: string,
): Promise<boolean> {
  const organizationId = organizationOfClient(clientId);
  const userId = act.actor.id;
  if (organizationId === undefined) return false;
  return await database.transaction(async (transaction) => {
    if ((await lockOrganization(transaction, organizationId)) === undefined) return false;
    const client = await findOAuthClient(transaction, organizationId, clientId);
    const member = await findMember(transaction, organizationId, userId);
    if (client === undefined || member === undefined) return false;
    await saveOAuthConsent(transaction, { organizationId, clientId, userId }, engine.now());
    await recordAudit(transaction, engine, act, { organizationId, ...noteOf(client) });
    return true;
  });
}

function noteOf({ clientId, name, redirectUris }: OAuthClient): AuditNote {
  return { targetType: "oauthClient", targetId: clientId, details: { name, redirectUris: [...redirectUris] } };
}

function requireRedirectUris(redirectUris: readonly string[], ownOrigins: readonly string[]): void {
  const problems = redirectUris.flatMap((uri, index) => {
    const detail = problemOfRedirectUri(uri, ownOrigins);
    return detail === undefined ? [] : [{ pointer: `/redirectUris/${index}`, detail }];
  });
  const [first] = problems;
  if (first === undefined) return;
  throw new ServiceError("ValidationError", `A redirect URI cannot be used: it ${first.detail}.`, { problems });
}

import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** A browser application that an organization lets its members sign in to. */
export interface OAuthClient {
  readonly organizationId: string;
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
}

const clientColumns = `
  oauth_client.organization_id AS "organizationId", oauth_client.client_id AS "clientId", oauth_client.name,
  oauth_client.redirect_uris AS "redirectUris", oauth_client.created_by AS "createdBy", oauth_client.created_at AS "createdAt"`;

/** Inserts a client. `origins` are the origins of its redirect URIs, each once. */
export async function insertOAuthClient(
  transaction: Transaction,
  client: OAuthClient,
  origins: readonly string[],
): Promise<void> {
  const { organizationId, clientId, name, redirectUris, createdBy, createdAt } = client;
  const created = [JSON.stringify(createdBy), new Date(createdAt).toISOString()];
  await transaction.query(insertOAuthClientRow, [organizationId, clientId, name, redirectUris, ...created]);
  await transaction.query(insertOAuthOriginRows, [organizationId, clientId, origins]);
}

const insertOAuthClientRow = statement<never>(
  "insert_oauth_client",
  "organization",
  `INSERT INTO oauth_client (organization_id, client_id, name, redirect_uris, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

const insertOAuthOriginRows = statement<never>(
  "insert_oauth_origins",
  "global",
  `INSERT INTO oauth_origin (origin, organization_id, client_id)
   SELECT origin, $1::uuid, $2::text FROM unnest($3::text[]) AS given (origin)`,
);

export interface FoundOAuthClient extends OAuthClient {
  /** The display name of the organization. */
  readonly organizationName: string;
}

/** Finds a client. Undefined when it does not exist or its organization is deleted. */
export async function findOAuthClient(
  db: Queryable,
  organizationId: string,
  clientId: string,
): Promise<FoundOAuthClient | undefined> {
  const [row] = await db.query(findOAuthClientRow, [organizationId, clientId]);
  return row;
}

const findOAuthClientRow = statement<FoundOAuthClient>(
  "find_oauth_client",
  "organization",
  `SELECT ${clientColumns}, organization.display_name AS "organizationName"
   FROM oauth_client
   JOIN organization ON organization.organization_id = oauth_client.organization_id
   WHERE oauth_client.organization_id = $1 AND organization.organization_id = $1 AND oauth_client.client_id = $2
     AND organization.deleted_at IS NULL`,
);

/** Lists the clients before `beforeClientId`, the newest first. The order of ids is the order in which clients were made. */
export async function listOAuthClients(
  db: Queryable,
  organizationId: string,
  beforeClientId: string | null,
  limit: number,
): Promise<OAuthClient[]> {
  return await db.query(listOAuthClientRows, [organizationId, beforeClientId, limit]);
}

const listOAuthClientRows = statement<OAuthClient>(
  "list_oauth_clients",
  "organization",
  `SELECT ${clientColumns}
   FROM oauth_client
   WHERE organization_id = $1 AND ($2::text IS NULL OR client_id < $2)
   ORDER BY client_id DESC
   LIMIT $3`,
  "each-time",
);

export async function countOAuthClients(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query(countOAuthClientRows, [organizationId]);
  return row?.clientCount ?? 0;
}

const countOAuthClientRows = statement<{ clientCount: number }>(
  "count_oauth_clients",
  "organization",
  `SELECT count(*)::integer AS "clientCount" FROM oauth_client WHERE organization_id = $1`,
);

/** Deletes a client with its consents and origins. */
export async function deleteOAuthClient(
  transaction: Transaction,
  organizationId: string,
  clientId: string,
): Promise<void> {
  await transaction.query(deleteOAuthConsentsOfClient, [organizationId, clientId]);
  await transaction.query(deleteOAuthClientRow, [organizationId, clientId]);
  await transaction.query(deleteOAuthOriginRows, [organizationId, clientId]);
}

const deleteOAuthConsentsOfClient = statement<never>(
  "delete_oauth_consents_of_client",
  "organization",
  "DELETE FROM oauth_consent WHERE organization_id = $1 AND client_id = $2",
);

const deleteOAuthClientRow = statement<never>(
  "delete_oauth_client",
  "organization",
  "DELETE FROM oauth_client WHERE organization_id = $1 AND client_id = $2",
);

const deleteOAuthOriginRows = statement<never>(
  "delete_oauth_origins_of_client",
  "global",
  "DELETE FROM oauth_origin WHERE organization_id = $1 AND client_id = $2",
);

/** Deletes the origins of all clients of an organization when the organization is deleted. */
export async function deleteOAuthOrigins(transaction: Transaction, organizationId: string): Promise<void> {
  await transaction.query(deleteOAuthOriginRowsOfOrganization, [organizationId]);
}

const deleteOAuthOriginRowsOfOrganization = statement<never>(
  "delete_oauth_origins_of_organization",
  "global",
  "DELETE FROM oauth_origin WHERE organization_id = $1",
);

/** Whether a client of any organization is served at this origin. */
export async function hasOAuthOrigin(db: Queryable, origin: string): Promise<boolean> {
  return (await db.query(findOAuthOrigin, [origin])).length > 0;
}

const findOAuthOrigin = statement<{ found: number }>(
  "find_oauth_origin",
  "global",
  "SELECT 1 AS found FROM oauth_origin WHERE origin = $1 LIMIT 1",
);

export interface OAuthConsent {
  readonly organizationId: string;
  readonly clientId: string;
  readonly userId: string;
}

export async function saveOAuthConsent(
  transaction: Transaction,
  { organizationId, clientId, userId }: OAuthConsent,
  at: Timestamp,
): Promise<void> {
  await transaction.query(saveOAuthConsentRow, [organizationId, clientId, userId, new Date(at).toISOString()]);
}

const saveOAuthConsentRow = statement<never>(
  "save_oauth_consent",
  "organization",
  `INSERT INTO oauth_consent (organization_id, client_id, user_id, consented_at)
   VALUES ($1, $2, $3, $4)
   ON CONFLICT (organization_id, client_id, user_id) DO UPDATE SET consented_at = excluded.consented_at`,
);

/** Whether the user agreed to the client and is still a member of the client's organization. False when this organization is deleted. */
export async function hasOAuthConsent(
  db: Queryable,
  { organizationId, clientId, userId }: OAuthConsent,
): Promise<boolean> {
  return (await db.query(findOAuthConsent, [organizationId, clientId, userId])).length > 0;
}

const findOAuthConsent = statement<{ found: number }>(
  "find_oauth_consent",
  "organization",
  `SELECT 1 AS found
   FROM oauth_consent
   JOIN member ON member.organization_id = oauth_consent.organization_id AND member.user_id = oauth_consent.user_id
   JOIN organization ON organization.organization_id = oauth_consent.organization_id
   WHERE oauth_consent.organization_id = $1 AND member.organization_id = $1 AND organization.organization_id = $1
     AND oauth_consent.client_id = $2 AND oauth_consent.user_id = $3 AND organization.deleted_at IS NULL`,
);

export async function deleteOAuthConsent(
  transaction: Transaction,
  { organizationId, clientId, userId }: OAuthConsent,
): Promise<void> {
  await transaction.query(deleteOAuthConsentRow, [organizationId, clientId, userId]);
}

const deleteOAuthConsentRow = statement<never>(
  "delete_oauth_consent",
  "organization",
  "DELETE FROM oauth_consent WHERE organization_id = $1 AND client_id = $2 AND user_id = $3",
);

export async function deleteOAuthConsents(
  transaction: Transaction,
  organizationId: string,
  userId: string,
): Promise<void> {
  await transaction.query(deleteOAuthConsentsOfUser, [organizationId, userId]);
}

const deleteOAuthConsentsOfUser = statement<never>(
  "delete_oauth_consents_of_user",
  "organization",
  "DELETE FROM oauth_consent WHERE organization_id = $1 AND user_id = $2",
);

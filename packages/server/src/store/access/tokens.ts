import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import { askInParts, everyPairJoined } from "../home/key-parts.ts";
import type { TokenUse } from "../people/token-use.ts";

/** The restrictions of a token in addition to its permissions. Null means that there is no such restriction. */
export interface BoundTo {
  readonly workflowIds: readonly string[] | null;
  readonly tags: readonly string[] | null;
  /** The job and the event are either both set or both null. */
  readonly boundJobId: string | null;
  readonly boundEventId: string | null;
}

export interface ApiToken extends BoundTo {
  readonly organizationId: string;
  readonly tokenId: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly tokenPrefix: string;
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly expiresAt: Timestamp | null;
  readonly lastUsedAt: Timestamp | null;
  /** The time at which the token got its present secret; null while it has its first one. */
  readonly rotatedAt: Timestamp | null;
  /** The time until which the previous secret is valid. */
  readonly previousExpiresAt: Timestamp | null;
}

const boundColumns = `
  workflow_ids AS "workflowIds", tags, bound_job_id AS "boundJobId", bound_event_id AS "boundEventId"`;

const apiTokenColumns = `
  organization_id AS "organizationId", token_id AS "tokenId", name, permissions, token_prefix AS "tokenPrefix",
  created_by AS "createdBy", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt",
  last_used_at AS "lastUsedAt", rotated_at AS "rotatedAt", previous_expires_at AS "previousExpiresAt", ${boundColumns}`;

export async function insertApiToken(db: Queryable, token: ApiToken, tokenHash: Buffer): Promise<void> {
  await db.query(insertApiTokenRow, [
    token.organizationId,
    token.tokenId,
    token.name,
    token.permissions,
    tokenHash,
    token.tokenPrefix,
    JSON.stringify(token.createdBy),
    new Date(token.createdAt).toISOString(),
    timeOf(token.expiresAt),
    token.workflowIds,
    token.tags,
    token.boundJobId,
    token.boundEventId,
  ]);
}

const insertApiTokenRow = statement<never>(
  "insert_api_token",
  "organization",
  `INSERT INTO api_token (organization_id, token_id, name, permissions, token_hash, token_prefix, created_by, created_at,
     updated_at, expires_at, workflow_ids, tags, bound_job_id, bound_event_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13)`,
);

export interface TokenIdentity extends BoundTo {
  readonly tokenId: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly expiresAt: Timestamp | null;
  readonly lastUsedAt: Timestamp | null;
  /** The time at which the previous secret ends, if the request carries that one; null if it carries the present secret. */
  readonly overlapEndsAt: Timestamp | null;
}

/**
 * Finds the token that a request carries, by its present secret or the previous one, unless it was revoked or its organization was deleted. The
 * caller checks whether the token or the previous secret has expired.
 */
export async function findApiTokenByHash(
  db: Queryable,
  organizationId: string,
  tokenHash: Buffer,
): Promise<TokenIdentity | undefined> {
  const [row] = await db.query(findApiTokenByHashRow, [organizationId, tokenHash]);
  return row;
}

const findApiTokenByHashRow = statement<TokenIdentity>(
  "find_api_token_by_hash",
  "organization",
  `SELECT api_token.token_id AS "tokenId", api_token.name, api_token.permissions, api_token.expires_at AS "expiresAt",
     api_token.last_used_at AS "lastUsedAt", ${boundColumns},
     CASE WHEN api_token.token_hash = $2 THEN NULL ELSE api_token.previous_expires_at END AS "overlapEndsAt"
   FROM api_token
   JOIN organization ON organization.organization_id = api_token.organization_id
   WHERE api_token.organization_id = $1 AND organization.organization_id = $1
     AND (api_token.token_hash = $2 OR api_token.previous_token_hash = $2)
     AND api_token.revoked_at IS NULL AND organization.deleted_at IS NULL`,
);

/** Counts the tokens that are not revoked, expired ones included. */
export async function countApiTokens(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query(countApiTokenRows, [organizationId]);
  return row?.tokenCount ?? 0;
}

const countApiTokenRows = statement<{ tokenCount: number }>(
  "count_api_tokens",
  "organization",
  `SELECT count(*)::integer AS "tokenCount" FROM api_token WHERE organization_id = $1 AND revoked_at IS NULL`,
);

/** Lists the tokens before `beforeTokenId`, the newest first. Revoked tokens are not listed. */
export async function listApiTokens(
  db: Queryable,
  organizationId: string,
  beforeTokenId: string | null,
  limit: number,
): Promise<ApiToken[]> {
  return await db.query(listApiTokenRows, [organizationId, beforeTokenId, limit]);
}

const listApiTokenRows = statement<ApiToken>(
  "list_api_tokens",
  "organization",
  `SELECT ${apiTokenColumns}
   FROM api_token
   WHERE organization_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR token_id < $2)
   ORDER BY token_id DESC
   LIMIT $3`,
  "each-time",
);

export async function findApiToken(
  db: Queryable,
  organizationId: string,
  tokenId: string,
): Promise<ApiToken | undefined> {
  const [row] = await db.query(findApiTokenRow, [organizationId, tokenId]);
  return row;
}

const findApiTokenRow = statement<ApiToken>(
  "find_api_token",
  "organization",
  `SELECT ${apiTokenColumns}
   FROM api_token
   WHERE organization_id = $1 AND token_id = $2 AND revoked_at IS NULL`,
);

/** Whether the secret is the present one of a token. False for a replaced secret, and for a revoked token. */
export async function isCurrentSecret(
  db: Queryable,
  organizationId: string,
  tokenId: string,
  tokenHash: Buffer,
): Promise<boolean> {
  const rows = await db.query(findCurrentSecret, [organizationId, tokenId, tokenHash]);
  return rows.length > 0;
}

const findCurrentSecret = statement<{ found: number }>(
  "find_current_secret",
  "organization",
  `SELECT 1 AS found
   FROM api_token
   WHERE organization_id = $1 AND token_id = $2 AND token_hash = $3 AND revoked_at IS NULL`,
);

/** The hashes under which the caches know a token. */
export interface TokenHashes {
  readonly tokenHash: Buffer;
  readonly previousTokenHash: Buffer | null;
}

/** Locks the token, so that the caller's permission is checked against the token's present state. */
export async function lockApiToken(
  db: Queryable,
  organizationId: string,
  tokenId: string,
): Promise<(ApiToken & TokenHashes) | undefined> {
  const [row] = await db.query(lockApiTokenRow, [organizationId, tokenId]);
  return row;
}

const lockApiTokenRow = statement<ApiToken & TokenHashes>(
  "lock_api_token",
  "organization",
  `SELECT ${apiTokenColumns}, token_hash AS "tokenHash", previous_token_hash AS "previousTokenHash"
   FROM api_token
   WHERE organization_id = $1 AND token_id = $2 AND revoked_at IS NULL
   FOR UPDATE`,
);

/** Writes the name, the permissions, the expiry and the restrictions of a locked token. */
export async function updateApiToken(db: Queryable, token: ApiToken): Promise<void> {
  await db.query(updateApiTokenRow, [
    token.organizationId,
    token.tokenId,
    token.name,
    token.permissions,
    timeOf(token.expiresAt),
    timeOf(token.updatedAt),
    token.workflowIds,
    token.tags,
    token.boundJobId,
    token.boundEventId,
  ]);
}

const updateApiTokenRow = statement<never>(
  "update_api_token",
  "organization",
  `UPDATE api_token
   SET name = $3, permissions = $4, expires_at = $5, updated_at = $6, workflow_ids = $7, tags = $8, bound_job_id = $9,
     bound_event_id = $10
   WHERE organization_id = $1 AND token_id = $2 AND revoked_at IS NULL`,
);

/** Gives a locked token a new secret. The secret before it stays valid until `previousExpiresAt`. A still older secret ends at once. */
export async function rotateApiToken(db: Queryable, token: ApiToken, tokenHash: Buffer): Promise<void> {
  await db.query(rotateApiTokenRow, [
    token.organizationId,
    token.tokenId,
    tokenHash,
    token.tokenPrefix,
    timeOf(token.rotatedAt),
    timeOf(token.previousExpiresAt),
  ]);
}

const rotateApiTokenRow = statement<never>(
  "rotate_api_token",
  "organization",
  `UPDATE api_token
   SET previous_token_hash = token_hash, previous_expires_at = $6, token_hash = $3, token_prefix = $4, rotated_at = $5,
     updated_at = $5
   WHERE organization_id = $1 AND token_id = $2 AND revoked_at IS NULL`,
);

/** Replaces a locked token's secret that nobody received. The expiry of the previous secret does not change. */
export async function replaceLostSecret(db: Queryable, token: ApiToken, tokenHash: Buffer): Promise<void> {
  const { organizationId, tokenId, tokenPrefix, rotatedAt } = token;
  await db.query(replaceLostSecretRow, [organizationId, tokenId, tokenHash, tokenPrefix, timeOf(rotatedAt)]);
}

const replaceLostSecretRow = statement<never>(
  "replace_lost_secret",
  "organization",
  `UPDATE api_token
   SET token_hash = $3, token_prefix = $4, rotated_at = $5, updated_at = $5
   WHERE organization_id = $1 AND token_id = $2 AND revoked_at IS NULL`,
);

/** Revokes a locked token. Its previous secret ends, too. */
export async function revokeApiToken(
  db: Queryable,
  organizationId: string,
  tokenId: string,
  at: Timestamp,
): Promise<void> {
  await db.query(revokeApiTokenRow, [organizationId, tokenId, timeOf(at)]);
}

const revokeApiTokenRow = statement<never>(
  "revoke_api_token",
  "organization",
  `UPDATE api_token
   SET revoked_at = $3
   WHERE organization_id = $1 AND token_id = $2 AND revoked_at IS NULL`,
);

/**
 * Lists the tokens that a user made, directly or through other tokens, newest first. Revoked tokens are left out, but the tokens that were made with
 * them are listed.
 */
export async function listApiTokensMadeBy(db: Queryable, organizationId: string, userId: string): Promise<ApiToken[]> {
  return await db.query(listApiTokenRowsMadeBy, [organizationId, userId]);
}

/** The ids of the tokens that the user $2 made, directly or through other tokens. */
const madeBy = `
  RECURSIVE made AS (
    SELECT token_id FROM api_token WHERE organization_id = $1 AND created_by->>'id' = $2::text
    UNION
    SELECT api_token.token_id
    FROM api_token, made
    WHERE api_token.organization_id = $1 AND api_token.created_by->>'id' = made.token_id::text
  )`;

const listApiTokenRowsMadeBy = statement<ApiToken>(
  "list_api_tokens_made_by",
  "organization",
  `WITH ${madeBy}
   SELECT ${apiTokenColumns}
   FROM api_token
   WHERE organization_id = $1 AND revoked_at IS NULL AND token_id IN (SELECT token_id FROM made)
   ORDER BY token_id DESC`,
);

/** Counts the tokens that `listApiTokensMadeBy` returns. */
export async function countApiTokensMadeBy(db: Queryable, organizationId: string, userId: string): Promise<number> {
  const [row] = await db.query(countApiTokenRowsMadeBy, [organizationId, userId]);
  return row?.count ?? 0;
}

const countApiTokenRowsMadeBy = statement<{ count: number }>(
  "count_api_tokens_made_by",
  "organization",
  `WITH ${madeBy}
   SELECT count(*)::int AS count
   FROM api_token
   WHERE organization_id = $1 AND revoked_at IS NULL AND token_id IN (SELECT token_id FROM made)`,
);

/** Revokes these tokens. Their previous secrets end, too. Returns the hashes under which the caches know the tokens. */
export async function revokeApiTokens(
  db: Queryable,
  organizationId: string,
  tokenIds: readonly string[],
  at: Timestamp,
): Promise<TokenHashes[]> {
  if (tokenIds.length === 0) return [];
  return await db.query(revokeApiTokenRows, [organizationId, tokenIds, timeOf(at)]);
}

const revokeApiTokenRows = statement<TokenHashes>(
  "revoke_api_tokens",
  "organization",
  `UPDATE api_token
   SET revoked_at = $3
   WHERE organization_id = $1 AND token_id = ANY($2::uuid[]) AND revoked_at IS NULL
   RETURNING token_hash AS "tokenHash", previous_token_hash AS "previousTokenHash"`,
);

export async function touchApiTokens(db: Queryable, uses: readonly TokenUse[]): Promise<void> {
  const keyed = uses.map((use) => ({ ...use, organizationId: use.ownerId }));
  await askInParts(
    keyed,
    (part) =>
      db.query(touchApiTokenRows, [
        part.map((use) => use.organizationId),
        part.map((use) => use.tokenId),
        part.map((use) => new Date(use.usedAt).toISOString()),
      ]),
    everyPairJoined,
  );
}

const touchApiTokenRows = statement<never>(
  "touch_api_tokens",
  "organization",
  `UPDATE api_token
   SET last_used_at = used.at
   FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS used (organization_id, token_id, at)
   WHERE api_token.organization_id = ANY($1::uuid[]) AND api_token.token_id = ANY($2::uuid[])
     AND api_token.organization_id = used.organization_id AND api_token.token_id = used.token_id
     AND (api_token.last_used_at IS NULL OR api_token.last_used_at < used.at)`,
);

function timeOf(at: Timestamp | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

import { actorOf } from "../../auth/caller.ts";
import { createToken } from "../../auth/credentials/token-form.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import { boundsOf } from "../../auth/permissions/token-bounds.ts";
import { type JsonObject, type JsonValue, jsonEquals } from "../../core/json/json.ts";
import { notFound } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { toTime } from "../../core/time.ts";
import {
  type ApiToken,
  insertApiToken,
  lockApiToken,
  revokeApiToken as revokeApiTokenRow,
  type TokenHashes,
  updateApiToken as updateApiTokenRow,
} from "../../store/access/tokens.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { CallerAct, ManagementParts, RevokingParts } from "../act/act.ts";
import { changesOf, recordAudit } from "../act/audit-trail.ts";
import { lockGrantsFor } from "../act/grants.ts";
import { etagOf, requireUnchanged } from "../act/precondition.ts";
import { transactAnew } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";
import { type NamedBounds, nameBounds, readBoundTo, requireFitting, unbound } from "./bound-to.ts";
import {
  endOfCaller,
  expiryOfNew,
  outlives,
  requireAsLongALife,
  requireFutureExpiry,
  requireNoLongerLife,
} from "./expiry.ts";

export interface ApiTokenKey {
  readonly organizationId: string;
  readonly tokenId: string;
}

export interface NewApiToken {
  readonly organizationId: string;
  readonly name: string;
  readonly permissions: readonly string[];
  /** Null for a token that does not expire; undefined when the request says nothing about it. */
  readonly expiresAt: Timestamp | null | undefined;
  readonly boundTo: NamedBounds | undefined;
}

/** The changes of a token. A field that is undefined stays as it is; null removes the value. */
export interface ApiTokenChange {
  readonly name: string | undefined;
  readonly permissions: readonly string[] | undefined;
  readonly expiresAt: Timestamp | null | undefined;
  readonly boundTo: NamedBounds | null | undefined;
}

/**
 * Creates a token. Its secret is not stored, so it is returned only this once. Throws 403 when the caller lacks a permission that the token gets, or
 * calls with a token that ends before the new token, and 409 when the organization has too many tokens.
 */
export async function createApiToken(
  parts: RevokingParts,
  act: CallerAct,
  { organizationId, name, permissions, expiresAt: askedFor, boundTo }: NewApiToken,
): Promise<{ readonly created: ApiToken; readonly token: string }> {
  const { engine } = parts;
  const createdAt = engine.now();
  const { token, tokenHash, tokenPrefix } = createToken("organization", organizationId);
  const scope = { organizationId };
  const { created, ended } = await transactAnew(parts, act, scope, async (transaction, earlier?: Earlier) => {
    requireAll(await lockGrantsFor(transaction, engine, act, organizationId), permissions);
    const expiresAt = expiryOfNew(askedFor, createdAt, await endOfCaller(transaction, act.caller));
    const bound = boundTo === undefined ? unbound : await readBoundTo(transaction, organizationId, boundTo);
    const created: ApiToken = {
      ...bound,
      organizationId,
      tokenId: engine.newId(),
      name,
      permissions,
      tokenPrefix,
      createdBy: actorOf(act.caller),
      createdAt,
      updatedAt: createdAt,
      expiresAt,
      lastUsedAt: null,
      rotatedAt: null,
      previousExpiresAt: null,
    };
    requireFitting(created, permissions, "/permissions");
    const ended = await endLostToken(parts, transaction, act, earlier?.tokenId, created);
    await requireRoom(transaction, parts, act, { organizationId }, "apiTokens");
    await insertApiToken(transaction, created, tokenHash);
    await recordTokenAudit(parts, transaction, act, created, auditedFields(created));
    return { made: { tokenId: created.tokenId }, answer: { created, ended } };
  });
  if (ended !== undefined) forgetSecrets(parts, ended);
  return { created, token };
}

/**
 * Changes a token. Throws 403 unless the caller has every permission of the token, before and after the change. Also throws 403 if the change
 * gives the token more (see `givesMore`) and the changed token outlives the caller's own.
 */
export async function updateApiToken(
  parts: RevokingParts,
  act: CallerAct,
  { organizationId, tokenId }: ApiTokenKey,
  { name, permissions, expiresAt, boundTo }: ApiTokenChange,
): Promise<ApiToken> {
  const { database, engine } = parts;
  const updatedAt = engine.now();
  requireFutureExpiry(expiresAt, updatedAt);
  const { changed, hashes } = await database.transaction(async (transaction) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const found = await lockApiToken(transaction, organizationId, tokenId);
    if (found === undefined) throw notFound("API token");
    const { tokenHash, previousTokenHash, ...token } = found;
    // The caller must hold the permissions even if they stay as they are. A longer life or looser bounds grant them further, and a shorter life or
    // tighter bounds take them away.
    requireAll(granted, [...token.permissions, ...(permissions ?? [])]);
    requireUnchanged(act, "API token", etagOfToken(token));
    const bound = boundTo && (await readBoundTo(transaction, organizationId, boundTo));
    const changed: ApiToken = {
      ...token,
      ...(boundTo === null ? unbound : bound),
      name: name ?? token.name,
      permissions: permissions ?? token.permissions,
      expiresAt: expiresAt === undefined ? token.expiresAt : expiresAt,
      updatedAt,
    };
    const pointer = permissions === undefined ? "/boundTo/jobEvent" : "/permissions";
    requireFitting(changed, changed.permissions, pointer);
    if (givesMore(token, changed)) {
      const requireLife = expiresAt === undefined ? requireAsLongALife : requireNoLongerLife;
      requireLife(changed.expiresAt, await endOfCaller(transaction, act.caller));
    }
    await updateApiTokenRow(transaction, changed);
    const changes = changesOf(auditedFields(token), auditedFields(changed));
    await recordTokenAudit(parts, transaction, act, changed, changes);
    return { changed, hashes: { tokenHash, previousTokenHash } };
  });
  forgetSecrets(parts, hashes);
  return changed;
}

/** Revokes a token for good, together with its previous secret. Throws 403 unless the caller has every permission of the token. */
export async function revokeApiToken(
  parts: RevokingParts,
  act: CallerAct,
  { organizationId, tokenId }: ApiTokenKey,
): Promise<void> {
  const { database, engine } = parts;
  const revoked = await database.transaction(async (transaction) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const token = await lockApiToken(transaction, organizationId, tokenId);
    if (token === undefined) throw notFound("API token");
    requireAll(granted, token.permissions);
    requireUnchanged(act, "API token", etagOfToken(token));
    await revokeApiTokenRow(transaction, organizationId, tokenId, engine.now());
    await recordTokenAudit(parts, transaction, act, token, auditedFields(token));
    return token;
  });
  forgetSecrets(parts, revoked);
}

/** Makes the entity tag of a token from all fields that can be changed. Using the token does not change the tag. */
export function etagOfToken(token: ApiToken): string {
  const { tokenId, tokenPrefix, previousExpiresAt } = token;
  return etagOf({ ...auditedFields(token), tokenId, tokenPrefix, previousExpiresAt });
}

/** Lets this node forget the secrets of a token that was changed, so that the change takes effect at once on this node. */
export function forgetSecrets({ authenticator }: RevokingParts, { tokenHash, previousTokenHash }: TokenHashes): void {
  for (const hash of [tokenHash, previousTokenHash]) if (hash !== null) authenticator.forgetToken(hash);
}

export async function recordTokenAudit(
  { engine }: ManagementParts,
  transaction: Transaction,
  act: CallerAct,
  { organizationId, tokenId }: ApiTokenKey,
  details: JsonObject,
): Promise<void> {
  const note = { organizationId, targetType: "apiToken", targetId: tokenId, details } as const;
  await recordAudit(transaction, engine, act, note);
}

/** The token of an earlier attempt whose answer was lost. */
type Earlier = { readonly tokenId: string };

/** Revokes the token of an attempt whose answer was lost, because nobody has its secret. */
async function endLostToken(
  parts: ManagementParts,
  transaction: Transaction,
  act: CallerAct,
  tokenId: string | undefined,
  { organizationId, tokenId: replacedBy, createdAt }: ApiToken,
): Promise<TokenHashes | undefined> {
  const lost = tokenId === undefined ? undefined : await lockApiToken(transaction, organizationId, tokenId);
  if (lost === undefined) return undefined;
  await revokeApiTokenRow(transaction, organizationId, lost.tokenId, createdAt);
  const revocation = { ...act, operation: "RevokeApiToken" };
  await recordTokenAudit(parts, transaction, revocation, lost, { ...auditedFields(lost), replacedBy });
  return lost;
}

/** Tells whether a changed token lives longer, has a new permission, or had bounds that are not the same any more, and so may be looser. */
function givesMore(before: ApiToken, after: ApiToken): boolean {
  return (
    outlives(after.expiresAt, before.expiresAt) ||
    after.permissions.some((permission) => !before.permissions.includes(permission)) ||
    (boundsOf(before) !== undefined && !jsonEquals(boundsIn(before), boundsIn(after)))
  );
}

function boundsIn(token: ApiToken): JsonValue {
  const bounds = boundsOf(token);
  return bounds === undefined ? null : (nameBounds(bounds) as JsonValue);
}

/**
 * Returns the fields of a token that the audit trail records. They contain no part of the secret, not even its beginning, which is shown in lists of
 * tokens.
 */
export function auditedFields(token: ApiToken): JsonObject {
  const { name, permissions, expiresAt } = token;
  return {
    name,
    permissions: [...permissions],
    expiresAt: expiresAt === null ? null : toTime(expiresAt),
    boundTo: boundsIn(token),
  };
}

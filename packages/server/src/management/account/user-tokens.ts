import { recordAccountActivity } from "../../auth/account-activity.ts";
import { requireLasting } from "../../auth/credentials/lasting-credential.ts";
import { createToken } from "../../auth/credentials/token-form.ts";
import { settings } from "../../config.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { holdCredentials } from "../../store/people/user-credentials.ts";
import {
  countUserTokens,
  insertUserToken,
  revokeUserToken as revokeUserTokenRow,
  type UserToken,
} from "../../store/people/user-tokens.ts";
import type { Act, CallerAct, ManagementParts, RevokingParts, UsedMaximum } from "../act/act.ts";
import { transactAnew } from "../act/repetition.ts";
import { endOfCaller, expiryOfNew } from "../tokens/expiry.ts";
import { type ConfirmationParts, confirmPerson, type Proof, requireFreshSignIn } from "./confirmation.ts";

export interface NewUserToken {
  readonly name: string;
  /** Null for a token that does not expire; undefined when the request says nothing about the expiry. */
  readonly expiresAt: Timestamp | null | undefined;
}

export interface AddedUserToken {
  readonly created: UserToken;
  /** The token itself, which is stored nowhere. */
  readonly token: string;
}

/**
 * Creates a token that acts as the caller. `proof` must confirm who the caller is. Throws what `confirmPerson` throws. Throws 401 when the
 * caller's own credential has ended, 403 when the new token would outlive the token of the request, and 409 when the account has as many tokens as it
 * may.
 */
export async function createUserToken(
  parts: RevokingParts & ConfirmationParts,
  act: CallerAct,
  { name, expiresAt: askedFor }: NewUserToken,
  proof: Proof,
): Promise<AddedUserToken> {
  const { engine, authenticator } = parts;
  const { id: userId } = act.actor;
  const createdAt = engine.now();
  const tokenId = engine.newId();
  const expiresAt = expiryOfNew(askedFor, createdAt, await endOfCaller(parts.database, act.caller));
  const work = async (transaction: Transaction, earlier?: Earlier, confirmedPassword?: Timestamp | null) => {
    // This locks the account's row. So a change that ends all credentials of the account either comes first and is noticed below, or ends the new
    // token too.
    const credentials = await holdCredentials(transaction, userId);
    await requireLasting(transaction, act.caller);
    // The first attempt has used up the code, so a repetition relies on the confirmation of the first attempt.
    const passwordChangedAt = earlier === undefined ? confirmedPassword : earlier.passwordChangedAt;
    if (credentials === undefined || credentials.passwordChangedAt !== passwordChangedAt) throw changedMeanwhile();
    if (credentials.passwordHash === null) requireFreshSignIn(act.caller, createdAt);
    // Nobody has the secret of a token if the answer was lost, so the token of the earlier attempt is revoked.
    const ended = earlier && (await revoke(parts, transaction, act, earlier.tokenId));
    await requireUserTokenRoom(transaction, parts, act);
    const added = await addUserToken(transaction, { name, expiresAt, userId, tokenId, createdAt });
    const { tokenPrefix } = added.created;
    const activity = { userId, action: "user-token-created", address: act.address } as const;
    await recordAccountActivity(transaction, engine, { ...activity, details: { name, tokenPrefix } });
    return { made: { tokenId, passwordChangedAt }, answer: { added, ended } };
  };
  const confirm = () => confirmPerson(parts, act, proof);
  const { added, ended } = await transactAnew(parts, act, { userId }, work, confirm);
  if (ended !== undefined) authenticator.forgetToken(ended);
  return added;
}

/** Reads how many user tokens an account may have at once, and how many valid ones this user has. */
export async function readUserTokenUse(
  db: Queryable,
  { config, engine }: Pick<ManagementParts, "config" | "engine">,
  userId: string,
): Promise<UsedMaximum<"userTokens">> {
  const usedCount = await countUserTokens(db, userId, engine.now());
  return { name: "userTokens", maximum: config.maxUserTokens, isOwn: false, usedCount };
}

/** Revokes one of the actor's own tokens. Throws 404 when the actor has no such token. */
export async function revokeUserToken(parts: RevokingParts, act: Act, tokenId: string): Promise<void> {
  const { database, authenticator } = parts;
  const tokenHash = await database.transaction(async (transaction) => {
    const revoked = await revoke(parts, transaction, act, tokenId);
    if (revoked === undefined) throw notFound("user token");
    return revoked;
  });
  authenticator.forgetToken(tokenHash);
}

/** Adds a token to an account. Does not record it in the account's activity. */
export async function addUserToken(
  transaction: Transaction,
  wanted: Omit<UserToken, "tokenPrefix">,
): Promise<AddedUserToken> {
  const { token, tokenHash, tokenPrefix } = createToken("user", wanted.userId);
  const created = { ...wanted, tokenPrefix };
  await insertUserToken(transaction, created, tokenHash);
  return { created, token };
}

/** Returns the hash of the token's secret; undefined when there was no token to revoke. */
async function revoke(
  { engine }: ManagementParts,
  transaction: Transaction,
  { actor, address }: Act,
  tokenId: string,
): Promise<Buffer | undefined> {
  const { id: userId } = actor;
  const revoked = await revokeUserTokenRow(transaction, userId, tokenId, engine.now());
  if (revoked === undefined) return undefined;
  const activity = { userId, action: "user-token-revoked", address, details: { name: revoked.name } } as const;
  await recordAccountActivity(transaction, engine, activity);
  return revoked.tokenHash;
}

/** The token that an earlier attempt made, and the time of the last password change before that attempt was confirmed. */
type Earlier = { readonly tokenId: string; readonly passwordChangedAt: Timestamp | null };

async function requireUserTokenRoom(
  transaction: Transaction,
  parts: Pick<ManagementParts, "config" | "engine">,
  act: CallerAct,
): Promise<void> {
  const used = await readUserTokenUse(transaction, parts, act.actor.id);
  if (used.usedCount >= used.maximum) throw tooMany(used.maximum);
  act.onCounted?.({ ...used, usedCount: used.usedCount + 1 });
}

function tooMany(maximum: number): ServiceError {
  return new ServiceError(
    "ConflictError",
    `An account can have at most ${maximum} valid user tokens. Revoke one that is not used any more; ListUserTokens shows when each was last used. The operator of the service can raise the maximum: ${settings.maxUserTokens.variable}.`,
  );
}

function changedMeanwhile(): ServiceError {
  return new ServiceError(
    "ConflictError",
    "Your password has just been changed. Send the request with the new password.",
  );
}

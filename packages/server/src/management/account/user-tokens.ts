import { recordAccountActivity } from "../../auth/account-activity.ts";
import { requireLasting } from "../../auth/credentials/lasting-credential.ts";
import { createToken } from "../../auth/credentials/token-form.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { notFound } from "../../core/service-error.ts";
import type { Transaction } from "../../store/home/database.ts";
import { holdCredentials } from "../../store/people/user-credentials.ts";
import {
  insertUserToken,
  revokeUserToken as revokeUserTokenRow,
  type UserToken,
} from "../../store/people/user-tokens.ts";
import type { Act, CallerAct, ManagementParts, RevokingParts } from "../act/act.ts";
import { transactAnew } from "../act/repetition.ts";
import { requireFutureExpiry } from "../tokens/expiry.ts";

export interface NewUserToken {
  readonly name: string;
  /** Null: it does not expire. */
  readonly expiresAt: Timestamp | null;
}

export interface AddedUserToken {
  readonly created: UserToken;
  /** The token itself, which is kept nowhere. */
  readonly token: string;
}

/** Creates a token that acts as the caller. Throws 401 when the caller's own credential was ended meanwhile. */
export async function createUserToken(
  parts: RevokingParts,
  act: CallerAct,
  wanted: NewUserToken,
): Promise<AddedUserToken> {
  const { engine, authenticator } = parts;
  const { id: userId } = act.actor;
  const createdAt = engine.now();
  requireFutureExpiry(wanted.expiresAt, createdAt);
  const tokenId = engine.newId();
  const { added, ended } = await transactAnew(parts, act, { userId }, async (transaction, earlier?: Earlier) => {
    // A change that ends all credentials of the account comes before this, or finds the token.
    await holdCredentials(transaction, userId);
    await requireLasting(transaction, act.caller);
    // Nobody has the secret of an attempt whose answer was lost.
    const ended = earlier && (await revoke(parts, transaction, act, earlier.tokenId));
    const added = await addUserToken(transaction, { ...wanted, userId, tokenId, createdAt });
    const { name, tokenPrefix } = added.created;
    const activity = { userId, action: "user-token-created", address: act.address } as const;
    await recordAccountActivity(transaction, engine, { ...activity, details: { name, tokenPrefix } });
    return { made: { tokenId }, answer: { added, ended } };
  });
  if (ended !== undefined) authenticator.forgetToken(ended);
  return added;
}

/** Revokes a token of the actor's own. Throws 404 when there is none. */
export async function revokeUserToken(parts: RevokingParts, act: Act, tokenId: string): Promise<void> {
  const { database, authenticator } = parts;
  const tokenHash = await database.transaction(async (transaction) => {
    const revoked = await revoke(parts, transaction, act, tokenId);
    if (revoked === undefined) throw notFound("user token");
    return revoked;
  });
  authenticator.forgetToken(tokenHash);
}

/** Adds a token to an account, in a transaction that records why. */
export async function addUserToken(
  transaction: Transaction,
  wanted: Omit<UserToken, "tokenPrefix">,
): Promise<AddedUserToken> {
  const { token, tokenHash, tokenPrefix } = createToken("user", wanted.userId);
  const created = { ...wanted, tokenPrefix };
  await insertUserToken(transaction, created, tokenHash);
  return { created, token };
}

/** Answers the hash of the token's secret; undefined when there was none to revoke. */
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

/** The token of an earlier attempt, whose answer was lost. */
type Earlier = { readonly tokenId: string };

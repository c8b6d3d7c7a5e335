import type { Caller } from "../../auth/caller.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { toTime } from "../../core/time.ts";
import { findApiToken } from "../../store/access/tokens.ts";
import type { Queryable } from "../../store/home/database.ts";

/** If a request names no end, the token ends after this time at the latest, so that a forgotten secret stops working by itself. */
export const defaultTokenDays = 90;

/**
 * Returns the time at which a new token ends; null means never. If the request names no end, the token ends after `defaultTokenDays`, or with the
 * caller's own token if that ends earlier. Throws 400 for a time in the past, and what `expiryWithin` throws.
 */
export function expiryOfNew(
  askedFor: Timestamp | null | undefined,
  now: Timestamp,
  callerEnd: Timestamp | null,
): Timestamp | null {
  requireFutureExpiry(askedFor, now);
  return expiryWithin(askedFor, now + defaultTokenDays * dayMs, callerEnd);
}

/**
 * Returns the time at which a new credential ends: the requested time. If the request names no time, the credential ends at `usualEnd` or with the
 * caller's own token, whichever is earlier. Throws 403 for a requested end after the caller's own.
 */
export function expiryWithin<Asked extends Timestamp | null>(
  askedFor: Asked | undefined,
  usualEnd: Timestamp,
  callerEnd: Timestamp | null,
): Asked | Timestamp {
  if (askedFor === undefined) return Math.min(usualEnd, callerEnd ?? Number.POSITIVE_INFINITY);
  requireNoLongerLife(askedFor, callerEnd);
  return askedFor;
}

/**
 * Returns the time at which the token of the caller ends, by the present state of the store. Null for a token without an end and for a sign-in,
 * because a person who signed in may give a credential any life.
 */
export async function endOfCaller(db: Queryable, { organizationId, token }: Caller): Promise<Timestamp | null> {
  // The end of a user token never changes, so it need not be read from the store.
  if (token === undefined || organizationId === undefined) return token?.expiresAt ?? null;
  const own = await findApiToken(db, organizationId, token.tokenId);
  return own === undefined ? token.expiresAt : own.expiresAt;
}

/** Throws 400 for a token that would have expired already. */
export function requireFutureExpiry(expiresAt: Timestamp | null | undefined, now: Timestamp): void {
  if (expiresAt === undefined || expiresAt === null || expiresAt > now) return;
  const detail = `must be in the future; the present time is ${toTime(now)}`;
  throw new ServiceError("ValidationError", `expiresAt ${detail}.`, { problems: [{ pointer: "/expiresAt", detail }] });
}

/**
 * Throws 403 for a life longer than that of the caller's own token. The holder of a token, perhaps a stolen one, must not keep access after it ends.
 */
export function requireNoLongerLife(expiresAt: Timestamp | null, callerEnd: Timestamp | null): void {
  if (!outlives(expiresAt, callerEnd)) return;
  const detail = `must not be later than ${toTime(callerEnd)}, the end of the token that you call with`;
  const message = `expiresAt ${detail}. Sign in, or use a token that lives longer.`;
  throw new ServiceError("AuthorizationError", message, { problems: [{ pointer: "/expiresAt", detail }] });
}

/** Throws 403 for a token that outlives the caller's own: the caller may not give such a token more rights, and may not get its secret. */
export function requireAsLongALife(expiresAt: Timestamp | null, callerEnd: Timestamp | null): void {
  if (!outlives(expiresAt, callerEnd)) return;
  const detail = `This token is valid for longer than the token that you call with, which ends at ${toTime(callerEnd)}. So you can take rights from it and revoke it, but not give it more rights or a new secret. Sign in, or use a token that is valid for at least as long.`;
  throw new ServiceError("AuthorizationError", detail);
}

/** Tells whether a credential with the first end lasts longer than one with the second. Null means no end. */
export function outlives(expiresAt: Timestamp | null, end: Timestamp | null): end is Timestamp {
  return end !== null && (expiresAt === null || expiresAt > end);
}

const dayMs = 24 * 60 * 60 * 1_000;

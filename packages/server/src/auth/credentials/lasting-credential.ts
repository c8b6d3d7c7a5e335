import { ServiceError } from "../../core/service-error.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findCredentials } from "../../store/people/user-credentials.ts";
import { findOpenSession } from "../../store/people/user-sessions.ts";
import { isUserTokenHeld } from "../../store/people/user-tokens.ts";
import type { Caller } from "../authenticator.ts";

/**
 * For what stays when a user's sign-in is over: throws `ServiceError` AuthenticationError unless what they call with holds by what the store says
 * now. Authentication may remember it for a second after it was ended.
 */
export async function requireLasting(db: Queryable, caller: Caller): Promise<void> {
  if (!(await lasts(db, caller))) {
    throw new ServiceError("AuthenticationError", "What you called with has just ended. Sign in again.");
  }
}

async function lasts(db: Queryable, { principal, sessionId, token }: Caller): Promise<boolean> {
  const userId = principal.id;
  if (sessionId !== undefined) return (await findOpenSession(db, userId, sessionId)) !== undefined;
  if (token !== undefined && !(await isUserTokenHeld(db, userId, token.tokenId))) return false;
  // A token of an issuer outside is not ours to end: then the account alone counts.
  return (await findCredentials(db, userId))?.disabledAt === null;
}

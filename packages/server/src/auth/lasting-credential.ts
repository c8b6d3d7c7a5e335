import { ServiceError } from "../core/service-error.ts";
import type { Transaction } from "../store/database.ts";
import { holdCredentials } from "../store/user-credentials.ts";
import { findOpenSession } from "../store/user-sessions.ts";
import { isUserTokenHeld } from "../store/user-tokens.ts";
import type { Caller } from "./authenticator.ts";

/**
 * For who makes themselves a credential that lasts: throws `ServiceError` AuthenticationError unless what they call with holds at this very moment.
 * Authentication may remember it for a second after it was ended; what was made out of it in that second would stay.
 */
export async function requireLasting(transaction: Transaction, caller: Caller): Promise<void> {
  if (!(await lasts(transaction, caller))) {
    throw new ServiceError("AuthenticationError", "What you called with has just ended. Sign in again.");
  }
}

async function lasts(transaction: Transaction, { principal, sessionId, token }: Caller): Promise<boolean> {
  const userId = principal.id;
  const credentials = await holdCredentials(transaction, userId);
  if (credentials === undefined || credentials.disabledAt !== null) return false;
  if (sessionId !== undefined) return (await findOpenSession(transaction, userId, sessionId)) !== undefined;
  // A token of an issuer outside is not ours to end.
  return token === undefined || (await isUserTokenHeld(transaction, userId, token.tokenId));
}

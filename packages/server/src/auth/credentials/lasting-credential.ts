import { ServiceError } from "../../core/service-error.ts";
import { isCurrentSecret } from "../../store/access/tokens.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findCredentials } from "../../store/people/user-credentials.ts";
import { findOpenSession } from "../../store/people/user-sessions.ts";
import { isUserTokenHeld } from "../../store/people/user-tokens.ts";
import type { Caller } from "../caller.ts";

/**
 * Guards changes that last longer than a user's sign-in: throws `ServiceError` AuthenticationError unless the store says that the credential of this
 * user is still valid. The check reads the store because authentication may remember a credential for a second after its end.
 */
export async function requireLasting(db: Queryable, caller: Caller): Promise<void> {
  if (!(await lasts(db, caller))) {
    throw new ServiceError(
      "AuthenticationError",
      "Your session or token has just ended, or your account was disabled. Sign in again.",
    );
  }
}

/**
 * Throws `ServiceError` AuthorizationError when an API token calls with a secret that was rotated away. A secret is rotated because others may know
 * it. While it still works, it must not be used to make another credential or to end its successor.
 */
export async function requireCurrentSecret(db: Queryable, { organizationId, token }: Caller): Promise<void> {
  if (organizationId === undefined || token === undefined) return;
  if (await isCurrentSecret(db, organizationId, token.tokenId, token.hash)) return;
  const detail =
    "The secret that you sent was replaced by a rotation. It works until its overlap ends, but it cannot change the organization, its tokens, members, roles, invitations or OAuth clients. Use the current secret.";
  throw new ServiceError("AuthorizationError", detail);
}

async function lasts(db: Queryable, { principal, sessionId, token }: Caller): Promise<boolean> {
  const userId = principal.id;
  if (sessionId !== undefined) return (await findOpenSession(db, userId, sessionId)) !== undefined;
  if (token !== undefined && !(await isUserTokenHeld(db, userId, token.tokenId))) return false;
  // For a token of an external issuer, only the account is checked, since this service cannot end such a token.
  return (await findCredentials(db, userId))?.disabledAt === null;
}

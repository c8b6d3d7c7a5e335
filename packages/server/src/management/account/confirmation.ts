import type { Caller } from "../../auth/caller.ts";
import { freshSignInSeconds } from "../../auth/external/journey.ts";
import type { PasswordSignIn } from "../../auth/passwords/password-sign-in.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { findCredentials } from "../../store/people/user-credentials.ts";
import type { CallerAct, ManagementParts } from "../act/act.ts";

export interface ConfirmationParts extends ManagementParts {
  readonly signIn: Pick<PasswordSignIn, "confirm">;
}

/** The password and the code of the second factor, as far as they were sent. */
export interface Proof {
  readonly password: string | undefined;
  readonly code: string | undefined;
}

/**
 * Makes sure that an act was requested by the person, and not by somebody who took over their session. Demands the password, and the code of the
 * second factor if the account has one. An account without a password needs a recent sign-in at an external issuer. Wrong passwords and codes count
 * like those of a sign-in. Returns the time at which the password was last changed, so that the calling function can notice a later change. Throws
 * `ServiceError`: a ValidationError that points at what is missing or wrong, a RateLimitError after too many wrong attempts, and a ConflictError when
 * the sign-in is too old.
 */
export async function confirmPerson(
  { database, engine, signIn }: ConfirmationParts,
  { actor, address, caller }: CallerAct,
  { password, code }: Proof,
): Promise<Timestamp | null> {
  const { id: userId } = actor;
  const credentials = await findCredentials(database, userId);
  if (credentials !== undefined && credentials.passwordHash === null) {
    requireFreshSignIn(caller, engine.now());
    return credentials.passwordChangedAt;
  }
  const confirmed = await signIn.confirm({ userId, address, password, code, passwordPointer: "/password" });
  return confirmed.passwordChangedAt;
}

/** Throws 409 unless an external issuer has recently asked the caller to prove who they are. */
export function requireFreshSignIn({ authenticatedAt = null }: Caller, now: Timestamp): void {
  if (authenticatedAt !== null && now - authenticatedAt <= freshSignInSeconds * 1_000) return;
  const minutes = freshSignInSeconds / 60;
  const detail = `Your account has no password, so confirm at your provider that it is you: sign in again in the browser (with prompt=login), and send the request with that sign-in within ${minutes} minutes. If you have no provider, ask an owner of your organization for a link that sets a password.`;
  throw new ServiceError("ConflictError", detail, { reason: "fresh-sign-in-needed" });
}

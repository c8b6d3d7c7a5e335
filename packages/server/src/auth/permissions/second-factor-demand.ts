import type { Actor } from "../../core/actor.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Queryable } from "../../store/home/database.ts";
import { isBeyondPassword } from "../../store/people/user-credentials.ts";

/** The facts about a caller on which the demand for a second factor depends. */
interface Person {
  readonly principal: Actor;
  readonly isVouchedFor?: boolean | undefined;
}

/**
 * Tells whether this user meets the demand. A user meets it if the account has a second factor of this service, or if the user signed in at an
 * external issuer, which is then responsible for the second factor too. An account that only an issuer opens has no password, so it always meets the
 * demand.
 */
export async function hasSecondFactor(db: Queryable, { principal, isVouchedFor }: Person): Promise<boolean> {
  return isVouchedFor === true || (await isBeyondPassword(db, principal.id));
}

/** Makes a 403 that says what to do. Everything outside of the organization stays open, so that the user can set up a second factor. */
export function secondFactorDemanded(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    `This organization requires a second factor of its members, and your account has none. ${howToSetUp}`,
  );
}

/** Throws unless the caller is a person who meets the demand. Any other caller who turned the demand on could lock out everybody. */
export async function requireOwnSecondFactor(db: Queryable, caller: Person): Promise<void> {
  if (caller.principal.type !== "user") {
    throw new ServiceError(
      "AuthorizationError",
      "An API token cannot require a second factor of all members. Sign in instead: you need a second factor of your own, or a sign-in at an external issuer.",
    );
  }
  if (await hasSecondFactor(db, caller)) return;
  throw new ServiceError(
    "ConflictError",
    `Your account has no second factor, so you would lose your own access. ${howToSetUp}`,
  );
}

const howToSetUp =
  "Set one up in your account's settings (StartSecondFactor, then ConfirmSecondFactor), and send the request again.";

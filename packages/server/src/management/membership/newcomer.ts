import { recordAccountActivity } from "../../auth/account-activity.ts";
import { normalizePassword } from "../../auth/passwords/password-rules.ts";
import type { PasswordSignIn } from "../../auth/passwords/password-sign-in.ts";
import { countedForAddress } from "../../auth/passwords/sign-in-backoff.ts";
import type { Timestamp } from "../../core/time.ts";
import { isUniqueViolation } from "../../store/home/database.ts";
import { setPassword } from "../../store/people/user-credentials.ts";
import { findUserByEmail, insertUser } from "../../store/people/users.ts";
import type { Act, ManagementParts } from "../act/act.ts";
import { joinByInvitation, openInvitation } from "./invitation-acceptance.ts";

export interface NewcomerParts extends ManagementParts {
  readonly signIn: PasswordSignIn;
}

export interface Newcomer {
  readonly code: string;
  readonly email: string;
  readonly displayName: string;
  /** The password, which has been checked against the rules. */
  readonly password: string;
}

/** An act whose actor has no account yet. */
export type NewcomerAct = Omit<Act, "actor">;

/** A person who joined with a password of their own, and the time at which it was set. */
export interface JoinedNewcomer {
  readonly userId: string;
  readonly passwordChangedAt: Timestamp;
}

/**
 * Makes an account for an invited person and makes that person a member, both or neither. Returns undefined when the e-mail address has an account
 * already. Such an attempt counts as a failed sign-in from the caller's network address. Otherwise somebody could try one e-mail address after
 * another, and make the service compute a password hash for each. Throws 429 after too many attempts, and everything that `acceptInvitation` throws.
 */
export async function joinAsNewcomer(
  parts: NewcomerParts,
  act: NewcomerAct,
  newcomer: Newcomer,
): Promise<JoinedNewcomer | undefined> {
  const { database, engine } = parts;
  const attempt = { database, now: () => engine.now(), address: act.address };
  return await countedForAddress(attempt, () => makeAccount(parts, act, newcomer));
}

async function makeAccount(
  parts: NewcomerParts,
  act: NewcomerAct,
  { code, email, displayName, password }: Newcomer,
): Promise<JoinedNewcomer | undefined> {
  const { database, engine, signIn } = parts;
  // Computing the hash takes time, so it is done before the organization is locked.
  const passwordHash = await signIn.hasher.inTurn((hashing) => hashing.hash(normalizePassword(password) ?? ""));
  try {
    return await database.transaction(async (transaction) => {
      const createdAt = engine.now();
      const invitation = await openInvitation(transaction, code, createdAt);
      if ((await findUserByEmail(transaction, email)) !== undefined) return undefined;
      const userId = engine.newId();
      const user = { userId, email, displayName, createdAt };
      await insertUser(transaction, user);
      await setPassword(transaction, userId, passwordHash, createdAt);
      await recordAccountActivity(transaction, engine, { userId, action: "account-created", address: act.address });
      const actor = { type: "user", id: userId, name: displayName } as const;
      await joinByInvitation(transaction, parts, { ...act, actor }, invitation, user);
      return { userId, passwordChangedAt: createdAt };
    });
  } catch (error) {
    // An invitation of another organization, or a first sign-in at a provider, has made an account with this e-mail address at the same time.
    if (isUniqueViolation(error)) return undefined;
    throw error;
  }
}

import type { Timestamp } from "../core/job-state.ts";
import { insertAccountActivity } from "../store/account-activity.ts";
import { type Database, isUniqueViolation, type Transaction } from "../store/database.ts";
import type { Invitation } from "../store/invitations.ts";
import { setPassword } from "../store/user-credentials.ts";
import { findUserByEmail, insertUser, type User } from "../store/users.ts";
import { joinByInvitation, openInvitation } from "./invitations.ts";
import { normalizePassword } from "./password-rules.ts";
import type { PasswordSignIn } from "./password-sign-in.ts";

export interface NewcomerParts {
  readonly database: Database;
  readonly now: () => Timestamp;
  readonly newId: () => string;
  readonly signIn: PasswordSignIn;
}

export interface Newcomer {
  readonly code: string;
  readonly email: string;
  readonly displayName: string;
  /** Held against the rules already. */
  readonly password: string;
  readonly address: string;
}

/**
 * Makes an account for somebody who was invited, and them a member: both, or neither. Undefined when the e-mail address has an account.
 * `record` runs in the same transaction.
 */
export async function joinAsNewcomer(
  { database, now, newId, signIn }: NewcomerParts,
  { code, email, displayName, password, address }: Newcomer,
  record: (transaction: Transaction, invitation: Invitation, user: User) => Promise<void>,
): Promise<User | undefined> {
  // Before the organization is locked: a hash takes its time.
  const passwordHash = await signIn.hasher.inTurn((hashing) => hashing.hash(normalizePassword(password) ?? ""));
  try {
    return await database.transaction(async (transaction) => {
      const createdAt = now();
      const invitation = await openInvitation(transaction, code, createdAt);
      if ((await findUserByEmail(transaction, email)) !== undefined) return undefined;
      const user = { userId: newId(), email, displayName, createdAt };
      await insertUser(transaction, user);
      await setPassword(transaction, user.userId, passwordHash, createdAt);
      await joinByInvitation(transaction, invitation, user, createdAt);
      const activity = { userId: user.userId, activityId: newId(), happenedAt: createdAt, address, details: {} };
      await insertAccountActivity(transaction, { ...activity, action: "account-created" });
      await record(transaction, invitation, user);
      return user;
    });
  } catch (error) {
    // The same address was taken at this instant, by way of another organization's invitation.
    if (isUniqueViolation(error)) return undefined;
    throw error;
  }
}

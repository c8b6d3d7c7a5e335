import type { Timestamp } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Invitation } from "../../store/access/invitations.ts";
import { type Database, isUniqueViolation, type Transaction } from "../../store/home/database.ts";
import { insertAccountActivity } from "../../store/people/account-activity.ts";
import { setPassword } from "../../store/people/user-credentials.ts";
import { findUserByEmail, insertUser, type User } from "../../store/people/users.ts";
import { joinByInvitation, openInvitation } from "../credentials/invitations.ts";
import { normalizePassword } from "./password-rules.ts";
import type { PasswordSignIn } from "./password-sign-in.ts";
import { addressSubject, blockedForSeconds, claimAttempt, refundAttempt } from "./sign-in-backoff.ts";

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
 * Makes an account for somebody who was invited, and them a member: both, or neither. Undefined when the e-mail address has an account: so that
 * nobody asks for one address after the other, and has a password hashed for each, what makes no account counts as a refused sign-in of
 * the place that it came from. Throws `ServiceError` RateLimitError when there were too many. `record` runs in the same transaction.
 */
export async function joinAsNewcomer(
  parts: NewcomerParts,
  newcomer: Newcomer,
  record: (transaction: Transaction, invitation: Invitation, user: User) => Promise<void>,
): Promise<User | undefined> {
  const { database, now } = parts;
  const subjects = [addressSubject(newcomer.address)];
  const claims = await claimAttempt(database, subjects, now());
  if (claims === undefined) throw tooMany((await blockedForSeconds(database, subjects, now())) ?? 1);
  const user = await makeAccount(parts, newcomer, record);
  if (user !== undefined) await refundAttempt(database, claims);
  return user;
}

async function makeAccount(
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

function tooMany(retryAfterSeconds: number): ServiceError {
  const detail = `Too many attempts from your address were wrong. Try again in ${retryAfterSeconds} seconds.`;
  return new ServiceError("RateLimitError", detail, { retryAfterSeconds });
}

import { recordAccountActivity } from "../auth/account-activity.ts";
import { hashAlone } from "../auth/passwords/password-hasher.ts";
import { type IssuedPasswordLink, issuePasswordLink } from "../auth/passwords/password-link.ts";
import { issueSignInLink } from "../auth/passwords/sign-in-link.ts";
import { newId } from "../engine/identifier.ts";
import { endFormerAccess } from "../management/account/password.ts";
import { removeSecondFactor } from "../management/account/second-factor.ts";
import { addUserToken } from "../management/account/user-tokens.ts";
import { countOrganizationsCreatedBy } from "../store/access/organization-keys.ts";
import type { Database, Transaction } from "../store/home/database.ts";
import type { AccountAction } from "../store/people/account-activity.ts";
import {
  endOtherSessions,
  findCredentialsByEmail,
  setDisabled,
  setPassword,
  type UserCredentials,
} from "../store/people/user-credentials.ts";
import { findOrganizationMaximum, findUserByEmail, setOrganizationMaximum } from "../store/people/users.ts";

/*
 * These functions change accounts without a sign-in, for an operator who has access to the store and could change the rows by hand. Accounts are
 * known by their e-mail address; each function returns undefined when no account has it. The account's activity records every change for its user.
 */

/** Makes a link with which a person sets a new password. `removesSecondFactor` is for people who lost their authenticator app and the recovery codes. */
export async function makePasswordLink(
  database: Database,
  email: string,
  options: { readonly removesSecondFactor: boolean },
): Promise<IssuedPasswordLink | undefined> {
  return await change(database, email, "password-link-made", async (transaction, user, createdAt) => {
    const { userId } = user;
    if (options.removesSecondFactor && (await removeSecondFactor(transaction, userId))) {
      await record(transaction, userId, "second-factor-removed", createdAt);
    }
    const createdBy = { type: "service", id: "stepwell user reset-link" } as const;
    const kind = user.passwordHash === null ? "first" : "reset";
    return await issuePasswordLink(transaction, { userId, kind, createdBy, createdAt });
  });
}

export async function replacePassword(database: Database, email: string, password: string): Promise<true | undefined> {
  const passwordHash = await hashAlone(password);
  return await change(database, email, "password-changed", async (transaction, { userId }, at) => {
    await setPassword(transaction, userId, passwordHash, at);
    await endFormerAccess(transaction, userId, at);
    return true as const;
  });
}

/** Makes a link that signs the browser in and opens the dashboard. It works once and within ten minutes. */
export async function makeSignInLink(database: Database, email: string): Promise<string | undefined> {
  return await change(database, email, "sign-in-link-made", async (transaction, { userId }, at) => {
    return await issueSignInLink(transaction, userId, at);
  });
}

/** Makes a user token without an end, for people who lost theirs. Returns the token itself only this once. */
export async function createUserToken(database: Database, email: string, name: string): Promise<string | undefined> {
  return await change(database, email, "user-token-created", async (transaction, { userId }, createdAt) => {
    const wanted = { userId, tokenId: newId(createdAt), name, createdAt, expiresAt: null };
    return (await addUserToken(transaction, wanted)).token;
  });
}

/**
 * Disables a user, who then cannot sign in anywhere. The user's tokens and sessions stop working within a second. Everything that the user owns
 * stays.
 */
export async function disableUser(database: Database, email: string): Promise<true | undefined> {
  return await change(database, email, "account-disabled", async (transaction, { userId }, at) => {
    await setDisabled(transaction, userId, at);
    await endOtherSessions(transaction, userId, null, at);
    return true as const;
  });
}

/** Enables a user. The user's tokens work again, but the user has to sign in again. */
export async function enableUser(database: Database, email: string): Promise<true | undefined> {
  return await change(database, email, "account-enabled", async (transaction, { userId }) => {
    await setDisabled(transaction, userId, null);
    return true as const;
  });
}

/**
 * Sets how many organizations the account may create. Null means the maximum of the configuration, and undefined changes nothing. Returns the
 * account's maximum after that, and how many organizations the account has created, without deleted ones.
 */
export async function limitOrganizations(
  database: Database,
  email: string,
  wanted: number | null | undefined,
): Promise<{ readonly maximum: number | null; readonly usedCount: number } | undefined> {
  const user = await findUserByEmail(database, email);
  if (user === undefined) return undefined;
  if (wanted !== undefined) {
    await change(database, email, "organization-maximum-set", async (transaction, { userId }) => {
      await setOrganizationMaximum(transaction, userId, wanted);
    });
  }
  const maximum = await findOrganizationMaximum(database, user.userId);
  return { maximum, usedCount: await countOrganizationsCreatedBy(database, user.userId) };
}

async function change<Result>(
  database: Database,
  email: string,
  action: AccountAction,
  work: (transaction: Transaction, user: UserCredentials, at: number) => Promise<Result>,
): Promise<Result | undefined> {
  // No heartbeat sets a clock here, so the time is this machine's.
  const at = Date.now();
  return await database.transaction(async (transaction) => {
    const user = await findCredentialsByEmail(transaction, email);
    if (user === undefined) return undefined;
    const result = await work(transaction, user, at);
    await record(transaction, user.userId, action, at);
    return result;
  });
}

async function record(transaction: Transaction, userId: string, action: AccountAction, at: number): Promise<void> {
  const clock = { now: () => at, newId: () => newId(at) };
  const activity = { userId, action, address: "", details: { by: "command line" } };
  await recordAccountActivity(transaction, clock, activity);
}

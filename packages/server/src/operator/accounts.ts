import { createToken } from "../auth/credentials/token-form.ts";
import { hashAlone } from "../auth/passwords/password-hasher.ts";
import { type IssuedPasswordLink, issuePasswordLink } from "../auth/passwords/password-link.ts";
import { issueSignInLink } from "../auth/passwords/sign-in-link.ts";
import { newId } from "../engine/identifier.ts";
import type { Database, Transaction } from "../store/home/database.ts";
import { type AccountAction, insertAccountActivity } from "../store/people/account-activity.ts";
import { endPasswordLink } from "../store/people/password-links.ts";
import { replaceRecoveryCodes } from "../store/people/recovery-codes.ts";
import {
  disableTotp,
  endOtherSessions,
  findCredentialsByEmail,
  setDisabled,
  setPassword,
  type UserCredentials,
} from "../store/people/user-credentials.ts";
import { insertUserToken } from "../store/people/user-tokens.ts";

/*
 * What who holds the store may do with the accounts in it, without signing in: they could change the rows by hand. All are known by their
 * e-mail address; each answers undefined when nobody has it. What changes is written down where the user sees it.
 */

/** A link that sets another password. With `removesSecondFactor` also for who lost the app and the recovery codes. */
export async function makePasswordLink(
  database: Database,
  email: string,
  options: { readonly removesSecondFactor: boolean },
): Promise<IssuedPasswordLink | undefined> {
  return await change(database, email, "password-link-made", async (transaction, user, createdAt) => {
    const { userId } = user;
    if (options.removesSecondFactor && (await disableTotp(transaction, userId))) {
      await replaceRecoveryCodes(transaction, userId, []);
      await note(transaction, userId, "second-factor-removed", createdAt);
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
    await endPasswordLink(transaction, userId);
    await endOtherSessions(transaction, userId, null, at);
    return true as const;
  });
}

/** A link that opens the dashboard signed in, once and within ten minutes. */
export async function makeSignInLink(database: Database, email: string): Promise<string | undefined> {
  return await change(database, email, "sign-in-link-made", async (transaction, { userId }, at) => {
    return await issueSignInLink(transaction, userId, at);
  });
}

/** A user token without an end, for who lost the one that they had. Answers the token itself, this once. */
export async function createUserToken(database: Database, email: string, name: string): Promise<string | undefined> {
  return await change(database, email, "user-token-created", async (transaction, { userId }, createdAt) => {
    const { token, tokenHash, tokenPrefix } = createToken("user", userId);
    const row = { userId, tokenId: newId(createdAt), name, tokenPrefix, createdAt, expiresAt: null };
    await insertUserToken(transaction, row, tokenHash);
    return token;
  });
}

/** A disabled user signs in nowhere; their tokens and sessions are of no use within a second. What they own stays. */
export async function disableUser(database: Database, email: string): Promise<true | undefined> {
  return await change(database, email, "account-disabled", async (transaction, { userId }, at) => {
    await setDisabled(transaction, userId, at);
    await endOtherSessions(transaction, userId, null, at);
    return true as const;
  });
}

/** Their tokens hold again; sessions have to be begun anew. */
export async function enableUser(database: Database, email: string): Promise<true | undefined> {
  return await change(database, email, "account-enabled", async (transaction, { userId }) => {
    await setDisabled(transaction, userId, null);
    return true as const;
  });
}

async function change<Result>(
  database: Database,
  email: string,
  action: AccountAction,
  work: (transaction: Transaction, user: UserCredentials, at: number) => Promise<Result>,
): Promise<Result | undefined> {
  // As for the first owner: no heartbeat sets a clock here.
  const at = Date.now();
  return await database.transaction(async (transaction) => {
    const user = await findCredentialsByEmail(transaction, email);
    if (user === undefined) return undefined;
    const result = await work(transaction, user, at);
    await note(transaction, user.userId, action, at);
    return result;
  });
}

async function note(transaction: Transaction, userId: string, action: AccountAction, at: number): Promise<void> {
  const activity = {
    userId,
    activityId: newId(at),
    happenedAt: at,
    action,
    address: "",
    details: { by: "command line" },
  };
  await insertAccountActivity(transaction, activity);
}

import type { Timestamp } from "../core/job-state.ts";
import type { Problem } from "../core/problem.ts";
import { ServiceError } from "../core/service-error.ts";
import { type AccountAction, insertAccountActivity } from "../store/account-activity.ts";
import type { Database, Transaction } from "../store/database.ts";
import { endPasswordLink, findUserOfPasswordLink, usePasswordLink } from "../store/password-links.ts";
import { clearSignInAttempts } from "../store/sign-in-backoff.ts";
import { changePassword, endOtherSessions, findCredentials, setPassword } from "../store/user-credentials.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { hashPasswordLink } from "./password-link.ts";
import { normalizePassword, problemsOfNewPassword } from "./password-rules.ts";
import type { PasswordSignIn } from "./password-sign-in.ts";
import { accountSubject } from "./sign-in-backoff.ts";

export interface PasswordChangeParts {
  readonly database: Database;
  readonly now: () => Timestamp;
  readonly newId: () => string;
  readonly signIn: PasswordSignIn;
}

export interface OwnPasswordChange {
  readonly userId: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly code: string | undefined;
  readonly address: string;
  /** The session that asks, which goes on; all others end. */
  readonly sessionId: string | null;
}

/**
 * Changes the password of somebody who knows the present one. Throws `ServiceError`: what is wrong with the new one is said before the
 * present one is looked at, so that it costs no attempt.
 */
export async function changeOwnPassword(parts: PasswordChangeParts, change: OwnPasswordChange): Promise<void> {
  const { database, signIn } = parts;
  const { userId, currentPassword, newPassword, code, address } = change;
  const email = (await findCredentials(database, userId))?.email ?? "";
  throwProblems(problemsOfNewPassword(newPassword, email, "/newPassword"));
  if (normalizePassword(newPassword) === normalizePassword(currentPassword)) {
    throwProblems([{ pointer: "/newPassword", detail: "must be another one than the current" }]);
  }
  const confirmation = { userId, password: currentPassword, code, address, passwordPointer: "/currentPassword" };
  const confirmed = await signIn.confirm(confirmation);
  const passwordHash = await hashNew(signIn.hasher, newPassword);
  await database.transaction(async (transaction) => {
    const at = parts.now();
    if (!(await changePassword(transaction, userId, confirmed.passwordHash, passwordHash, at))) {
      throw new ServiceError(
        "ConflictError",
        "The password was changed by somebody else at this moment. Sign in again.",
      );
    }
    await endPasswordLink(transaction, userId);
    await finish(parts, transaction, { ...change, action: "password-changed", at });
  });
}

export interface PasswordByLink {
  readonly secret: string;
  readonly newPassword: string;
  readonly address: string;
}

/** Sets the password of whom the link is for. Answers undefined when the link does not hold (any more), else what is wrong with the password. */
export async function setPasswordByLink(
  parts: PasswordChangeParts,
  { secret, newPassword, address }: PasswordByLink,
): Promise<readonly Problem[] | undefined> {
  const { database, now, signIn } = parts;
  const linkHash = hashPasswordLink(secret);
  const user = await findUserOfPasswordLink(database, linkHash, now());
  if (user === undefined) return undefined;
  const problems = problemsOfNewPassword(newPassword, user.email, "/newPassword");
  if (problems.length > 0) return problems;
  const passwordHash = await hashNew(signIn.hasher, newPassword);
  return await database.transaction(async (transaction) => {
    const at = now();
    if (!(await usePasswordLink(transaction, user.userId, linkHash, at))) return undefined;
    await setPassword(transaction, user.userId, passwordHash, at);
    // Who needed the link has probably tried in vain before, and has now shown who they are.
    await clearSignInAttempts(transaction, accountSubject(user.email).hash);
    const done = { userId: user.userId, sessionId: null, address, action: "password-set-by-link", at } as const;
    await finish(parts, transaction, done);
    return [];
  });
}

function throwProblems(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new ServiceError("ValidationError", `The body is not valid: ${first.pointer} ${first.detail}.`, { problems });
}

async function hashNew(hasher: PasswordHasher, password: string): Promise<string> {
  return await hasher.inTurn((hashing) => hashing.hash(normalizePassword(password) ?? ""));
}

interface FinishedChange {
  readonly userId: string;
  readonly sessionId: string | null;
  readonly address: string;
  readonly action: AccountAction;
  readonly at: Timestamp;
}

/** Who was signed in by the password before is not any more: that may be the very reason for the change. */
async function finish(parts: PasswordChangeParts, transaction: Transaction, change: FinishedChange): Promise<void> {
  const { userId, sessionId, address, action, at } = change;
  await endOtherSessions(transaction, userId, sessionId, at);
  const activity = { userId, activityId: parts.newId(), happenedAt: at, action, address, details: {} };
  await insertAccountActivity(transaction, activity);
}

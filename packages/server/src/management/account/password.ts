import { recordAccountActivity } from "../../auth/account-activity.ts";
import { normalizePassword, problemsOfNewPassword } from "../../auth/passwords/password-rules.ts";
import type { PasswordSignIn } from "../../auth/passwords/password-sign-in.ts";
import type { Problem } from "../../core/problem.ts";
import { invalidPart, ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Transaction } from "../../store/home/database.ts";
import { endPasswordLink } from "../../store/people/password-links.ts";
import {
  changePassword as changePasswordRow,
  endOtherSessions,
  findCredentials,
  keepDeviceOf,
} from "../../store/people/user-credentials.ts";
import { revokeOtherUserTokens } from "../../store/people/user-tokens.ts";
import type { CallerAct, RevokingParts } from "../act/act.ts";
import { transactOnce } from "../act/repetition.ts";

export interface PasswordParts extends RevokingParts {
  readonly signIn: Pick<PasswordSignIn, "confirm" | "hasher" | "newDevice">;
}

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly code: string | undefined;
  /** True when the account's other user tokens are kept. */
  readonly keepUserTokens?: boolean | undefined;
}

/**
 * Changes the caller's password. Ends all other access of the caller: all sessions and, without `keepUserTokens`, all user tokens. The credential of
 * the request stays valid. Throws 409 when another request changes the password at the same time.
 */
export async function changePassword(parts: PasswordParts, act: CallerAct, change: PasswordChange): Promise<void> {
  const { engine, authenticator } = parts;
  const { actor, address, caller } = act;
  const { id: userId } = actor;
  const work = async (transaction: Transaction, _: Timestamp, { currentHash, newHash }: ConfirmedChange) => {
    const at = engine.now();
    if (!(await changePasswordRow(transaction, userId, currentHash, newHash, at))) throw changedMeanwhile();
    const kept = { sessionId: caller.sessionId, tokenId: caller.token?.tokenId, allUserTokens: change.keepUserTokens };
    const details = await endFormerAccess(transaction, userId, at, kept);
    await recordAccountActivity(transaction, engine, { userId, action: "password-changed", address, details });
    return {};
  };
  await transactOnce(parts, act, { userId }, work, () => confirmChange(parts, act, change));
  authenticator.forgetUser(userId);
}

/** The credentials that stay valid when a password changes: a session, a user token, or all user tokens. */
export interface KeptAccess {
  readonly sessionId?: string | null | undefined;
  readonly tokenId?: string | null | undefined;
  readonly allUserTokens?: boolean | undefined;
}

/**
 * Ends the access that existed before the password was changed: a link that sets it, all sessions with what was issued in them, all user tokens, and
 * what known devices may do at the sign-in. All of this ends because somebody else's access may be the very reason for the change, and because a user
 * token can make more tokens. Only what `KeptAccess` names stays valid. Call it in the transaction of the change and after the change, so that the
 * account's row is locked. Then a session or a token that begins at the same time either comes earlier and is ended here, or is checked against the
 * new password. Returns the details for the account's activity.
 */
export async function endFormerAccess(
  transaction: Transaction,
  userId: string,
  at: Timestamp,
  { sessionId = null, tokenId = null, allUserTokens = false }: KeptAccess = {},
): Promise<Readonly<Record<string, string>>> {
  await endPasswordLink(transaction, userId);
  await keepDeviceOf(transaction, userId, sessionId);
  await endOtherSessions(transaction, userId, sessionId, at);
  const revokedCount = allUserTokens ? 0 : await revokeOtherUserTokens(transaction, userId, tokenId, at);
  return revokedCount === 0 ? {} : { revokedUserTokens: String(revokedCount) };
}

interface ConfirmedChange {
  readonly currentHash: string;
  readonly newHash: string;
}

/**
 * Confirms that the caller knows the present password. The new password is checked first, so that a mistake in it costs no attempt at the present
 * one.
 */
async function confirmChange(
  { database, signIn }: PasswordParts,
  { actor, address }: CallerAct,
  { currentPassword, newPassword, code }: PasswordChange,
): Promise<ConfirmedChange> {
  const { id: userId } = actor;
  const email = (await findCredentials(database, userId))?.email ?? "";
  throwProblems(problemsOfNewPassword(newPassword, email, "/newPassword"));
  if (normalizePassword(newPassword) === normalizePassword(currentPassword)) {
    throwProblems([{ pointer: "/newPassword", detail: "must not be the same as the current password" }]);
  }
  const confirmation = { userId, password: currentPassword, code, address, passwordPointer: "/currentPassword" };
  const confirmed = await signIn.confirm(confirmation);
  const newHash = await signIn.hasher.inTurn((hashing) => hashing.hash(newPassword));
  return { currentHash: confirmed.passwordHash, newHash };
}

function throwProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  throw invalidPart("body", problems);
}

function changedMeanwhile(): ServiceError {
  return new ServiceError("ConflictError", "Another request has just changed the password. Sign in again.");
}

import { recordAccountActivity } from "../../auth/account-activity.ts";
import { normalizePassword, problemsOfNewPassword } from "../../auth/passwords/password-rules.ts";
import type { PasswordSignIn } from "../../auth/passwords/password-sign-in.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import type { Problem } from "../../core/problem.ts";
import { invalidPart, ServiceError } from "../../core/service-error.ts";
import type { Transaction } from "../../store/home/database.ts";
import { endPasswordLink } from "../../store/people/password-links.ts";
import {
  changePassword as changePasswordRow,
  endOtherSessions,
  findCredentials,
} from "../../store/people/user-credentials.ts";
import type { CallerAct, RevokingParts } from "../act/act.ts";
import { transactOnce } from "../act/repetition.ts";

export interface PasswordParts extends RevokingParts {
  readonly signIn: Pick<PasswordSignIn, "confirm" | "hasher">;
}

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly code: string | undefined;
}

/** Changes the caller's password. Ends all other sessions of theirs. Throws 409 when somebody else has changed it at this moment. */
export async function changePassword(parts: PasswordParts, act: CallerAct, change: PasswordChange): Promise<void> {
  const { engine, authenticator } = parts;
  const { actor, address, caller } = act;
  const { id: userId } = actor;
  const work = async (transaction: Transaction, _: Timestamp, { currentHash, newHash }: ConfirmedChange) => {
    const at = engine.now();
    if (!(await changePasswordRow(transaction, userId, currentHash, newHash, at))) throw changedMeanwhile();
    await endFormerAccess(transaction, userId, caller.sessionId ?? null, at);
    await recordAccountActivity(transaction, engine, { userId, action: "password-changed", address });
    return {};
  };
  await transactOnce(parts, act, { userId }, work, () => confirmChange(parts, act, change));
  authenticator.forgetAll();
}

/**
 * Ends what was open before the password was changed: a link that sets it, and all sessions except `keptSessionId`. That others were signed in may
 * be the very reason for the change.
 */
export async function endFormerAccess(
  transaction: Transaction,
  userId: string,
  keptSessionId: string | null,
  at: Timestamp,
): Promise<void> {
  await endPasswordLink(transaction, userId);
  await endOtherSessions(transaction, userId, keptSessionId, at);
}

/** The hashes as they are stored. */
interface ConfirmedChange {
  readonly currentHash: string;
  readonly newHash: string;
}

/**
 * Confirms that the caller knows the present password, before it is changed. The new password is checked first, so that a mistake in it costs no
 * attempt at the present one.
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
    throwProblems([{ pointer: "/newPassword", detail: "must be another one than the current" }]);
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
  return new ServiceError("ConflictError", "The password was changed by somebody else at this moment. Sign in again.");
}

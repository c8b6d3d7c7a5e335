import type { Timestamp } from "../../core/job/job-state.ts";
import type { Problem } from "../../core/problem.ts";
import { ServiceError } from "../../core/service-error.ts";
import { findMember } from "../../store/access/members.ts";
import type { Database, Queryable, Transaction } from "../../store/home/database.ts";
import { type AccountAction, insertAccountActivity } from "../../store/people/account-activity.ts";
import {
  endPasswordLink,
  findUserOfPasswordLink,
  type PasswordLinkUser,
  usePasswordLink,
} from "../../store/people/password-links.ts";
import { clearSignInAttempts } from "../../store/people/sign-in-backoff.ts";
import { changePassword, endOtherSessions, findCredentials, setPassword } from "../../store/people/user-credentials.ts";
import { permissionsOfActor } from "../permissions/actor-permissions.ts";
import { organizationIdsOf } from "../permissions/own-organizations.ts";
import { lookUpRoles } from "../permissions/roles.ts";
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

/** The hashes as they are stored. */
export interface ConfirmedPasswordChange {
  readonly currentHash: string;
  readonly newHash: string;
}

/**
 * Confirms that somebody knows the present password, before it is changed. Throws `ServiceError`. The new password is checked first, so that a
 * mistake in it costs no attempt at the present one.
 */
export async function confirmPasswordChange(
  parts: PasswordChangeParts,
  change: OwnPasswordChange,
): Promise<ConfirmedPasswordChange> {
  const { database, signIn } = parts;
  const { userId, currentPassword, newPassword, code, address } = change;
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

/** Changes a password after `confirmPasswordChange`. Throws `ServiceError` when somebody else has changed it since. */
export async function changeOwnPassword(
  parts: PasswordChangeParts,
  transaction: Transaction,
  change: OwnPasswordChange,
  { currentHash, newHash }: ConfirmedPasswordChange,
): Promise<void> {
  const { userId } = change;
  const at = parts.now();
  if (!(await changePassword(transaction, userId, currentHash, newHash, at))) {
    throw new ServiceError("ConflictError", "The password was changed by somebody else at this moment. Sign in again.");
  }
  await endPasswordLink(transaction, userId);
  await finish(parts, transaction, { ...change, action: "password-changed", at });
}

export interface PasswordByLink {
  readonly secret: string;
  readonly newPassword: string;
  readonly address: string;
}

/** Whose password the link sets; undefined when it does not hold (any more). */
export async function findLinkedUser(
  { database, now }: PasswordChangeParts,
  secret: string,
): Promise<PasswordLinkUser | undefined> {
  return await linkedUser(database, hashPasswordLink(secret), now());
}

/** Answers undefined when the link does not hold (any more), else what is wrong with the password; nothing is: then it is set. */
export async function setPasswordByLink(
  parts: PasswordChangeParts,
  { secret, newPassword, address }: PasswordByLink,
): Promise<readonly Problem[] | undefined> {
  const { database, now, signIn } = parts;
  const user = await findLinkedUser(parts, secret);
  if (user === undefined) return undefined;
  const problems = problemsOfNewPassword(newPassword, user.email, "/newPassword");
  if (problems.length > 0) return problems;
  const passwordHash = await signIn.hasher.inTurn((hashing) => hashing.hash(newPassword));
  return await database.transaction(async (transaction) => {
    const at = now();
    const linkHash = hashPasswordLink(secret);
    const { userId, email } = (await linkedUser(transaction, linkHash, at)) ?? {};
    if (userId === undefined || !(await usePasswordLink(transaction, userId, linkHash, at))) return undefined;
    await setPassword(transaction, userId, passwordHash, at);
    // Who needed the link has probably tried in vain before, and has now shown who they are.
    await clearSignInAttempts(transaction, accountSubject(email ?? "").hash);
    await finish(parts, transaction, { userId, sessionId: null, address, action: "password-set-by-link", at });
    return [];
  });
}

async function linkedUser(db: Queryable, linkHash: Buffer, at: Timestamp): Promise<PasswordLinkUser | undefined> {
  const user = await findUserOfPasswordLink(db, linkHash, at);
  return user !== undefined && (await mayStillOpen(db, user, at)) ? user : undefined;
}

/**
 * A link that a member made opens an account that is in that member's organization alone, of somebody who may do no more there than they: when it is
 * made, and when it is used. Until then its maker may have been removed, and whom it is for may have left, joined another organization or
 * been given more.
 */
async function mayStillOpen(db: Queryable, { userId, createdBy }: PasswordLinkUser, at: Timestamp): Promise<boolean> {
  if (createdBy.type !== "user") return true;
  const [organizationId, ...others] = await organizationIdsOf(db, userId);
  if (organizationId === undefined || others.length > 0) return false;
  const held = await permissionsOfActor(db, organizationId, createdBy, at);
  const member = await findMember(db, organizationId, userId);
  if (held === undefined || member === undefined) return false;
  const { permissions } = await lookUpRoles(db, organizationId, member.roles);
  return held.has("member:update") && permissions.isSubsetOf(held);
}

function throwProblems(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new ServiceError("ValidationError", `The body is not valid: ${first.pointer} ${first.detail}.`, { problems });
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

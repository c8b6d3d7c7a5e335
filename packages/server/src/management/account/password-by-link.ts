import { recordAccountActivity } from "../../auth/account-activity.ts";
import type { Hashing } from "../../auth/passwords/password-hasher.ts";
import { hashPasswordLink } from "../../auth/passwords/password-link.ts";
import { problemsOfNewPassword } from "../../auth/passwords/password-rules.ts";
import { accountSubject, countedForAddress } from "../../auth/passwords/sign-in-backoff.ts";
import { permissionsOfActor } from "../../auth/permissions/actor-permissions.ts";
import { organizationIdsOf } from "../../auth/permissions/own-organizations.ts";
import { lookUpRoles } from "../../auth/permissions/roles.ts";
import type { Problem } from "../../core/problem.ts";
import type { Timestamp } from "../../core/time.ts";
import { findMember } from "../../store/access/members.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findUserOfPasswordLink, type PasswordLinkUser, usePasswordLink } from "../../store/people/password-links.ts";
import { clearSignInAttempts } from "../../store/people/sign-in-backoff.ts";
import { setPassword } from "../../store/people/user-credentials.ts";
import type { ManagementParts } from "../act/act.ts";
import { endFormerAccess, type PasswordParts } from "./password.ts";

export type PasswordByLinkOutcome =
  /** The browser keeps `device`, so that the next sign-in recognizes this browser. */
  | { readonly outcome: "set"; readonly device: string }
  | { readonly outcome: "rejected"; readonly problems: readonly Problem[] }
  /** The link was never made, has ended, was used or replaced, or the member who made it may no longer open the account. */
  | { readonly outcome: "dead-link" };

export type PasswordByLinkParts = Pick<PasswordParts, "database" | "engine" | "signIn"> & {
  readonly authenticator: Pick<PasswordParts["authenticator"], "forgetUser">;
};

export interface PasswordByLink {
  readonly secret: string;
  readonly newPassword: string;
  readonly address: string;
}

/**
 * Sets the password of the user whom a link is for. Ends all earlier access, because somebody else may have created the account. Only a user token
 * that was made together with the link stays valid. If another request uses the link up while this one waits to hash the password, this one counts as
 * a failed sign-in from its network address. Otherwise many requests with one link at the same moment would fill the queue of the password hashes.
 * Throws 429 after too many attempts.
 */
export async function setPasswordByLink(
  parts: PasswordByLinkParts,
  use: PasswordByLink,
): Promise<PasswordByLinkOutcome> {
  const { database, engine, signIn, authenticator } = parts;
  const { secret, newPassword, address } = use;
  const linked = await findLinkedUser(parts, secret);
  if (linked === undefined) return { outcome: "dead-link" };
  const problems = problemsOfNewPassword(newPassword, linked.email, "/newPassword");
  if (problems.length > 0) return { outcome: "rejected", problems };
  const attempt = { database, now: () => engine.now(), address };
  const set = await countedForAddress(attempt, () => signIn.hasher.inTurn((hashing) => useLink(parts, use, hashing)));
  if (set === undefined) return { outcome: "dead-link" };
  authenticator.forgetUser(set.userId);
  return { outcome: "set", device: signIn.newDevice(set) };
}

/**
 * Computes the hash and uses the link up in the same turn. So the next use of the same link, whose turn comes later, finds no link and computes no
 * hash. Returns undefined for a link that is gone.
 */
async function useLink(
  parts: PasswordByLinkParts,
  { secret, newPassword, address }: PasswordByLink,
  hashing: Hashing,
): Promise<{ readonly userId: string; readonly passwordChangedAt: Timestamp } | undefined> {
  const { database, engine } = parts;
  if ((await findLinkedUser(parts, secret)) === undefined) return undefined;
  const passwordHash = await hashing.hash(newPassword);
  const at = engine.now();
  return await database.transaction(async (transaction) => {
    const linkHash = hashPasswordLink(secret);
    const user = await linkedUser(transaction, linkHash, at);
    if (user === undefined) return undefined;
    const { userId, email } = user;
    const used = await usePasswordLink(transaction, userId, linkHash, at);
    if (used === undefined) return undefined;
    await setPassword(transaction, userId, passwordHash, at);
    // A person who needed the link has probably failed to sign in before, and has now proven who they are.
    await clearSignInAttempts(transaction, accountSubject(email).hash);
    const details = await endFormerAccess(transaction, userId, at, { tokenId: used.keptTokenId });
    await recordAccountActivity(transaction, engine, { userId, action: "password-set-by-link", address, details });
    return { userId, passwordChangedAt: at };
  });
}

/** Returns the user whose password the link sets; undefined when the link is not valid (any more). */
export async function findLinkedUser(
  { database, engine }: Pick<ManagementParts, "database" | "engine">,
  secret: string,
): Promise<PasswordLinkUser | undefined> {
  return await linkedUser(database, hashPasswordLink(secret), engine.now());
}

async function linkedUser(db: Queryable, linkHash: Buffer, at: Timestamp): Promise<PasswordLinkUser | undefined> {
  const user = await findUserOfPasswordLink(db, linkHash, at);
  return user !== undefined && (await mayStillOpen(db, user, at)) ? user : undefined;
}

/**
 * Tells whether the maker of a link may still open the user's account. The operator always may. For a member there are three conditions: the user is
 * in exactly one organization, the member may change members there, and the member has every permission of the user. The conditions are checked when
 * the link is made and again when it is used. In the meantime, the member may have been removed, and the user may have left, joined another
 * organization or got more permissions.
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

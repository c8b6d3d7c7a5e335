import { recordAccountActivity } from "../../auth/account-activity.ts";
import { actorOf } from "../../auth/caller.ts";
import { type IssuedPasswordLink, issuePasswordLink } from "../../auth/passwords/password-link.ts";
import { organizationIdsOf } from "../../auth/permissions/own-organizations.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { findMember } from "../../store/access/members.ts";
import type { Transaction } from "../../store/home/database.ts";
import { findCredentials } from "../../store/people/user-credentials.ts";
import type { CallerAct, Clock, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { lockGrantsFor, requireRolesHeld } from "../act/grants.ts";
import { transactAnew } from "../act/repetition.ts";
import { endOfCaller } from "../tokens/expiry.ts";
import type { MemberKey } from "./members.ts";

/**
 * Makes a link that sets a member's password, in place of an earlier link. Throws 403 when the caller is the member or is not a person, and when the
 * caller may not do everything that the member may do. Also throws 403 when the member is in another organization too.
 */
export async function createPasswordLink(
  parts: ManagementParts,
  act: CallerAct,
  member: MemberKey,
): Promise<IssuedPasswordLink> {
  const { engine } = parts;
  const { organizationId, userId } = member;
  const createdAt = engine.now();
  // A repetition has nothing to revoke, because the new link replaces the earlier one.
  return await transactAnew(parts, act, { organizationId }, async (transaction) => {
    await requireMayReset(transaction, engine, act, member);
    const credentials = await findCredentials(transaction, userId);
    if (credentials === undefined) throw notFound("member");
    const kind = credentials.passwordHash === null ? "first" : "reset";
    const createdBy = actorOf(act.caller);
    const notAfter = await endOfCaller(transaction, act.caller);
    const link = await issuePasswordLink(transaction, { userId, kind, createdBy, createdAt, notAfter });
    const made = { userId, action: "password-link-made", address: act.address, details: { by: act.actor.id } } as const;
    await recordAccountActivity(transaction, engine, made);
    const note = { organizationId, targetType: "member", targetId: userId, details: { kind } } as const;
    await recordAudit(transaction, engine, act, note);
    return { made: {}, answer: link };
  });
}

/** The caller must hold everything that the member may do, because a caller who sets a person's password can sign in as that person. */
async function requireMayReset(
  transaction: Transaction,
  clock: Clock,
  act: CallerAct,
  { organizationId, userId }: MemberKey,
): Promise<void> {
  const granted = await lockGrantsFor(transaction, clock, act, organizationId);
  const member = await findMember(transaction, organizationId, userId);
  if (member === undefined) throw notFound("member");
  await requireRolesHeld(transaction, organizationId, granted, member.roles);
  if (act.actor.type !== "user")
    throw denied(
      "Only a person may make such a link, because it opens an account, and an account can do more than an API token.",
    );
  if (act.actor.id === userId)
    throw denied("To change your own password, use ChangePassword, which asks for the present password.");
  const organizationIds = await organizationIdsOf(transaction, userId);
  if (organizationIds.some((id) => id !== organizationId)) {
    throw denied(
      "This person is also a member of other organizations, so you may not open their account. The operator of the service can make a link with `stepwell user reset-link`.",
    );
  }
}

function denied(detail: string): ServiceError {
  return new ServiceError("AuthorizationError", detail);
}

import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Database, type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts } from "../home/key-parts.ts";
import type { RenamedRole } from "./members.ts";

export interface Invitation {
  readonly organizationId: string;
  readonly invitationId: string;
  /** The e-mail address of the invited person; null when anybody with the link may accept. */
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  readonly acceptedAt: Timestamp | null;
  readonly acceptedBy: string | null;
}

const invitationColumns = `
  organization_id AS "organizationId", invitation_id AS "invitationId", email, roles, created_by AS "createdBy",
  created_at AS "createdAt", expires_at AS "expiresAt", accepted_at AS "acceptedAt", accepted_by AS "acceptedBy"`;

export async function insertInvitation(
  transaction: Transaction,
  invitation: Invitation,
  linkHash: Buffer,
): Promise<void> {
  await transaction.query(insertInvitationRow, [
    invitation.organizationId,
    invitation.invitationId,
    invitation.email,
    invitation.roles,
    linkHash,
    JSON.stringify(invitation.createdBy),
    new Date(invitation.createdAt).toISOString(),
    new Date(invitation.expiresAt).toISOString(),
  ]);
}

const insertInvitationRow = statement<never>(
  "insert_invitation",
  "organization",
  `INSERT INTO invitation (organization_id, invitation_id, email, roles, link_hash, created_by, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Lists the invitations before `beforeInvitationId`, the newest first. Revoked invitations are not listed. */
export async function listInvitations(
  db: Queryable,
  organizationId: string,
  beforeInvitationId: string | null,
  limit: number,
): Promise<Invitation[]> {
  return await db.query(listInvitationRows, [organizationId, beforeInvitationId, limit]);
}

const listInvitationRows = statement<Invitation>(
  "list_invitations",
  "organization",
  `SELECT ${invitationColumns}
   FROM invitation
   WHERE organization_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR invitation_id < $2)
   ORDER BY invitation_id DESC
   LIMIT $3`,
  "each-time",
);

export async function findInvitation(
  db: Queryable,
  organizationId: string,
  invitationId: string,
): Promise<Invitation | undefined> {
  const [row] = await db.query(findInvitationRow, [organizationId, invitationId]);
  return row;
}

const findInvitationRow = statement<Invitation>(
  "find_invitation",
  "organization",
  `SELECT ${invitationColumns}
   FROM invitation
   WHERE organization_id = $1 AND invitation_id = $2 AND revoked_at IS NULL`,
);

/** Finds the invitation of a link, unless it was revoked. The caller checks whether it has expired. */
export async function findInvitationByLink(
  db: Queryable,
  organizationId: string,
  linkHash: Buffer,
): Promise<Invitation | undefined> {
  const [row] = await db.query(findInvitationByLinkRow, [organizationId, linkHash]);
  return row;
}

const findInvitationByLinkRow = statement<Invitation>(
  "find_invitation_by_link",
  "organization",
  `SELECT ${invitationColumns}
   FROM invitation
   WHERE organization_id = $1 AND link_hash = $2 AND revoked_at IS NULL`,
);

/** Renames the role in every invitation that gives it, including accepted ones. */
export async function renameRoleInInvitations(transaction: Transaction, renamed: RenamedRole): Promise<void> {
  await transaction.query(renameRoleInInvitationRows, [renamed.organizationId, renamed.from, renamed.to]);
}

const renameRoleInInvitationRows = statement<never>(
  "rename_role_in_invitations",
  "organization",
  `UPDATE invitation
   SET roles = array_replace(roles, $2, $3)
   WHERE organization_id = $1 AND $2 = ANY(roles)`,
);

/** Counts the invitations that can still be accepted. */
export async function countOpenInvitations(db: Queryable, organizationId: string, now: Timestamp): Promise<number> {
  const [row] = await db.query(countOpenInvitationRows, [organizationId, new Date(now).toISOString()]);
  return row?.invitationCount ?? 0;
}

const countOpenInvitationRows = statement<{ invitationCount: number }>(
  "count_open_invitations",
  "organization",
  `SELECT count(*)::integer AS "invitationCount"
   FROM invitation
   WHERE organization_id = $1 AND revoked_at IS NULL AND accepted_at IS NULL AND expires_at > $2`,
);

/** Whether an invitation that can still be accepted grants this role. */
export async function hasOpenInvitationWithRole(
  db: Queryable,
  organizationId: string,
  role: string,
  now: Timestamp,
): Promise<boolean> {
  const rows = await db.query(findOpenInvitationWithRole, [organizationId, role, new Date(now).toISOString()]);
  return rows.length > 0;
}

const findOpenInvitationWithRole = statement<{ found: number }>(
  "find_open_invitation_with_role",
  "organization",
  `SELECT 1 AS found
   FROM invitation
   WHERE organization_id = $1 AND $2 = ANY(roles) AND revoked_at IS NULL AND accepted_at IS NULL AND expires_at > $3
   LIMIT 1`,
);

/** Accepts an invitation. The caller holds the organization's lock (`lockOrganization`): otherwise two people could accept the same invitation. */
export async function acceptInvitation(
  transaction: Transaction,
  { organizationId, invitationId }: Invitation,
  userId: string,
  at: Timestamp,
): Promise<void> {
  await transaction.query(acceptInvitationRow, [organizationId, invitationId, userId, new Date(at).toISOString()]);
}

const acceptInvitationRow = statement<never>(
  "accept_invitation",
  "organization",
  `UPDATE invitation
   SET accepted_at = $4, accepted_by = $3
   WHERE organization_id = $1 AND invitation_id = $2 AND accepted_at IS NULL AND revoked_at IS NULL`,
);

export async function revokeInvitation(
  transaction: Transaction,
  organizationId: string,
  invitationId: string,
  at: Timestamp,
): Promise<void> {
  await transaction.query(revokeInvitationRow, [organizationId, invitationId, new Date(at).toISOString()]);
}

const revokeInvitationRow = statement<never>(
  "revoke_invitation",
  "organization",
  `UPDATE invitation
   SET revoked_at = $3
   WHERE organization_id = $1 AND invitation_id = $2 AND accepted_at IS NULL AND revoked_at IS NULL`,
);

/** Deletes invitations that expired before a time, accepted or not; at most `limit`. Returns how many it found. */
export async function deleteInvitationsExpiredBefore(
  db: Database,
  expiredBefore: Timestamp,
  limit: number,
): Promise<number> {
  const expired = await db.query(findExpiredInvitationRows, [new Date(expiredBefore).toISOString(), limit]);
  const groups = Map.groupBy(expired, ({ organizationId }) => db.groupOf(organizationId));
  for (const invitations of groups.values()) {
    await askInParts(invitations, (part) => {
      const organizationIds = [...new Set(part.map(({ organizationId }) => organizationId))];
      return db.query(deleteInvitationRows, [organizationIds, part.map(({ invitationId }) => invitationId)]);
    });
  }
  return expired.length;
}

const findExpiredInvitationRows = statement<{ organizationId: string; invitationId: string }>(
  "find_expired_invitations",
  "maintenance",
  `SELECT organization_id AS "organizationId", invitation_id AS "invitationId"
   FROM invitation
   WHERE expires_at < $1
   LIMIT $2`,
);

const deleteInvitationRows = statement<never>(
  "delete_invitations",
  "organization",
  "DELETE FROM invitation WHERE organization_id = ANY($1::uuid[]) AND invitation_id = ANY($2::uuid[])",
);

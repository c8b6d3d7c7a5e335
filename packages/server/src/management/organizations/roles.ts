import { findBuiltInRole } from "../../auth/permissions/built-in-roles.ts";
import { builtInRoles } from "../../auth/permissions/permissions.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { hasOpenInvitationWithRole } from "../../store/access/invitations.ts";
import { hasMemberWithRole } from "../../store/access/members.ts";
import {
  deleteRole as deleteRoleRow,
  findRole,
  insertRole,
  type Role,
  updateRole as updateRoleRow,
} from "../../store/access/roles.ts";
import type { CallerAct, ManagementParts, RevokingParts } from "../act/act.ts";
import { changesOf, recordAudit } from "../act/audit-trail.ts";
import { lockGrantsFor } from "../act/grants.ts";
import { etagOf, requireUnchanged } from "../act/precondition.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";
import { renamed, renameWhereGiven, requireFreeName } from "./role-names.ts";

export interface RoleFields {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
}

export interface RoleKey {
  readonly organizationId: string;
  /** The role's name or its id. */
  readonly role: string;
}

export type NewRole = Omit<Role, "formerNames">;

/**
 * Makes a role. Throws 403 unless the caller holds everything that the role permits, and 409 when the name is taken or the organization has too many
 * roles. `answerOf` makes the answer, which a repetition gets too.
 */
export async function createRole<Answer extends object>(
  parts: ManagementParts,
  act: CallerAct,
  organizationId: string,
  fields: RoleFields,
  answerOf: (role: NewRole) => Answer,
): Promise<Answer> {
  const { engine } = parts;
  const { name, permissions } = fields;
  if (builtInRoles.has(name)) throw builtInName(name);
  return await transactOnce(parts, act, { organizationId }, async (transaction, createdAt) => {
    requireAll(await lockGrantsFor(transaction, engine, act, organizationId), permissions);
    await requireFreeName(transaction, organizationId, name);
    await requireRoom(transaction, parts, act, { organizationId }, "roles");
    const role = { ...fields, organizationId, roleId: engine.newId(), createdAt, updatedAt: createdAt };
    await insertRole(transaction, role);
    const note = { organizationId, targetType: "role", targetId: name, details: auditedFields(role) } as const;
    await recordAudit(transaction, engine, act, note);
    return answerOf(role);
  });
}

/**
 * Changes a role; members and invitations keep it under its new name. Throws 403 unless the caller holds everything that the role permits, before and
 * after the change. Throws 412 when the role is not as the caller read it, and 409 for a built-in role or a name that is taken.
 */
export async function updateRole(
  { database, engine, authenticator }: RevokingParts,
  act: CallerAct,
  { organizationId, role: nameOrId }: RoleKey,
  fields: Partial<RoleFields>,
): Promise<Role> {
  rejectBuiltIn(nameOrId);
  if (fields.name !== undefined && builtInRoles.has(fields.name)) throw builtInName(fields.name);
  const changed = await database.transaction(async (transaction) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const role = await findRole(transaction, organizationId, nameOrId);
    if (role === undefined) throw notFound("role");
    const changed = renamed(role, { ...role, ...fields, updatedAt: engine.now() });
    requireAll(granted, [...role.permissions, ...changed.permissions]);
    requireUnchanged(act, "role", etagOfRole(role));
    if (changed.name !== role.name) await requireFreeName(transaction, organizationId, changed.name, role);
    await updateRoleRow(transaction, changed);
    if (changed.name !== role.name) await renameWhereGiven(transaction, role, changed.name);
    const before = { name: role.name, ...auditedFields(role) };
    const details = changesOf(before, { name: changed.name, ...auditedFields(changed) });
    const note = { organizationId, targetType: "role", targetId: role.name, details } as const;
    await recordAudit(transaction, engine, act, note);
    return changed;
  });
  authenticator.forgetOrganization(organizationId);
  return changed;
}

/**
 * Deletes a role. Throws 403 unless the caller holds everything that the role permits, and 409 for a built-in role and while somebody has the role
 * or is invited with it.
 */
export async function deleteRole(
  { database, engine }: ManagementParts,
  act: CallerAct,
  { organizationId, role: nameOrId }: RoleKey,
): Promise<void> {
  rejectBuiltIn(nameOrId);
  await database.transaction(async (transaction) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const role = await findRole(transaction, organizationId, nameOrId);
    if (role === undefined) throw notFound("role");
    requireAll(granted, role.permissions);
    requireUnchanged(act, "role", etagOfRole(role));
    const { name, roleId } = role;
    if (await hasMemberWithRole(transaction, organizationId, name)) throw inUse(name, "Members have");
    if (await hasOpenInvitationWithRole(transaction, organizationId, name, engine.now())) {
      throw inUse(name, "Open invitations give");
    }
    await deleteRoleRow(transaction, organizationId, roleId);
    const note = { organizationId, targetType: "role", targetId: name, details: auditedFields(role) } as const;
    await recordAudit(transaction, engine, act, note);
  });
}

/** Makes the entity tag of a role from all fields that can be changed. */
export function etagOfRole({ roleId, name, ...role }: Pick<NewRole, "roleId" | keyof RoleFields>): string {
  return etagOf({ roleId, name, description: role.description, permissions: [...role.permissions].sort() });
}

function rejectBuiltIn(nameOrId: string): void {
  const builtIn = findBuiltInRole(nameOrId);
  if (builtIn !== undefined) throw isBuiltIn(builtIn.name);
}

function auditedFields({ description, permissions }: NewRole) {
  return { description, permissions: [...permissions] };
}

function builtInName(name: string): ServiceError {
  const detail = "is the name of a built-in role; choose another name";
  return new ServiceError("ValidationError", `\`${name}\` ${detail}.`, { problems: [{ pointer: "/name", detail }] });
}

function isBuiltIn(name: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `The role \`${name}\` is built in and cannot be changed. Create a role of your own.`,
  );
}

function inUse(name: string, by: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `${by} the role \`${name}\`. Take the role away from the members who have it, and revoke the invitations that give it. Then delete it.`,
  );
}

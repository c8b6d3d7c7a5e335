import { ServiceError } from "../../core/service-error.ts";
import { renameRoleInInvitations } from "../../store/access/invitations.ts";
import { renameRoleOfMembers } from "../../store/access/members.ts";
import { findRolesEverNamed, type Role } from "../../store/access/roles.ts";
import type { Transaction } from "../../store/home/database.ts";

/** Throws 409 when another role of the organization has or had the name: an identity provider's mapping may still use a former name for that role. */
export async function requireFreeName(
  transaction: Transaction,
  organizationId: string,
  name: string,
  own?: Role,
): Promise<void> {
  const found = await findRolesEverNamed(transaction, organizationId, [name]);
  const other = found.find(({ roleId }) => roleId !== own?.roleId);
  if (other === undefined) return;
  throw other.name === name ? nameTaken(name) : formerNameTaken(name, other.name);
}

/** Returns the changed role. If its name changes, the role remembers the former one. */
export function renamed(before: Role, changed: Role): Role {
  if (changed.name === before.name) return changed;
  const formerNames = [...before.formerNames.filter((name) => name !== changed.name), before.name];
  if (formerNames.length > maxFormerNames) throw renamedTooOften();
  return { ...changed, formerNames };
}

/** Small, because a search for a name compares all former names. */
const maxFormerNames = 20;

/** Writes the role's new name into the rows of members and invitations, because these rows store the names of roles, not their ids. */
export async function renameWhereGiven(transaction: Transaction, before: Role, name: string): Promise<void> {
  const renaming = { organizationId: before.organizationId, from: before.name, to: name };
  await renameRoleOfMembers(transaction, renaming);
  await renameRoleInInvitations(transaction, renaming);
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `There is already a role \`${name}\`. Change that role, or choose another name.`,
  );
}

function formerNameTaken(name: string, presentName: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `\`${name}\` was the name of the role \`${presentName}\`, and an identity provider may still use this name for that role. Choose another name, or delete that role first.`,
  );
}

function renamedTooOften(): ServiceError {
  return new ServiceError(
    "ConflictError",
    `A role keeps at most ${maxFormerNames} former names. Give it one of these names again, or create another role.`,
  );
}

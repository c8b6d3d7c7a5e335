import { ServiceError } from "../../core/service-error.ts";
import { hasMemberWithRole, type Member } from "../../store/access/members.ts";
import type { Transaction } from "../../store/home/database.ts";

/**
 * Tells whether the member is the only owner of an organization. That owner must stay, because an organization without an owner might never get one
 * again. Lock the grants first: otherwise two owners could leave at the same time, because each still sees the other one as an owner.
 */
export async function isLastOwner(
  transaction: Transaction,
  { organizationId, userId, roles }: Pick<Member, "organizationId" | "userId" | "roles">,
): Promise<boolean> {
  return roles.includes("owner") && !(await hasMemberWithRole(transaction, organizationId, "owner", userId));
}

/** Throws 409 for the last owner. */
export async function requireOtherOwner(transaction: Transaction, member: Member): Promise<void> {
  if (!(await isLastOwner(transaction, member))) return;
  throw new ServiceError(
    "ConflictError",
    "This is the organization's last owner. Make another member an owner first, or delete the organization.",
  );
}

import { findMemberships } from "../../store/access/members.ts";
import { listOrganizationIdsOfUser } from "../../store/access/organizations.ts";
import type { Queryable } from "../../store/home/database.ts";

const pageSize = 200;

/** Returns the ids of all organizations of which the user is a member, without those that were deleted. */
export async function organizationIdsOf(db: Queryable, userId: string): Promise<string[]> {
  const found: string[] = [];
  let before: string | null = null;
  for (;;) {
    const ids: string[] = await listOrganizationIdsOfUser(db, userId, before, pageSize);
    if (ids.length > 0) found.push(...(await findMemberships(db, userId, ids)).keys());
    if (ids.length < pageSize) return found;
    before = ids.at(-1) ?? null;
  }
}

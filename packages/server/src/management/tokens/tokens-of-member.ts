import type { PermissionSet } from "../../auth/permissions/permissions.ts";
import { requireAll, requirePermission } from "../../auth/permissions/required.ts";
import { listApiTokensMadeBy, revokeApiTokens, type TokenHashes } from "../../store/access/tokens.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { Act, Clock } from "../act/act.ts";
import { recordAudits } from "../act/audit-trail.ts";
import { auditedFields } from "./api-tokens.ts";

/**
 * Revokes the API tokens that a member made, and those that were made with these tokens, because a token may have been given the permission to make
 * more tokens. Each revoked token leaves an entry in the audit trail. Lock the grants first, and pass what the caller holds. Throws 403 unless the
 * caller may revoke tokens and holds everything that these tokens may do.
 */
export async function revokeTokensOfMember(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  granted: PermissionSet,
): Promise<readonly TokenHashes[]> {
  requirePermission(granted, "apitoken:revoke");
  const tokens = await listApiTokensMadeBy(transaction, organizationId, userId);
  requireAll(granted, new Set(tokens.flatMap(({ permissions }) => permissions)));
  const tokenIds = tokens.map(({ tokenId }) => tokenId);
  const revoked = await revokeApiTokens(transaction, organizationId, tokenIds, clock.now());
  const notes = tokens.map((token) => {
    const details = { ...auditedFields(token), madeBy: userId };
    return { organizationId, targetType: "apiToken", targetId: token.tokenId, details } as const;
  });
  await recordAudits(transaction, clock, { ...act, operation: "RevokeApiToken" }, notes);
  return revoked;
}

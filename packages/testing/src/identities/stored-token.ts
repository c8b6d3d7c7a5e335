import { createToken } from "../../../server/src/auth/credentials/token-form.ts";
import { type ApiToken, insertApiToken } from "../../../server/src/store/access/tokens.ts";
import type { TestService } from "../service.ts";

/** Writes an API token directly into the store. The API makes no token whose creation or expiry is in the past. */
export async function storeToken(
  { running: { engine, database } }: TestService,
  organizationId: string,
  values: Partial<ApiToken> & Pick<ApiToken, "permissions">,
): Promise<{ readonly token: string; readonly tokenId: string }> {
  const { token, tokenHash, tokenPrefix } = createToken("organization", organizationId);
  const tokenId = engine.newId();
  const now = engine.now();
  const stored: ApiToken = {
    organizationId,
    tokenId,
    name: "t",
    tokenPrefix,
    createdBy: { type: "service", id: "test" },
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    lastUsedAt: null,
    rotatedAt: null,
    previousExpiresAt: null,
    workflowIds: null,
    tags: null,
    boundJobId: null,
    boundEventId: null,
    ...values,
  };
  await insertApiToken(database, stored, tokenHash);
  return { token, tokenId };
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { judgeSecretKey, WrongSecretKeyError } from "../auth/secret-key/secret-key-check.ts";
import type { Config } from "../config.ts";
import type { SealLink } from "../core/audit-chain.ts";
import { hasFormat } from "../core/schema/formats/format.ts";
import { ServiceError } from "../core/service-error.ts";
import { type AuditVerification, expectSeal, verifyAudit } from "../engine/audit/audit-verification.ts";
import { openStore } from "../open-store.ts";
import { secretBoxOf } from "../sealing/secret-key.ts";
import { listAllOrganizationIds } from "../store/audit/audit-verification.ts";

export interface StoredAuditRequest {
  /** The organization to verify. If it is left out, all organizations are verified, including deleted ones. */
  readonly organizationId?: string | undefined;
  readonly expected?: SealLink | undefined;
}

export interface StoredAuditVerification extends AuditVerification {
  readonly organizationId: string;
}

const organizationsAtOnce = 100;

/**
 * Verifies audit trails directly in the store, without a service. Throws `DirectoryLockedError` while a service holds an embedded store, and a
 * `NotFoundError` for an organization that this store never had.
 */
export async function* verifyStoredAudit(
  config: Config,
  { organizationId, expected }: StoredAuditRequest,
): AsyncGenerator<StoredAuditVerification> {
  requireExisting(config);
  if (organizationId !== undefined && !hasFormat(organizationId, "uuid")) throw unknownOrganization(organizationId);
  const database = await openStore(config);
  try {
    const secrets = secretBoxOf(config);
    // With another key, every seal would look changed.
    if ((await judgeSecretKey(database, secrets)) === "wrong") throw new WrongSecretKeyError();
    const keys = secrets.keysFor("audit");
    let found: readonly string[] = [];
    let last: string | null = null;
    do {
      found =
        organizationId === undefined
          ? await listAllOrganizationIds(database, last, organizationsAtOnce)
          : [organizationId];
      for (const id of found) {
        const trail = { database, keys, organizationId: id };
        const verified = await verifyAudit(trail);
        // Every organization has at least the entry about its creation. Without this check, the trail of a mistyped id would count as intact.
        if (organizationId !== undefined && expected === undefined && isEmpty(verified)) throw unknownOrganization(id);
        const held = expected === undefined ? verified : await expectSeal(trail, verified, expected);
        yield { organizationId: id, ...held };
      }
      last = found.at(-1) ?? null;
    } while (found.length === organizationsAtOnce);
  } finally {
    await database.close();
  }
}

function isEmpty({ checkedEntries, checkedSeals, unsealedEntries }: AuditVerification): boolean {
  return checkedEntries + checkedSeals + unsealedEntries === 0;
}

function unknownOrganization(organizationId: string): ServiceError {
  const detail = `This store has no audit trail of an organization ${organizationId}. \`stepwell audit verify\` without --organization verifies the trails of all organizations.`;
  return new ServiceError("NotFoundError", detail);
}

/**
 * Throws if opening the embedded store would create an empty store or a new key. Verifying must create neither, and with a new key every seal would
 * look changed.
 */
function requireExisting({ databaseUrl, dataDir, secretKey }: Config): void {
  if (databaseUrl !== undefined) return;
  if (!existsSync(join(dataDir, "postgres"))) {
    throw new Error(
      `There is no store in ${dataDir}. Name another directory with STEPWELL_DATA_DIR, or set DATABASE_URL.`,
    );
  }
  if (secretKey === undefined && !existsSync(join(dataDir, "secret.key"))) {
    throw new Error(
      `${join(dataDir, "secret.key")} is missing: without the service's secret key no seal can be checked.`,
    );
  }
}

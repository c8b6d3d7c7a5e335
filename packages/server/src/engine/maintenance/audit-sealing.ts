import { chainStart, entryText, sealText } from "../../core/audit-chain.ts";
import type { Timestamp } from "../../core/job-state.ts";
import { findNewestSeal, findUnsealedEntries, findUnsealedOrganizations, insertSeal } from "../../store/audit-seals.ts";
import type { Database } from "../../store/database.ts";
import { auditHash } from "../audit-hash.ts";
import type { Duty } from "./duty.ts";

export interface AuditSealingOptions {
  readonly database: Database;
  readonly now: () => Timestamp;
  readonly key: Buffer;
}

/** What is not sealed yet can be changed by whoever has the database: keep that time short. */
const everyMs = 5_000;
const maxOrganizationsAtOnce = 100;
const maxEntriesPerSeal = 1_000;

/**
 * Seals what was written to the audit trails since it last came. Apart from the changes themselves, so that no two of them wait for each other
 * over whose hash comes first.
 */
export function auditSealingDuty(options: AuditSealingOptions): Duty {
  return {
    name: "audit-sealing",
    everyMs,
    async runOnce() {
      let found: readonly string[] = [];
      let last: string | null = null;
      do {
        found = await findUnsealedOrganizations(options.database, last, maxOrganizationsAtOnce);
        for (const organizationId of found) await sealAll(options, organizationId);
        last = found.at(-1) ?? null;
      } while (found.length === maxOrganizationsAtOnce);
      return undefined;
    },
  };
}

async function sealAll(options: AuditSealingOptions, organizationId: string): Promise<void> {
  while ((await sealBatch(options, organizationId)) === maxEntriesPerSeal);
}

/**
 * Makes the next seal, and answers how many entries it covers; 0 when there is nothing to cover, or when another node was first. The newest
 * seal is read before the entries: what that other node sealed after this look has the number that this one is about to take.
 */
async function sealBatch({ database, now, key }: AuditSealingOptions, organizationId: string): Promise<number> {
  return await database.transaction(async (transaction) => {
    const newest = await findNewestSeal(transaction, organizationId);
    const unsealed = await findUnsealedEntries(transaction, organizationId, maxEntriesPerSeal);
    if (unsealed.length === 0) return 0;
    const content = {
      organizationId,
      sealNumber: (newest?.sealNumber ?? chainStart.number) + 1,
      sealedAt: new Date(now()).toISOString().replace("Z", "000Z"),
      previousHash: newest?.hash ?? chainStart.hash,
      entries: unsealed.map((entry) => ({ entryId: entry.entryId, entryHash: auditHash(key, entryText(entry)) })),
    };
    const seal = { ...content, hash: auditHash(key, sealText(content)) };
    return (await insertSeal(transaction, seal)) ? unsealed.length : 0;
  });
}

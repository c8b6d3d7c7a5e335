import { chainStart, type EntryText, entryText, sealText } from "../../core/audit-chain.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import {
  findEntryTexts,
  findNewestSeal,
  findSealNumbers,
  findUnsealedOrganizations,
  insertSeal,
  listUnsealedIds,
} from "../../store/audit/audit-seals.ts";
import type { Database, Transaction } from "../../store/home/database.ts";
import { auditHash } from "../audit/audit-hash.ts";
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
  while ((await sealBatch(options, organizationId)) > 0);
}

/**
 * Makes the next seal, and answers how many entries it covers; 0 when there is nothing to cover, or when another node was first. The newest
 * seal is read before the entries: what that other node sealed after this look has the number that this one is about to take.
 */
async function sealBatch({ database, now, key }: AuditSealingOptions, organizationId: string): Promise<number> {
  return await database.transaction(async (transaction) => {
    const newest = await findNewestSeal(transaction, organizationId);
    const unsealed = await findUnsealed(transaction, organizationId);
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

/**
 * The next entries to seal. What stands on the list but is gone, or is sealed already, was tampered with: it stays there for a verification to
 * find, and keeps nothing else from being sealed.
 */
async function findUnsealed(transaction: Transaction, organizationId: string): Promise<EntryText[]> {
  let entryIds: readonly string[] = [];
  let found: EntryText[] = [];
  do {
    const after = entryIds.at(-1) ?? null;
    entryIds = await listUnsealedIds(transaction, organizationId, after, maxEntriesPerSeal);
    const sealed = await findSealNumbers(transaction, organizationId, entryIds);
    const entries = await findEntryTexts(transaction, organizationId, entryIds);
    found = entryIds.flatMap((entryId) => (sealed.has(entryId) ? [] : (entries.get(entryId) ?? [])));
  } while (found.length === 0 && entryIds.length === maxEntriesPerSeal);
  return found;
}

import { chainStart, type EntryText, entryText, sealText } from "../../core/audit-chain.ts";
import type { Timestamp } from "../../core/time.ts";
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

/**
 * The pause between two rounds, in milliseconds. It is short because anybody with access to the database can change an entry that is not sealed yet,
 * and no check finds the change.
 */
const everyMs = 5_000;
const maxOrganizationsAtOnce = 100;
/** A seal is one transaction, and the embedded store does nothing else until it ends. */
const maxEntriesPerSeal = 250;

/**
 * Seals the entries that were written to the audit trails since the last round. The hashes need an order. If each
 * change made its own hash, the changes would have to wait for each other, so sealing is separate from them.
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
 * Makes the next seal, and returns how many entries it covers; 0 when there is nothing to cover, or when another node was first. The newest seal is
 * read before the entries: if another node seals entries after this read, its seal gets the number that this seal would have, and this seal is not
 * written.
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
 * Finds the next entries to seal. Skips an entry that is on the list of unsealed entries, but is missing or sealed already: either another node
 * sealed it a moment ago, or somebody tampered with it. In the second case, the entry stays on the list for a verification to find, and does not stop
 * other entries from being sealed.
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

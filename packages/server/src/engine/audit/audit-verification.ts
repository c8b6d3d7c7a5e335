import {
  type AuditFinding,
  chainStart,
  checkSeal,
  type EntryText,
  entryText,
  type SealedEntry,
  type SealLink,
  sealText,
} from "../../core/audit-chain.ts";
import { findEntryTexts, listUnsealedIds, type Seal } from "../../store/audit/audit-seals.ts";
import {
  type EntryStanding,
  findEntryStandings,
  findSeals,
  listCoveredEntries,
  listEntryIds,
  listSeals,
} from "../../store/audit/audit-verification.ts";
import type { Database } from "../../store/home/database.ts";
import { auditHash } from "./audit-hash.ts";

export interface AuditTrail {
  readonly database: Database;
  /** Each key may have made some of the seals, because the secret key can be changed. */
  readonly keys: readonly Buffer[];
  readonly organizationId: string;
}

export interface AuditVerification {
  readonly isIntact: boolean;
  readonly checkedEntries: number;
  readonly checkedSeals: number;
  readonly unsealedEntries: number;
  readonly newestSeal: SealLink | null;
  /** At most the first hundred findings. */
  readonly findings: readonly AuditFinding[];
}

const maxFindings = 100;
const sealsAtOnce = 100;
const entriesAtOnce = 1_000;

/**
 * Checks an organization's audit trail against its seals, page by page, while the service goes on writing it. Three things stay undetected. First,
 * before an entry was sealed, its row may have been removed together with its place in the list of entries that wait for a seal. Second, the newest
 * entries may have been removed together with their seals, or put back into that list so that the service sealed them again. `expectSeal` detects
 * this, if it gets one of the removed seals. Third, somebody who has both the database and the secret key can change anything.
 */
export async function verifyAudit(trail: AuditTrail): Promise<AuditVerification> {
  const verification = new Verification(trail);
  await verification.checkSeals();
  await verification.checkEntries();
  await verification.checkUnsealed();
  return verification.result();
}

/**
 * Checks that a verified trail still has a seal that was seen before. Only this check detects that the end of the chain was removed together with
 * that seal.
 */
export async function expectSeal(
  { database, organizationId }: Omit<AuditTrail, "keys">,
  verified: AuditVerification,
  { number: sealNumber, hash }: SealLink,
): Promise<AuditVerification> {
  const [seal] = await listSeals(database, organizationId, sealNumber - 1, 1);
  if (seal?.sealNumber === sealNumber && seal.hash === hash) return verified;
  const finding = { kind: "seal-unexpected", sealNumber } as const;
  return { ...verified, isIntact: false, findings: [finding, ...verified.findings].slice(0, maxFindings) };
}

class Verification {
  readonly #trail: AuditTrail;
  readonly #findings: AuditFinding[] = [];
  readonly #missingSeals = new Set<number>();
  /** The key that made the previous seal. When no key fits a seal because the seal was changed, this key probably made it too. */
  #key: Buffer;
  #isIntact = true;
  #checkedEntries = 0;
  #checkedSeals = 0;
  #unsealedEntries = 0;
  #newest: SealLink = chainStart;

  constructor(trail: AuditTrail) {
    const [key] = trail.keys;
    if (key === undefined) throw new Error("Without a key no seal can be checked.");
    this.#trail = trail;
    this.#key = key;
  }

  async checkSeals(): Promise<void> {
    const { database, organizationId } = this.#trail;
    let seals: readonly Seal[];
    do {
      seals = await listSeals(database, organizationId, this.#newest.number, sealsAtOnce);
      for (const portion of portions(seals)) await this.#checkPortion(portion);
    } while (seals.length === sealsAtOnce);
  }

  async #checkPortion(seals: readonly Seal[]): Promise<void> {
    const { database, organizationId } = this.#trail;
    const from = seals[0]?.sealNumber ?? 0;
    const to = seals.at(-1)?.sealNumber ?? 0;
    // If a seal covers more entries than its count says, something was changed. The limit leaves room for such surplus entries, so that the entries
    // of the other seals still fit into the page.
    const limit = countEntries(seals) + entriesAtOnce;
    const covered = await listCoveredEntries(database, organizationId, { from, to }, limit);
    const entryIds = covered.map(({ entryId }) => entryId);
    const texts = await findEntryTexts(database, organizationId, entryIds);
    const ofSeal = Map.groupBy(covered, (entry) => entry.sealNumber);
    for (const seal of seals) this.#checkSeal(seal, ofSeal.get(seal.sealNumber) ?? [], texts);
  }

  #checkSeal(seal: Seal, covered: readonly SealedEntry[], texts: ReadonlyMap<string, EntryText>): void {
    const { organizationId } = this.#trail;
    const { sealNumber, hash } = seal;
    const sealed = sealText({ ...seal, organizationId, entries: covered });
    this.#key = this.#trail.keys.find((key) => auditHash(key, sealed) === hash) ?? this.#key;
    const key = this.#key;
    const entries = covered.map(({ entryId, entryHash }) => {
      const text = texts.get(entryId);
      return { entryId, entryHash, hashNow: text === undefined ? null : auditHash(key, entryText(text)) };
    });
    const hashNow = auditHash(key, sealed);
    for (const finding of checkSeal(this.#newest, { ...seal, hashNow, entries })) this.#report(finding);
    this.#newest = { number: sealNumber, hash };
    this.#checkedSeals += 1;
    this.#checkedEntries += covered.length;
  }

  /** Checks that every entry either is covered by an existing seal or waits for a seal, and not both. */
  async checkEntries(): Promise<void> {
    const { database, organizationId } = this.#trail;
    let entryIds: readonly string[] = [];
    do {
      entryIds = await listEntryIds(database, organizationId, entryIds.at(-1) ?? null, entriesAtOnce);
      const standings = await findEntryStandings(database, organizationId, entryIds);
      const sealNumbers = new Set(standings.flatMap(({ sealNumber }) => sealNumber ?? []));
      const seals = await findSeals(database, organizationId, [...sealNumbers]);
      const ofEntry = Map.groupBy(standings, (standing) => standing.entryId);
      for (const entryId of entryIds) this.#checkStanding(entryId, ofEntry.get(entryId) ?? [], seals);
    } while (entryIds.length === entriesAtOnce);
  }

  #checkStanding(entryId: string, standings: readonly EntryStanding[], seals: ReadonlySet<number>): void {
    const isUnsealed = standings.some((standing) => standing.sealNumber === null);
    const sealNumber = standings.find((standing) => standing.sealNumber !== null)?.sealNumber ?? null;
    if (sealNumber !== null && !seals.has(sealNumber)) this.#report({ kind: "seal-missing", sealNumber });
    else if (sealNumber !== null && isUnsealed) this.#report({ kind: "entry-listed-twice", entryId, sealNumber });
    else if (sealNumber === null && !isUnsealed) this.#report({ kind: "entry-inserted", entryId });
    else if (isUnsealed) this.#unsealedEntries += 1;
  }

  /** Checks that every entry that waits for a seal exists. */
  async checkUnsealed(): Promise<void> {
    const { database, organizationId } = this.#trail;
    let entryIds: readonly string[] = [];
    do {
      entryIds = await listUnsealedIds(database, organizationId, entryIds.at(-1) ?? null, entriesAtOnce);
      const texts = await findEntryTexts(database, organizationId, entryIds);
      for (const entryId of entryIds) {
        if (!texts.has(entryId)) this.#report({ kind: "entry-missing", entryId, sealNumber: null });
      }
    } while (entryIds.length === entriesAtOnce);
  }

  result(): AuditVerification {
    return {
      isIntact: this.#isIntact,
      checkedEntries: this.#checkedEntries,
      checkedSeals: this.#checkedSeals,
      unsealedEntries: this.#unsealedEntries,
      newestSeal: this.#newest === chainStart ? null : this.#newest,
      findings: this.#findings,
    };
  }

  #report(finding: AuditFinding): void {
    this.#isIntact = false;
    if (finding.kind === "seal-missing") {
      // Every entry that the missing seal covered leads to the same finding, so the finding is kept only once.
      if (this.#missingSeals.has(finding.sealNumber)) return;
      if (this.#findings.length < maxFindings) this.#missingSeals.add(finding.sealNumber);
    }
    if (this.#findings.length < maxFindings) this.#findings.push(finding);
  }
}

/** Splits the seals into groups that cover at most `entriesAtOnce` entries. A seal that covers more entries is a group of its own. */
function portions(seals: readonly Seal[]): Seal[][] {
  const all: Seal[][] = [];
  for (const seal of seals) {
    const current = all.at(-1);
    if (current === undefined || countEntries([...current, seal]) > entriesAtOnce) all.push([seal]);
    else current.push(seal);
  }
  return all;
}

function countEntries(seals: readonly Seal[]): number {
  return seals.reduce((sum, seal) => sum + Math.max(0, seal.entryCount), 0);
}

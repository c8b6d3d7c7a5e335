/**
 * The chain of seals over an organization's audit trail. Each entry has a hash. Each seal has a hash over the hashes of its entries and over the seal
 * before it. The hashes need the service's secret key. So somebody who has only the database can change a row but cannot make a matching hash. This
 * file defines which texts are hashed and what follows from the hashes; other files compute the hashes.
 */

/** An entry as its row holds it. Times have microseconds, and JSON columns have their exact text, so that every change of a row is noticed. */
export interface EntryText {
  readonly organizationId: string;
  readonly entryId: string;
  /** `2026-01-31T12:00:00.123000Z` */
  readonly recordedAt: string;
  readonly actor: string;
  readonly actorId: string | null;
  readonly action: string;
  readonly outcome: string;
  readonly targetType: string;
  readonly targetId: string | null;
  readonly requestId: string;
  readonly address: string;
  readonly details: string;
}

export interface SealedEntry {
  readonly entryId: string;
  /** In hexadecimal, like all hashes in this file. */
  readonly entryHash: string;
}

/** A seal before it is hashed. Its entries stand in the order of their ids. */
export interface SealContent {
  readonly organizationId: string;
  readonly sealNumber: number;
  readonly sealedAt: string;
  readonly previousHash: string;
  readonly entries: readonly SealedEntry[];
}

/** The first seal of a chain continues this value, since there is no seal before it. */
export const chainStart: SealLink = { number: 0, hash: "0".repeat(64) };

export interface SealLink {
  readonly number: number;
  readonly hash: string;
}

/** The text of an entry from which its hash is computed: a JSON array without white space. Its first item distinguishes entries from seals. */
export function entryText(entry: EntryText): string {
  return JSON.stringify([
    "stepwell audit entry 1",
    entry.organizationId,
    entry.entryId,
    entry.recordedAt,
    entry.actor,
    entry.actorId,
    entry.action,
    entry.outcome,
    entry.targetType,
    entry.targetId,
    entry.requestId,
    entry.address,
    entry.details,
  ]);
}

/** The text of a seal from which its hash is computed. */
export function sealText({ organizationId, sealNumber, sealedAt, previousHash, entries }: SealContent): string {
  const covered = entries.map(({ entryId, entryHash }) => [entryId, entryHash]);
  return JSON.stringify(["stepwell audit seal 1", organizationId, sealNumber, sealedAt, previousHash, covered]);
}

export type AuditFinding =
  | { readonly kind: "entry-changed"; readonly entryId: string; readonly sealNumber: number }
  | { readonly kind: "entry-missing"; readonly entryId: string; readonly sealNumber: number | null }
  | { readonly kind: "entry-inserted"; readonly entryId: string }
  | { readonly kind: "entry-listed-twice"; readonly entryId: string; readonly sealNumber: number }
  | { readonly kind: "seal-changed"; readonly sealNumber: number }
  | { readonly kind: "seal-missing"; readonly sealNumber: number }
  | { readonly kind: "seal-unlinked"; readonly sealNumber: number }
  | { readonly kind: "seal-unexpected"; readonly sealNumber: number };

/** A seal as it was found. `hashNow` is the hash computed from the present rows. */
export interface FoundSeal {
  readonly sealNumber: number;
  readonly entryCount: number;
  readonly previousHash: string;
  readonly hash: string;
  readonly hashNow: string;
  readonly entries: readonly (SealedEntry & {
    /** Null when the entry's row is gone. */
    readonly hashNow: string | null;
  })[];
}

export function checkSeal(before: SealLink, seal: FoundSeal): AuditFinding[] {
  const { sealNumber } = seal;
  const findings: AuditFinding[] = [];
  const expected = before.number + 1;
  if (sealNumber !== expected) findings.push({ kind: "seal-missing", sealNumber: expected });
  else if (seal.previousHash !== before.hash) findings.push({ kind: "seal-unlinked", sealNumber });
  if (seal.hashNow !== seal.hash || seal.entryCount !== seal.entries.length)
    findings.push({ kind: "seal-changed", sealNumber });
  for (const { entryId, entryHash, hashNow } of seal.entries) {
    if (hashNow === null) findings.push({ kind: "entry-missing", entryId, sealNumber });
    else if (hashNow !== entryHash) findings.push({ kind: "entry-changed", entryId, sealNumber });
  }
  return findings;
}

export function describeFinding(finding: AuditFinding): string {
  switch (finding.kind) {
    case "entry-changed":
      return `Entry ${finding.entryId} is not as seal ${finding.sealNumber} sealed it: a column of its row was changed, or the secret key of the seal is not configured any more.`;
    case "entry-missing":
      return finding.sealNumber === null
        ? `Entry ${finding.entryId} is missing: its row was removed before it was sealed.`
        : `Entry ${finding.entryId}, which seal ${finding.sealNumber} covers, is missing: its row was removed.`;
    case "entry-inserted":
      return `Entry ${finding.entryId} is covered by no seal and does not wait for one: its row was inserted, or what covered it was removed.`;
    case "entry-listed-twice":
      return `Entry ${finding.entryId} waits for a seal, though seal ${finding.sealNumber} covers it: audit_unsealed was changed.`;
    case "seal-changed":
      return `Seal ${finding.sealNumber} does not fit its own hash: its row, or the list of the entries that it covers, was changed, or its secret key is not configured any more.`;
    case "seal-missing":
      return `Seal ${finding.sealNumber} is missing: its row was removed.`;
    case "seal-unlinked":
      return `Seal ${finding.sealNumber} does not continue the seal before it: one of the two was changed or replaced.`;
    case "seal-unexpected":
      return `Seal ${finding.sealNumber} is not the one that was expected: the end of the chain was removed, or the chain was made again from an earlier point.`;
    default:
      return finding satisfies never;
  }
}

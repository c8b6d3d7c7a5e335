import type { JsonValue } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Database, statement, type Transaction } from "../home/database.ts";
import { askInParts, askTogether, everyPairJoined, organizationsOf } from "../home/key-parts.ts";
import { requireAllWritten } from "../home/written.ts";

export interface KeyClaim {
  readonly organizationId: string;
  readonly idempotencyKey: string;
  /** The SHA-256 of the request: its operation, the parameters of its path and query, its sender, its body and its preconditions. */
  readonly requestHash: Buffer;
  /** The id of this claim, which all claims of one commit share. A later claim of the same key has another id. */
  readonly claimId: string;
}

export interface ClaimedKey {
  readonly organizationId: string;
  readonly idempotencyKey: string;
  readonly requestHash: Buffer;
  readonly claimId: string;
  /** The first answer, if the key has one. */
  readonly answer: JsonValue | null;
}

/**
 * Claims keys. No key may occur twice in `claims`. For a key that is new or has expired it returns this claim, for any other key the earlier
 * claim. Another transaction that claims the same key waits for this one. Every claim is a write, even a replay. Otherwise, with a synchronous
 * standby, a replay could acknowledge a row that is lost in a failover.
 */
export async function claimKeys(
  transaction: Transaction,
  claims: readonly KeyClaim[],
  now: Timestamp,
  lifeHours: number,
): Promise<ClaimedKey[]> {
  if (claims.length === 0) return [];
  const rows = claims.map((claim) => ({
    organization_id: claim.organizationId,
    idempotency_key: claim.idempotencyKey,
    request_hash: `\\x${claim.requestHash.toString("hex")}`,
    claim_id: claim.claimId,
  }));
  const createdAt = new Date(now).toISOString();
  const expiredBefore = new Date(now - lifeHours * 3_600_000).toISOString();
  const values = [JSON.stringify(rows), createdAt, expiredBefore, organizationsOf(claims)];
  const claimed = await transaction.query(claimKeyRows, values);
  requireAllWritten(claimed, claims.length, "idempotency keys");
  return claimed;
}

const claimKeyRows = statement<ClaimedKey>(
  "claim_idempotency_keys",
  "organization",
  `INSERT INTO idempotency_key AS held (organization_id, idempotency_key, request_hash, claim_id, created_at)
   SELECT organization.organization_id, idempotency_key, request_hash, claim_id, $2::timestamptz
   FROM json_to_recordset($1) AS new (organization_id uuid, idempotency_key text, request_hash bytea, claim_id uuid)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($4::uuid[])
   ORDER BY organization.organization_id, idempotency_key
   ON CONFLICT (organization_id, idempotency_key) DO UPDATE
   SET request_hash = CASE WHEN held.created_at < $3::timestamptz THEN excluded.request_hash ELSE held.request_hash END,
     claim_id = CASE WHEN held.created_at < $3::timestamptz THEN excluded.claim_id ELSE held.claim_id END,
     answer = CASE WHEN held.created_at < $3::timestamptz THEN NULL ELSE held.answer END,
     created_at = CASE WHEN held.created_at < $3::timestamptz THEN excluded.created_at ELSE held.created_at END
   RETURNING organization_id AS "organizationId", idempotency_key AS "idempotencyKey", request_hash AS "requestHash",
     claim_id AS "claimId", answer`,
);

export interface KeyAnswer {
  readonly organizationId: string;
  readonly idempotencyKey: string;
  readonly answer: JsonValue;
}

/** Keeps the first answer of keys that this transaction claimed. */
export async function storeAnswers(transaction: Transaction, answers: readonly KeyAnswer[]): Promise<void> {
  if (answers.length === 0) return;
  const answerPart = (part: readonly KeyAnswer[]) => {
    const rows = part.map(({ organizationId, idempotencyKey, answer }) => ({
      organization_id: organizationId,
      idempotency_key: idempotencyKey,
      answer,
    }));
    const keys = part.map((answer) => answer.idempotencyKey);
    return transaction.query(storeAnswerRows, [JSON.stringify(rows), organizationsOf(part), keys]);
  };
  await askTogether(answers, answerPart, everyPairJoined);
}

const storeAnswerRows = statement<never>(
  "store_idempotent_answers",
  "organization",
  `UPDATE idempotency_key
   SET answer = given.answer
   FROM json_to_recordset($1) AS given (organization_id uuid, idempotency_key text, answer json)
   WHERE idempotency_key.organization_id = ANY($2::uuid[]) AND idempotency_key.idempotency_key = ANY($3::text[])
     AND idempotency_key.organization_id = given.organization_id
     AND idempotency_key.idempotency_key = given.idempotency_key`,
);

/** Releases keys whose request was rejected: nothing was done, so the same key may be used again. */
export async function releaseKeys(
  transaction: Transaction,
  keys: readonly { readonly organizationId: string; readonly idempotencyKey: string }[],
): Promise<void> {
  if (keys.length === 0) return;
  await askTogether(
    keys,
    (part) =>
      transaction.query(releaseKeyRows, [
        organizationsOf(part),
        part.map((key) => key.idempotencyKey),
        part.map((key) => key.organizationId),
      ]),
    everyPairJoined,
  );
}

const releaseKeyRows = statement<never>(
  "release_idempotency_keys",
  "organization",
  `DELETE FROM idempotency_key
   USING unnest($3::uuid[], $2::text[]) AS released (organization_id, idempotency_key)
   WHERE idempotency_key.organization_id = ANY($1::uuid[]) AND idempotency_key.idempotency_key = ANY($2::text[])
     AND idempotency_key.organization_id = released.organization_id
     AND idempotency_key.idempotency_key = released.idempotency_key`,
);

/** Deletes expired keys, at most `limit`, and returns how many it found. */
export async function deleteExpiredKeys(db: Database, expiredBefore: Timestamp, limit: number): Promise<number> {
  const before = new Date(expiredBefore).toISOString();
  const expired = await db.query(findExpiredKeyRows, [before, limit]);
  const groups = Map.groupBy(expired, (key) => db.groupOf(key.organizationId));
  for (const keys of groups.values()) {
    await askInParts(keys, (part) =>
      db.query(deleteExpiredKeyRows, [organizationsOf(part), part.map((key) => key.idempotencyKey), before]),
    );
  }
  return expired.length;
}

/** The age is checked again, because the key may have been claimed anew after it was found. */
const deleteExpiredKeyRows = statement<never>(
  "delete_expired_idempotency_keys",
  "organization",
  `DELETE FROM idempotency_key
   WHERE organization_id = ANY($1::uuid[]) AND idempotency_key = ANY($2::text[]) AND created_at < $3`,
);

const findExpiredKeyRows = statement<{ organizationId: string; idempotencyKey: string }>(
  "find_expired_idempotency_keys",
  "maintenance",
  `SELECT organization_id AS "organizationId", idempotency_key AS "idempotencyKey"
   FROM idempotency_key
   WHERE created_at < $1
   LIMIT $2`,
);

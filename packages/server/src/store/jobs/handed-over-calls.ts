import type { Timestamp } from "../../core/time.ts";
import { statement, type Transaction } from "../home/database.ts";
import { askTogether, everyPairJoined } from "../home/key-parts.ts";
import { type CallKey, callArrays, changedCallColumns, isWantedCall, wantedCalls } from "./job-calls.ts";
import { keyArrays } from "./jobs.ts";

export interface LockedCalls {
  readonly locked: readonly CallKey[];
  /** The calls whose rows another transaction has locked. */
  readonly held: readonly CallKey[];
}

/**
 * Locks calls that this node holds, so that each of them stays until its child is made. Does not wait for other transactions. A call that is in
 * neither list is over, belongs to another node now, or was handed over to its child.
 */
export async function lockCalls(
  transaction: Transaction,
  nodeId: string,
  calls: readonly CallKey[],
): Promise<LockedCalls> {
  if (calls.length === 0) return { locked: [], held: [] };
  const ask = (rows: typeof lockCallRows) =>
    askTogether(calls, (part) => transaction.query(rows, [...callArrays(part), nodeId]), everyPairJoined);
  const locked = await ask(lockCallRows);
  if (locked.length === calls.length) return { locked, held: [] };
  const known = new Set(locked.map(placeOf));
  return { locked, held: (await ask(readHeldCallRows)).filter((call) => !known.has(placeOf(call))) };
}

function placeOf({ jobId, branch, epoch }: CallKey): string {
  return `${jobId} ${epoch} ${branch}`;
}

const heldCallRows = (lock: "FOR UPDATE OF job_call SKIP LOCKED" | "") =>
  `SELECT ${changedCallColumns}
   FROM job_call
   JOIN ${wantedCalls} AS wanted (organization_id, job_id, branch, epoch) ON ${isWantedCall}
   WHERE job_call.organization_id = ANY($1::uuid[]) AND job_call.node_id = $5
   ${lock}`;

const lockCallRows = statement<CallKey>(
  "lock_calls",
  "organization",
  heldCallRows("FOR UPDATE OF job_call SKIP LOCKED"),
);
const readHeldCallRows = statement<CallKey>("read_held_calls", "organization", heldCallRows(""));

export interface HandedOverCall extends CallKey {
  readonly childId: string;
  readonly timeoutAt: Timestamp | null;
}

/** Hands calls over to the children that the same transaction has made for them. The transaction has also locked the calls' rows. */
export async function handOverCalls(transaction: Transaction, calls: readonly HandedOverCall[]): Promise<void> {
  if (calls.length === 0) return;
  const hand = (part: readonly HandedOverCall[]) => {
    const rows = part.map(({ organizationId, jobId, branch, epoch, childId, timeoutAt }) => ({
      organization_id: organizationId,
      job_id: jobId,
      branch,
      epoch,
      child_job_id: childId,
      timeout_at: timeoutAt === null ? null : new Date(timeoutAt).toISOString(),
    }));
    return transaction.query(handOverCallRows, [JSON.stringify(rows), ...keyArrays(part)]);
  };
  await askTogether(calls, hand, everyPairJoined);
}

const handOverCallRows = statement<never>(
  "hand_over_calls",
  "organization",
  `UPDATE job_call
   SET node_id = NULL, begun = true, child_job_id = given.child_job_id, timeout_at = given.timeout_at
   FROM json_to_recordset($1) AS given (organization_id uuid, job_id uuid, branch text, epoch integer, child_job_id uuid,
     timeout_at timestamptz)
   WHERE job_call.organization_id = ANY($2::uuid[]) AND job_call.job_id = ANY($3::uuid[])
     AND job_call.organization_id = given.organization_id AND job_call.job_id = given.job_id AND job_call.branch = given.branch
     AND job_call.epoch = given.epoch`,
);

import type { JsonObject } from "../../core/json/json.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { CallerAct, ManagementParts, RepetitionKey } from "./act.ts";
import { type KeyScope, keyLedger } from "./key-ledger.ts";

/**
 * Runs `work` in one transaction, once for each key: a repetition gets the first answer and runs nothing. An error in `work` also rolls back the
 * claim of the key, so a request that failed may be sent again with the same key. `confirm` runs before the transaction and checks a proof that works
 * only once, such as a code. For a repetition it does not run, because its proof is used up.
 */
export async function transactOnce<Answer extends object, Proof = undefined>(
  parts: ManagementParts,
  { repetition }: Pick<CallerAct, "repetition">,
  scope: KeyScope,
  work: (transaction: Transaction, now: Timestamp, proof: Proof) => Promise<Answer>,
  confirm?: () => Promise<Proof>,
): Promise<Answer> {
  const proof = await proofOf(parts, scope, repetition, confirm);
  const now = parts.engine.now();
  return await parts.database.transaction(async (transaction) => {
    if (repetition === undefined) return await work(transaction, now, proven(proof));
    const ledger = keyLedger(scope, transaction, repetition);
    const first = await ledger.claim(now, parts.config.idempotencyHours);
    if (first !== undefined) {
      repetition.onReplayed();
      return first as Answer;
    }
    const answer = await work(transaction, now, proven(proof));
    await ledger.store(answer as JsonObject);
    return answer;
  });
}

/** An answer that shows a secret, and `made`: what a repetition must know in order to revoke the secret. `made` is stored, so it holds no secret. */
export interface Renewable<Made extends JsonObject, Answer> {
  readonly made: Made;
  readonly answer: Answer;
}

/**
 * Runs `work` in one transaction, even for a repetition. In a first attempt, `work` gets the result of `confirm`. In a repetition, `work` gets the
 * earlier attempt's `made`, and sees to it that the secret of that attempt does not work any more. Throws 409 for an attempt that is older than the
 * latest one, because the client may already have the secret of the later attempt.
 */
export async function transactAnew<Made extends JsonObject, Answer, Proof = undefined>(
  parts: ManagementParts,
  { repetition }: Pick<CallerAct, "repetition">,
  scope: KeyScope,
  work: (
    transaction: Transaction,
    earlier: Made | undefined,
    proof: Proof | undefined,
  ) => Promise<Renewable<Made, Answer>>,
  confirm?: () => Promise<Proof>,
): Promise<Answer> {
  const proof = await proofOf(parts, scope, repetition, confirm);
  return await parts.database.transaction(async (transaction) => {
    if (repetition === undefined) return (await work(transaction, undefined, proven(proof))).answer;
    const ledger = keyLedger(scope, transaction, repetition);
    const earlier = (await ledger.claim(parts.engine.now(), parts.config.idempotencyHours)) as
      | Attempt<Made>
      | undefined;
    const given = earlier === undefined ? proven(proof) : undefined;
    const { attempt } = repetition;
    if (earlier !== undefined && attempt < earlier.attempt) throw overtaken();
    const { made, answer } = await work(transaction, earlier?.made, given);
    await ledger.store({ attempt, made });
    return answer;
  });
}

interface Attempt<Made> {
  readonly attempt: number;
  readonly made: Made;
}

type Given<Proof> = { readonly proof: Proof } | undefined;

/** Returns the result of `confirm`, or undefined for a repetition. */
async function proofOf<Proof>(
  parts: ManagementParts,
  scope: KeyScope,
  key: RepetitionKey | undefined,
  confirm: (() => Promise<Proof>) | undefined,
): Promise<Given<Proof | undefined>> {
  if (confirm === undefined) return { proof: undefined };
  const isRepetition = async () => key !== undefined && (await isHeld(parts, scope, key));
  if (await isRepetition()) return undefined;
  try {
    return { proof: await confirm() };
  } catch (error) {
    // Meanwhile, another attempt may have used up the proof.
    if (error instanceof ServiceError && (await isRepetition())) return undefined;
    throw error;
  }
}

/**
 * Returns the result of `confirm`. Throws if `confirm` did not run because the request seemed to be a repetition, and the key then expired before the
 * transaction claimed it.
 */
function proven<Proof>(given: Given<Proof | undefined>): Proof {
  if (given === undefined) {
    throw new ServiceError("UnavailableError", "The first answer has just expired. Send the request again.");
  }
  return given.proof as Proof;
}

/** Tells whether an earlier attempt claimed the key. Waits for an attempt that is under way. This function leaves the key unclaimed. */
async function isHeld(parts: ManagementParts, scope: KeyScope, key: RepetitionKey): Promise<boolean> {
  const unclaimed = new Error("The key is new.");
  try {
    return await parts.database.transaction(async (transaction) => {
      const first = await keyLedger(scope, transaction, key).claim(parts.engine.now(), parts.config.idempotencyHours);
      if (first === undefined) throw unclaimed;
      return true;
    });
  } catch (error) {
    if (error === unclaimed) return false;
    throw error;
  }
}

function overtaken(): ServiceError {
  const detail = "A later attempt of this request was answered already. Use the answer to that attempt.";
  return new ServiceError("ConflictError", detail);
}

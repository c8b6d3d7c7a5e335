import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { replay } from "../../engine/commit/replay.ts";
import type { Transaction } from "../../store/home/database.ts";
import { claimKeys, storeAnswers } from "../../store/jobs/idempotency.ts";
import { claimUserKey, storeUserAnswer } from "../../store/people/user-idempotency.ts";
import type { RepetitionKey } from "./act.ts";

/** The owner of a key. The same key of another organization or user is a different key. */
export type KeyScope = { readonly organizationId: string } | { readonly userId: string };

/** The record of one key in one transaction. */
export interface KeyLedger {
  /** Claims the key. Returns the first answer; undefined when the key was new and is now claimed. Throws 409 when the key was used for another request. */
  readonly claim: (now: Timestamp, lifeHours: number) => Promise<JsonObject | undefined>;
  readonly store: (answer: JsonObject) => Promise<void>;
}

export function keyLedger(scope: KeyScope, transaction: Transaction, { key, requestHash }: RepetitionKey): KeyLedger {
  const ours = { idempotencyKey: key, requestHash, claimId: randomUUID() };
  if ("userId" in scope) {
    const { userId } = scope;
    return {
      claim: async (now, hours) => firstAnswer(await claimUserKey(transaction, { ...ours, userId }, now, hours), ours),
      store: (answer) => storeUserAnswer(transaction, userId, key, answer),
    };
  }
  const { organizationId } = scope;
  return {
    claim: async (now, hours) => {
      const [held] = await claimKeys(transaction, [{ ...ours, organizationId }], now, hours);
      if (held === undefined) throw new Error("The idempotency key was not claimed.");
      return firstAnswer(held, ours);
    },
    store: (answer) => storeAnswers(transaction, [{ organizationId, idempotencyKey: key, answer }]),
  };
}

interface Held {
  readonly claimId: string;
  readonly requestHash: Buffer;
  readonly answer: unknown;
}

function firstAnswer(held: Held, ours: Omit<Held, "answer">): JsonObject | undefined {
  if (held.claimId === ours.claimId) return undefined;
  const outcome = replay(held, ours.requestHash);
  if (outcome.type === "rejected") throw outcome.error;
  return outcome.answer;
}

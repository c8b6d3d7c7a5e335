import { hash, randomUUID } from "node:crypto";
import type { FastifyRequest, onRequestHookHandler } from "fastify";
import { Type } from "typebox";
import type { Timestamp } from "../core/job-state.ts";
import type { JsonObject } from "../core/json.ts";
import { ServiceError } from "../core/service-error.ts";
import { replay } from "../engine/batch.ts";
import type { Transaction } from "../store/database.ts";
import { claimKeys, storeAnswers } from "../store/idempotency.ts";
import { claimUserKey, storeUserAnswer } from "../store/user-idempotency.ts";
import type { ServerParts } from "./app.ts";

export const idempotencyHeader = "idempotency-key";

/** Declared by every operation that honours a key; any other operation refuses it (`refuseKey`). */
export const IdempotencyHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: "^[!-~]+$",
      description:
        "Makes a repetition safe: the same key with the same request answers as the first time did, and does nothing again. With another request it is a conflict. A key is kept for 24 hours, and apart for each organization.",
    }),
  ),
});

export interface IdempotencyKey {
  readonly key: string;
  readonly requestHash: Buffer;
}

/** The request's key with a hash of all that makes the request what it is; undefined when it has none. */
export function idempotencyOf(request: FastifyRequest): IdempotencyKey | undefined {
  const key = request.headers[idempotencyHeader];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[!-~]{1,255}$/.test(key)) {
    throw new ServiceError(
      "ValidationError",
      "Idempotency-Key must be 1 to 255 visible ASCII characters, without spaces.",
    );
  }
  const { principal } = request.caller;
  const asked = [
    request.routeOptions.schema?.operationId,
    request.params,
    principal.type,
    principal.id,
    request.bodyHash,
  ];
  return { key, requestHash: hash("sha256", JSON.stringify(asked), "buffer") };
}

/** A key is never accepted and ignored. */
export const refuseKey: onRequestHookHandler = (request, _reply, done) => {
  if (request.headers[idempotencyHeader] === undefined || request.method === "GET") return done();
  throw new ServiceError("ValidationError", "This operation takes no Idempotency-Key. Leave the header out.");
};

type KeyScope = { readonly organizationId: string } | { readonly userId: string };

/**
 * Runs `work` in one transaction, once for each idempotency key: a repetition gets the first answer and runs nothing. What `work` throws
 * rolls the claim of the key back with everything else, so a refused request may be asked again under the same key.
 */
export async function transactOnce<Answer extends object>(
  parts: Pick<ServerParts, "database" | "engine" | "config">,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, now: Timestamp) => Promise<Answer>,
): Promise<Answer> {
  const idempotency = idempotencyOf(request);
  const now = parts.engine.now();
  return await parts.database.transaction(async (transaction) => {
    if (idempotency === undefined) return await work(transaction, now);
    const ledger = ledgerOf(scope, transaction, idempotency);
    const claimId = randomUUID();
    const held = await ledger.claim(claimId, now, parts.config.idempotencyHours);
    if (held.claimId !== claimId) return firstAnswer(held, idempotency) as Answer;
    const answer = await work(transaction, now);
    await ledger.store(answer as JsonObject);
    return answer;
  });
}

interface HeldKey {
  readonly claimId: string;
  readonly requestHash: Buffer;
  readonly answer: unknown;
}

interface Ledger {
  readonly claim: (claimId: string, now: Timestamp, lifeHours: number) => Promise<HeldKey>;
  readonly store: (answer: JsonObject) => Promise<void>;
}

function ledgerOf(scope: KeyScope, transaction: Transaction, { key, requestHash }: IdempotencyKey): Ledger {
  const claim = { idempotencyKey: key, requestHash };
  if ("userId" in scope) {
    const { userId } = scope;
    return {
      claim: (claimId, now, hours) => claimUserKey(transaction, { ...claim, userId, claimId }, now, hours),
      store: (answer) => storeUserAnswer(transaction, userId, key, answer),
    };
  }
  const { organizationId } = scope;
  return {
    claim: async (claimId, now, hours) => {
      const [held] = await claimKeys(transaction, [{ ...claim, organizationId, claimId }], now, hours);
      if (held === undefined) throw new Error("The idempotency key was not claimed.");
      return held;
    },
    store: (answer) => storeAnswers(transaction, [{ organizationId, idempotencyKey: key, answer }]),
  };
}

function firstAnswer(held: HeldKey, { key, requestHash }: IdempotencyKey): object {
  const claim = { organizationId: "", idempotencyKey: key, requestHash, claimId: held.claimId };
  const outcome = replay(held, claim);
  if (outcome.type === "refused") throw outcome.error;
  return outcome.answer;
}

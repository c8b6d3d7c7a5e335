import { randomUUID } from "node:crypto";
import type { FastifyRequest, onSendHookHandler } from "fastify";
import { Type } from "typebox";
import type { Timestamp } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Command } from "../../engine/command.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Done } from "../../engine/group-commit.ts";
import { replay } from "../../engine/replay.ts";
import type { Transaction } from "../../store/home/database.ts";
import { claimKeys, storeAnswers } from "../../store/jobs/idempotency.ts";
import { claimUserKey, storeUserAnswer } from "../../store/people/user-idempotency.ts";
import type { ServerParts } from "./app.ts";
import { attemptOf, type RequestKey, requestKeyOf } from "./request-key.ts";

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

type Parts = Pick<ServerParts, "database" | "engine" | "config">;
type KeyScope = { readonly organizationId: string } | { readonly userId: string };

/**
 * Runs `work` in one transaction, once for each key of a request: a repetition gets the first answer and runs nothing. What `work` throws
 * rolls the claim of the key back with everything else, so a refused request may be sent again under the same key. `confirm` runs before the
 * transaction and checks a proof that works only once, such as a code; it does not run for a repetition, whose proof is used up.
 */
export async function transactOnce<Answer extends object, Proof = undefined>(
  parts: Parts,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, now: Timestamp, proof: Proof) => Promise<Answer>,
  confirm?: () => Promise<Proof>,
): Promise<Answer> {
  const key = requestKeyOf(request);
  const proof = await proofOf(parts, scope, key, confirm);
  const now = parts.engine.now();
  return await parts.database.transaction(async (transaction) => {
    if (key === undefined) return await work(transaction, now, proven(proof));
    const ledger = ledgerOf(scope, transaction, key);
    const first = await ledger.claim(now, parts.config.idempotencyHours);
    if (first !== undefined) {
      request.isReplayed = true;
      return first as Answer;
    }
    const answer = await work(transaction, now, proven(proof));
    await ledger.store(answer as JsonObject);
    return answer;
  });
}

/** Gives a command to the engine, once for each key of a request: a repetition gets the first answer. */
export async function commitOnce(engine: Engine, request: FastifyRequest, command: Command): Promise<Done> {
  const idempotency = requestKeyOf(request);
  if (idempotency === undefined) return await engine.commit(command);
  const done = await engine.commit({ ...command, idempotency });
  request.isReplayed = done.type === "replayed";
  return done;
}

/** The answer that shows a secret, and what was made for it. `made` is kept, so it must hold no secret. */
export interface Renewable<Made extends JsonObject, Answer> {
  readonly made: Made;
  readonly answer: Answer;
}

/**
 * Runs `work` in one transaction, also for a repetition: `work` then gets what the earlier attempt made, and revokes it. An attempt that a later
 * one overtook is refused, since the client has the later one's secret already.
 */
export async function transactAnew<Made extends JsonObject, Answer>(
  parts: Parts,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, earlier: Made | undefined) => Promise<Renewable<Made, Answer>>,
  confirm?: () => Promise<unknown>,
): Promise<Answer> {
  const key = requestKeyOf(request);
  const proof = await proofOf(parts, scope, key, confirm);
  return await parts.database.transaction(async (transaction) => {
    if (key === undefined) return (await work(transaction, undefined)).answer;
    const ledger = ledgerOf(scope, transaction, key);
    const earlier = (await ledger.claim(parts.engine.now(), parts.config.idempotencyHours)) as
      | Attempt<Made>
      | undefined;
    if (earlier === undefined) proven(proof);
    const attempt = attemptOf(request);
    if (earlier !== undefined && attempt < earlier.attempt) throw overtaken();
    const { made, answer } = await work(transaction, earlier?.made);
    await ledger.store({ attempt, made });
    return answer;
  });
}

/** Marks a replayed answer with a header. */
export const markReplayed: onSendHookHandler = (request, reply, payload, done) => {
  if (request.isReplayed) reply.header("idempotency-replayed", "true");
  done(null, payload);
};

interface Attempt<Made> {
  readonly attempt: number;
  readonly made: Made;
}

type Given<Proof> = { readonly proof: Proof } | undefined;

/** Undefined for a repetition. */
async function proofOf<Proof>(
  parts: Parts,
  scope: KeyScope,
  key: RequestKey | undefined,
  confirm: (() => Promise<Proof>) | undefined,
): Promise<Given<Proof | undefined>> {
  if (confirm === undefined) return { proof: undefined };
  const isRepetition = async () => key !== undefined && (await isHeld(parts, scope, key));
  if (await isRepetition()) return undefined;
  try {
    return { proof: await confirm() };
  } catch (error) {
    // An attempt that ran meanwhile may have used the proof up.
    if (error instanceof ServiceError && (await isRepetition())) return undefined;
    throw error;
  }
}

/** Throws when there is no proof: the key expired between `isHeld` and its claim. */
function proven<Proof>(given: Given<Proof | undefined>): Proof {
  if (given === undefined) {
    throw new ServiceError("UnavailableError", "The first answer has just expired. Send the request again.");
  }
  return given.proof as Proof;
}

/** True when an earlier attempt claimed the key; waits for one that is being carried out. Claims nothing itself. */
async function isHeld(parts: Parts, scope: KeyScope, key: RequestKey): Promise<boolean> {
  const unclaimed = new Error("The key is new.");
  try {
    return await parts.database.transaction(async (transaction) => {
      const first = await ledgerOf(scope, transaction, key).claim(parts.engine.now(), parts.config.idempotencyHours);
      if (first === undefined) throw unclaimed;
      return true;
    });
  } catch (error) {
    if (error === unclaimed) return false;
    throw error;
  }
}

interface Ledger {
  /** Answers the first answer; undefined when the key was new and is now ours. */
  readonly claim: (now: Timestamp, lifeHours: number) => Promise<JsonObject | undefined>;
  readonly store: (answer: JsonObject) => Promise<void>;
}

function ledgerOf(scope: KeyScope, transaction: Transaction, { key, requestHash }: RequestKey): Ledger {
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
  if (outcome.type === "refused") throw outcome.error;
  return outcome.answer;
}

function overtaken(): ServiceError {
  const detail = "A later attempt of this call was answered already. Use the answer of that one.";
  return new ServiceError("ConflictError", detail);
}

import { randomUUID } from "node:crypto";
import type { FastifyRequest, onSendHookHandler } from "fastify";
import { Type } from "typebox";
import type { Timestamp } from "../core/job-state.ts";
import type { JsonObject } from "../core/json.ts";
import { ServiceError } from "../core/service-error.ts";
import { type Command, replay } from "../engine/batch.ts";
import type { Engine } from "../engine/engine.ts";
import type { Done } from "../engine/group-commit.ts";
import type { Transaction } from "../store/database.ts";
import { claimKeys, storeAnswers } from "../store/idempotency.ts";
import { claimUserKey, storeUserAnswer } from "../store/user-idempotency.ts";
import type { ServerParts } from "./app.ts";
import { attemptOf, keyOf, type RequestKey } from "./request-key.ts";

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

/**
 * What a request does when it comes a second time under the same id of its call. With `IdempotencyHeaders` it answers as the first time
 * (`transactOnce`, `commitOnce`); without them a POST says what it does instead, or does not start.
 * - `replayed`: it answers as the first time, but takes no Idempotency-Key: a hash of its body beside a key that is known would let passwords be guessed.
 * - `renewed`: its answer shows a secret, which is kept nowhere. A repetition ends what the first attempt made and answers a new one
 *   (`transactAnew`).
 * - `without-effect`: it changes nothing.
 * - `not-found`: what it acted on is gone by then.
 */
export type Repetition = "replayed" | "renewed" | "without-effect" | "not-found";

type Parts = Pick<ServerParts, "database" | "engine" | "config">;
type KeyScope = { readonly organizationId: string } | { readonly userId: string };

/**
 * Runs `work` in one transaction, once for each key of a request: a repetition gets the first answer and runs nothing. What `work` throws
 * rolls the claim of the key back with everything else, so a refused request may be asked again under the same key. `confirm` runs before the
 * transaction, for a proof that holds only once, such as a code; a repetition has given it before.
 */
export async function transactOnce<Answer extends object, Proof = undefined>(
  parts: Parts,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, now: Timestamp, proof: Proof) => Promise<Answer>,
  confirm?: () => Promise<Proof>,
): Promise<Answer> {
  const key = keyOf(request);
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

/** The same for a change that goes through the engine. */
export async function commitOnce(engine: Engine, request: FastifyRequest, command: Command): Promise<Done> {
  const idempotency = keyOf(request);
  if (idempotency === undefined) return await engine.commit(command);
  const done = await engine.commit({ ...command, idempotency });
  request.isReplayed = done.type === "replayed";
  return done;
}

/** What an operation made whose answer shows a secret, and that answer. `made` is kept, so no secret may stand in it. */
export interface Renewable<Made extends JsonObject, Answer> {
  readonly made: Made;
  readonly answer: Answer;
}

/**
 * Runs `work` in one transaction, also for a repetition: it is then given what the attempt before made, and ends that. An attempt that was
 * overtaken by a later one is refused, since the client has the later one's secret already.
 */
export async function transactAnew<Made extends JsonObject, Answer>(
  parts: Parts,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, earlier: Made | undefined) => Promise<Renewable<Made, Answer>>,
  confirm?: () => Promise<unknown>,
): Promise<Answer> {
  const key = keyOf(request);
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

/** Says with the answer that it is the first one again. */
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
    // An attempt that was under way may have used the proof up.
    if (error instanceof ServiceError && (await isRepetition())) return undefined;
    throw error;
  }
}

/** Throws when nothing was proven: the key ran out between the look at it and its claim. */
function proven<Proof>(given: Given<Proof | undefined>): Proof {
  if (given === undefined) {
    throw new ServiceError("UnavailableError", "The first answer has just been forgotten. Ask again.");
  }
  return given.proof as Proof;
}

/** Waits for an attempt that is being carried out. A claim that is new is taken back. */
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
  /** The first answer; undefined when the key is new, and ours. */
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

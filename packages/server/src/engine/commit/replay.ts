import type { JsonObject } from "../../core/json/json.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Transaction } from "../../store/home/database.ts";
import { claimKeys, type KeyClaim, releaseKeys, storeAnswers } from "../../store/jobs/idempotency.ts";
import type { Command, Outcome } from "./command.ts";

export interface ReplayContext {
  readonly now: Timestamp;
  readonly commitId: string;
  readonly idempotencyHours: number;
}

/** The outcome of each command. */
export type Replies = Map<Command, Outcome>;

/** Claims the idempotency keys of commands. Returns the commands whose key has been used before, each with the outcome for its caller. */
export async function replayKnownKeys(
  transaction: Transaction,
  commands: readonly Command[],
  context: ReplayContext,
): Promise<Replies> {
  const replies: Replies = new Map();
  const claims = new Map<string, { command: Command; claim: KeyClaim }>();
  for (const command of commands) {
    if (command.idempotency === undefined) continue;
    const { key: idempotencyKey, requestHash } = command.idempotency;
    const claim = { organizationId: command.organizationId, idempotencyKey, requestHash, claimId: context.commitId };
    claims.set(`${command.organizationId} ${idempotencyKey}`, { command, claim });
  }
  const held = await claimKeys(
    transaction,
    [...claims.values()].map(({ claim }) => claim),
    context.now,
    context.idempotencyHours,
  );
  for (const key of held) {
    const ours = claims.get(`${key.organizationId} ${key.idempotencyKey}`);
    if (ours === undefined || key.claimId === context.commitId) continue;
    replies.set(ours.command, replay(key, ours.claim.requestHash));
  }
  return replies;
}

/** Keeps the first answer under each claimed key. The key of a command that was not applied may be used again. */
export async function settleKeys(transaction: Transaction, fresh: readonly Command[], replies: Replies): Promise<void> {
  const answered: { organizationId: string; idempotencyKey: string; answer: JsonObject }[] = [];
  const released: { organizationId: string; idempotencyKey: string }[] = [];
  for (const command of fresh) {
    if (command.idempotency === undefined) continue;
    const outcome = replyTo(replies, command);
    const key = { organizationId: command.organizationId, idempotencyKey: command.idempotency.key };
    if (outcome.type === "done") answered.push({ ...key, answer: outcome.answer });
    else if (outcome.type !== "replayed") released.push(key);
  }
  await storeAnswers(transaction, answered);
  await releaseKeys(transaction, released);
}

export function replyTo(replies: Replies, command: Command): Outcome {
  const reply = replies.get(command);
  if (reply === undefined) throw new Error("A command got no outcome.");
  return reply;
}

/** Repeats the first answer, or rejects the command when the key was used for a different request. */
export function replay(
  held: { readonly requestHash: Buffer; readonly answer: unknown },
  requestHash: Buffer,
): Extract<Outcome, { type: "replayed" | "rejected" }> {
  if (!held.requestHash.equals(requestHash)) {
    const message = "This Idempotency-Key was used for another request. Use a new key for each new request.";
    return { type: "rejected", error: new ServiceError("ConflictError", message) };
  }
  return { type: "replayed", answer: held.answer as JsonObject };
}

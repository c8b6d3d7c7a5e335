import type { FastifyRequest, onSendHookHandler } from "fastify";
import { Type } from "typebox";
import type { Command } from "../../engine/commit/command.ts";
import type { Done } from "../../engine/commit/group-commit.ts";
import type { Engine } from "../../engine/engine.ts";
import { requestKeyOf } from "./request-key.ts";

/** Every operation that honours an Idempotency-Key declares these headers. All other operations except reads reject the key (`rejectKey`). */
export const IdempotencyHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: "^[!-~]+$",
      description:
        "A key that makes a repetition safe. The same key with the same request gets the first answer again, and nothing is done twice. An answer with an error is not kept, so the request is then carried out anew. The same key with another request is a conflict. Each organization has keys of its own, and so has each user for requests outside of organizations. A key is kept for 24 hours, unless the operator of the service has set another time.",
    }),
  ),
});

/** Gives a command to the engine. If the request has a key, the command is carried out once, and a repetition gets the first answer. */
export async function commitOnce(engine: Engine, request: FastifyRequest, command: Command): Promise<Done> {
  const idempotency = requestKeyOf(request);
  if (idempotency === undefined) return await engine.commit(command);
  const done = await engine.commit({ ...command, idempotency });
  request.isReplayed = done.type === "replayed";
  return done;
}

/**
 * Marks a replayed answer with a header. An error is not marked, since it is not the first answer: the thing that was made may have been deleted, or
 * cannot be read now.
 */
export const markReplayed: onSendHookHandler = (request, reply, payload, done) => {
  if (request.isReplayed && reply.statusCode < 400) reply.header("idempotency-replayed", "true");
  done(null, payload);
};

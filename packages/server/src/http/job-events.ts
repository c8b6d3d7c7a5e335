import { type Static, Type } from "typebox";
import { actorOf } from "../auth/authenticator.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import { notFound } from "../core/service-error.ts";
import type { App, ServerParts } from "./app.ts";
import { IdempotencyHeaders, idempotencyOf } from "./idempotency.ts";
import { closed, Id, JobParams, oneOf } from "./schemas.ts";

const SentEventSchema = Type.Object(
  {
    jobId: Id,
    eventId: Type.String(),
    outcome: oneOf(["matched", "buffered", "unmatched", "duplicate"], {
      description:
        "`matched`: the current step waits for it. `buffered`: kept, a later step may wait for it. `unmatched`: kept, but no step of this version lists this id; probably a typo. `duplicate`: it is here already and not consumed; nothing was done again.",
    }),
  },
  { description: "The event is kept and will not be lost." },
);

const path = "/organizations/:organizationId/jobs/:jobId/events";

export function jobEventRoutes(app: App, { engine, config }: ServerParts): void {
  app.post(
    path,
    {
      config: { errors: ["ConflictError", "RateLimitError"] },
      schema: {
        operationId: "SendJobEvent",
        "x-permission": "job:event:send",
        tags: ["events"],
        summary: "Send an event to a job",
        description:
          "An event may come before the job waits for it: it counts when that step is reached. A finished job takes no more events.",
        params: JobParams,
        headers: IdempotencyHeaders,
        body: closed({
          eventId: Type.String({
            minLength: 1,
            maxLength: config.maxNameLength,
            pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            "x-rule": "must hold no control characters",
            description: "Compared byte by byte with the ids that steps list.",
          }),
          payload: Type.Optional(Type.Unsafe<JsonValue>({ description: "Any JSON value." })),
        }),
        response: { 200: SentEventSchema },
      },
    },
    async (request) => {
      const { eventId, payload } = request.body;
      const { jobId } = request.params;
      const idempotency = idempotencyOf(request);
      const done = await engine.commit({
        type: "fact",
        ...request.params,
        fact: {
          type: "event.received",
          eventId,
          ...(payload !== undefined && { payload }),
          sentBy: actorOf(request.caller),
          keptAs: null,
        },
        answer: (_job, verdict): JsonObject => ({
          jobId,
          eventId,
          outcome: verdict.type === "event" ? verdict.outcome : "duplicate",
        }),
        bytes: request.bodyBytes,
        ...(idempotency !== undefined && { idempotency }),
      });
      return done.answer as Static<typeof SentEventSchema>;
    },
  );
}
void notFound;

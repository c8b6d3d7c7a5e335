import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { actorOf } from "../../auth/caller.ts";
import type { Config } from "../../config.ts";
import { didYouMean } from "../../core/closest-name.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { JsonText, type ShownValue } from "../../core/json/json-text.ts";
import { quoted } from "../../core/problem.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import type { Command } from "../../engine/commit/command.ts";
import { readEvents } from "../../engine/reading/job-events.ts";
import { auditOf } from "../../management/act/audit-trail.ts";
import type { KeptEvent } from "../../store/jobs/event-lists.ts";
import { findVersionOfJob } from "../../store/jobs/job-lists.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { actOf } from "../door/act.ts";
import { largeAnswer } from "../door/answers/large-answer.ts";
import type { App, ServerParts } from "../door/app.ts";
import { requireEvent } from "../door/bounds-check.ts";
import { commitOnce, IdempotencyHeaders } from "../door/idempotency.ts";
import { isPositiveInteger, nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { ActorSchema, closed, eventIdSchema, Id, JobParams, oneOf, Time } from "../door/schemas.ts";

const RemarkSchema = Type.Object(
  { pointer: Type.String({ description: "The place in the body, as a JSON pointer." }), detail: Type.String() },
  { title: "EventRemark" },
);

const SentEventSchema = Type.Object(
  {
    jobId: Id,
    eventId: Type.String(),
    outcome: oneOf(["matched", "buffered", "unmatched", "duplicate"], {
      description:
        "The effect of the event. `matched`: a step waits for it now. `buffered`: it is kept, and a later step may wait for it. `unmatched`: it is kept, but no step of this version lists this id, which is probably a typo. `duplicate`: the job has this event already and has not consumed it, so only its `duplicateCount` goes up.",
    }),
    warnings: Type.Array(RemarkSchema, {
      description:
        "Warnings about properties of the payload that reach no step. Each says where to declare the property.",
    }),
  },
  { description: "The event is stored and will not be lost." },
);

const KeptEventSchema = Type.Object(
  {
    eventNumber: Type.Integer({
      minimum: 1,
      description: "The number of the event within the job, counted from 1 in the order of arrival.",
    }),
    eventId: Type.String(),
    payload: Type.Optional(
      Type.Unsafe<ShownValue>({ description: "The payload as it was sent. It is left out when none was sent." }),
    ),
    outcome: oneOf(["matched", "buffered", "unmatched"]),
    step: Type.Optional(
      Type.String({
        description:
          "The only step that the event is for. It is left out when the event was not sent for a certain step.",
      }),
    ),
    branch: Type.Optional(
      Type.String({ description: "The branch in which that step is. It is left out for the main line." }),
    ),
    visit: Type.Optional(Type.Integer({ description: "The only visit of `step` that the event is for." })),
    reason: Type.String({ description: "The reason for the outcome, and what became of the event." }),
    sentBy: ActorSchema,
    receivedAt: Time,
    duplicateCount: Type.Integer({
      description: "The number of times that the event was sent again before it was consumed.",
    }),
    lastDuplicateAt: Type.Optional(Time),
    consumedByBranch: Type.Optional(
      Type.String({
        description: "The branch in which the step is that consumed the event. It is left out for the main line.",
      }),
    ),
    consumedByStep: Type.Optional(Type.String()),
    consumedByVisit: Type.Optional(Type.Integer()),
    consumedAt: Type.Optional(Time),
  },
  { title: "JobEvent" },
);

const path = "/organizations/:organizationId/jobs/:jobId/events";

export function jobEventRoutes(app: App, parts: ServerParts): void {
  sendJobEventRoute(app, parts);
  listJobEventsRoute(app, parts);
}

function sendJobEventRoute(app: App, parts: ServerParts): void {
  const { engine, config } = parts;
  app.post(
    path,
    {
      config: {
        cost: 2,
        errors: ["ConflictError", "RateLimitError"],
        bounds: { workflows: "job", tags: "job", jobEvent: "job" },
      },
      schema: {
        operationId: "SendJobEvent",
        "x-permission": "job:event:send",
        tags: ["events"],
        summary: "Send an event to a job",
        description:
          "An event may come before the job waits for it; the step gets it when the job reaches the step. To send an event for one wait only, name its `step`. If the step is in a branch, name the `branch` too. If you mean a certain visit, name the `visit`. Such an event is kept until the wait begins. If the wait is over when the event comes, the event is rejected with 409. A payload that does not fit the definition that a step has for it is rejected with 400. A finished job accepts no more events.",
        params: JobParams,
        headers: IdempotencyHeaders,
        body: eventBody(config),
        response: { 200: SentEventSchema },
      },
    },
    async (request) => {
      requireEvent(request.caller, request.body.eventId);
      const done = await commitOnce(engine, request, commandOf(request));
      // A first answer that an earlier release stored under its Idempotency-Key has no warnings.
      return { warnings: [], ...done.answer } as unknown as Static<typeof SentEventSchema>;
    },
  );
}

function listJobEventsRoute(app: App, parts: ServerParts): void {
  const { database, plans } = parts;
  app.get(
    path,
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "ListJobEvents",
        "x-permission": "job:read",
        tags: ["events"],
        summary: "List a job's events",
        description:
          "The answer lists every event that the job accepted, in the order in which they came, each with its outcome and the reason. A duplicate has no entry of its own, but counts in `duplicateCount`. A page may have fewer events than you asked for when their payloads are large. There are more pages as long as there is a `nextPageToken`.",
        params: JobParams,
        querystring: closed({ ...pagingParameters }),
        response: {
          200: Type.Object({ events: Type.Array(KeptEventSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const page = pageOf(request, isPositiveInteger);
      const version = await findVersionOfJob(database, request.params);
      if (version === undefined) throw notFound("job");
      const reader = database.reader(organizationId);
      const found = await readEvents(reader, request.params, Number(page.after ?? 0), page.limit);
      const { rows, ...next } = page.cut(
        found.rows,
        (event) => String(event.eventNumber),
        undefined,
        found.moreAfter?.toString(),
      );
      const loaded = await plans.load(database, [{ organizationId, ...version }]);
      // The plan is needed only to suggest the right id for a misspelled one. If this node cannot load the plan, the answer suggests no id.
      const listed = loaded.plans.get(version.versionId)?.listedEventIds ?? new Set<string>();
      const events = rows.map((event) => renderEvent(event, version.versionNumber, listed));
      return await largeAnswer(reply, { events, ...next });
    },
  );
}

interface SentEvent {
  readonly eventId: string;
  readonly payload?: JsonValue;
  readonly step?: string;
  readonly branch?: string;
  readonly visit?: number;
}

function commandOf(request: FastifyRequest<{ Params: JobKey; Body: SentEvent }>): Command {
  const { body, caller, params, bodyBytes } = request;
  const { jobId } = params;
  const { eventId, payload, step, branch, visit } = body;
  const wait = {
    ...(step !== undefined && { step }),
    ...(branch !== undefined && { branch }),
    ...(visit !== undefined && { visit }),
  };
  const sent = { eventId, ...(payload !== undefined && { payload }), ...wait };
  return {
    type: "fact",
    ...params,
    fact: { type: "event.received", ...sent, sentBy: actorOf(caller), keptAs: null },
    answer: (_job, verdict): JsonObject => ({
      jobId,
      eventId,
      outcome: verdict.type === "event" ? verdict.outcome : "duplicate",
      warnings: verdict.type === "event" ? verdict.warnings.map((warning) => ({ ...warning })) : [],
    }),
    bytes: bodyBytes,
    // Programs send thousands of events, and each event names its sender. So only an event that a person sends leaves an audit entry.
    ...(caller.principal.type === "user" && {
      audit: auditOf(actOf(request), { targetType: "job", targetId: jobId, details: { eventId, ...wait } }),
    }),
  };
}

function eventBody({ maxNameLength, maxStepRunsPerJob }: Config) {
  return closed({
    eventId: eventIdSchema(maxNameLength),
    payload: Type.Optional(Type.Unsafe<JsonValue>({ description: "Any JSON value." })),
    step: Type.Optional(
      Type.String({
        description:
          "The only step that the event is for. The step must list the event id, or be a wait whose event ids come from expressions.",
      }),
    ),
    branch: Type.Optional(
      Type.String({
        maxLength: 10_000,
        description:
          "The path of the branch in which `step` is, as in a job's `steps`. It is required for a step in a branch. Leave it out for a step of the main line.",
      }),
    ),
    visit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxStepRunsPerJob,
        description:
          "The only visit of `step` that the event is for, as in a job's `steps`. If it is left out, the event is for the visit that waits now, or for the next visit when none waits.",
      }),
    ),
  });
}

function renderEvent(
  event: KeptEvent,
  versionNumber: number,
  listedEventIds: ReadonlySet<string>,
): Static<typeof KeptEventSchema> {
  const rendered: Static<typeof KeptEventSchema> = {
    eventNumber: event.eventNumber,
    eventId: event.eventId,
    outcome: event.outcome,
    reason: reasonOf(event, versionNumber, listedEventIds),
    sentBy: event.sentBy,
    receivedAt: toTime(event.receivedAt),
    duplicateCount: event.duplicateCount,
  };
  if (event.step !== null) rendered.step = event.step;
  if (event.branch !== null) rendered.branch = event.branch;
  if (event.consumedByBranch !== null) rendered.consumedByBranch = event.consumedByBranch;
  if (event.visit !== null) rendered.visit = event.visit;
  if (event.payload !== null) rendered.payload = new JsonText(event.payload);
  if (event.lastDuplicateAt !== null) rendered.lastDuplicateAt = toTime(event.lastDuplicateAt);
  if (event.consumedByStep !== null) rendered.consumedByStep = event.consumedByStep;
  if (event.consumedByVisit !== null) rendered.consumedByVisit = event.consumedByVisit;
  if (event.consumedAt !== null) rendered.consumedAt = toTime(event.consumedAt);
  return rendered;
}

function reasonOf(event: KeptEvent, versionNumber: number, listedEventIds: ReadonlySet<string>): string {
  const { eventId, outcome, consumedByStep } = event;
  if (outcome === "unmatched") {
    const hint = didYouMean(eventId, listedEventIds);
    return `No step of version ${versionNumber} lists this id${hint === "" ? "." : hint}`;
  }
  if (event.step !== null && consumedByStep === null) {
    const where = event.branch === null ? "" : ` in ${quoted(event.branch)}`;
    return `It was sent for visit ${event.visit} of ${quoted(event.step)}${where} alone, which has not consumed it.`;
  }
  const arrival = outcome === "matched" ? "A step waited for it when it came" : "It came before a step waited for it";
  return consumedByStep === null
    ? `${arrival}; it is kept until a step consumes it.`
    : `${arrival}; ${quoted(consumedByStep)} consumed it.`;
}

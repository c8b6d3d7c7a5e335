import { type Static, Type } from "typebox";
import { type PlainEntry, valueIn } from "../../core/job/history.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { largeAnswer } from "../door/answers/large-answer.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isPositiveInteger, nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { ActorSchema, AnyJson, closed, JobParams, oneOf, Time } from "../door/schemas.ts";
import { StepErrorSchema } from "./render-job.ts";

const entryTypes = [
  "job.submitted",
  "job.started",
  "step.started",
  "step.attemptStarted",
  "step.attemptFailed",
  "step.interrupted",
  "step.handedBack",
  "step.waiting",
  "step.delayed",
  "step.forked",
  "step.succeeded",
  "step.failed",
  "event.received",
  "job.succeeded",
  "job.failed",
  "job.cancelled",
  "job.resumed",
  "job.awaited",
] as const satisfies PlainEntry["type"][];

export const HistoryEntrySchema = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      description: "The number of the entry within the job, counted from 1 without gaps.",
    }),
    at: Time,
    type: oneOf(entryTypes),
    by: Type.Optional(ActorSchema),
    branch: Type.Optional(
      Type.String({ description: "The path of the branch of the step. It is left out for the main line." }),
    ),
    step: Type.Optional(Type.String()),
    visit: Type.Optional(Type.Integer()),
    attempt: Type.Optional(Type.Integer()),
    branchCount: Type.Optional(Type.Integer({ description: "The number of branches of the step." })),
    items: Type.Optional(Type.Unsafe<JsonValue>({ description: "The items of the list of a forEach step." })),
    input: Type.Optional(AnyJson),
    output: Type.Optional(AnyJson),
    error: Type.Optional(
      Type.Object({
        ...StepErrorSchema.properties,
        step: Type.Optional(Type.String()),
        attempt: Type.Optional(Type.Integer()),
        branch: Type.Optional(Type.String()),
      }),
    ),
    retryAt: Type.Optional(Time),
    next: Type.Optional(
      Type.Unsafe<string | null>({
        type: ["string", "null"],
        description:
          "The step that takes over after a failure, or to which a choice led after a success. It is null where the choice ended the job or the branch.",
      }),
    ),
    eventIds: Type.Optional(Type.Array(Type.String(), { description: "The events for which the step waits." })),
    timeoutAt: Type.Optional(Time),
    delayEndsAt: Type.Optional(
      Type.String({ format: "date-time", description: "The time until which the step sleeps." }),
    ),
    consumed: Type.Optional(
      Type.Array(Type.Integer(), { description: "The numbers of the events that the step consumed." }),
    ),
    eventId: Type.Optional(Type.String()),
    eventNumber: Type.Optional(Type.Integer()),
    outcome: Type.Optional(oneOf(["matched", "buffered", "unmatched"])),
  },
  { title: "HistoryEntry", description: "One entry of a job's history. Which fields there are depends on the type." },
);

export function jobHistoryRoutes(app: App, { engine }: ServerParts): void {
  app.get(
    "/organizations/:organizationId/jobs/:jobId/history",
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "GetJobHistory",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "Get a job's history",
        description: "The answer lists every change of the job, in order.",
        params: JobParams,
        querystring: closed({ ...pagingParameters }),
        response: {
          200: Type.Object({ entries: Type.Array(HistoryEntrySchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request, reply) => {
      const page = pageOf(request, isPositiveInteger);
      const found = await engine.readHistory(request.params, { after: Number(page.after ?? 0), limit: page.limit });
      if (found === undefined) throw notFound("job");
      const { rows, ...next } = page.cut(
        found.rows,
        (entry) => String(entry.sequence),
        (entry) => valueIn(entry) ?? null,
        found.moreAfter?.toString(),
      );
      return await largeAnswer(reply, { entries: rows.map(renderEntry), ...next });
    },
  );
}

export function renderEntry(entry: PlainEntry): Static<typeof HistoryEntrySchema> {
  const rendered = { ...entry, at: toTime(entry.at) };
  if (rendered.type === "step.attemptFailed") return { ...rendered, retryAt: toTime(rendered.retryAt) };
  if (rendered.type === "step.delayed") return { ...rendered, delayEndsAt: toTime(rendered.delayEndsAt) };
  if (rendered.type !== "step.waiting") return rendered as Static<typeof HistoryEntrySchema>;
  const { timeoutAt, eventIds, ...waiting } = rendered;
  return { ...waiting, eventIds: [...eventIds], ...(timeoutAt !== undefined && { timeoutAt: toTime(timeoutAt) }) };
}

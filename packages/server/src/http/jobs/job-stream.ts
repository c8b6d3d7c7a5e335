import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isTerminal } from "../../core/job/job-state.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { JobKey, JobStanding } from "../../store/jobs/jobs.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isStillAllowed } from "../door/authorization.ts";
import { isPositiveInteger } from "../door/paging.ts";
import { noteWaiting } from "../door/rate-limit.ts";
import { JobParams, noContent } from "../door/schemas.ts";
import { renderEntry } from "./job-history.ts";
import { accessCheck, Bell, lookMs, sendStream, serverSentEvent, slice, streamResponse } from "./server-sent.ts";

/** The number of waits of `lookMs` after which a quiet stream sends a heartbeat and reads the job again. */
const looksPerHeartbeat = 15;

export function jobStreamRoutes(app: App, parts: ServerParts): void {
  const { engine } = parts;

  app.get(
    "/organizations/:organizationId/jobs/:jobId/stream",
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "WatchJob",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "Watch a job",
        description:
          "The answer is a stream of server-sent events, one for each history entry: `id` is the sequence of the entry, `event` its type, and `data` the entry as JSON. After an interruption, continue with `Last-Event-ID`. The stream ends after the entry that finishes the job.",
        params: JobParams,
        headers: Type.Object({
          "Last-Event-ID": Type.Optional(
            Type.String({ pattern: "^[0-9]{1,9}$", description: "The sequence of the last entry that was received." }),
          ),
        }),
        response: {
          200: streamResponse,
          204: noContent("The job is finished, and there is nothing after `Last-Event-ID`. Do not connect again."),
        },
      },
    },
    async (request, reply) => {
      const after = lastEventId(request);
      const standing = await engine.readStanding(request.params);
      if (standing === undefined) throw notFound("job");
      if (after > 0 && isFinishedAt(standing, after)) return reply.code(204).send(null);
      const bell = new Bell();
      const unwatch = engine.watchJob(request.params, bell.ring);
      const { organizationId } = request.params;
      noteWaiting(request, parts, organizationId);
      const pieces = follow(parts, request, request.params, after, bell);
      return sendStream(reply, pieces, { organizationId, parts, bell, unwatch });
    },
  );
}

async function* follow(
  parts: ServerParts,
  request: FastifyRequest,
  key: JobKey,
  after: number,
  bell: Bell,
): AsyncGenerator<string> {
  const { engine, closing } = parts;
  const isAllowed = accessCheck(request, "job:read", parts);
  let sent = after;
  let isNew = true;
  yield ": the history of the job follows\n\n";
  for (let looks = 1; !closing.aborted && !bell.isOver; looks += 1) {
    if (looks % looksPerHeartbeat === 0) yield ": still here\n\n";
    const standing = isNew || looks % looksPerHeartbeat === 0 ? await engine.readStanding(key) : undefined;
    while (standing !== undefined && sent < standing.sequence && !closing.aborted) {
      const found = await engine.readHistory(key, { after: sent, ...slice });
      if (found === undefined || found.rows.length === 0) return;
      for (const entry of found.rows) {
        yield serverSentEvent(String(entry.sequence), entry.type, renderEntry(entry));
        sent = entry.sequence;
        // A slow reader may take minutes for a long history, and may lose access meanwhile.
        if (sent < standing.sequence && !(await isAllowed())) return;
      }
    }
    if (standing !== undefined && isFinishedAt(standing, sent)) return;
    isNew = await bell.heard(lookMs);
    if (!(await isStillAllowed(request, "job:read", parts))) return;
  }
}

export function isFinishedAt({ status, sequence }: JobStanding, sent: number): boolean {
  return isTerminal(status) && sequence <= sent;
}

function lastEventId({ headers }: FastifyRequest): number {
  const text = headers["last-event-id"];
  if (text === undefined || text === "" || text === "0") return 0;
  if (typeof text === "string" && isPositiveInteger(text)) return Number(text);
  throw new ServiceError("ValidationError", "Last-Event-ID must be the sequence of the last entry that was received.");
}

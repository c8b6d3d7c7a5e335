import { setMaxListeners } from "node:events";
import { Readable } from "node:stream";
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

/** How often a quiet stream looks whether its token still holds, and every how many looks it says that it is alive. */
const lookMs = 1_000;
const looksPerHeartbeat = 15;
const entriesAtOnce = 200;

/** No proxy may hold entries back; and a connection that was kept open after its stream would outlive a closing server. */
const streamHeaders = { "x-accel-buffering": "no", connection: "close" };

export function jobStreamRoutes(app: App, parts: ServerParts): void {
  const { engine, closing } = parts;
  // Each stream listens.
  setMaxListeners(0, closing);

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
          "Server-sent events, one for each history entry: `id` is its sequence, `event` its type, `data` the entry as JSON. After an interruption go on with `Last-Event-ID`. The stream ends after the entry that finishes the job.",
        params: JobParams,
        headers: Type.Object({
          "Last-Event-ID": Type.Optional(
            Type.String({ pattern: "^[0-9]{1,9}$", description: "The sequence of the last entry that was received." }),
          ),
        }),
        response: {
          200: {
            description: "The stream.",
            content: { "text/event-stream": { schema: Type.Unsafe<Readable>({ type: "string" }) } },
          },
          204: noContent("The job is finished and there is nothing after `Last-Event-ID`: do not connect again."),
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
      noteWaiting(request, parts, request.params.organizationId);
      closing.addEventListener("abort", bell.ring);
      const stream = Readable.from(follow(parts, request, request.params, after, bell));
      // Not in the generator: one that was never begun has no `finally`.
      stream.once("close", () => {
        unwatch();
        closing.removeEventListener("abort", bell.ring);
      });
      return reply.type("text/event-stream").headers(streamHeaders).send(stream);
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
  let sent = after;
  let isNew = true;
  yield ": the history of the job follows\n\n";
  for (let looks = 1; !closing.aborted; looks += 1) {
    if (looks % looksPerHeartbeat === 0) yield ": still here\n\n";
    const standing = isNew || looks % looksPerHeartbeat === 0 ? await engine.readStanding(key) : undefined;
    while (standing !== undefined && sent < standing.sequence && !closing.aborted) {
      const found = await engine.readHistory(key, sent, entriesAtOnce);
      if (found === undefined || found.rows.length === 0) return;
      for (const entry of found.rows) {
        yield `id: ${entry.sequence}\nevent: ${entry.type}\ndata: ${JSON.stringify(renderEntry(entry))}\n\n`;
        sent = entry.sequence;
      }
      // A long history takes a slow reader minutes.
      if (sent < standing.sequence && !(await isStillAllowed(request, "job:read", parts))) return;
    }
    if (standing !== undefined && isFinishedAt(standing, sent)) return;
    isNew = await bell.heard(lookMs);
    if (!(await isStillAllowed(request, "job:read", parts))) return;
  }
}

function isFinishedAt({ status, sequence }: JobStanding, sent: number): boolean {
  return isTerminal(status) && sequence <= sent;
}

function lastEventId({ headers }: FastifyRequest): number {
  const text = headers["last-event-id"];
  if (text === undefined || text === "" || text === "0") return 0;
  if (typeof text === "string" && isPositiveInteger(text)) return Number(text);
  throw new ServiceError("ValidationError", "Last-Event-ID must be the sequence of the last entry that was received.");
}

/** Rung when there may be something new. A ring while nobody listens is heard by the next who does. */
class Bell {
  #rung = Promise.withResolvers<boolean>();

  readonly ring = (): void => this.#rung.resolve(true);

  /** False when nothing was heard in time. */
  async heard(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = this.#rung;
    const timer = setTimeout(resolve, timeoutMs, false);
    const isRung = await promise;
    clearTimeout(timer);
    this.#rung = Promise.withResolvers();
    return isRung;
  }
}

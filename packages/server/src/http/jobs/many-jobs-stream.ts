import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isStillAllowed, requireJob } from "../door/authorization.ts";
import { problemDetails } from "../door/errors.ts";
import { closed, noContent } from "../door/schemas.ts";
import { renderEntry } from "./job-history.ts";
import { isFinishedAt } from "./job-stream.ts";
import { accessCheck, Bell, lookMs, sendStream, serverSentEvent, slice, streamResponse } from "./server-sent.ts";

/** A person looks at fewer jobs at the same time. Each watched job takes one of the places for waiting requests. */
const maxJobs = 50;
/** A client that receives nothing for twice this time knows that something between it and the service holds the stream back. */
const heartbeatMs = 5_000;
/** A job is read this often even if no change was reported. */
const rereadMs = 15_000;

const JobNames = Type.Array(
  Type.String({
    pattern: "^[^/]{1,64}/[^/]{1,64}$",
    "x-rule": "must be the id of an organization and the id of one of its jobs, with a slash in between",
    example: "01890a5d-ac96-774b-bcce-b302099a8057/01890a5d-ac96-774b-bcce-b302099a8058",
  }),
  {
    minItems: 1,
    maxItems: maxJobs,
    uniqueItems: true,
    description: "A job, as `<organizationId>/<jobId>`. Give the parameter once for each job.",
  },
);

const LastSequences = Type.String({
  pattern: "^[0-9]{1,9}(\\.[0-9]{1,9})*$",
  description:
    "The `id` of the last event that was received. It has one number for each `job` parameter, in the same order, with dots in between: the sequence of the last received entry of this job, or 0 if there is none.",
});

/** Over HTTP/1.1, a browser opens at most six connections to one host, so the dashboard's pages in one browser share a stream. */
export function manyJobsStreamRoutes(app: App, parts: ServerParts): void {
  app.get(
    "/stream",
    {
      // The handler checks each job against the bounds of a narrow token.
      config: { cost: 10, bounds: { workflows: "handler", tags: "unaffected" } },
      schema: {
        operationId: "WatchJobs",
        "x-permission": "any",
        tags: ["jobs"],
        summary: "Watch many jobs",
        description: `The answer is a stream of server-sent events for up to ${maxJobs} jobs on one connection. It needs \`job:read\` in the organization of each job. There is one event for each history entry: \`event\` is its type, and \`data\` is \`{organizationId, jobId, entry}\`, where \`entry\` is the entry as in GetJobHistory. The \`id\` of each event says how far the stream is in all of its jobs. After an interruption, continue with \`Last-Event-ID\` and the same jobs. A job that cannot be shown does not end the stream: the event \`job.unreadable\` reports it, with \`data\` \`{organizationId, jobId, problem}\`. The stream ends once all jobs are finished or unreadable. A comment comes about every ${heartbeatMs / 1_000} s.`,
        querystring: closed({ job: JobNames }),
        headers: Type.Object({ "Last-Event-ID": Type.Optional(LastSequences) }),
        response: {
          200: streamResponse,
          204: noContent("All jobs are finished, and there is nothing after `Last-Event-ID`. Do not connect again."),
        },
      },
    },
    async (request, reply) => {
      const jobs = watchedJobs(request, request.query.job);
      await checkAll(parts, request, jobs);
      if (request.headers["last-event-id"] !== undefined && (await areAllFinished(parts, jobs)))
        return reply.code(204).send(null);
      const bell = new Bell();
      const unwatch = watchAll(parts, jobs, bell);
      const organizationId = jobs[0]?.key.organizationId ?? "";
      return sendStream(reply, follow(parts, request, jobs, bell), { organizationId, parts, bell, unwatch });
    },
  );
}

interface WatchedJob {
  readonly key: JobKey;
  /** The sequence of the last entry that was sent. */
  sent: number;
  /** True when there may be entries that were not sent. */
  isNew: boolean;
  isFinished: boolean;
  /** The reason why the job cannot be read, or cannot be watched. */
  problem: ServiceError | undefined;
  /** True once the client has been told of the problem. */
  isTold: boolean;
  /** Frees the waiting place that the job takes. */
  unwatch: () => void;
}

async function* follow(
  parts: ServerParts,
  request: FastifyRequest,
  jobs: readonly WatchedJob[],
  bell: Bell,
): AsyncGenerator<string> {
  const { engine, closing } = parts;
  yield ": the histories of the jobs follow\n\n";
  const isAllowed = accessCheck(request, "any", parts);
  let heartbeatAt = performance.now() + heartbeatMs;
  let rereadAt = performance.now() + rereadMs;
  while (!closing.aborted && !bell.isOver) {
    if (performance.now() >= rereadAt) {
      for (const job of jobs) job.isNew = true;
      rereadAt = performance.now() + rereadMs;
    }
    for (const job of await lookAtNew(parts, jobs)) {
      await check(parts, request, job);
      if (job.problem !== undefined) continue;
      const before = job.sent;
      // A long history is read in slices, so that it does not delay the other jobs.
      const found = await engine.readHistory(job.key, { after: job.sent, ...slice });
      if (found === undefined) job.problem = notFound("job");
      for (const entry of found?.rows ?? []) {
        job.sent = entry.sequence;
        yield serverSentEvent(idOf(jobs), entry.type, { ...job.key, entry: renderEntry(entry) });
        // A slow reader may take minutes for the entries, and may lose access meanwhile.
        if (!(await isAllowed())) return;
      }
      job.isNew ||= job.sent > before;
    }
    yield* untoldProblems(jobs, request.id);
    const hasMore = jobs.some(({ isNew }) => isNew);
    if (!hasMore && jobs.every(isOver)) return;
    if (performance.now() >= heartbeatAt) {
      yield ": still here\n\n";
      heartbeatAt = performance.now() + heartbeatMs;
    }
    if (!hasMore) await bell.heard(lookMs);
    if (!(await isStillAllowed(request, "any", parts))) return;
    await checkAll(parts, request, jobs);
  }
}

function* untoldProblems(jobs: readonly WatchedJob[], requestId: string): Generator<string> {
  for (const job of jobs) {
    if (job.problem === undefined || job.isTold) continue;
    job.isTold = true;
    // A job that cannot be read any more, for example because the caller has lost access to it, must not keep its waiting place.
    job.unwatch();
    const problem = problemDetails(job.problem, requestId);
    yield serverSentEvent(idOf(jobs), "job.unreadable", { ...job.key, problem });
  }
}

/** Reads the present state of the jobs that may have something new. Returns those that have something new. */
async function lookAtNew({ engine }: ServerParts, jobs: readonly WatchedJob[]): Promise<WatchedJob[]> {
  const due = jobs.filter(({ isNew, problem }) => isNew && problem === undefined);
  for (const job of jobs) job.isNew = false;
  const standings = await Promise.all(due.map(({ key }) => engine.readStanding(key)));
  return due.filter((job, index) => {
    const standing = standings[index];
    if (standing === undefined) job.problem = notFound("job");
    else job.isFinished = isFinishedAt(standing, job.sent);
    return standing !== undefined && standing.sequence > job.sent;
  });
}

async function checkAll(parts: ServerParts, request: FastifyRequest, jobs: readonly WatchedJob[]): Promise<void> {
  await Promise.all(jobs.map((job) => check(parts, request, job)));
}

/** Notes the problem if the caller must not read the job. Throws an error that is not about one job, for example when the store cannot be reached. */
async function check(parts: ServerParts, request: FastifyRequest, job: WatchedJob): Promise<void> {
  if (job.problem !== undefined) return;
  try {
    await requireJob(request.caller, job.key, "job:read", parts);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === "UnavailableError") throw error;
    job.problem = error;
  }
}

/** Also returns false if a job cannot be read, since perhaps the client has not been told of that yet. */
async function areAllFinished(parts: ServerParts, jobs: readonly WatchedJob[]): Promise<boolean> {
  await lookAtNew(parts, jobs);
  for (const job of jobs) job.isNew = true;
  return jobs.every(({ isFinished, problem }) => isFinished && problem === undefined);
}

/**
 * Watches the jobs that can be read. If one organization has no free waiting place, the jobs of other organizations are still watched. Throws when
 * this node has no place left at all, or is shutting down.
 */
function watchAll({ engine }: ServerParts, jobs: readonly WatchedJob[], bell: Bell): () => void {
  const unwatch = () => {
    for (const job of jobs) job.unwatch();
  };
  try {
    for (const job of jobs) {
      if (job.problem !== undefined) continue;
      const ring = () => {
        job.isNew = true;
        bell.ring();
      };
      try {
        job.unwatch = engine.watchJob(job.key, ring);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "RateLimitError") throw error;
        job.problem = error;
      }
    }
  } catch (error) {
    unwatch();
    throw error;
  }
  return unwatch;
}

function watchedJobs({ headers }: FastifyRequest, names: readonly string[]): WatchedJob[] {
  const sequences = lastSequences(headers["last-event-id"], names.length);
  return names.map((name, index) => {
    const [organizationId = "", jobId = ""] = name.toLowerCase().split("/");
    const key = { organizationId, jobId };
    const sent = sequences[index] ?? 0;
    return { key, sent, isNew: true, isFinished: false, problem: undefined, isTold: false, unwatch: () => {} };
  });
}

function lastSequences(text: string | string[] | undefined, count: number): readonly number[] {
  if (text === undefined || text === "") return [];
  const sequences = typeof text === "string" && /^\d{1,9}(\.\d{1,9})*$/.test(text) ? text.split(".").map(Number) : [];
  if (sequences.length === count) return sequences;
  const message =
    "Last-Event-ID must be the id of the last event that was received: one sequence for each `job` of the request, in their order, with dots in between.";
  throw new ServiceError("ValidationError", message);
}

function idOf(jobs: readonly WatchedJob[]): string {
  return jobs.map(({ sent }) => sent).join(".");
}

function isOver({ isFinished, problem }: WatchedJob): boolean {
  return isFinished || problem !== undefined;
}

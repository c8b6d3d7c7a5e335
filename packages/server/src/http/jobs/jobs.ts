import type { FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { actorOf, type Caller } from "../../auth/caller.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import { isTerminal, type Job } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { SubmitCommand } from "../../engine/commit/command.ts";
import type { Done } from "../../engine/commit/group-commit.ts";
import { standingOf, wholeJob } from "../../engine/reading/job-reader.ts";
import type { WholeJob } from "../../engine/reading/whole-job.ts";
import { auditOf } from "../../management/act/audit-trail.ts";
import { ReadDeadlineError, StoreUnavailableError } from "../../store/home/database.ts";
import { countChildren, listChildren } from "../../store/jobs/child-jobs.ts";
import type { JobKey, JobStanding } from "../../store/jobs/jobs.ts";
import type { VersionChoice } from "../../store/workflows/versions.ts";
import { actOf } from "../door/act.ts";
import { largeAnswer } from "../door/answers/large-answer.ts";
import type { App, ServerParts } from "../door/app.ts";
import { requireStillAllowed } from "../door/authorization.ts";
import { reachableWorkflows, requireSubmit } from "../door/bounds-check.ts";
import { commitOnce, IdempotencyHeaders } from "../door/idempotency.ts";
import { answer, closed, Id, JobParams, NoBody, OrganizationParams } from "../door/schemas.ts";
import { deadlineIn, waitSecondsSchema, whenGone } from "../door/waiting.ts";
import { planOfJob } from "./plan-of-job.ts";
import {
  JobSchema,
  JobStatusSchema,
  JobSummarySchema,
  maxShownChildren,
  type RenderedJob,
  renderJob,
  renderSubmitter,
  renderSummary,
  type ShownChildren,
} from "./render-job.ts";

const SubmittedJobSchema = Type.Object(
  { jobId: Id, status: JobStatusSchema, workflowId: Id, versionId: Id, versionNumber: Type.Integer() },
  { title: "SubmittedJob" },
);

const WaitedJobSchema = Type.Object(
  { ...JobSchema.properties, versionId: Id, versionNumber: Type.Integer() },
  {
    title: "WaitedJob",
    description: "The whole job. With `waitSeconds`, the answer has this form if the job can be read.",
  },
);

export const SubmittedSchema = Type.Union([SubmittedJobSchema, WaitedJobSchema], {
  description: "The job is accepted.",
});

const VersionChoiceSchema = closed(
  {
    tag: Type.Optional(Type.String({ minLength: 1, maxLength: 65 })),
    versionId: Type.Optional(Id),
    versionNumber: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  },
  {
    minProperties: 1,
    maxProperties: 1,
    "x-rule": "must have exactly one of `tag`, `versionId` and `versionNumber`",
    description:
      "The version to run, named by exactly one of the three fields. If it is left out, the job runs the version at which the tag `$LIVE` points.",
  },
);

const NewJobBody = closed({
  workflowId: Id,
  workflowVersion: Type.Optional(VersionChoiceSchema),
  inputJson: Type.Optional(
    Type.Unsafe<JsonObject>({
      type: "object",
      additionalProperties: true,
      description: "The input of the job. If it is left out, it is `{}`.",
    }),
  ),
});

const path = "/organizations/:organizationId/jobs";

export function jobRoutes(app: App, parts: ServerParts): void {
  submitJobRoute(app, parts);
  getJobRoute(app, parts);
  cancelJobRoute(app, parts);
  resumeJobRoute(app, parts);
}

function submitJobRoute(app: App, parts: ServerParts): void {
  const { config } = parts;
  app.post(
    path,
    {
      config: {
        cost: 2,
        bounds: { workflows: "handler", tags: "handler" },
        unaudited: "The job says who submitted it.",
      },
      schema: {
        operationId: "SubmitJob",
        "x-permission": "job:submit",
        tags: ["jobs"],
        summary: "Submit a job",
        description:
          "The job runs one version of the workflow with the input. Without `waitSeconds`, the answer comes once the job is stored. Its `status` is then `PENDING`, like that of every new job; GetJob shows how far the job has come. With `waitSeconds`, the answer comes when the job is finished, when it waits for events, or when the time is up. The answer is then the whole job. If the job cannot be read at that moment, the answer has only the fields that it has without `waitSeconds`. If you repeat a request with `waitSeconds` under the same Idempotency-Key, the answer shows the job of the first request as it is now.",
        params: OrganizationParams,
        querystring: closed({ waitSeconds: waitSecondsSchema(config) }),
        headers: IdempotencyHeaders,
        body: NewJobBody,
        response: {
          201: SubmittedSchema,
        },
      },
    },
    async (request, reply) => {
      const workflowId = request.body.workflowId.toLowerCase();
      const choice = chosenVersion(request.body.workflowVersion);
      requireSubmit(request.caller, workflowId, choice);
      const input = request.body.inputJson ?? {};
      const { waitSeconds } = request.query;
      return await submitJob(parts, { workflowId, choice, input }, { request, reply, waitSeconds });
    },
  );
}

/** Submits a job in the organization of the request. Returns the answer of SubmitJob. */
export async function submitJob(
  parts: ServerParts,
  submission: Pick<SubmitCommand, "workflowId" | "choice" | "input">,
  { request, reply, waitSeconds }: Submitting,
): Promise<Static<typeof SubmittedSchema>> {
  const { engine, basePath } = parts;
  const { organizationId } = request.params;
  const done = await commitOnce(engine, request, {
    type: "submit",
    organizationId,
    jobId: engine.newId(),
    ...submission,
    submittedBy: actorOf(request.caller),
    answer: submittedJob,
    bytes: request.bodyBytes,
  });
  const submitted = done.answer as Static<typeof SubmittedJobSchema>;
  const { jobId, versionId, versionNumber } = submitted;
  reply.code(201).header("location", `${basePath}/organizations/${organizationId}/jobs/${jobId}`);
  // Every job starts in PENDING. Without `waitSeconds`, the answer always says so, so that a repetition can get the same answer.
  if (waitSeconds === undefined) return { ...submitted, status: "PENDING" as const };
  const job = await settledJob(parts, { organizationId, jobId }, done, { request, reply, waitSeconds });
  if (job === undefined) return submitted;
  const shown = { ...job, versionId, versionNumber };
  return isShort(request, done) ? shown : await largeAnswer(reply, shown);
}

interface Submitting {
  readonly request: FastifyRequest<{ Params: { readonly organizationId: string } }>;
  readonly reply: FastifyReply;
  readonly waitSeconds: number | undefined;
}

function getJobRoute(app: App, parts: ServerParts): void {
  const { engine, config } = parts;
  app.get(
    `${path}/:jobId`,
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "GetJob",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "Get a job",
        description:
          "The answer is the whole job. With `waitSeconds`, it comes when the job is finished or the time is up.",
        params: JobParams,
        querystring: closed({ waitSeconds: waitSecondsSchema(config) }),
        response: { 200: answer("The job.", JobSchema) },
      },
    },
    async (request, reply) => {
      const { waitSeconds } = request.query;
      const whole =
        waitSeconds === undefined
          ? await engine.readJob(request.params)
          : await engine.waitForJob(request.params, isFinished, deadlineIn(waitSeconds), whenGone(reply));
      if (waitSeconds !== undefined) await requireStillAllowed(request, "job:read", parts);
      const job = await rendered(parts, whole, request.caller);
      return whole?.isLarge ? await largeAnswer(reply, job) : job;
    },
  );
}

function cancelJobRoute(app: App, parts: ServerParts): void {
  app.post(
    `${path}/:jobId/cancel`,
    {
      config: { cost: 2, errors: ["ConflictError"], bounds: { workflows: "job", tags: "job" } },
      schema: {
        operationId: "CancelJob",
        "x-permission": "job:cancel",
        tags: ["jobs"],
        summary: "Cancel a job",
        description:
          "The service gives up a call that is under way, and soon afterwards it cancels the child jobs for which the job waits. Cancelling a cancelled job changes nothing. A job that succeeded or failed cannot be cancelled.",
        params: JobParams,
        headers: IdempotencyHeaders,
        body: NoBody,
        response: { 200: answer("The job as it is now.", JobSummarySchema) },
      },
    },
    async (request) => await steer(parts, request, { type: "job.cancelled", by: actorOf(request.caller) }),
  );
}

function resumeJobRoute(app: App, parts: ServerParts): void {
  app.post(
    `${path}/:jobId/resume`,
    {
      config: { cost: 2, errors: ["ConflictError"], bounds: { workflows: "job", tags: "job" } },
      schema: {
        operationId: "ResumeJob",
        "x-permission": "job:submit",
        tags: ["jobs"],
        summary: "Resume a failed or cancelled job",
        description:
          "The job continues with a new attempt of the step at which it ended. If the job was cancelled before its first step, it begins with that step. If the job is neither FAILED nor CANCELLED, the answer is 409.",
        params: JobParams,
        headers: IdempotencyHeaders,
        body: NoBody,
        response: { 200: answer("The job as it is now.", JobSummarySchema) },
      },
    },
    async (request) => await steer(parts, request, { type: "job.resumed", by: actorOf(request.caller) }),
  );
}

/** Cancels or resumes a job. Returns its summary. */
async function steer(
  { engine, userNames }: ServerParts,
  request: FastifyRequest<{ Params: JobKey }>,
  fact: UntimedFact,
): Promise<Static<typeof JobSummarySchema>> {
  const key = request.params;
  const done = await commitOnce(engine, request, {
    type: "fact",
    ...key,
    fact,
    answer: summaryOf,
    audit: auditOf(actOf(request), { targetType: "job", targetId: key.jobId }),
    bytes: 0,
  });
  const { parentJob, ...summary } = done.answer as Static<typeof JobSummarySchema>;
  return {
    ...summary,
    ...renderSubmitter(summary.submittedBy, await userNames.of([summary.submittedBy])),
    // A token that is bound to workflows must not learn of jobs of other workflows.
    ...(parentJob !== undefined && reachableWorkflows(request.caller) === null && { parentJob }),
  };
}

/**
 * Returns how the version is chosen. The transaction that writes the job looks up the version, so a tag stands for the version at which it points at
 * that moment.
 */
function chosenVersion(choice: Static<typeof VersionChoiceSchema> | undefined): VersionChoice {
  if (choice?.versionId !== undefined) return { by: "versionId", versionId: choice.versionId.toLowerCase() };
  if (choice?.versionNumber !== undefined) return { by: "versionNumber", versionNumber: choice.versionNumber };
  return { by: "tag", tag: choice?.tag ?? "$LIVE" };
}

function submittedJob(job: Job): JsonObject {
  const { jobId, workflowId, versionId, versionNumber } = job;
  return { jobId, status: job.state.status, workflowId, versionId, versionNumber };
}

function summaryOf(job: Job): JsonObject {
  return { ...renderSummary({ ...job, status: job.state.status }) };
}

interface Waiting {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly waitSeconds: number;
}

/**
 * Returns the submitted job once it has ended or waits for events, or as it is when the time is up. Most jobs whose steps call nothing have already
 * reached that point when they are committed. Returns undefined when the job cannot be shown now. An error
 * would be wrong then, because it would say that the job was not accepted.
 */
async function settledJob(
  parts: ServerParts,
  key: JobKey,
  done: Done,
  { request, reply, waitSeconds }: Waiting,
): Promise<RenderedJob | undefined> {
  const { engine } = parts;
  if (done.type === "done" && isSettled(standingOf(done.job)) && done.entries[0]?.sequence === 1) {
    return await rendered(parts, wholeJob(done.job, done.entries), request.caller);
  }
  try {
    const deadline = deadlineIn(waitSeconds);
    const whole = await engine.waitForJob(key, isSettled, deadline, whenGone(reply));
    await requireStillAllowed(request, "job:submit", parts);
    return await rendered(parts, whole, request.caller);
  } catch (error) {
    const isUnread = error instanceof StoreUnavailableError || error instanceof ReadDeadlineError;
    if (error instanceof ServiceError || isUnread) return undefined;
    throw error;
  }
}

/**
 * Guesses from the length of the request and the number of entries whether a job that ended at once has a short answer. Measuring each answer would
 * cost as much as writing it.
 */
function isShort(request: FastifyRequest, done: Done): boolean {
  return done.type === "done" && isFinished(done.job.state) && request.bodyBytes * done.entries.length < shortBytes;
}

const shortBytes = 100_000;

async function rendered(parts: ServerParts, whole: WholeJob | undefined, caller: Caller): Promise<RenderedJob> {
  if (whole === undefined) throw notFound("job");
  const plan = await planOfJob(parts, whole.job);
  const names = await parts.userNames.of([whole.job.submittedBy]);
  const reachable = reachableWorkflows(caller);
  const children = plan.makesChildren ? await childrenOf(parts, whole.job, reachable) : undefined;
  return renderJob(withVisibleParent(whole, reachable), plan, names, children);
}

/** Hides the parent from a token that is bound to workflows, which must not learn of jobs of other workflows. */
function withVisibleParent(whole: WholeJob, reachable: readonly string[] | null): WholeJob {
  return reachable === null ? whole : { ...whole, job: { ...whole.job, parent: null } };
}

async function childrenOf(
  { database }: ServerParts,
  job: JobKey,
  reachable: readonly string[] | null,
): Promise<ShownChildren> {
  const reader = database.reader(job.organizationId);
  const newest = await listChildren(reader, job, reachable, maxShownChildren);
  if (newest.length < maxShownChildren || reachable !== null) return { count: newest.length, newest };
  const [counted] = await countChildren(reader, [job]);
  return { count: counted?.count ?? newest.length, newest };
}

function isFinished({ status }: Pick<JobStanding, "status">): boolean {
  return isTerminal(status);
}

function isSettled(standing: Pick<JobStanding, "status" | "isWaiting">): boolean {
  return isFinished(standing) || standing.isWaiting;
}

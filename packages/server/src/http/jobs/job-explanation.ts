import { type Static, Type } from "typebox";
import type { Caller } from "../../auth/caller.ts";
import { explainJob } from "../../core/explanation/explanation.ts";
import {
  type Circumstances,
  explainedStates,
  helpfulOperations,
  type NodeFacts,
} from "../../core/explanation/explanation-parts.ts";
import { type ParkedCircumstances, parked } from "../../core/explanation/parked.ts";
import { callNameOf, callsOf } from "../../core/job/call.ts";
import { awaitedEventIds, type Job } from "../../core/job/job-state.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import type { WholeJob } from "../../engine/reading/whole-job.ts";
import { findApiToken } from "../../store/access/tokens.ts";
import { type CallRow, countHeldCalls, findCalls } from "../../store/jobs/job-calls.ts";
import { listNodes } from "../../store/jobs/nodes.ts";
import { readTaskQueue } from "../../store/jobs/task-queues.ts";
import { findUsers } from "../../store/people/users.ts";
import type { App, ServerParts } from "../door/app.ts";
import { reachableWorkflows } from "../door/bounds-check.ts";
import { ActorSchema, AnyJson, answer, Id, JobParams, oneOf, Time } from "../door/schemas.ts";
import { planOfJob } from "./plan-of-job.ts";
import { JobErrorSchema, JobStatusSchema, StepErrorSchema } from "./render-job.ts";

const strings = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const count = (description: string) => Type.Optional(Type.Integer({ description }));
const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

const FactsSchema = Type.Object(
  {
    since: { ...Time, description: "The time since which the job has been in this state." },
    step: Type.Optional(Type.String()),
    visit: count("The number of times that the job has entered the step, this time included."),
    attempt: count("The attempt that is under way, comes next or was the last, counted from 1."),
    maxAttempts: count("The number of attempts after which the step gives up, by its retry policy."),
    nextAttemptAt: time("The time at which the next attempt starts."),
    retryAt: time("The time at which the node that parked the job tries again to continue it."),
    delayEndsAt: time("The time until which the step sleeps."),
    timeoutAt: time("The time at which the call or the wait is given up."),
    jobTimeoutAt: time("The time at which the whole job fails, if its definition has `timeoutSeconds`."),
    lastError: Type.Optional(StepErrorSchema),
    branch: Type.Optional(
      Type.String({
        description:
          "The branch to which the facts about events, a task, a child job, the next attempt or a sleep belong.",
      }),
    ),
    branchStep: Type.Optional(Type.String({ description: "The step in which `branch` is." })),
    branchVisit: count("The number of times that `branch` has entered `branchStep`, this time included."),
    branchCount: count("The number of branches of the step."),
    openCount: count("The number of branches of the step that are open."),
    succeededCount: count("The number of branches of the step that have succeeded."),
    failedCount: count("The number of branches of the step that have failed without failing the step."),
    eventIds: strings("The events for which the step waits."),
    missingEventIds: strings("The events for which the step waits and which have not come yet."),
    missingCount: count("How many of the missing events the step needs to continue."),
    misspelledEvents: Type.Optional(
      Type.Array(Type.Object({ eventId: Type.String(), meantEventId: Type.String(), receivedAt: Time }), {
        description: "The unmatched events whose id is similar to that of a missing event, the latest first.",
      }),
    ),
    bufferedEventIds: strings(
      "The events that are kept for another step, or for another visit or branch of this step.",
    ),
    node: Type.Optional(
      Type.Object(
        {
          nodeId: Id,
          name: Type.Optional(
            Type.String({
              description: "The name of the node. It is left out for a node that the service has forgotten.",
            }),
          ),
          isAlive: Type.Boolean({ description: "True when the node sent a heartbeat within its lease." }),
          heartbeatAt: time("The time of the node's latest heartbeat."),
        },
        { description: "The node that holds the call." },
      ),
    ),
    queue: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          waitingCount: Type.Integer({
            description: "The number of tasks that wait in the queue, counted up to 10,000.",
          }),
          polledAt: time(
            "The last time that a worker asked for tasks, accurate to a few seconds. If it is left out, no worker has asked for tasks for at least a day.",
          ),
          workerCount: Type.Integer({ description: "The number of workers that asked in the last five minutes." }),
          pausedAt: time("The time at which the queue was paused. It is left out for a queue that is not paused."),
        },
        { description: "The queue of the task." },
      ),
    ),
    worker: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: "The name of the worker, which the worker chooses." }),
          takenAt: Time,
          leaseUntil: {
            ...Time,
            description:
              "The time from which another worker can get the task, unless this worker sends a heartbeat or an answer before then.",
          },
          progress: Type.Optional({ ...AnyJson, description: "The progress that the worker reported last." }),
        },
        { description: "The worker that holds the task." },
      ),
    ),
    childJob: Type.Optional(
      Type.Object(
        { jobId: Id, workflowName: Type.String(), status: JobStatusSchema },
        {
          description:
            "The job that the step began and waits for. It is left out if the caller's token is bound to other workflows.",
        },
      ),
    ),
    callCount: count(
      "The number of calls of the organization that are under way or queued. In state `queued`, these are the calls on the node that holds the call; in state `roomFull`, the calls on all nodes together.",
    ),
    maxCallsPerNode: count("The maximum number of calls of the organization that one node runs at the same time."),
    error: Type.Optional(JobErrorSchema),
    cancelledBy: Type.Optional(Type.Object({ ...ActorSchema.properties, name: Type.Optional(Type.String()) })),
    operations: Type.Array(oneOf(helpfulOperations), {
      description:
        "The operations that can help now: they let the job continue, end it (CancelJob) or begin another job (SubmitJob).",
    }),
  },
  { description: "The facts from which the sentence was made. Which fields there are depends on the state." },
);

const ExplanationSchema = Type.Object(
  {
    jobId: Id,
    state: oneOf(explainedStates, {
      description:
        "The state of the job. `due`: the job continues as soon as a node finds it. `roomFull`: the node that answers has no room for another call of the organization. `queued`: a node holds the call and has not begun it, or holds so many calls that perhaps it has not begun this one. `calling`: the call is under way. `nodeLost`: the node that holds the call does not answer any more. `retrying`: the next attempt is due later. `delayed`: the step sleeps. `forked`: the branches of the step run. `waitingForWorker`: the task waits in its queue. `working`: a worker holds the task. `waitingForJob`: the job that the step began is under way. `parked`: the node that answers cannot continue the job, and tries again at `retryAt`; other nodes may be able to continue it.",
    }),
    sentence: Type.String({
      description: "The explanation for people. Its words may change. Names are between backticks.",
    }),
    facts: FactsSchema,
  },
  { title: "JobExplanation" },
);

export function jobExplanationRoutes(app: App, parts: ServerParts): void {
  const { engine } = parts;
  app.get(
    "/organizations/:organizationId/jobs/:jobId/explain",
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "ExplainJob",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "Explain why a job is where it is",
        description:
          "The field `sentence` says why the job does not move, or how it ended and what can be done. The answer also has the facts from which this text was made.",
        params: JobParams,
        response: { 200: answer("The explanation.", ExplanationSchema) },
      },
    },
    async (request) => {
      const whole = await engine.readJob(request.params, false);
      if (whole === undefined) throw notFound("job");
      const parking = await parkedCircumstances(parts, whole.job);
      const explained =
        parking === undefined ? explainJob(await circumstancesOf(parts, whole, request.caller)) : parked(parking);
      const { facts, ...explanation } = explained;
      return { jobId: whole.job.jobId, ...explanation, facts: rendered(facts) as Static<typeof FactsSchema> };
    },
  );
}

/** Returns undefined if this node can continue the job, and for a job that has ended. */
async function parkedCircumstances(
  { plans, database, config, engine }: ServerParts,
  job: Job,
): Promise<ParkedCircumstances | undefined> {
  const { organizationId, jobId, versionId, finishedAt } = job;
  if (finishedAt !== null) return undefined;
  const loaded = await plans.load(database, [{ organizationId, versionId }]);
  const version = loaded.parked.get(versionId);
  const found = version ?? plans.parking.findJob(jobId);
  const isVersion = version !== undefined;
  return found && { ...found, job, isVersion, nodeName: config.nodeName, now: engine.now() };
}

async function circumstancesOf(parts: ServerParts, whole: WholeJob, caller: Caller): Promise<Circumstances> {
  const { engine, database, config } = parts;
  const { job, steps, entries } = whole;
  const { organizationId, jobId } = job;
  const plan = await planOfJob(parts, job);
  const call = await callToExplain(parts, job);
  // Calls of other jobs do not delay a job that has ended, nor a job with a branch that waits for events: when a timer of any branch of such a job is
  // due, a node finds the job even if there is no room for a call.
  const mayNeedRoom = job.finishedAt === null && awaitedEventIds(job.state) === null;
  const held = mayNeedRoom ? await countHeldCalls(database, organizationId) : [];
  return {
    plan,
    job,
    steps,
    entries,
    call: call === undefined ? null : callNameOf(call),
    node: await nodeOf(parts, call),
    task: await taskOf(parts, call),
    child: await childOf(parts, call, reachableWorkflows(caller)),
    callCounts: new Map(held.map(({ nodeId, count: calls }) => [nodeId, calls])),
    maxCallsPerNode: Math.min(config.maxCalls, config.maxCallsPerOrganization),
    hasRoom: !mayNeedRoom || engine.hasRoomForCall(organizationId),
    hasCallBegun: call && engine.hasBegunCall({ jobId, branch: call.branch }),
    defaultTimeoutMs: config.defaultCallTimeoutSeconds * 1000,
    cancelledByName: await cancelledByName(parts, whole),
    now: engine.now(),
  };
}

/**
 * Returns a task that no worker has taken, or else a task that a worker holds, or else a call that waits for a child job. A call of a node comes
 * last, since it needs nobody to act. Of several calls of one kind, the one whose branch began first is returned.
 */
async function callToExplain({ database }: ServerParts, { organizationId, jobId, state }: Job) {
  const owed = callsOf(state);
  if (owed.length === 0) return undefined;
  const rows = new Map((await findCalls(database, { organizationId, jobId })).map((row) => [row.epoch, row]));
  // A call that has ended since the job was read has no row.
  const calls = owed.flatMap(({ epoch }) => rows.get(epoch) ?? []);
  const tasks = calls.filter(({ queue, nodeId }) => queue !== null && nodeId === null);
  const child = calls.find(({ childJobId }) => childJobId !== null);
  return tasks.find(({ worker }) => worker === null) ?? tasks[0] ?? child ?? calls[0];
}

/** Returns the node that holds the call. Returns null if no node holds it, for example because the call has ended since the job was read. */
async function nodeOf({ database, config }: ServerParts, call: CallRow | undefined): Promise<NodeFacts | null> {
  const nodeId = call?.nodeId ?? null;
  if (nodeId === null) return null;
  const nodes = await listNodes(database, config.leaseMs);
  return nodes.find((node) => node.nodeId === nodeId) ?? { nodeId, isAlive: false };
}

async function taskOf({ database }: ServerParts, call: CallRow | undefined): Promise<Circumstances["task"]> {
  if (call === undefined || call.queue === null || call.nodeId !== null) return null;
  const { organizationId, queue: name, worker, takenAt, leaseUntil, progress } = call;
  const key = { organizationId, queue: name };
  const { waitingCount, workerCount, polledAt, pausedAt } = await readTaskQueue(database.reader(organizationId), key);
  const asked = polledAt === null ? {} : { polledAt };
  const paused = pausedAt === null ? {} : { pausedAt };
  const isHeld = worker !== null && takenAt !== null && leaseUntil !== null;
  return {
    queue: { name, waitingCount, workerCount, ...asked, ...paused },
    worker: isHeld ? { name: worker, takenAt, leaseUntil, ...(progress !== null && { progress }) } : null,
  };
}

async function childOf(
  { engine }: ServerParts,
  call: CallRow | undefined,
  reachable: readonly string[] | null,
): Promise<Circumstances["child"]> {
  if (call === undefined || call.childJobId === null) return null;
  const { organizationId, childJobId } = call;
  const child = await engine.readJob({ organizationId, jobId: childJobId }, false);
  if (child === undefined) return null;
  const { jobId, workflowId, workflowName, state } = child.job;
  // A token that is bound to workflows must not learn of jobs of other workflows.
  if (reachable !== null && !reachable.includes(workflowId)) return null;
  return { jobId, workflowName, status: state.status };
}

async function cancelledByName({ database }: ServerParts, { job, entries }: WholeJob): Promise<string | undefined> {
  const by = entries.findLast((entry) => entry.type === "job.cancelled")?.by;
  if (job.state.status !== "CANCELLED" || by === undefined) return undefined;
  if (by.type === "user") return (await findUsers(database, [by.id]))[0]?.displayName;
  if (by.type === "apiToken") return (await findApiToken(database, job.organizationId, by.id))?.name;
  return undefined;
}

function isTimeName(name: string): boolean {
  return name === "since" || name === "leaseUntil" || name.endsWith("At");
}

/** Core has times as numbers, and the API has them as texts. The names of times end in `At`, except `since` and `leaseUntil`. */
function rendered(value: unknown, name = ""): unknown {
  // The progress is the worker's own value, so its numbers stay numbers.
  if (name === "progress") return value;
  if (typeof value === "number") return isTimeName(name) ? toTime(value) : value;
  if (Array.isArray(value)) return value.map((item) => rendered(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rendered(item, key)]));
}

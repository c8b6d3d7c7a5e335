import { type Static, Type } from "typebox";
import { explainJob } from "../../core/explanation/explanation.ts";
import {
  type Circumstances,
  explainedStates,
  helpfulOperations,
  type NodeFacts,
} from "../../core/explanation/explanation-parts.ts";
import { type ParkedCircumstances, parked } from "../../core/explanation/parked.ts";
import type { Job } from "../../core/job/job-state.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import type { WholeJob } from "../../engine/engine.ts";
import { findApiToken } from "../../store/access/tokens.ts";
import { countHeldCalls, listNodes } from "../../store/jobs/nodes.ts";
import { findUsers } from "../../store/people/users.ts";
import type { App, ServerParts } from "../door/app.ts";
import { ActorSchema, answer, Id, JobParams, oneOf, Time } from "../door/schemas.ts";
import { planOfJob } from "./plan-of-job.ts";
import { JobErrorSchema, StepErrorSchema } from "./render-job.ts";

const strings = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const count = (description: string) => Type.Optional(Type.Integer({ description }));
const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

const FactsSchema = Type.Object(
  {
    since: { ...Time, description: "Since when the job is in this state." },
    step: Type.Optional(Type.String()),
    visit: count("The n-th time that the job entered the step."),
    attempt: count("The attempt that is under way, comes next, or was the last."),
    maxAttempts: count("After which attempt the step gives up, as its retry policy stands now."),
    nextAttemptAt: time("When the next attempt starts."),
    retryAt: time("When the node that parked the job tries to go on with it again."),
    timeoutAt: time("When the call or the wait is given up."),
    lastError: Type.Optional(StepErrorSchema),
    eventIds: strings("What the step waits for."),
    missingEventIds: strings("Those of them that are not here."),
    missingCount: count("How many of the missing ones are enough."),
    misspelledEvents: Type.Optional(
      Type.Array(Type.Object({ eventId: Type.String(), meantEventId: Type.String(), receivedAt: Time }), {
        description: "Unmatched events whose id is nearly one that is missing, the latest first.",
      }),
    ),
    bufferedEventIds: strings("Events that are kept for another step."),
    node: Type.Optional(
      Type.Object(
        {
          nodeId: Id,
          name: Type.Optional(Type.String({ description: "Left out for a node that is forgotten already." })),
          isAlive: Type.Boolean({ description: "Whether it was heard of within its lease." }),
          heartbeatAt: time("When it was heard of last."),
        },
        { description: "The node that holds the call." },
      ),
    ),
    callCount: count("How many calls of the organization nodes hold: that node, or all together."),
    maxCallsPerNode: count("How many of them a node runs at once."),
    error: Type.Optional(JobErrorSchema),
    cancelledBy: Type.Optional(Type.Object({ ...ActorSchema.properties, name: Type.Optional(Type.String()) })),
    operations: Type.Array(oneOf(helpfulOperations), { description: "What helps from here." }),
  },
  { description: "What the sentence was made from. Which fields there are depends on the state." },
);

const ExplanationSchema = Type.Object(
  {
    jobId: Id,
    state: oneOf(explainedStates, {
      description:
        "`due`: it goes on at once. `roomFull`: no node has room for another call of the organization. `queued`: a node holds its call and has not begun it. `calling`: the call is under way. `nodeLost`: the node that holds the call is not heard of any more. `retrying`: the next attempt has its time. `parked`: the node that answers cannot go on with it, and tries again at `retryAt`; other nodes may be able to.",
    }),
    sentence: Type.String({ description: "For people; its words may change. Names stand between backticks." }),
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
          "One sentence that answers why the job does not move, or how it ended and what can be done, with the facts that it was made from.",
        params: JobParams,
        response: { 200: answer("The explanation.", ExplanationSchema) },
      },
    },
    async (request) => {
      const whole = await engine.readJob(request.params, false);
      if (whole === undefined) throw notFound("job");
      const parking = await parkedCircumstances(parts, whole.job);
      const explained = parking === undefined ? explainJob(await circumstancesOf(parts, whole)) : parked(parking);
      const { facts, ...explanation } = explained;
      return { jobId: whole.job.jobId, ...explanation, facts: rendered(facts) as Static<typeof FactsSchema> };
    },
  );
}

/** Undefined while this node can go on with the job, and for a job that has ended. */
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

async function circumstancesOf(parts: ServerParts, whole: WholeJob): Promise<Circumstances> {
  const { engine, database, config } = parts;
  const { job, steps, entries } = whole;
  const { organizationId, jobId } = job;
  const plan = await planOfJob(parts, job);
  // Of a job that waits or has ended no other's calls matter.
  const mayNeedRoom =
    job.finishedAt === null && !(job.state.status === "RUNNING" && job.state.step.phase === "waiting");
  const held = mayNeedRoom ? await countHeldCalls(database, organizationId) : [];
  return {
    plan,
    job,
    steps,
    entries,
    node: job.nodeId === null ? null : await nodeFacts(parts, job.nodeId),
    callCounts: new Map(held.map(({ nodeId, count: calls }) => [nodeId, calls])),
    maxCallsPerNode: Math.min(config.maxCalls, config.maxCallsPerOrganization),
    hasRoom: engine.hasRoomForCall(organizationId),
    hasCallBegun: engine.hasBegunCall(jobId),
    defaultTimeoutMs: config.defaultCallTimeoutSeconds * 1000,
    cancelledByName: await cancelledByName(parts, whole),
    now: engine.now(),
  };
}

async function nodeFacts({ database, config }: ServerParts, nodeId: string): Promise<NodeFacts> {
  const nodes = await listNodes(database, config.leaseMs);
  return nodes.find((node) => node.nodeId === nodeId) ?? { nodeId, isAlive: false };
}

async function cancelledByName({ database }: ServerParts, { job, entries }: WholeJob): Promise<string | undefined> {
  const by = entries.findLast((entry) => entry.type === "job.cancelled")?.by;
  if (job.state.status !== "CANCELLED" || by === undefined) return undefined;
  if (by.type === "user") return (await findUsers(database, [by.id]))[0]?.displayName;
  if (by.type === "apiToken") return (await findApiToken(database, job.organizationId, by.id))?.name;
  return undefined;
}

/** Times are numbers in core and text here; by the house's rule their names end in `At`. */
function rendered(value: unknown, name = ""): unknown {
  if (typeof value === "number") return name === "since" || name.endsWith("At") ? toTime(value) : value;
  if (Array.isArray(value)) return value.map((item) => rendered(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rendered(item, key)]));
}

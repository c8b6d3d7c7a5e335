import type { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { inPieces, jsonInTurns, lengthOf } from "../door/answers/large-answer.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, Id, JobParams, Time } from "../door/schemas.ts";
import { planOfJob } from "./plan-of-job.ts";
import { JobStatusSchema } from "./render-job.ts";
import { JobStateSchema, renderState } from "./render-job-state.ts";

const metadataFields = {
  jobId: Id,
  status: JobStatusSchema,
  updatedAt: Type.String({ ...Time, description: "The time of the latest change of the job and its state." }),
  contentLengthBytes: Type.Integer({ minimum: 0, description: "The length of the state as JSON text in UTF-8." }),
  warnings: Type.Array(Type.String(), {
    description: "Warnings about what is left out of the state, which would otherwise be too large.",
  }),
};

const JobStateMetadataSchema = Type.Object(metadataFields, {
  title: "JobStateMetadata",
  description: "The facts by which a client decides whether to fetch the state.",
});

const JobStateAnswerSchema = Type.Object({ ...metadataFields, state: JobStateSchema }, { title: "JobStateAnswer" });

const path = "/organizations/:organizationId/jobs/:jobId/state";

export function jobStateRoutes(app: App, parts: ServerParts): void {
  getJobStateRoute(app, parts);
  getJobStateMetadataRoute(app, parts);
}

function getJobStateRoute(app: App, parts: ServerParts): void {
  app.get(
    path,
    {
      config: { cost: 5, bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "GetJobState",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "Get a job's state",
        description:
          "The answer has the data of the job's steps and its newest 1,000 step runs, with 16 MB of values at most.",
        params: JobParams,
        // The answer is made of bytes, so that the text that was measured is the text that is sent.
        response: { 200: answer("The state.", Type.Unsafe<Readable>(JobStateAnswerSchema)) },
      },
    },
    async (request, reply) => {
      const { state, metadata } = await readState(parts, request.params);
      const head = Buffer.from(`${JSON.stringify(metadata).slice(0, -1)},"state":`);
      return inPieces(reply, [head, ...state, Buffer.from("}")]);
    },
  );
}

function getJobStateMetadataRoute(app: App, parts: ServerParts): void {
  app.get(
    `${path}/metadata`,
    {
      config: { bounds: { workflows: "job", tags: "unaffected" } },
      schema: {
        operationId: "GetJobStateMetadata",
        "x-permission": "job:read",
        tags: ["jobs"],
        summary: "Get the size of a job's state",
        description: "The answer is the same as that of GetJobState, but without the state.",
        params: JobParams,
        response: { 200: answer("The facts about the state.", JobStateMetadataSchema) },
      },
    },
    async (request) => (await readState(parts, request.params)).metadata,
  );
}

interface MeasuredState {
  /** The state as pieces of JSON text, in UTF-8. */
  readonly state: readonly Buffer[];
  readonly metadata: Static<typeof JobStateMetadataSchema>;
}

async function readState(parts: ServerParts, key: JobKey): Promise<MeasuredState> {
  const whole = await parts.engine.readJob(key);
  if (whole === undefined) throw notFound("job");
  const { jobId, updatedAt, state: jobState } = whole.job;
  const { state, warnings } = renderState(whole, await planOfJob(parts, whole.job));
  const pieces = await jsonInTurns(state);
  const contentLengthBytes = lengthOf(pieces);
  const metadata = { jobId, status: jobState.status, updatedAt: toTime(updatedAt), contentLengthBytes, warnings };
  return { state: pieces, metadata };
}

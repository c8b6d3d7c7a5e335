import { type Static, Type } from "typebox";
import { maxShownStepRuns, type StepRun, stepRunStatuses } from "../../core/job/history.ts";
import { type Actor, isTerminal, type Job } from "../../core/job/job-state.ts";
import { maxValuesSize, sizeOfJson } from "../../core/json/json-size.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { toTime } from "../../core/time.ts";
import type { WholeJob } from "../../engine/engine.ts";
import type { JobRow } from "../../store/jobs/job-lists.ts";
import { ActorSchema, AnyJson, Id, oneOf, Time } from "../door/schemas.ts";

const jobStatuses = ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"] as const;
export const JobStatusSchema = oneOf(jobStatuses, { title: "JobStatus" });

const JobVersionSchema = Type.Object(
  {
    versionId: Id,
    versionNumber: Type.Integer(),
    tag: Type.Optional(Type.String({ description: "The tag by which the version was chosen." })),
  },
  { title: "JobWorkflowVersion" },
);

const summaryFields = {
  jobId: Id,
  status: JobStatusSchema,
  workflowId: Id,
  workflowName: Type.String(),
  workflowVersion: JobVersionSchema,
  submittedBy: ActorSchema,
  submittedByUser: Type.Optional(
    Type.String({
      description: "If a person submitted it: their name, to be shown, or their id if no name is known.",
    }),
  ),
  createdAt: Time,
  startedAt: Type.Optional(Time),
  updatedAt: Time,
  finishedAt: Type.Optional(Time),
};

export const JobSummarySchema = Type.Object(summaryFields, { title: "JobSummary" });

const stepErrorFields = {
  code: Type.String({ description: "Stable, for example `InputMismatch`, `ExecutorError`, `Timeout`." }),
  message: Type.String(),
  type: Type.Optional(Type.String({ description: "What the called side named its error." })),
};

export const StepErrorSchema = Type.Object(stepErrorFields, { title: "StepError" });
export const JobErrorSchema = Type.Object(
  { ...stepErrorFields, step: Type.String(), attempt: Type.Integer() },
  { title: "JobError" },
);

const stepFields = {
  name: Type.String(),
  type: Type.String({ description: "The executor, for example `/service/noop`." }),
  visit: Type.Integer({ minimum: 1, description: "The n-th time that the job entered this step." }),
  status: oneOf(stepRunStatuses, {
    description:
      "`successful_but_incomplete`: the step waits for events, or waited for them when the job was cancelled; then it has a `finishedAt`.",
  }),
  attempts: Type.Integer({ minimum: 1 }),
  input: AnyJson,
  output: Type.Optional(AnyJson),
  valuesLeftOut: Type.Optional(
    Type.Literal(true, {
      description:
        "The job's steps hold more than one answer should: of this one `input` is null and `output` is left out. ListJobSteps has them.",
    }),
  ),
  error: Type.Optional(StepErrorSchema),
  startedAt: Time,
  finishedAt: Type.Optional(Time),
  retryAt: Type.Optional(Type.String({ format: "date-time", description: "When the next attempt is due." })),
};

export const StepSchema = Type.Object(stepFields, { title: "JobStep" });

const AwaitingSchema = Type.Object(
  {
    eventIds: Type.Array(Type.String()),
    receivedEventIds: Type.Array(Type.String()),
    missingEventIds: Type.Array(Type.String()),
    since: Time,
  },
  { title: "AwaitedEvents" },
);

const CurrentStepSchema = Type.Object(
  { ...stepFields, awaiting: Type.Optional(AwaitingSchema) },
  { title: "CurrentJobStep", description: "The latest step of a job that is not finished." },
);

export const JobSchema = Type.Object(
  {
    ...summaryFields,
    input: AnyJson,
    output: Type.Unknown({ description: "The output of the last step; null until the job has SUCCEEDED." }),
    error: Type.Optional(JobErrorSchema),
    currentStep: Type.Optional(CurrentStepSchema),
    steps: Type.Array(StepSchema, {
      description: `The newest ${maxShownStepRuns.toLocaleString("en")} step runs, in the order of their start.`,
    }),
    earlierStepRuns: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description:
          "How many earlier runs each step had that are not in `steps`, by its name. Left out when all are there. ListJobSteps has them.",
      }),
    ),
    job: JobSummarySchema,
  },
  { title: "Job" },
);

/** What a list says beside the summary: enough to see what a job is at, without asking for each. */
export const ListedJobSchema = Type.Object(
  {
    ...summaryFields,
    stepName: Type.Optional(Type.String({ description: "The step that a RUNNING job is in." })),
    awaitingEventIds: Type.Optional(
      Type.Array(Type.String(), { description: "Of a job that waits: the events that are not there yet." }),
    ),
    error: Type.Optional(JobErrorSchema),
  },
  { title: "ListedJob" },
);

export type RenderedStep = Static<typeof StepSchema>;
export type RenderedJob = Static<typeof JobSchema>;
type RenderedSummary = Static<typeof JobSummarySchema>;

/** Names of people, by their user id. */
export type Names = ReadonlyMap<string, string>;

/** Leaves the submitter's name to `renderSubmitter`, since it has to be looked up. */
export function renderSummary(job: Summarized): RenderedSummary {
  const { versionId, versionNumber, tag, submittedBy } = job;
  const summary: RenderedSummary = {
    jobId: job.jobId,
    status: job.status,
    workflowId: job.workflowId,
    workflowName: job.workflowName,
    workflowVersion: tag === null ? { versionId, versionNumber } : { versionId, versionNumber, tag },
    submittedBy,
    createdAt: toTime(job.createdAt),
    updatedAt: toTime(job.updatedAt),
  };
  if (job.startedAt !== null) summary.startedAt = toTime(job.startedAt);
  if (job.finishedAt !== null) summary.finishedAt = toTime(job.finishedAt);
  return summary;
}

export function renderSubmitter({ type, id }: Actor, names: Names): Pick<RenderedSummary, "submittedByUser"> {
  return type === "user" ? { submittedByUser: names.get(id) ?? id } : {};
}

/** A row of a list, or the part of a whole job that is the same. */
type Summarized = Omit<JobRow, "awaitingEventIds" | "stepName" | "error">;

export function renderListed(job: JobRow, names: Names): Static<typeof ListedJobSchema> {
  const { stepName, awaitingEventIds, error } = job;
  return {
    ...renderSummary(job),
    ...renderSubmitter(job.submittedBy, names),
    ...(stepName !== null && { stepName }),
    ...(awaitingEventIds !== null && { awaitingEventIds: [...awaitingEventIds] }),
    ...(error !== null && { error }),
  };
}

export function renderJob(whole: WholeJob, plan: Plan, names: Names): RenderedJob {
  const { job, output } = whole;
  const { status } = job.state;
  const steps = renderSteps(whole.steps, plan);
  const current = isTerminal(status) ? undefined : steps.at(-1);
  const summary = { ...renderSummary({ ...job, status }), ...renderSubmitter(job.submittedBy, names) };
  return {
    ...summary,
    input: job.input,
    output: output ?? null,
    ...(job.state.status === "FAILED" && { error: job.state.error }),
    ...(current !== undefined && { currentStep: { ...current, ...awaiting(whole) } }),
    steps,
    ...(whole.earlierRunCounts.size > 0 && { earlierStepRuns: Object.fromEntries(whole.earlierRunCounts) }),
    job: summary,
  };
}

function renderSteps(runs: readonly StepRun[], plan: Plan): RenderedStep[] {
  const firstFitting = firstFittingRun(runs, maxValuesSize);
  return runs.map((run, index) => {
    if (index >= firstFitting) return renderStep(run, plan);
    const { output: _, ...facts } = run;
    return renderStep({ ...facts, input: null, valuesLeftOut: true }, plan);
  });
}

/** The index from which on the values of all runs fit into `room` bytes: the earliest runs lose theirs first. */
export function firstFittingRun(
  runs: readonly StepRun[],
  room: number,
  copiesOf: (run: StepRun) => number = () => 1,
): number {
  let left = room;
  return (
    1 +
    runs.findLastIndex((run) => {
      if (run.valuesLeftOut) return true;
      left -= copiesOf(run) * (sizeOfJson(run.input, left) + sizeOfJson(run.output ?? null, left));
      return left < 0;
    })
  );
}

export function renderStep(step: StepRun, plan: Plan): RenderedStep {
  const rendered: RenderedStep = {
    name: step.name,
    type: plan.steps.get(step.name)?.type ?? "",
    visit: step.visit,
    status: step.status,
    attempts: step.attempts,
    input: step.input,
    startedAt: toTime(step.startedAt),
  };
  if (step.output !== undefined) rendered.output = step.output;
  if (step.valuesLeftOut) rendered.valuesLeftOut = true;
  if (step.error !== undefined) rendered.error = step.error;
  if (step.finishedAt !== undefined) rendered.finishedAt = toTime(step.finishedAt);
  if (step.retryAt !== undefined) rendered.retryAt = toTime(step.retryAt);
  return rendered;
}

/** What the job waits for, while it waits for events. */
function awaiting({ job, entries }: WholeJob): { awaiting?: Static<typeof AwaitingSchema> } {
  if (!isWaiting(job)) return {};
  const { missingEventIds, since } = job.state.step;
  const waiting = entries.findLast((entry) => entry.type === "step.waiting");
  const eventIds = [...(waiting?.eventIds ?? missingEventIds)];
  const missing = new Set(missingEventIds);
  const receivedEventIds = eventIds.filter((eventId) => !missing.has(eventId));
  return { awaiting: { eventIds, receivedEventIds, missingEventIds: [...missingEventIds], since: toTime(since) } };
}

type WaitingJob = Job & {
  readonly state: { readonly status: "RUNNING"; readonly step: { readonly phase: "waiting" } };
};

function isWaiting(job: Job): job is WaitingJob {
  return job.state.status === "RUNNING" && job.state.step.phase === "waiting";
}

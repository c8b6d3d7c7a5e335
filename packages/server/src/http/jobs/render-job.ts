import { type Static, Type } from "typebox";
import type { Actor } from "../../core/actor.ts";
import { mainBranch } from "../../core/branch-path.ts";
import { maxShownStepRuns, type StepRun, stepRunStatuses } from "../../core/job/history.ts";
import { isTerminal, timeoutAtOf } from "../../core/job/job-state.ts";
import { maxValuesSize, sizeOfJson } from "../../core/json/json-size.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { toTime } from "../../core/time.ts";
import type { WholeJob } from "../../engine/reading/whole-job.ts";
import type { ChildRow } from "../../store/jobs/child-jobs.ts";
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

const branch = Type.Optional(
  Type.String({
    description: "The path of the branch, such as `each-order:1[4211]`. It is left out for the main line.",
  }),
);

const ParentJobSchema = Type.Object(
  {
    jobId: Id,
    branch,
    step: Type.String(),
    visit: Type.Integer({ minimum: 1 }),
    rootJobId: { ...Id, description: "The job at the top, which has no parent." },
    depth: Type.Integer({
      minimum: 1,
      description: "How many levels this job is below the job at the top: 1 for a child of that job.",
    }),
  },
  {
    title: "ParentJob",
    description:
      "The step of another job that started this job. It is left out for a job that was submitted, and for a token that is bound to workflows.",
  },
);

const ChildJobSchema = Type.Object(
  {
    jobId: Id,
    status: JobStatusSchema,
    workflowId: Id,
    workflowName: Type.String(),
    versionNumber: Type.Integer(),
    branch,
    step: Type.String(),
    visit: Type.Integer({ minimum: 1 }),
    createdAt: Time,
    finishedAt: Type.Optional(Time),
  },
  { title: "ChildJob" },
);

/** An answer shows at most this many children, and ListJobs returns all of them. */
export const maxShownChildren = 100;

const ChildJobsSchema = Type.Object(
  {
    count: Type.Integer({
      description: `The number of child jobs. For a token that is bound to workflows, only the child jobs of these workflows are counted, up to ${maxShownChildren}.`,
    }),
    newest: Type.Optional(
      Type.Array(ChildJobSchema, {
        description: `The newest ${maxShownChildren} child jobs, the newest first. This field is left out in lists. To get all child jobs, use ListJobs with \`parentJobId\`.`,
      }),
    ),
  },
  {
    title: "ChildJobs",
    description:
      "The jobs that steps of this job started. They are left out when there are none. In lists, a token that is bound to workflows never gets them.",
  },
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
      description:
        "The name of the person who submitted the job, or their id if no name is known. It is left out when no person submitted the job.",
    }),
  ),
  createdAt: Time,
  startedAt: Type.Optional(Time),
  updatedAt: Time,
  finishedAt: Type.Optional(Time),
  parentJob: Type.Optional(ParentJobSchema),
};

export const JobSummarySchema = Type.Object(summaryFields, { title: "JobSummary" });

const stepErrorFields = {
  code: Type.String({
    description:
      "The code of the failure, for example `InputMismatch`, `ExecutorError` or `Timeout`. Later releases keep the codes, so programs can depend on them.",
  }),
  message: Type.String(),
  type: Type.Optional(
    Type.String({
      description:
        "The name of the error, such as `HttpStatus404`. The called side names its errors, and the service names its own. The name is `JobTimeout` when the whole job took too long.",
    }),
  ),
};

export const BranchErrorSchema = Type.Object(
  {
    ...stepErrorFields,
    jobId: Type.Optional(
      Type.String({ description: "The child job that failed. It is left out when the failure is not in a child job." }),
    ),
    step: Type.String(),
    branch,
  },
  { title: "BranchError", description: "The failure of a step in a branch, or in a child job." },
);
const cause = Type.Optional(BranchErrorSchema);

export const StepErrorSchema = Type.Object({ ...stepErrorFields, cause }, { title: "StepError" });
export const JobErrorSchema = Type.Object(
  { ...stepErrorFields, cause, step: Type.String(), attempt: Type.Integer(), branch },
  { title: "JobError" },
);

const stepFields = {
  name: Type.String(),
  type: Type.String({ description: "The executor, for example `/service/noop`." }),
  branch,
  visit: Type.Integer({
    minimum: 1,
    description: "The number of times that the job, or the branch, has entered this step, this time included.",
  }),
  status: oneOf(stepRunStatuses, {
    description:
      "The status of the run. `successful_but_incomplete`: the step waits for events or sleeps. If it also has a `finishedAt`, the step waited or slept when its job or its branch ended early.",
  }),
  attempts: Type.Integer({ minimum: 1 }),
  input: AnyJson,
  output: Type.Optional(AnyJson),
  valuesLeftOut: Type.Optional(
    Type.Literal(true, {
      description:
        "True when the values of this run are not in the answer, because the steps of the job hold too much for one answer: `input` is null, and `output` is left out. ListJobSteps returns them.",
    }),
  ),
  error: Type.Optional(StepErrorSchema),
  startedAt: Time,
  finishedAt: Type.Optional(Time),
  retryAt: Type.Optional(
    Type.String({ format: "date-time", description: "The time at which the next attempt is due." }),
  ),
  delayEndsAt: Type.Optional(
    Type.String({ format: "date-time", description: "The time until which the step sleeps." }),
  ),
  branchCount: Type.Optional(
    Type.Integer({ description: "The number of branches of the step. It is left out for a step without branches." }),
  ),
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
  {
    title: "CurrentJobStep",
    description:
      "The latest step on the main line of a job that is not finished. When branches wait for events, it is instead the step in which the first of these branches waits.",
  },
);

export const JobSchema = Type.Object(
  {
    ...summaryFields,
    input: AnyJson,
    output: Type.Unknown({ description: "The output of the last step. It is null until the job has SUCCEEDED." }),
    error: Type.Optional(JobErrorSchema),
    timeoutAt: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "The time at which the job fails with `Timeout`, unless it ends earlier. Only a RUNNING job whose definition has `timeoutSeconds` has this time.",
      }),
    ),
    currentStep: Type.Optional(CurrentStepSchema),
    steps: Type.Array(StepSchema, {
      description: `The newest ${maxShownStepRuns.toLocaleString("en")} step runs, in the order of their start.`,
    }),
    earlierStepRuns: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description:
          "The number of earlier runs that are not in `steps`, by the name of the step. It is left out when `steps` has all runs. ListJobSteps returns all of them.",
      }),
    ),
    childJobs: Type.Optional(ChildJobsSchema),
    job: JobSummarySchema,
  },
  { title: "Job" },
);

/** A job in a list: the summary, and enough to see where the job stands without a request for each job. */
export const ListedJobSchema = Type.Object(
  {
    ...summaryFields,
    stepName: Type.Optional(Type.String({ description: "The step in which a RUNNING job is." })),
    awaitingEventIds: Type.Optional(
      Type.Array(Type.String(), { description: "The events for which the job waits and which have not come yet." }),
    ),
    error: Type.Optional(JobErrorSchema),
    childJobs: Type.Optional(ChildJobsSchema),
  },
  { title: "ListedJob" },
);

export type RenderedStep = Static<typeof StepSchema>;
export type RenderedJob = Static<typeof JobSchema>;
type RenderedSummary = Static<typeof JobSummarySchema>;

/** Names of people, by their user id. */
export type Names = ReadonlyMap<string, string>;

/** Renders the summary without the submitter's name. `renderSubmitter` adds it, since it needs a look-up. */
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
  if (job.parent !== null) summary.parentJob = { ...job.parent };
  return summary;
}

export function renderSubmitter({ type, id }: Actor, names: Names): Pick<RenderedSummary, "submittedByUser"> {
  return type === "user" ? { submittedByUser: names.get(id) ?? id } : {};
}

/** The fields that a row of a list and a whole job have in common. */
type Summarized = Omit<JobRow, "awaitingEventIds" | "stepName" | "error">;

export function renderListed(job: JobRow, names: Names, childCount = 0): Static<typeof ListedJobSchema> {
  const { stepName, awaitingEventIds, error } = job;
  return {
    ...renderSummary(job),
    ...renderSubmitter(job.submittedBy, names),
    ...(stepName !== null && { stepName }),
    ...(awaitingEventIds !== null && { awaitingEventIds: [...awaitingEventIds] }),
    ...(error !== null && { error }),
    ...(childCount > 0 && { childJobs: { count: childCount } }),
  };
}

/** The number of a job's children, and the newest of them, which the answer shows. */
export interface ShownChildren {
  readonly count: number;
  readonly newest: readonly ChildRow[];
}

function renderChildren({ count, newest }: ShownChildren): Pick<RenderedJob, "childJobs"> {
  if (count === 0) return {};
  const shown = newest.map(({ parent: { branch: path, step, visit }, createdAt, finishedAt, ...child }) => ({
    ...child,
    ...(path !== undefined && { branch: path }),
    step,
    visit,
    createdAt: toTime(createdAt),
    ...(finishedAt !== null && { finishedAt: toTime(finishedAt) }),
  }));
  return { childJobs: { count, newest: shown } };
}

export function renderJob(whole: WholeJob, plan: Plan, names: Names, children?: ShownChildren): RenderedJob {
  const { job, output } = whole;
  const { status } = job.state;
  const steps = renderSteps(whole.steps, plan);
  const current = isTerminal(status) ? undefined : currentOf(whole, steps);
  const timeoutAt = timeoutAtOf(job.state);
  const summary = { ...renderSummary({ ...job, status }), ...renderSubmitter(job.submittedBy, names) };
  return {
    ...summary,
    input: job.input,
    output: output ?? null,
    ...(job.state.status === "FAILED" && { error: job.state.error }),
    ...(timeoutAt !== null && { timeoutAt: toTime(timeoutAt) }),
    ...(current !== undefined && { currentStep: { ...current, ...awaiting(whole) } }),
    steps,
    ...(whole.earlierRunCounts.size > 0 && { earlierStepRuns: Object.fromEntries(whole.earlierRunCounts) }),
    ...(children !== undefined && renderChildren(children)),
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

/**
 * Returns the index of the earliest run whose values fit into `room` together with the values of all later runs. `sizeOfJson` measures the values.
 */
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
  if (step.branch !== undefined) rendered.branch = step.branch;
  if (step.branchCount !== undefined) rendered.branchCount = step.branchCount;
  if (step.output !== undefined) rendered.output = step.output;
  if (step.valuesLeftOut) rendered.valuesLeftOut = true;
  if (step.error !== undefined) rendered.error = step.error;
  if (step.finishedAt !== undefined) rendered.finishedAt = toTime(step.finishedAt);
  if (step.retryAt !== undefined) rendered.retryAt = toTime(step.retryAt);
  if (step.delayEndsAt !== undefined) rendered.delayEndsAt = toTime(step.delayEndsAt);
  return rendered;
}

/** Returns the cursor of the first branch that waits for events. Callers want to see this branch, because somebody must send the events. */
function waitingCursor({ state }: WholeJob["job"]) {
  return state.status === "RUNNING" ? state.cursors.find(({ stand }) => stand.phase === "waiting") : undefined;
}

/** Returns the step of the first branch that waits for events. If no branch waits for events, returns the latest step on the main line. */
function currentOf({ job }: WholeJob, steps: readonly RenderedStep[]): RenderedStep | undefined {
  const cursor = waitingCursor(job);
  const isWait = ({ name, branch = mainBranch }: RenderedStep) =>
    branch === cursor?.branch && name === cursor.stand.name;
  const isOnMainLine = ({ branch }: RenderedStep) => branch === undefined;
  // The run on the main line is not among the steps when too many runs in its branches began later.
  return steps.findLast(isWait) ?? steps.findLast(isOnMainLine) ?? steps.at(-1);
}

/** Returns the events for which the first waiting branch waits. Returns an empty object when no branch waits for events. */
function awaiting({ job, entries }: WholeJob): { awaiting?: Static<typeof AwaitingSchema> } {
  const cursor = waitingCursor(job);
  if (cursor?.stand.phase !== "waiting") return {};
  const { missingEventIds, since } = cursor.stand;
  const waiting = entries.findLast(
    (entry) => entry.type === "step.waiting" && (entry.branch ?? mainBranch) === cursor.branch,
  );
  const eventIds = [...(waiting?.type === "step.waiting" ? waiting.eventIds : missingEventIds)];
  const missing = new Set(missingEventIds);
  const receivedEventIds = eventIds.filter((eventId) => !missing.has(eventId));
  return { awaiting: { eventIds, receivedEventIds, missingEventIds: [...missingEventIds], since: toTime(since) } };
}

import { type Static, Type } from "typebox";
import type { Entry, StepRun } from "../../core/job/history.ts";
import { type Job, mainStand } from "../../core/job/job-state.ts";
import { maxValuesSize, sizeOfJson } from "../../core/json/json-size.ts";
import type { ShownValue } from "../../core/json/json-text.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { toTime } from "../../core/time.ts";
import type { WholeJob } from "../../engine/reading/whole-job.ts";
import { AnyJson, oneOf, Time } from "../door/schemas.ts";
import { firstFittingRun, StepErrorSchema } from "./render-job.ts";

const ExecutionDataSchema = Type.Unsafe<Record<string, ShownValue>>({
  type: "object",
  properties: { workflowInput: AnyJson },
  required: ["workflowInput"],
  additionalProperties: true,
  description:
    "The values of the job. `workflowInput` is the input of the job. For the latest visit of each step, `<step>Input` is the input, and `<step>Output` is the output once the visit has succeeded.",
});

const runStatuses = {
  running: "running",
  success: "successful",
  failure: "failed",
  successful_but_incomplete: "successful_but_incomplete",
} as const satisfies Record<StepRun["status"], string>;

const ExecutionSchema = Type.Object(
  {
    id: Type.String({
      description:
        "The id of the run, which is unique in the job: `<step>:<visit>`, or `<step>:<visit>:<branch>` in a branch.",
    }),
    stepName: Type.String(),
    stepExecutorType: Type.String({ description: "The executor, for example `/service/noop`." }),
    historySource: oneOf(["executor", "event"], {
      description:
        "The kind of thing that ends the run. `executor`: the executor of the step. `event`: the events for which the step waits.",
    }),
    input: AnyJson,
    output: Type.Object({
      status: oneOf(Object.values(runStatuses), {
        description:
          "The status of the run. `successful_but_incomplete`: the step waits for events or sleeps, or did so when its job or its branch ended early.",
      }),
      payload: Type.Optional(Type.Unknown({ description: "The output of the step, once the run is `successful`." })),
    }),
    startTimestamp: Time,
    endTimestamp: Type.Optional(Time),
    errors: Type.Array(StepErrorSchema, {
      description: "The errors with which the run, or its latest attempt, failed.",
    }),
    warnings: Type.Array(Type.String(), {
      description: "Warnings about the run, for example that its values are left out.",
    }),
    eventId: Type.Optional(
      Type.String({ description: "The last of the events that the run took. It is left out when the run took none." }),
    ),
  },
  { title: "StepExecution", description: "One run of a step, which is one visit with all its attempts." },
);

export const JobStateSchema = Type.Object(
  {
    nextStepName: Type.Optional(
      Type.String({
        description:
          "The step in which the job is. A FAILED or CANCELLED job continues with this step when it is resumed. The field is left out once the job has SUCCEEDED. It never says where a choice will lead, since that is decided when the step of the choice succeeds.",
      }),
    ),
    executionData: ExecutionDataSchema,
    executionHistory: Type.Array(ExecutionSchema, {
      description: "The newest 1,000 runs, in the order of their start.",
    }),
  },
  { title: "JobState" },
);

type RenderedState = Static<typeof JobStateSchema>;
type RenderedExecution = Static<typeof ExecutionSchema>;

/** Renders the state of a job, bounded in size, with warnings that say which runs and which values are left out. */
export function renderState(whole: WholeJob, plan: Plan): { state: RenderedState; warnings: string[] } {
  const { job, steps: runs, entries, earlierRunCounts } = whole;
  const latestVisits = new Map(runs.map((run) => [run.name, run]));
  const isLatestVisit = (run: StepRun) => latestVisits.get(run.name) === run;
  const room = maxValuesSize - sizeOfJson(job.input, maxValuesSize);
  // The values of the latest visit of each step appear twice: in the data and in the history.
  const firstFitting = firstFittingRun(runs, room, (run) => (isLatestVisit(run) ? 2 : 1));
  const consumed = lastConsumedEvents(entries);
  const nextStepName = nextStepOf(job, plan);
  const state = {
    ...(nextStepName !== undefined && { nextStepName }),
    executionData: dataOf(job, runs.slice(firstFitting).filter(isLatestVisit)),
    executionHistory: runs.map((run, index) =>
      renderExecution(run, plan, consumed.get(idOf(run)), index >= firstFitting),
    ),
  };
  return { state, warnings: warningsOf(runs.length + sum(earlierRunCounts.values()), runs.length, firstFitting) };
}

function dataOf(job: Job, latestVisits: readonly StepRun[]): Record<string, ShownValue> {
  const data: Record<string, ShownValue> = {};
  for (const { name, input, output } of latestVisits) {
    data[`${name}Input`] = input;
    if (output !== undefined) data[`${name}Output`] = output;
  }
  // The job's input comes last, so that a step named `workflow` cannot replace it.
  return { ...data, workflowInput: job.input };
}

function renderExecution(run: StepRun, plan: Plan, eventId: string | undefined, isWhole: boolean): RenderedExecution {
  const step = plan.steps.get(run.name);
  const status = runStatuses[run.status];
  const isWaiting = run.status === "successful_but_incomplete" && step?.work.kind !== "delay";
  const isForEvents = eventId !== undefined || isWaiting;
  return {
    id: idOf(run),
    stepName: run.name,
    stepExecutorType: step?.type ?? "",
    historySource: isForEvents ? "event" : "executor",
    input: isWhole ? run.input : null,
    output: { status, ...(isWhole && run.output !== undefined && { payload: run.output }) },
    startTimestamp: toTime(run.startedAt),
    ...(run.finishedAt !== undefined && { endTimestamp: toTime(run.finishedAt) }),
    errors: run.error === undefined ? [] : [run.error],
    warnings: isWhole ? [] : ["The input and the output of this run are left out. ListJobSteps has them."],
    ...(eventId !== undefined && { eventId }),
  };
}

function idOf({ name, visit, branch }: Pick<StepRun, "name" | "visit" | "branch">): string {
  return branch === undefined ? `${name}:${visit}` : `${name}:${visit}:${branch}`;
}

/** Maps the id of each run that ended by events to the id of the last event that it consumed. */
function lastConsumedEvents(entries: readonly Entry<unknown>[]): ReadonlyMap<string, string> {
  const eventIds = new Map<number, string>();
  const last = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type === "event.received") eventIds.set(entry.eventNumber, entry.eventId);
    if (entry.type !== "step.succeeded" || entry.consumed === undefined) continue;
    const eventId = eventIds.get(Math.max(...entry.consumed));
    if (eventId !== undefined) last.set(idOf({ ...entry, name: entry.step }), eventId);
  }
  return last;
}

function nextStepOf({ state }: Job, plan: Plan): string | undefined {
  switch (state.status) {
    case "SUCCEEDED":
      return undefined;
    default:
      return mainStand(state)?.name ?? plan.firstStep.name;
  }
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

function warningsOf(allRuns: number, runs: number, withoutValues: number): string[] {
  const warnings: string[] = [];
  if (runs < allRuns) {
    warnings.push(`The state has only the newest ${runs} of ${allRuns} step runs. ListJobSteps has the others.`);
  }
  if (withoutValues > 0) {
    const what = withoutValues === 1 ? "the earliest step run is" : `the earliest ${withoutValues} step runs are`;
    warnings.push(
      `All values together are larger than 16 MB, so ${what} shown here without input and output. ListJobSteps has these values.`,
    );
  }
  return warnings;
}

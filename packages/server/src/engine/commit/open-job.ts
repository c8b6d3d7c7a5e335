import { mainBranch } from "../../core/branch-path.ts";
import { type BranchResults, noResults } from "../../core/job/branch-result.ts";
import { callsOf } from "../../core/job/call.ts";
import { leftChildren } from "../../core/job/child-job.ts";
import type { EventPayload } from "../../core/job/events/event-payloads.ts";
import type { CallEffect, ChildNotice, EventChange } from "../../core/job/fact.ts";
import type { HistoryEntry } from "../../core/job/history.ts";
import { awaitedEventIds, type Job, timeoutAtOf, wakeAtOf } from "../../core/job/job-state.ts";
import type { ValueBook } from "../../core/job/values/value-book.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { JobNotice } from "../../store/jobs/job-notices.ts";
import type { WrittenJob } from "../../store/jobs/jobs.ts";
import type { CallingJob, NewCall } from "./batch-calls.ts";
import type { CountedJob } from "./commit-counts.ts";

/** One job while the batch changes it. `before` is undefined for a job that the batch creates. */
export interface OpenJob extends CountedJob, CallingJob {
  readonly plan: Plan;
  job: Job;
  readonly effects: CallEffect[];
  readonly entries: HistoryEntry[];
  readonly events: EventChange[];
  /** The payloads of the job's kept events that a wait may read in this batch. */
  readonly payloads: Map<number, EventPayload>;
  payloadBytes: number;
  /** The results of branches from which this batch makes the list of a fork's results. */
  results: BranchResults;
  /** The notice that this batch makes for the job's parent; undefined when it makes none. */
  notice: ChildNotice | undefined;
  /** The epochs of calls that were ended by the notice of a child. */
  readonly told: Set<number>;
  notices: readonly JobNotice[];
}

/** One job that the batch changed. */
export interface ChangedJob {
  readonly job: Job;
  readonly plan: Plan;
  /** The calls that the job owes because of this change. Other calls of the job may be under way already. */
  readonly calls: readonly NewCall[];
  readonly entries: readonly HistoryEntry[];
  /** The notices that the job owes to other jobs because of this change. */
  readonly notices: readonly JobNotice[];
}

export function newlyOpened(job: Job, plan: Plan, values: ValueBook, before?: Job): OpenJob {
  return {
    before,
    job,
    plan,
    effects: [],
    calls: [],
    entries: [],
    events: [],
    payloads: new Map(),
    values,
    payloadBytes: 0,
    results: noResults,
    notice: undefined,
    told: new Set(),
    notices: [],
  };
}

/** Makes the notices of a change. The parent learns how the job has ended. A child learns that the job does not wait for it any more. */
export function noticesOf({ before, job, plan, notice, told }: OpenJob): JobNotice[] {
  const { organizationId, jobId, parent } = job;
  const notices: JobNotice[] = [];
  if (notice !== undefined && parent !== null) {
    const { jobId: parentId, branch = mainBranch, step, visit } = parent;
    notices.push({ organizationId, jobId: parentId, senderJobId: jobId, branch, step, visit, ...notice });
  }
  const left = before === undefined ? [] : leftChildren(plan, job, before.state, job.state, told);
  for (const { childId, ...call } of left) {
    notices.push({ organizationId, jobId: childId, senderJobId: jobId, ...call, outcome: null });
  }
  return notices;
}

/** Makes the job's row. Make the history's row first (`countHistory`), because the state refers to a large value by the history entry that has it. */
export function written({ before, job, values }: OpenJob) {
  const state = values.state(job.state, job.sequence);
  const after: WrittenJob = {
    ...job,
    state,
    wakeAt: wakeAtOf(job.state),
    timeoutAt: timeoutAtOf(job.state),
    awaitingEventIds: awaitedEventIds(job.state),
    callCount: callsOf(job.state).length,
  };
  return { before, after, values };
}

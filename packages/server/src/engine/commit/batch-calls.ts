import { callsOf, compareCalls } from "../../core/job/call.ts";
import type { CallEffect } from "../../core/job/fact.ts";
import type { Job } from "../../core/job/job-state.ts";
import type { Timestamp } from "../../core/time.ts";
import type { ChangedCalls, HandedTask, MadeCall } from "../../store/jobs/job-calls.ts";
import type { NewTask, TaskOffers } from "../tasks/task-offers.ts";

/** A job that a batch changed, with its new calls. `before` is undefined for a job that the batch creates. */
export interface CallingJob {
  readonly before: Job | undefined;
  readonly job: Job;
  /** The calls that the changes of this batch asked for. A later change of the batch may have withdrawn a call that an earlier change asked for. */
  readonly effects: readonly CallEffect[];
  /** Those of the calls in `effects` that the job still owes after the whole batch. */
  calls: readonly NewCall[];
}

export interface NewCall {
  readonly effect: CallEffect;
  /**
   * True when the change itself stores the call as begun, or when a worker holds the task. Otherwise a note must be stored before the call begins.
   */
  readonly begun: boolean;
}

export interface CallTerms {
  readonly now: Timestamp;
  /**
   * Tells whether a call of the batch will begin as soon as the batch is committed. Run this function once for each call that may begin then, in
   * order, because it counts them.
   */
  readonly beginsAtOnce: (organizationId: string) => boolean;
  /** Offers the tasks of this batch to workers. Without it, the batch only puts the tasks into their queues. */
  readonly offers?: TaskOffers | undefined;
}

/**
 * Finds the calls that the jobs owe once the batch is committed, and offers the tasks among them to workers that wait on this node. Returns the
 * changes to write.
 */
export function settleCalls(changed: readonly CallingJob[], terms: CallTerms): readonly ChangedCalls[] {
  const tasks: NewTask[] = [];
  const calls = changed.flatMap((calling) => {
    calling.calls = newCalls(calling, terms);
    const found = changedCalls(calling);
    for (const { made } of found) tasks.push(...made.flatMap((call) => newTask(calling.job, call, terms.now)));
    return found;
  });
  if (tasks.length === 0 || terms.offers === undefined) return calls;
  const workers = terms.offers.offer(tasks);
  let place = 0;
  const offered = (call: MadeCall) => (call.task === undefined ? call : { ...call, worker: workers[place++] });
  return calls.map((job) => ({ ...job, made: job.made.map(offered) }));
}

/** Tells `offers` which tasks the commit gave to workers, and marks these tasks as begun, so that nobody looks for a worker for them. */
export function noteHandedTasks(
  changed: readonly CallingJob[],
  handed: readonly HandedTask[],
  { offers }: CallTerms,
): void {
  if (handed.length === 0) return;
  offers?.note(handed);
  const names = new Set(handed.map(({ jobId, branch }) => `${jobId} ${branch}`));
  for (const calling of changed) {
    calling.calls = calling.calls.map((call) =>
      names.has(`${calling.job.jobId} ${call.effect.branch}`) ? { ...call, begun: true } : call,
    );
  }
}

function newCalls({ job, effects }: CallingJob, { beginsAtOnce }: CallTerms): readonly NewCall[] {
  if (effects.length === 0) return [];
  const epochs = new Set(callsOf(job.state).map(({ epoch }) => epoch));
  const owed = effects.filter(({ epoch }) => epochs.has(epoch));
  return owed.map((effect) => ({ effect, begun: mayBeginAtOnce(effect) && beginsAtOnce(job.organizationId) }));
}

/**
 * Whether the call may begin with the commit. A suspect may not: it begins only when its turn among the suspects comes, which only its node knows. A
 * task may not: it begins when a worker takes it.
 */
function mayBeginAtOnce({ isSuspect, task }: CallEffect): boolean {
  return !isSuspect && task === undefined;
}

/** Returns the change of the job's calls; an empty list when the calls stay as they were. */
function changedCalls({ before, job, calls }: CallingJob): ChangedCalls[] {
  const { made, ended } = compareCalls(before?.state, job.state);
  if (made.length === 0 && ended.length === 0) return [];
  const { organizationId, jobId, versionId, workflowId, state } = job;
  const known = new Map(calls.map((call) => [call.effect.epoch, call]));
  const marked = made.map((call) => {
    const { begun = false, effect } = known.get(call.epoch) ?? {};
    return { ...call, begun, task: effect?.task };
  });
  return [{ organizationId, jobId, versionId, workflowId, made: marked, ended, callCount: callsOf(state).length }];
}

function newTask(job: Job, { task, branch, step, visit, epoch }: MadeCall, dueAt: Timestamp): NewTask[] {
  if (task === undefined) return [];
  const { organizationId, jobId, workflowId, versionId } = job;
  return [{ job, organizationId, jobId, workflowId, versionId, branch, step, visit, epoch, dueAt, ...task }];
}

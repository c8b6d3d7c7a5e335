import { callingStep } from "../../core/job/call.ts";
import type { CallingStep, Job } from "../../core/job/job-state.ts";
import { inputNumbersIn } from "../../core/job/values/stored-state.ts";
import { isUnread } from "../../core/job/values/unread-value.ts";
import { sizeOfJson } from "../../core/json/json-size.ts";
import type { Database } from "../../store/home/database.ts";
import { type LockedJob, readUnlockedJobs } from "../../store/jobs/jobs.ts";
import type { TakenTask } from "../../store/jobs/tasks.ts";
import { inHalves } from "../in-halves.ts";
import type { RecentJobs } from "../reading/recent-jobs.ts";
import { openValues } from "../values/open-values.ts";
import type { RecentValues } from "../values/recent-values.ts";

/** A task with all the data that its worker receives. */
export interface Task extends TakenTask {
  readonly job: Job;
  readonly stand: CallingStep;
}

export interface TaskInputsOptions {
  readonly database: Database;
  readonly recent: RecentJobs;
  /** If it is left out, every value is read again. */
  readonly recentValues?: RecentValues;
  /** The bound in bytes on one read of several jobs. */
  readonly maxBytes: number;
  readonly onFailure: (error: unknown) => void;
}

export interface ReadTasks {
  readonly read: readonly Task[];
  /** The tasks that were not read because the inputs of the others were too large already. */
  readonly unread: readonly TakenTask[];
}

/**
 * Adds to each task the data of its job, for as many tasks as one node may hold in memory. A task is left out when its job has gone on without it. It
 * is also left out when it cannot be read: then it returns to the queue after its lease, as if its worker had been lost.
 */
export async function readTasks(
  options: TaskInputsOptions,
  taken: readonly TakenTask[],
  knownJob: (task: TakenTask) => Job | undefined = () => undefined,
): Promise<ReadTasks> {
  const { recent, onFailure } = options;
  // A call never changes while it keeps its epoch, so the snapshot need not be the newest. But a snapshot may lack the input of the call, because the
  // commit that made the snapshot had not read it.
  const read = taken
    .flatMap((task) => {
      const job = knownJob(task) ?? recent.get(task.jobId)?.job;
      return job === undefined ? [] : taskOf(job, task);
    })
    .filter(({ stand }) => !isUnread(stand.input));
  const isKnown = new Set(read.map(({ jobId, branch }) => `${jobId} ${branch}`));
  const others = taken.filter(({ jobId, branch }) => !isKnown.has(`${jobId} ${branch}`));
  let size = 0;
  for (let first = 0; first < others.length; first += maxReadAtOnce) {
    if (size > maxReadSize) return { read, unread: others.slice(first) };
    const found = await inHalves(
      others.slice(first, first + maxReadAtOnce),
      (part) => readFromStore(options, part),
      (_task, error) => onFailure(error),
    );
    read.push(...found);
    size += found.reduce((sum, { stand }) => sum + sizeOfJson(stand.input, maxReadSize), 0);
  }
  return { read, unread: [] };
}

/** The largest number of tasks that are read together. Their inputs may have up to a megabyte each. */
const maxReadAtOnce = 32;
/**
 * When the inputs that were read are larger than this (`sizeOfJson`), no more are read. This size is enough for the answers to a few workers. Without
 * this bound, five polls for a hundred tasks each could bring 500 MB into memory, although most of these tasks would not fit into the answers and
 * would go back into the queue.
 */
const maxReadSize = 8_000_000;

async function readFromStore(
  { database, maxBytes, recentValues }: TaskInputsOptions,
  tasks: readonly TakenTask[],
): Promise<readonly Task[]> {
  const byJob = Map.groupBy(tasks, ({ jobId }) => jobId);
  const keys = [...byJob.values()].flatMap(([task]) => task ?? []);
  const rows = await readUnlockedJobs(database, keys, maxBytes);
  // Only the branches of these tasks are looked into, because a job may have a thousand branches.
  const inputsOf = ({ jobId, state }: LockedJob) =>
    inputNumbersIn(state, new Set(byJob.get(jobId)?.map(({ branch }) => branch)));
  const opened = await openValues(database, rows, inputsOf, { maxBytes, reasonCount: tasks.length }, recentValues);
  const jobs = new Map(opened.map(({ job }) => [job.jobId, job]));
  return tasks.flatMap((task) => {
    const job = jobs.get(task.jobId);
    return job === undefined ? [] : taskOf(job, task);
  });
}

function taskOf(job: Job, task: TakenTask): Task[] {
  const stand = callingStep(job.state, task);
  return stand === undefined ? [] : [{ ...task, job, stand }];
}

import type { ForkRun, ForkSearch } from "../core/job/branch-runs.ts";
import type { Entry, PlainEntry, StepRun } from "../core/job/history.ts";
import type { Job, Timestamp } from "../core/job/job-state.ts";
import type { JsonValue } from "../core/json/json.ts";
import type { ShownValue } from "../core/json/json-text.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { CallKey } from "../store/jobs/job-calls.ts";
import type { JobKey, JobStanding } from "../store/jobs/jobs.ts";
import type { QueueKey } from "../store/jobs/tasks.ts";
import type { BranchKey } from "./calls/owed-calls.ts";
import type { Command } from "./commit/command.ts";
import type { Done, Sender } from "./commit/group-commit.ts";
import type { Portion, RunSearch } from "./reading/job-history.ts";
import type { Poll } from "./tasks/task-desk.ts";
import type { Task } from "./tasks/task-inputs.ts";

/** What the HTTP room may ask of the engine. */
export interface Engine {
  /** The one way to change a job. Throws `ServiceError`. */
  commit(command: Command, sender?: Sender): Promise<Done>;
  /**
   * The job as the store has it now, with its newest step runs; undefined when it is not there. Without values those that are stored apart are
   * left out of the runs.
   */
  readJob(key: JobKey, withValues?: boolean): Promise<WholeJob | undefined>;
  /** How far the job has come, which costs next to nothing; undefined when it is not there. */
  readStanding(key: JobKey): Promise<JobStanding | undefined>;
  /** The entries after a sequence: `limit` at most, and fewer where their values are large together. Undefined when there is no such job. */
  readHistory(key: JobKey, after: number, limit: number): Promise<Portion<PlainEntry> | undefined>;
  /** Step runs in the order of their start; none when there is no such job. */
  readSteps(key: JobKey, search: RunSearch): Promise<Portion<StepRun>>;
  /** A visit of a fork with its branches that have begun; undefined when the job has come to no such fork, or there is no such job. */
  readBranches(key: JobKey, plan: Plan, search: ForkSearch): Promise<ForkRun | undefined>;
  /**
   * Answers when `isReached` holds for the job, or at `deadline` (a reading of `performance.now()`), or when `signal` aborts: the
   * job as it then is; undefined when there is none. Notices changes made on this node at once and on other nodes within some 100 ms.
   * Throws `ServiceError` (RateLimitError, UnavailableError) when too many requests wait already, or while the node drains.
   */
  waitForJob(
    key: JobKey,
    isReached: (standing: JobStanding) => boolean,
    deadline: number,
    signal: AbortSignal,
  ): Promise<WholeJob | undefined>;
  /** Calls `onChange` after each commit that changed the job (a hint: it may also be called without a change). Answers the unsubscribe. */
  watchJob(key: JobKey, onChange: () => void): () => void;
  /**
   * Hands tasks of a queue to a worker: as soon as there is one, or none at the poll's deadline. From then on the worker holds them by their leases. Throws
   * `ServiceError` when too many requests wait already, or while the node drains.
   */
  pollTasks(poll: Poll): Promise<readonly Task[]>;
  /** Looks for tasks of a queue for those who wait here, since it may have changed. */
  noteQueue(key: QueueKey): void;
  /** Puts tasks back whose worker has not seen them. */
  putTasksBack(tasks: readonly Task[]): Promise<void>;
  /** Lets a worker hold its task for another heartbeat. Answers until when; undefined when the task is not the worker's any more. */
  holdTask(call: CallKey, progress: JsonValue): Promise<Timestamp | undefined>;
  /** Whether this node has begun the call that it holds for the branch of the job; undefined when it holds none. */
  hasBegunCall(call: BranchKey): boolean | undefined;
  /** Whether this node would take another call of the organization, or leave its job in the store. */
  hasRoomForCall(organizationId: string): boolean;
  /** How many requests and streams of the organization wait on this node. */
  waitingCountOf(organizationId: string): number;
  /** The database's time, in milliseconds since 1970. */
  now(): Timestamp;
  /** A new UUID version 7. */
  newId(): string;
  /** False while the store is out of reach, before the first heartbeat, and while the node drains. */
  isReady(): boolean;
}

/** A job with everything that GetJob shows. */
export interface WholeJob {
  readonly job: Job;
  /** The newest `maxShownStepRuns`, in the order of their start. */
  readonly steps: readonly StepRun[];
  /** How many runs of a step are not in `steps`, by the step's name. */
  readonly earlierRunCounts: ReadonlyMap<string, number>;
  /** The output of the last step of a job that SUCCEEDED. */
  readonly output: ShownValue | undefined;
  /** Whether its values may be so many that to write them takes long. */
  readonly isLarge: boolean;
  /** The history in its order, from the start of the first of `steps` or from an earlier entry on. */
  readonly entries: readonly Entry<unknown>[];
}

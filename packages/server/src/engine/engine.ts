import type { ForkRun, ForkSearch } from "../core/job/branch-runs.ts";
import type { PlainEntry, StepRun } from "../core/job/history.ts";
import type { JsonValue } from "../core/json/json.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { Timestamp } from "../core/time.ts";
import type { CallKey } from "../store/jobs/job-calls.ts";
import type { JobKey, JobStanding } from "../store/jobs/jobs.ts";
import type { QueueKey } from "../store/jobs/tasks.ts";
import type { BranchKey } from "./calls/owed-calls.ts";
import type { Command } from "./commit/command.ts";
import type { Done, Sender } from "./commit/group-commit.ts";
import type { StoreTrouble } from "./node/node.ts";
import type { EntrySearch, Portion, RunSearch } from "./reading/job-history.ts";
import type { WholeJob } from "./reading/whole-job.ts";
import type { Poll } from "./tasks/task-desk.ts";
import type { Task } from "./tasks/task-inputs.ts";

/** The reason why a node can serve no requests. */
export type Unreadiness =
  /** The node has not sent its first heartbeat. */
  | "starting"
  /** The node ends. It waits for its running calls. */
  | "draining"
  | StoreTrouble;

/** The operations of the engine that the HTTP room may use. */
export interface Engine {
  /** The one way to change a job. Throws `ServiceError`. */
  commit(command: Command, sender?: Sender): Promise<Done>;
  /**
   * The job as the store has it now, with its newest step runs; undefined when it is not there. If `withValues` is false, the runs of a large job
   * lack the values that are stored in rows of their own.
   */
  readJob(key: JobKey, withValues?: boolean): Promise<WholeJob | undefined>;
  /** Reads how far the job has come, at very little cost. Undefined when the job does not exist. */
  readStanding(key: JobKey): Promise<JobStanding | undefined>;
  /**
   * Reads the history entries after a sequence: at most `limit`, and fewer if their values together are too large. Undefined when the job does not
   * exist.
   */
  readHistory(key: JobKey, search: EntrySearch): Promise<Portion<PlainEntry> | undefined>;
  /** Reads step runs in the order of their start. The portion is empty when the job does not exist. */
  readSteps(key: JobKey, search: RunSearch): Promise<Portion<StepRun>>;
  /** Reads one visit of a fork with the branches that have begun. Undefined when the job does not exist or has not reached such a fork. */
  readBranches(key: JobKey, plan: Plan, search: ForkSearch): Promise<ForkRun | undefined>;
  /**
   * Waits until `isReached` holds for the job. The wait also ends at `deadline` (a reading of `performance.now()`), when `signal` aborts, or when the
   * node begins to drain. Returns the job as it is then; undefined when it does not exist. Changes made on this node are noticed at once, and those
   * made on other nodes within about 100 ms. Throws `ServiceError` (RateLimitError, UnavailableError) when too many requests wait already, or when it
   * is called while the node drains.
   */
  waitForJob(
    key: JobKey,
    isReached: (standing: JobStanding) => boolean,
    deadline: number,
    signal: AbortSignal,
  ): Promise<WholeJob | undefined>;
  /**
   * Calls `onChange` when the job may have changed. One call may stand for several changes, and a call may come without a change. Returns the
   * function that ends these calls. Throws `ServiceError` when too many requests wait already, or when it is called while the node drains.
   */
  watchJob(key: JobKey, onChange: () => void): () => void;
  /**
   * Returns tasks of a queue for a worker as soon as there are any, or an empty list at the poll's deadline or when the node begins to drain. The
   * worker then holds the tasks under their leases. Throws `ServiceError` when too many requests wait already, or when it is called while the node
   * drains.
   */
  pollTasks(poll: Poll): Promise<readonly Task[]>;
  /** Looks for tasks of a queue on behalf of the workers that wait on this node, because the queue may have changed. */
  noteQueue(key: QueueKey): void;
  /** Puts back tasks that their worker has not received. */
  putTasksBack(tasks: readonly Task[]): Promise<void>;
  /**
   * Renews a worker's lease on its task, and stores the task's progress; null keeps the former progress. Returns the time at which the new lease
   * ends; undefined when the worker does not hold the task any more.
   */
  holdTask(call: CallKey, progress: JsonValue): Promise<Timestamp | undefined>;
  /** Whether this node has begun the call that it holds for this branch of the job; undefined when it holds none. */
  hasBegunCall(call: BranchKey): boolean | undefined;
  /** Whether this node has room for another call of the organization. Without room, a job that would make a call waits in the store. */
  hasRoomForCall(organizationId: string): boolean;
  /** How many requests and streams of the organization wait on this node. */
  waitingCountOf(organizationId: string): number;
  /** The database's time, in milliseconds since 1970. */
  now(): Timestamp;
  /** A new UUID version 7. */
  newId(): string;
  /** The reason why this node can serve no requests; undefined when it is ready. */
  unreadiness(): Unreadiness | undefined;
}

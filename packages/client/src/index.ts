export type { ByPath, Outcome } from "./by-path.ts";
export {
  createClient,
  type GetJobOptions,
  type Job,
  type PollOptions,
  StepwellClient,
  type SubmitAndWaitOptions,
  type SubmitOptions,
  type WaitOptions,
  type WholeAnswer,
} from "./client.ts";
export {
  type InputProblem,
  isConflict,
  isInvalid,
  isNotAllowed,
  isNotFound,
  isTimeout,
  isUnreachable,
  type Problem,
  StepwellError,
} from "./error.ts";
export type { components, operations, paths } from "./generated/api.ts";
export type { HistoryEntry, WatchOptions } from "./job-watch.ts";
export type {
  Answer,
  CallName,
  Input,
  Item,
  ListName,
  OperationName,
  Query,
  RequestBody,
  StreamName,
} from "./operation.ts";
export type { PageQuery, Pages } from "./pages.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export { type Task, type TaskControl, TaskFailure, Worker, type WorkerOptions } from "./worker.ts";

import { type ByPath, byPath } from "./by-path.ts";
import { deploy } from "./deployment.ts";
import { tooLate } from "./error.ts";
import { operationTable } from "./generated/operations.ts";
import { type HistoryEntry, type WatchOptions, watchJob } from "./job-watch.ts";
import type {
  Answer,
  AnyInput,
  CallArguments,
  CallName,
  Item,
  ListName,
  Query,
  RequestBody,
  StreamName,
} from "./operation.ts";
import { type OutageOptions, throughOutages } from "./outage.ts";
import { type PageQuery, Pages } from "./pages.ts";
import { withinTime } from "./time-limit.ts";
import { type CallOptions, type ClientOptions, resultOf, Transport } from "./transport.ts";

/** A job as GetJob returns it, with its steps, its output and its error. */
export type Job = Answer<"GetJob">;

/** An answer with its status and headers, such as `ETag`, `RateLimit` or `Idempotency-Replayed`. */
export interface WholeAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface SubmitOptions extends CallOptions {
  /** Lets the service hold its answer until the job has ended or waits for events, but for this many seconds at most. */
  readonly waitSeconds?: number;
}

export interface GetJobOptions extends CallOptions {
  /** Lets the service hold its answer until the job has ended, but for this many seconds at most. */
  readonly waitSeconds?: number;
}

export interface PollOptions extends CallOptions {
  /** Lets the service hold its answer until there is a task, but for this many seconds at most. */
  readonly waitSeconds?: number;
}

export interface WaitOptions extends OutageOptions {
  /**
   * How long to wait at most, in milliseconds. After that, the call rejects with a `StepwellError` whose code is `TimeoutError`, and the job
   * continues. Default: no limit.
   */
  readonly timeoutMs?: number;
}

export interface SubmitAndWaitOptions extends WaitOptions {
  readonly idempotencyKey?: string;
}

interface TaskAnswers {
  readonly complete: { readonly output: unknown };
  readonly fail: RequestBody<"FailTask">;
  readonly release: Record<string, never>;
}

export function createClient(options: ClientOptions): StepwellClient {
  return new StepwellClient(options);
}

/**
 * Calls a service. `call`, `request`, `list` and `open` take an operation by its name in the API document. `open` takes those that return a long text
 * or a stream, and `list` takes those that return a list in pages. `call` and `request` take all except those of `open`. The other methods are short
 * forms of the operations that programs use most. All methods throw a `StepwellError` for an answer that is not a success, and all but `answerTask`
 * repeat a request that failed for a transient reason. Most take `CallOptions` (a signal, a timeout, an idempotency key) as the last argument.
 */
export class StepwellClient {
  /** Every operation by its path. An error answer is returned as `error` and not thrown. */
  readonly api: ByPath;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.api = byPath(this.#transport);
  }

  /**
   * Calls an operation: `call("GetJob", { path: { organizationId, jobId }, query: { waitSeconds: 30 } })`. Returns the body, or undefined if there is
   * none (204).
   */
  async call<Name extends CallName>(
    name: Name,
    ...[input, options]: CallArguments<Name, CallOptions>
  ): Promise<Answer<Name>> {
    return (await this.request(name, ...([input, options] as CallArguments<Name, CallOptions>))).body;
  }

  /** Calls an operation as `call` does, and returns the status and the headers, too. */
  async request<Name extends CallName>(
    name: Name,
    ...[input, options]: CallArguments<Name, CallOptions>
  ): Promise<WholeAnswer<Answer<Name>>> {
    const route = operationTable[name];
    const reply = await this.#transport.send(route, (input ?? {}) as AnyInput, options);
    const { status, headers } = reply.response;
    return { status, headers, body: resultOf(reply, route) as Answer<Name> };
  }

  /**
   * Returns the items of an operation that returns a list in pages. The iteration requests each page when it gets there: `for await (const job of
   * client.list("ListJobs", { path: { organizationId } }))`.
   */
  list<Name extends ListName>(
    name: Name,
    ...[input, options]: CallArguments<Name, CallOptions>
  ): Pages<Answer<Name>, Item<Name>> {
    const { query, ...rest } = (input ?? {}) as AnyInput;
    const route = operationTable[name];
    const read = async (page: PageQuery) => {
      const paged = { ...rest, query: { ...query, ...page } };
      return resultOf(await this.#transport.send(route, paged, options), route) as Answer<Name>;
    };
    return new Pages(read, (query ?? {}) as PageQuery, route.items);
  }

  /**
   * Calls an operation that returns a long text or a stream, such as ExportAudit. Returns as soon as the answer begins: read its `body` or its
   * `text()`. The signal also ends the reading.
   */
  async open<Name extends StreamName>(
    name: Name,
    ...[input, options]: CallArguments<Name, CallOptions>
  ): Promise<Response> {
    const route = operationTable[name];
    const reply = await this.#transport.open(route, (input ?? {}) as AnyInput, options);
    resultOf(reply, route);
    return reply.response;
  }

  /** Returns the caller: the user or token that the service recognizes, and its permissions. */
  async whoAmI(options?: CallOptions) {
    return await this.call("WhoAmI", {}, options);
  }

  /** Returns one page of the organizations that the caller may read. `list("ListOrganizations")` goes through all of them. */
  async listOrganizations(pageSize = 100, options?: CallOptions) {
    return await this.call("ListOrganizations", { query: { pageSize } }, options);
  }

  /** All workflows, in the order of their names. */
  listWorkflows(organizationId: string, query: Query<"ListWorkflows"> = {}, options?: CallOptions) {
    return this.list("ListWorkflows", { path: { organizationId }, query }, options);
  }

  /** Returns the workflow with this name; undefined when there is none. */
  async findWorkflow(organizationId: string, name: string, options?: CallOptions) {
    return (await this.call("ListWorkflows", { path: { organizationId }, query: { name } }, options)).workflows[0];
  }

  /** Makes a workflow without versions. A name that is taken is a conflict. */
  async registerWorkflow(organizationId: string, name: string, options?: CallOptions) {
    return await this.call("RegisterWorkflow", { path: { organizationId }, body: { name } }, options);
  }

  /**
   * Registers the definition as a new version of the workflow that it names, unless the newest version has an equal definition. In both cases, points
   * the tag at the newest version afterwards. Makes the workflow if there is none. An invalid definition is a `ValidationError` whose `errors` list
   * everything that is wrong, with the line and the column; a text that is not JSON or has no `workflowName` is a plain `Error`. The keys of the
   * requests follow from `idempotencyKey`, and `timeoutMs` limits all of the requests together.
   */
  async deploy(organizationId: string, definition: string | object, tag = "$LIVE", options: CallOptions = {}) {
    return await deploy((name, ...args) => this.call(name, ...args), organizationId, definition, tag, options);
  }

  /** Checks a definition without registering it. Returns `valid`, with all `errors` and `warnings`. */
  async validateDefinition(organizationId: string, workflowId: string, definition: string, options?: CallOptions) {
    const path = { organizationId, workflowId };
    return await this.call("ValidateWorkflowVersion", { path, body: { definition } }, options);
  }

  /** All versions of a workflow, the newest first. */
  listVersions(organizationId: string, workflowId: string, options?: CallOptions) {
    return this.list("ListWorkflowVersions", { path: { organizationId, workflowId } }, options);
  }

  /** A version with the text of its definition. */
  async getVersion(organizationId: string, workflowId: string, versionId: string, options?: CallOptions) {
    return await this.call("GetWorkflowVersion", { path: { organizationId, workflowId, versionId } }, options);
  }

  /** Registers a version. With `ifChanged`, if the definition equals that of the newest version, returns the newest version with `created: false`. */
  async registerVersion(
    organizationId: string,
    workflowId: string,
    definition: string,
    { ifChanged, ...options }: CallOptions & { readonly ifChanged?: boolean } = {},
  ) {
    const query = ifChanged === undefined ? {} : { ifChanged };
    const path = { organizationId, workflowId };
    return await this.call("RegisterWorkflowVersion", { path, query, body: { definition } }, options);
  }

  /** All tags of a workflow, with the versions at which they point. */
  listTags(organizationId: string, workflowId: string, options?: CallOptions) {
    return this.list("ListTags", { path: { organizationId, workflowId } }, options);
  }

  /** Points a tag at a version. Makes the tag if there is none. */
  async setTag(organizationId: string, workflowId: string, tag: string, versionId: string, options?: CallOptions) {
    const path = { organizationId, workflowId, tag };
    return await this.call("SetWorkflowVersionTag", { path, body: { versionId } }, options);
  }

  async deleteTag(organizationId: string, workflowId: string, tag: string, options?: CallOptions): Promise<void> {
    await this.call("DeleteTag", { path: { organizationId, workflowId, tag } }, options);
  }

  /**
   * Submits a job. With `waitSeconds`, the answer is the whole job, and comes when the job has ended or waits for events, or when the time is over.
   * Without `waitSeconds`, the status is always PENDING.
   */
  async submitJob(
    organizationId: string,
    body: RequestBody<"SubmitJob">,
    { waitSeconds, ...options }: SubmitOptions = {},
  ) {
    return await this.call("SubmitJob", { path: { organizationId }, query: waiting(waitSeconds), body }, options);
  }

  /**
   * Submits a job and waits until it has ended, however long that takes. Returns the whole job, which is SUCCEEDED, FAILED or CANCELLED. If
   * the service cannot be reached for a while, the call continues by itself. Because of its idempotency key, only one job is made.
   */
  async submitAndWait(
    organizationId: string,
    body: RequestBody<"SubmitJob">,
    options: SubmitAndWaitOptions = {},
  ): Promise<Job> {
    const { idempotencyKey = crypto.randomUUID(), ...waitOptions } = options;
    return await this.#wait(waitOptions, async (waiting) => {
      const submit = () =>
        this.submitJob(organizationId, body, { idempotencyKey, waitSeconds: holdSeconds, ...waiting.call });
      const job = await throughOutages(waiting, submit);
      return "steps" in job && hasEnded(job) ? job : await this.#untilEnded(organizationId, job.jobId, waiting);
    });
  }

  /** Returns all jobs, or those that match the filters. The newest come first unless `order` says otherwise. */
  listJobs(organizationId: string, query: Query<"ListJobs"> = {}, options?: CallOptions) {
    return this.list("ListJobs", { path: { organizationId }, query }, options);
  }

  /** Returns a job in its present state. With `waitSeconds` (also as a plain number), returns it once it has ended or the time is over. */
  async getJob(
    organizationId: string,
    jobId: string,
    options: GetJobOptions | number = {},
    signal?: AbortSignal,
  ): Promise<Job> {
    const { waitSeconds, ...rest } = typeof options === "number" ? { waitSeconds: options } : options;
    const callOptions = signal === undefined ? rest : { ...rest, signal };
    return await this.call("GetJob", { path: { organizationId, jobId }, query: waiting(waitSeconds) }, callOptions);
  }

  /**
   * Waits until the job has ended, however long that takes. If the service cannot be reached for a while, the call continues by itself. A signal can
   * be passed in place of the options.
   */
  async waitForJob(organizationId: string, jobId: string, options: WaitOptions | AbortSignal = {}): Promise<Job> {
    const waitOptions = options instanceof AbortSignal ? { signal: options } : options;
    return await this.#wait(waitOptions, (waiting) => this.#untilEnded(organizationId, jobId, waiting));
  }

  /**
   * Yields the history of a job: first the past entries, then new ones as they happen, each once and in order. The iteration ends after the entry
   * that finishes the job. If the connection breaks, the iteration continues by itself. It rejects when the service could not be reached for
   * `maxOutageMs`.
   */
  watchJob(
    organizationId: string,
    jobId: string,
    options: WatchOptions = {},
  ): AsyncGenerator<HistoryEntry, void, undefined> {
    return watchJob(this.#transport, { organizationId, jobId }, options);
  }

  /** The history of a job as it is now, in pages. */
  listHistory(organizationId: string, jobId: string, options?: CallOptions) {
    return this.list("GetJobHistory", { path: { organizationId, jobId } }, options);
  }

  /** Every run of every step, in the order of their start. */
  listSteps(organizationId: string, jobId: string, query: Query<"ListJobSteps"> = {}, options?: CallOptions) {
    return this.list("ListJobSteps", { path: { organizationId, jobId }, query }, options);
  }

  /** Says why a job is not moving: a `state`, a `sentence` for people and `facts` for programs. */
  async explainJob(organizationId: string, jobId: string, options?: CallOptions) {
    return await this.call("ExplainJob", { path: { organizationId, jobId } }, options);
  }

  /** Cancels a job. A finished job is a conflict, unless it was cancelled. */
  async cancelJob(organizationId: string, jobId: string, options?: CallOptions) {
    return await this.call("CancelJob", { path: { organizationId, jobId } }, options);
  }

  /** Continues a FAILED or CANCELLED job from the step where it stopped. Any other status is a conflict. */
  async resumeJob(organizationId: string, jobId: string, options?: CallOptions) {
    return await this.call("ResumeJob", { path: { organizationId, jobId } }, options);
  }

  /** Sends an event to a job. `outcome` says what the event did. A finished job is a conflict. */
  async sendEvent(organizationId: string, jobId: string, body: RequestBody<"SendJobEvent">, options?: CallOptions) {
    return await this.call("SendJobEvent", { path: { organizationId, jobId }, body }, options);
  }

  /** All events of a job, with their outcomes. */
  listEvents(organizationId: string, jobId: string, options?: CallOptions) {
    return this.list("ListJobEvents", { path: { organizationId, jobId } }, options);
  }

  /**
   * Puts a single task into a queue. With `waitSeconds`, the answer is the whole job of the task, and comes when the task is done or the time is
   * over. The output with which the worker completes the task becomes the output of the job.
   */
  async submitTask(
    organizationId: string,
    queue: string,
    body: RequestBody<"SubmitTask"> = {},
    { waitSeconds, ...options }: SubmitOptions = {},
  ) {
    return await this.call(
      "SubmitTask",
      { path: { organizationId, queue }, query: waiting(waitSeconds), body },
      options,
    );
  }

  /** The queues that have tasks, are paused or were asked for tasks in about the last day, in the order of their names. */
  async listTaskQueues(organizationId: string, options?: CallOptions) {
    return await this.list("ListTaskQueues", { path: { organizationId }, query: { pageSize: 200 } }, options).toArray();
  }

  /** Returns a queue of tasks, with the workers that last asked it for tasks. */
  async getTaskQueue(organizationId: string, queue: string, options?: CallOptions) {
    return await this.call("GetTaskQueue", { path: { organizationId, queue } }, options);
  }

  /** Pauses a queue of tasks, or resumes it. */
  async updateTaskQueue(
    organizationId: string,
    queue: string,
    body: RequestBody<"UpdateTaskQueue">,
    options?: CallOptions,
  ) {
    return await this.call("UpdateTaskQueue", { path: { organizationId, queue }, body }, options);
  }

  /** The tasks of a queue: those that workers hold, then those that wait. */
  listTasks(organizationId: string, queue: string, query: Query<"ListTasks"> = {}, options?: CallOptions) {
    return this.list("ListTasks", { path: { organizationId, queue }, query }, options);
  }

  /** Takes tasks from a queue, as `Worker` does in a loop. Returns an empty list when there is none within `waitSeconds`. */
  async pollTasks(
    organizationId: string,
    queue: string,
    body: RequestBody<"PollTasks"> = {},
    { waitSeconds, ...options }: PollOptions = {},
  ) {
    const input = { path: { organizationId, queue }, query: waiting(waitSeconds), body };
    return (await this.call("PollTasks", input, options)).tasks;
  }

  /** Completes a task. `output`, any JSON value, becomes the result of the task's step. A task that the worker no longer holds is a conflict. */
  async completeTask(organizationId: string, taskId: string, output: unknown, options?: CallOptions) {
    return await this.call("CompleteTask", { path: { organizationId, taskId }, body: { output } }, options);
  }

  /** Fails a task. The step is tried again as its `retry` says, unless `retryable` is false. */
  async failTask(organizationId: string, taskId: string, body: RequestBody<"FailTask">, options?: CallOptions) {
    return await this.call("FailTask", { path: { organizationId, taskId }, body }, options);
  }

  /** Gives a task back, so that another worker gets it at once. */
  async releaseTask(organizationId: string, taskId: string, options?: CallOptions) {
    return await this.call("ReleaseTask", { path: { organizationId, taskId } }, options);
  }

  /**
   * Answers a task in one attempt and without an Idempotency-Key. This costs the service less than `completeTask`, `failTask` and
   * `releaseTask`, which repeat a failed attempt by themselves. `Worker` uses this method, because it answers thousands of tasks. A repetition gets
   * 409, like any answer that comes too late.
   */
  async answerTask<Answer extends keyof TaskAnswers>(
    organizationId: string,
    taskId: string,
    answer: Answer,
    body: TaskAnswers[Answer],
    options?: CallOptions,
  ): Promise<void> {
    const route = operationTable[answerNames[answer]];
    const input = { path: { organizationId, taskId }, body };
    resultOf(await this.#transport.send(route, input, { ...options, maxAttempts: 1 }), route);
  }

  /** Keeps a task for another `heartbeatSeconds`. `progress` says how far the work has come. */
  async heartbeatTask(organizationId: string, taskId: string, progress?: unknown, options?: CallOptions) {
    const body = progress === undefined ? {} : { progress };
    return await this.call("HeartbeatTask", { path: { organizationId, taskId }, body }, options);
  }

  async #wait<Result>(
    { timeoutMs, signal, ...outage }: WaitOptions,
    work: (waiting: Waiting) => Promise<Result>,
  ): Promise<Result> {
    const limit = { signal, ms: timeoutMs, late: () => tooLate(timeoutMs) };
    return await withinTime(
      limit,
      async (signal) => await work({ ...outage, signal, call: { signal, maxAttempts: 1 } }),
    );
  }

  /** Returns the job once it has ended. The service holds each request until then, but for `holdSeconds` at most. */
  async #untilEnded(organizationId: string, jobId: string, waiting: Waiting): Promise<Job> {
    for (;;) {
      const options = { waitSeconds: holdSeconds, ...waiting.call };
      const job = await throughOutages(waiting, () => this.getJob(organizationId, jobId, options));
      if (hasEnded(job)) return job;
    }
  }
}

/** The options of the whole wait, and those of each of its calls. */
interface Waiting extends OutageOptions {
  readonly call: CallOptions;
}

const answerNames = { complete: "CompleteTask", fail: "FailTask", release: "ReleaseTask" } as const;

/** For how many seconds the service is asked to hold an answer. */
const holdSeconds = 30;

function waiting(waitSeconds: number | undefined): { readonly waitSeconds?: number } {
  return waitSeconds === undefined ? {} : { waitSeconds };
}

function hasEnded({ status }: Pick<Job, "status">): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

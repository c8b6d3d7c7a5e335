import { randomUUID } from "node:crypto";
import { ask } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, registerVersion } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test, vi } from "vitest";
import { taskIdOf } from "../../../src/core/job/task-id.ts";
import { countVersions } from "../../../src/store/workflows/versions.ts";
import { forEach, task, textOf } from "../../core/job/jobs.ts";
import { PlainWorker, taskDefinition, taskStep } from "./tasks.ts";

onOneStore((home) => {
  const service = useService(home, { STEPWELL_POLL_MS: "50" });

  async function world(definition = taskDefinition()) {
    const { organizationId, api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definition);
    return { organizationId, api, workflowId, worker: new PlainWorker(api) };
  }

  async function submit(api: Client, workflowId: string, inputJson: object = {}): Promise<{ jobId: string }> {
    const { jobId } = (await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId, inputJson } })).body;
    return { jobId };
  }

  async function ended(api: Client, params: { jobId: string }): Promise<JobBody & { error?: object }> {
    return (await api.call<JobBody>("GetJob", { params, query: { waitSeconds: 20 } })).body;
  }

  test("a worker takes a task, and its answer is the output of the step", async () => {
    const { api, workflowId, worker } = await world();
    const job = await submit(api, workflowId, { sku: "A" });
    const task = await worker.next();
    expect(task).toMatchObject({
      ...job,
      workflowId,
      queue: "q",
      step: "work",
      visit: 1,
      branch: "",
      attempt: 1,
      idempotencyKey: `${job.jobId}:work:1`,
      input: { sku: "A" },
      heartbeatSeconds: 60,
    });
    await worker.complete(task, { done: "A" });
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", output: { done: "A" } });
    expect(await worker.poll()).toEqual([]);
  });

  test("a poll that waits gets a task as soon as one is due", async () => {
    const { api, workflowId, worker } = await world();
    const polled = worker.next();
    const { jobId } = await submit(api, workflowId);
    expect((await polled).jobId).toBe(jobId);
  });

  test("one poll takes several tasks, in the order in which they became due, and no task is handed out twice", async () => {
    const { api, workflowId, worker } = await world();
    const jobs: string[] = [];
    for (let index = 0; index < 5; index += 1) jobs.push((await submit(api, workflowId)).jobId);
    const polled = [...(await worker.poll(3)), ...(await worker.poll(3)), ...(await worker.poll(3))];
    expect(polled.map(({ jobId }) => jobId)).toEqual(jobs);
  });

  test("waiting tasks are distributed over all workers that ask", async () => {
    const { api, workflowId, worker } = await world();
    const polls = [worker.poll(10, 20), worker.poll(10, 20)];
    await Promise.all([submit(api, workflowId), submit(api, workflowId)]);
    const polled = (await Promise.all(polls)).flat();
    expect(polled).toHaveLength(2);
  });

  test("a failed task is retried as the step's policy says, and a final failure is not", async () => {
    const retry = { maxAttempts: 3, initialIntervalSeconds: 0.01, jitter: false };
    const { api, workflowId, worker } = await world(taskDefinition({}, { retry }));
    const job = await submit(api, workflowId);
    const first = await worker.next();
    await worker.fail(first, { message: "Not now.", type: "Busy" });
    const second = await worker.next();
    expect(second).toMatchObject({ attempt: 2, idempotencyKey: first.idempotencyKey });
    expect(second.taskId).not.toBe(first.taskId);
    await worker.fail(second, { message: "Never.", type: "Refused", retryable: false });
    expect(await ended(api, job)).toMatchObject({
      status: "FAILED",
      error: { code: "ExecutorError", type: "Refused", message: "Never.", step: "work", attempt: 2 },
    });
  });

  test("an answer to an ended task is a conflict, and a repetition under the same key is not", async () => {
    const { api, workflowId, worker } = await world();
    await submit(api, workflowId);
    const { taskId } = await worker.next();
    const completion = { params: { taskId }, body: { output: {} }, headers: { "idempotency-key": "k" } };
    await api.call("CompleteTask", completion);
    await api.call("CompleteTask", completion);
    await api.refused("CompleteTask", "ConflictError", { params: { taskId }, body: { output: {} } });
    await api.refused("FailTask", "ConflictError", { params: { taskId }, body: { message: "m" } });
    await api.refused("HeartbeatTask", "ConflictError", { params: { taskId }, body: {} });
  });

  test("a task whose worker is silent goes to another under the same key, and a late answer is a conflict", async () => {
    const { api, workflowId, worker } = await world(taskDefinition({ heartbeatSeconds: 2 }));
    const job = await submit(api, workflowId);
    const lost = await worker.next();
    const found = await worker.next();
    expect(found).toMatchObject({ attempt: 2, idempotencyKey: lost.idempotencyKey });
    await api.refused("CompleteTask", "ConflictError", { params: { taskId: lost.taskId }, body: { output: {} } });
    await worker.complete(found, { by: "the other" });
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", output: { by: "the other" } });
    const { entries } = (await api.call<{ entries: { type: string }[] }>("GetJobHistory", { params: job })).body;
    expect(entries.map(({ type }) => type)).toContain("step.interrupted");
  });

  const each = (orders: readonly string[], config: object = {}) => ({
    definition: textOf([
      forEach("each", { items: "${ input.orders }", step: "work", concurrency: 2 }, null),
      task("work", null, { config: { queue: "q", ...config } }),
    ]),
    input: { orders },
  });

  test("the item of a lost worker goes to another under the same key, and a late answer is a conflict", async () => {
    const { definition, input } = each(["a", "b", "c"], { heartbeatSeconds: 2 });
    const { api, workflowId, worker } = await world(definition);
    const job = await submit(api, workflowId, input);
    expect((await api.call("ExplainJob", { params: job })).body).toMatchObject({
      state: "forked",
      facts: { branch: "each:1[0]", openCount: 2, queue: { name: "q", waitingCount: 2 } },
    });
    const [lost, held] = await worker.poll(2);
    if (lost === undefined || held === undefined) throw new Error("Two items are not two tasks.");
    expect([lost, held]).toMatchObject([
      { branch: "each:1[0]", input: "a", idempotencyKey: `${job.jobId}:work:1:each:1[0]` },
      { branch: "each:1[1]", input: "b", idempotencyKey: `${job.jobId}:work:1:each:1[1]` },
    ]);
    await worker.complete(held, "b is done");
    const last = await worker.next();
    expect(last).toMatchObject({ branch: "each:1[2]", input: "c" });
    await worker.complete(last, "c is done");
    const found = await worker.next();
    expect(found).toMatchObject({ branch: "each:1[0]", input: "a", attempt: 2, idempotencyKey: lost.idempotencyKey });
    await api.refused("CompleteTask", "ConflictError", { params: { taskId: lost.taskId }, body: { output: "late" } });
    await worker.complete(found, "a is done");
    expect(await ended(api, job)).toMatchObject({
      status: "SUCCEEDED",
      output: ["a is done", "b is done", "c is done"],
    });
    const { entries } = (
      await api.call<{ entries: { type: string; branch?: string }[] }>("GetJobHistory", { params: job })
    ).body;
    const interrupted = entries.filter(({ type }) => type === "step.interrupted");
    expect(interrupted.map(({ branch }) => branch)).toEqual(["each:1[0]"]);
  });

  test("an item that fails withdraws the tasks of the others, and a resume hands out all of them again", async () => {
    const { definition, input } = each(["a", "b"]);
    const { api, workflowId, worker } = await world(definition);
    const job = await submit(api, workflowId, input);
    const [failed, other] = await worker.poll(2);
    if (failed === undefined || other === undefined) throw new Error("Two items are not two tasks.");
    await worker.fail(failed, { message: "Never.", retryable: false });
    expect(await ended(api, job)).toMatchObject({
      status: "FAILED",
      error: { code: "ItemFailed", cause: { code: "ExecutorError", step: "work", branch: "each:1[0]" } },
    });
    await api.refused("HeartbeatTask", "ConflictError", { params: { taskId: other.taskId }, body: {} });
    expect(await worker.poll()).toEqual([]);
    await api.call("ResumeJob", { params: job });
    const again = [await worker.next(), await worker.next()];
    expect(again).toMatchObject([
      { input: "a", attempt: 2, idempotencyKey: failed.idempotencyKey },
      { input: "b", attempt: 2, idempotencyKey: other.idempotencyKey },
    ]);
    for (const task of again) await worker.complete(task, task.input);
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", output: ["a", "b"] });
  });

  test("a task is handed out with its whole input, also after an event for its job", async () => {
    const { api, workflowId, worker } = await world(
      definitionOf(taskStep("one", { queue: "q" }, "two"), taskStep("two", { queue: "q" }, null)),
    );
    const job = await submit(api, workflowId);
    const output = { text: "x".repeat(3_000) };
    await worker.complete(await worker.next(), output);
    await api.call("SendJobEvent", { params: job, body: { eventId: "other" } });
    expect(await worker.next()).toMatchObject({ step: "two", input: output });
  });

  test("a heartbeat holds a task longer than its lease", async () => {
    const { api, workflowId, worker } = await world(taskDefinition({ heartbeatSeconds: 2 }));
    await submit(api, workflowId);
    const task = await worker.next();
    const until = await worker.heartbeat(task, { percent: 50 });
    expect(Date.parse(until)).toBeGreaterThan(Date.parse(task.leaseUntil));
  });

  test.each([
    ["step", { step: "__proto__" }],
    ["visit", { visit: 2 }],
    ["branch", { branch: "work:1[0]" }],
    ["epoch", { epoch: 2 }],
  ])("an answer with another %s has no effect on the task that a worker holds", async (_, other) => {
    const { api, workflowId, worker } = await world();
    const job = await submit(api, workflowId);
    const task = await worker.next();
    const taskId = taskIdOf({ ...job, branch: "", step: "work", visit: 1, epoch: 1, ...other });
    expect(taskId).not.toBe(task.taskId);
    const lies = [
      ["HeartbeatTask", {}],
      ["CompleteTask", { output: 1 }],
      ["FailTask", { message: "no" }],
      ["ReleaseTask", {}],
    ] as const;
    for (const [operation, body] of lies) {
      await api.refused(operation, "ConflictError", { params: { taskId }, body });
    }
    await worker.complete(task, { done: true });
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", output: { done: true } });
  });

  test("a task that is given back goes to another worker at once", async () => {
    const { api, workflowId, worker } = await world();
    await submit(api, workflowId);
    const given = await worker.next();
    await worker.release(given);
    expect(await worker.next()).toMatchObject({ jobId: given.jobId, idempotencyKey: given.idempotencyKey });
    await api.refused("CompleteTask", "ConflictError", { params: { taskId: given.taskId }, body: { output: {} } });
  });

  test("a task that came for a worker whose token was revoked meanwhile goes to another worker at once", async () => {
    const { organizationId, api, workflowId, worker } = await world();
    const body = { name: "worker", permissions: ["task:work"] };
    const { token, tokenId } = (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
    const poll = { params: { queue: "q" }, query: { waitSeconds: 20 }, body: {} };
    const revoked = api.as(token).refused("PollTasks", "AuthenticationError", poll);
    await expect.poll(() => service.running.engine.waitingCountOf(organizationId)).toBe(1);
    await api.call("RevokeApiToken", { params: { tokenId } });
    const job = await submit(api, workflowId);
    await revoked;
    expect(await worker.next()).toMatchObject(job);
  });

  test("the time of a step also runs while its task waits for a worker", async () => {
    const { api, workflowId, worker } = await world(taskDefinition({}, { timeoutSeconds: 0.2 }));
    expect(await ended(api, await submit(api, workflowId))).toMatchObject({
      status: "FAILED",
      error: { code: "Timeout", step: "work" },
    });
    expect(await worker.poll()).toEqual([]);
  });

  test("the task of a cancelled job is withdrawn, and its worker is told so", async () => {
    const { api, workflowId, worker } = await world();
    const waiting = await submit(api, workflowId);
    await api.call("CancelJob", { params: waiting });
    expect(await worker.poll()).toEqual([]);
    const held = await submit(api, workflowId);
    const task = await worker.next();
    await api.call("CancelJob", { params: held });
    await api.refused("HeartbeatTask", "ConflictError", { params: { taskId: task.taskId }, body: {} });
    await api.refused("CompleteTask", "ConflictError", { params: { taskId: task.taskId }, body: { output: {} } });
  });

  test("tasks with a higher priority come first; the priority and the queue may be expressions", async () => {
    const { api, workflowId } = await world(
      taskDefinition({ queue: "${ input.queue }", priority: "${ input.priority }" }),
    );
    for (const priority of [0, 5, -1]) await submit(api, workflowId, { queue: "other", priority });
    const polled = await new PlainWorker(api, "other").poll(10);
    expect(polled.map(({ input }) => input)).toMatchObject([{ priority: 5 }, { priority: 0 }, { priority: -1 }]);
  });

  test("an expression that gives no valid queue fails the step", async () => {
    const { api, workflowId } = await world(taskDefinition({ queue: "${ input.queue }" }));
    const job = await ended(api, await submit(api, workflowId, { queue: "no/queue" }));
    expect(job).toMatchObject({ status: "FAILED", error: { code: "ExpressionFailed" } });
  });

  test("a workflow with few tasks gets its turn beside one with many", async () => {
    const { api, workflowId, worker } = await world();
    for (let index = 0; index < 10; index += 1) await submit(api, workflowId);
    const { workflowId: small } = await deploy(api, taskDefinition());
    await submit(api, small);
    const polled = [...(await worker.poll()), ...(await worker.poll())];
    expect(polled.map((task) => task.workflowId).sort()).toEqual([workflowId, small].sort());
  });

  test("three workflows take turns, also if a poll takes four tasks", async () => {
    const { api, workflowId, worker } = await world();
    const workflows = [workflowId];
    while (workflows.length < 3) workflows.push((await deploy(api, taskDefinition())).workflowId);
    for (let index = 0; index < 24; index += 1) await submit(api, workflows[index % 3] ?? "");
    const polled = [...(await worker.poll(4)), ...(await worker.poll(4)), ...(await worker.poll(4))];
    const counts = Map.groupBy(polled, (task) => task.workflowId);
    expect(workflows.map((id) => counts.get(id)?.length)).toEqual([4, 4, 4]);
  });

  test("large inputs reach the worker completely, however many it asks for", async () => {
    const { api, workflowId, worker } = await world(
      definitionOf(taskStep("one", { queue: "q" }, "two"), taskStep("two", { queue: "q" }, null)),
    );
    const text = "x".repeat(600_000);
    for (let index = 0; index < 9; index += 1) await submit(api, workflowId, { text, index });
    const seen: unknown[] = [];
    for (let tasks = await worker.poll(20); tasks.length > 0; tasks = await worker.poll(20)) {
      for (const task of tasks) {
        const { text: got, index } = task.input as { text: string; index: number };
        expect(got).toHaveLength(text.length);
        seen.push(`${index} ${task.step}`);
        await worker.complete(task, task.step === "one" ? { text: `${got}y`.slice(1), index } : {});
      }
    }
    expect(seen).toHaveLength(18);
  });

  test.each(["x", Buffer.from('["a",1,1,"s",""]').toString("base64url")])("%j is the id of no task", async (taskId) => {
    const { api } = await service.newOrganization();
    await api.refused("CompleteTask", "NotFoundError", { params: { taskId }, body: { output: 1 } });
  });

  test("a task of another organization is answered like one that never existed", async () => {
    const { api, workflowId, worker } = await world();
    await submit(api, workflowId);
    const { taskId } = await worker.next();
    const other = await service.newOrganization();
    await other.api.refused("CompleteTask", "NotFoundError", { params: { taskId }, body: { output: 1 } });
    await other.api.refused("HeartbeatTask", "NotFoundError", { params: { taskId }, body: {} });
    const unknown = taskIdOf({ jobId: randomUUID(), branch: "", step: "work", visit: 1, epoch: 1 });
    await api.refused("CompleteTask", "NotFoundError", { params: { taskId: unknown }, body: { output: 1 } });
  });

  interface Queue {
    readonly queue: string;
    readonly waitingCount: number;
    readonly heldCount: number;
    readonly oldestDueAt?: string;
    readonly workers: readonly { readonly worker: string; readonly heldCount: number }[];
  }

  const queueOf = async (api: Client, queue = "q"): Promise<Queue> =>
    (await api.call<Queue>("GetTaskQueue", { params: { queue } })).body;

  test("queues are listed by their names, with their waiting tasks and those that workers hold", async () => {
    const { api, workflowId } = await world(taskDefinition({ queue: "${ input.queue }" }));
    for (const queue of ["b", "a", "b", "c"]) await submit(api, workflowId, { queue });
    await new PlainWorker(api, "b").poll();
    const list = async (query: Record<string, string | number>) =>
      (await api.call<{ queues: Queue[]; nextPageToken?: string }>("ListTaskQueues", { query })).body;
    const { queues } = await list({});
    expect(queues).toMatchObject([
      { queue: "a", waitingCount: 1, heldCount: 0, oldestDueAt: expect.any(String) },
      { queue: "b", waitingCount: 1, heldCount: 1 },
      { queue: "c", waitingCount: 1, heldCount: 0 },
    ]);
    const first = await list({ pageSize: 2 });
    const second = await list({ pageSize: 2, pageToken: first.nextPageToken ?? "" });
    expect([...first.queues, ...second.queues].map(({ queue }) => queue)).toEqual(["a", "b", "c"]);
    expect(second.nextPageToken).toBeUndefined();
  });

  interface QueuedTask {
    readonly taskId: string;
    readonly status: "held" | "waiting";
    readonly jobId: string;
    readonly workflowId: string;
    readonly branch: string;
    readonly priority: number;
    readonly worker?: string;
  }

  /** Lists all tasks of the queue `q`, by pages of this size. */
  async function listTasks(api: Client, pageSize: number, filters: Record<string, string> = {}): Promise<QueuedTask[]> {
    const tasks: QueuedTask[] = [];
    let pageToken: string | undefined;
    do {
      const query = { ...filters, pageSize, ...(pageToken !== undefined && { pageToken }) };
      const call = { params: { queue: "q" }, query };
      const { body } = await api.call<{ tasks: QueuedTask[]; nextPageToken?: string }>("ListTasks", call);
      tasks.push(...body.tasks);
      pageToken = body.nextPageToken;
    } while (pageToken !== undefined);
    return tasks;
  }

  test("the tasks of a queue are listed: first those that workers hold, then those that wait, by priority, workflow and time", async () => {
    const { api, workflowId, worker } = await world(taskDefinition({ priority: "${ input.priority }" }));
    const { definition, input } = each(["a", "b", "c"]);
    const { workflowId: other } = await deploy(api, definition.replace('"concurrency":2', '"concurrency":3'));
    for (let count = 0; count < 2; count += 1) await submit(api, workflowId, { priority: 0 });
    const [one, two] = await worker.poll(2);
    if (one === undefined || two === undefined) throw new Error("Two jobs are not two tasks.");
    await worker.heartbeat(one, { percent: 50 });
    const urgent = await submit(api, workflowId, { priority: 7 });
    const forked = await submit(api, other, input);
    const last = [await submit(api, workflowId, { priority: 0 }), await submit(api, workflowId, { priority: 0 })];

    const tasks = await listTasks(api, 200);
    expect(tasks.slice(0, 2)).toMatchObject([
      { taskId: one.taskId, status: "held", worker: "test", progress: { percent: 50 }, leaseUntil: expect.any(String) },
      { taskId: two.taskId, status: "held", worker: "test", takenAt: expect.any(String) },
    ]);
    const waiting = tasks.slice(2);
    expect(waiting[0]).toMatchObject({ ...urgent, status: "waiting", priority: 7, workflowId, step: "work" });
    expect(waiting[0]).not.toHaveProperty("worker");
    const behind = waiting.slice(1);
    expect(behind.filter((task) => task.workflowId === workflowId)).toMatchObject(last);
    expect(behind.filter((task) => task.workflowId === other)).toMatchObject(
      [0, 1, 2].map((index) => ({ ...forked, branch: `each:1[${index}]` })),
    );
    expect(behind.map((task) => task.workflowId)).toEqual(
      behind
        .map((task) => task.workflowId)
        .sort()
        .reverse(),
    );

    for (const pageSize of [1, 2, 5]) {
      expect(await listTasks(api, pageSize)).toEqual(tasks);
      expect(await listTasks(api, pageSize, { status: "held" })).toEqual(tasks.slice(0, 2));
      expect(await listTasks(api, pageSize, { status: "waiting" })).toEqual(waiting);
    }
    const another = await service.newOrganization();
    expect(await listTasks(another.api, 10)).toEqual([]);
  });

  test("the oldest task of a queue is the one that has been due longest, whatever its workflow and priority", async () => {
    const { api, workflowId, worker } = await world(taskDefinition({ priority: "${ input.priority }" }));
    const { workflowId: other } = await deploy(api, taskDefinition());
    await submit(api, workflowId, { priority: -5 });
    await submit(api, other);
    await submit(api, workflowId, { priority: 5 });
    const { oldestDueAt } = await queueOf(api);
    const tasks = await worker.poll(10);
    expect(tasks.map(({ dueAt }) => dueAt).sort()[0]).toBe(oldestDueAt);
  });

  test("an unused queue is shown as empty", async () => {
    const { api } = await service.newOrganization();
    expect(await queueOf(api)).toEqual({ queue: "q", waitingCount: 0, heldCount: 0, workerCount: 0, workers: [] });
  });

  test("a worker that waits is shown", async () => {
    const { api, workflowId, worker } = await world();
    const waiting = worker.next();
    await vi.waitFor(
      async () => expect((await queueOf(api)).workers).toMatchObject([{ worker: "test", heldCount: 0 }]),
      { timeout: 15_000, interval: 200 },
    );
    await submit(api, workflowId);
    await waiting;
    expect(await queueOf(api)).toMatchObject({ heldCount: 1, workerCount: 1, workers: [{ heldCount: 1 }] });
  }, 20_000);

  test("a paused queue hands out nothing until it is resumed, and the user who paused it is recorded", async () => {
    const { api, workflowId, worker } = await world();
    const pause = async (paused: boolean) =>
      (await api.call("UpdateTaskQueue", { params: { queue: "q" }, body: { paused } })).body;
    await submit(api, workflowId);
    expect(await pause(true)).toMatchObject({
      pausedAt: expect.any(String),
      pausedBy: { type: "user" },
      waitingCount: 1,
    });
    expect(await worker.poll()).toEqual([]);
    const polled = worker.next();
    expect(await pause(false)).not.toHaveProperty("pausedAt");
    await worker.complete(await polled, {});
    await pause(false);
    const { entries } = (await api.call<{ entries: { action: string }[] }>("ListAudit")).body;
    const changes = entries.filter(({ action }) => action === "UpdateTaskQueue");
    expect(changes).toMatchObject([{ target: { id: "q" } }, { target: { id: "q" } }]);
  });

  test("a queue that nobody asked for leaves no row when it is resumed, whether it was paused or not", async () => {
    const { organizationId, api } = await service.newOrganization();
    const set = (queue: string, paused: boolean) =>
      api.call("UpdateTaskQueue", { params: { queue }, body: { paused } });
    await set("never-paused", false);
    await set("paused", true);
    await set("paused", false);
    await set("still-paused", true);
    const text = "SELECT queue FROM task_queue WHERE organization_id = $1";
    expect(await ask(service.running.database, text, organizationId)).toEqual([{ queue: "still-paused" }]);
  });

  test("waiting polls count among the waiting requests of their organization", async () => {
    const { organizationId, api, workflowId, worker } = await world();
    await service.setMaximums(organizationId, { waitingRequests: 1 });
    const waiting = worker.next();
    await expect.poll(() => service.running.engine.waitingCountOf(organizationId)).toBe(1);
    const another = async () => (await api.callAny("PollTasks", { params: { queue: "q" }, body: {} })).status;
    // A node notices a new maximum a little later.
    await expect.poll(another, { timeout: 10_000 }).toBe(429);
    await submit(api, workflowId);
    await waiting;
  });

  test("an explanation says why a task waits, and which worker holds it", async () => {
    const { api, workflowId, worker } = await world();
    const job = await submit(api, workflowId);
    const explain = async () => (await api.call("ExplainJob", { params: job })).body;
    expect(await explain()).toMatchObject({
      state: "waitingForWorker",
      sentence: expect.stringMatching(
        /^The task of `work` has waited in the queue `q` for .*: no worker has asked for tasks of this queue for at least a day\.$/,
      ),
      facts: { step: "work", queue: { name: "q", waitingCount: 1, workerCount: 0 } },
    });
    const task = await worker.next();
    await worker.heartbeat(task, { percent: 50, leaseUntil: 7 });
    expect(await explain()).toMatchObject({
      state: "working",
      sentence: expect.stringMatching(
        /^The worker `test` has worked on `work` for .*: another worker gets the task if/,
      ),
      facts: { worker: { name: "test", leaseUntil: expect.any(String), progress: { percent: 50, leaseUntil: 7 } } },
    });
  });

  test("a single task needs no workflow, and its result comes with the answer", async () => {
    const { api } = await service.newOrganization();
    const worker = new PlainWorker(api);
    const submitTask = async (body: object) =>
      (
        await api.call<JobBody & { workflowName: string }>("SubmitTask", {
          params: { queue: "q" },
          query: { waitSeconds: 20 },
          body,
        })
      ).body;
    const results = [submitTask({ input: [1, 2], priority: 1 }), submitTask({ input: "text" }), submitTask({})];
    for (let count = 0; count < 3; count += 1) {
      const task = await worker.next();
      await worker.complete(task, { got: task.input });
    }
    expect((await Promise.all(results)).map(({ status, output }) => [status, output])).toEqual([
      ["SUCCEEDED", { got: [1, 2] }],
      ["SUCCEEDED", { got: "text" }],
      ["SUCCEEDED", { got: {} }],
    ]);
    const { workflows } = (await api.call<{ workflows: { name: string }[] }>("ListWorkflows")).body;
    expect(workflows.map(({ name }) => name)).toEqual(["stepwell-task"]);
  });

  test("a single task is still possible after its workflow was deleted or changed", async () => {
    const { api, organizationId } = await service.newOrganization();
    const submitTask = async () =>
      (await api.call<{ workflowId: string }>("SubmitTask", { params: { queue: "q" }, body: {} })).body;
    const { workflowId } = await submitTask();
    await registerVersion(api, workflowId, taskDefinition().replace('"test"', '"stepwell-task"'));
    expect((await submitTask()).workflowId).toBe(workflowId);
    // After a user or another release has registered a newer version, the service does not register its own version again.
    expect(await countVersions(service.running.database, organizationId, workflowId)).toBe(2);
    await api.call("DeleteWorkflow", { params: { workflowId } });
    expect((await submitTask()).workflowId).not.toBe(workflowId);
    expect(await new PlainWorker(api).poll(10)).toHaveLength(3);
  });
});

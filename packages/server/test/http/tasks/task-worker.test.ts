import type { Client } from "@stepwell/testing/client.ts";
import { deploy, type JobBody } from "@stepwell/testing/flow.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { createClient, TaskFailure, Worker, type WorkerOptions } from "@stepwell/testing/worker.ts";
import { afterEach, expect, test, vi } from "vitest";
import { taskDefinition } from "./tasks.ts";

const polling = { timeout: 15_000, interval: 20 };

// The worker of the client library, against the service.
onOneStore((home) => {
  const service = useService(home, { STEPWELL_POLL_MS: "50" });
  const workers: Worker[] = [];

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
  });

  async function world(definition = taskDefinition()) {
    const { organizationId, owner, api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definition);
    const start = (work: WorkerOptions["work"], more: Partial<WorkerOptions> & { readonly baseUrl?: string } = {}) => {
      const { baseUrl = service.baseUrl, ...options } = more;
      const client = createClient({ baseUrl, token: owner.token, maxAttempts: 1 });
      const worker = new Worker({ client, organizationId, queue: "q", work, ...options });
      workers.push(worker);
      return worker;
    };
    return { organizationId, api, workflowId, start };
  }

  async function submit(api: Client, workflowId: string, inputJson: object = {}): Promise<{ jobId: string }> {
    const { jobId } = (await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId, inputJson } })).body;
    return { jobId };
  }

  async function ended(api: Client, params: { jobId: string }): Promise<JobBody & { error?: object }> {
    return (await api.call<JobBody>("GetJob", { params, query: { waitSeconds: 20 } })).body;
  }

  async function explained(api: Client, params: { jobId: string }) {
    return (await api.call<{ state: string; facts: { worker?: Record<string, unknown> } }>("ExplainJob", { params }))
      .body;
  }

  test("a worker runs up to the configured number of tasks side by side, and returns their outputs", async () => {
    const { api, workflowId, start } = await world();
    const jobs = await Promise.all(Array.from({ length: 8 }, (_, n) => submit(api, workflowId, { n })));
    let [running, most] = [0, 0];
    const gate = Promise.withResolvers<void>();
    start(
      async ({ input }) => {
        running += 1;
        most = Math.max(most, running);
        if (most === 3) gate.resolve();
        await gate.promise;
        running -= 1;
        return { doubled: (input as { n: number }).n * 2 };
      },
      { concurrency: 3 },
    );
    for (const [n, job] of jobs.entries()) {
      expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", output: { doubled: n * 2 } });
    }
    expect(most).toBe(3);
  });

  test("an exception in the work fails the task: an error is retried, and a final failure is not", async () => {
    const retry = { maxAttempts: 3, initialIntervalSeconds: 0.01, jitter: false };
    const { api, workflowId, start } = await world(taskDefinition({}, { retry }));
    const errors = [new RangeError("too far"), new TaskFailure("never", { type: "Refused", retryable: false })];
    start(() => {
      throw errors.shift();
    });
    const job = await submit(api, workflowId);
    expect(await ended(api, job)).toMatchObject({
      status: "FAILED",
      error: { type: "Refused", message: "never", attempt: 2 },
    });
    const { entries } = (
      await api.call<{ entries: { type: string; error?: object }[] }>("GetJobHistory", { params: job })
    ).body;
    expect(entries.find(({ type }) => type === "step.attemptFailed")?.error).toMatchObject({ type: "RangeError" });
  });

  test("a failure report that the service rejects still fails the task", async () => {
    const { api, workflowId, start } = await world();
    const said = [
      new TaskFailure("too long a type", { type: "x".repeat(300), retryable: false }),
      new TaskFailure("half a character \ud800", { retryable: false }),
      new TaskFailure("in a year", { retryAfterSeconds: 31_536_000, retryable: false }),
      Object.assign(new Error("no name"), { name: "" }),
    ];
    start(() => {
      throw said.shift();
    });
    const jobs = [];
    while (said.length > 0) {
      const count = said.length;
      jobs.push(await ended(api, await submit(api, workflowId)));
      expect(said).toHaveLength(count - 1);
    }
    expect(jobs.map(({ status }) => status)).toEqual(["FAILED", "FAILED", "FAILED", "FAILED"]);
    expect(jobs[3]?.error).toMatchObject({ message: "no name" });
  });

  test("a worker holds a task for longer than its lease, and reports its progress", async () => {
    const { api, workflowId, start } = await world(taskDefinition({ heartbeatSeconds: 3 }));
    const finish = Promise.withResolvers<object>();
    start(async (_task, { progress }) => {
      progress({ percent: 50 });
      return await finish.promise;
    });
    const job = await submit(api, workflowId);
    await vi.waitFor(async () => {
      const { facts } = await explained(api, job);
      const { takenAt, leaseUntil, progress } = facts.worker ?? {};
      expect(progress).toEqual({ percent: 50 });
      expect(Date.parse(String(leaseUntil)) - Date.parse(String(takenAt))).toBeGreaterThan(3_000);
    }, polling);
    finish.resolve({ attempt: 1 });
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", steps: [{ attempts: 1 }] });
  });

  test("the work of a cancelled job is told to end", async () => {
    const { api, workflowId, start } = await world(taskDefinition({ heartbeatSeconds: 1 }));
    const begun = Promise.withResolvers<AbortSignal>();
    const worker = start((_task, { signal }) => {
      begun.resolve(signal);
      return new Promise(() => {});
    });
    const job = await submit(api, workflowId);
    const signal = await begun.promise;
    await api.call("CancelJob", { params: job });
    await vi.waitFor(() => expect([signal.aborted, worker.runningCount]).toEqual([true, 0]), polling);
  });

  test("a worker that stops finishes its tasks, and takes no others", async () => {
    const { api, workflowId, start } = await world();
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<object>();
    const worker = start(async () => {
      begun.resolve();
      return await finish.promise;
    });
    const job = await submit(api, workflowId);
    await begun.promise;
    const stopped = worker.stop(20);
    finish.resolve({ done: true });
    await stopped;
    await worker.ended;
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED" });
    expect(await explained(api, await submit(api, workflowId))).toMatchObject({ state: "waitingForWorker" });
  });

  test("a worker that cannot wait any longer gives its tasks back, and another worker gets them at once", async () => {
    const { api, workflowId, start } = await world();
    const begun = Promise.withResolvers<void>();
    const first = start(() => {
      begun.resolve();
      return new Promise(() => {});
    });
    const job = await submit(api, workflowId);
    await begun.promise;
    await first.stop(0);
    start(() => ({ by: "the second" }));
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", output: { by: "the second" } });
  });

  test("a worker continues after an outage of the service, and its answers arrive", async () => {
    const { api, workflowId, start } = await world();
    const proxy = await TcpProxy.before(service.baseUrl);
    const errors: unknown[] = [];
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()];
    start(
      async () => {
        begun.resolve();
        return await finish.promise;
      },
      { baseUrl: proxy.url.replace(/\/$/, ""), onError: (error) => errors.push(error) },
    );
    const job = await submit(api, workflowId);
    await begun.promise;
    await proxy.refuse();
    finish.resolve({ done: true });
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(1), polling);
    expect(errors[0]).toMatchObject({ status: 0 });
    await proxy.pass();
    expect(await ended(api, job)).toMatchObject({ status: "SUCCEEDED", steps: [{ attempts: 1 }] });
    expect(await ended(api, await submit(api, workflowId))).toMatchObject({ status: "SUCCEEDED" });
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await proxy.stop();
  }, 40_000);

  test("a worker that loses its access ends with an error that says why", async () => {
    const { organizationId } = await world();
    const client = createClient({ baseUrl: service.baseUrl, token: "stw_nobody" });
    const worker = new Worker({ client, organizationId, queue: "q", work: () => ({}) });
    await expect(worker.ended).rejects.toMatchObject({ status: 401 });
  });

  test("an output that the service cannot store fails the task", async () => {
    const { api, workflowId, start } = await world();
    start(() => ({ text: "x".repeat(2_000_000) }));
    expect(await ended(api, await submit(api, workflowId))).toMatchObject({
      status: "FAILED",
      error: { type: "PayloadTooLargeError" },
    });
  });

  test("an output that is not JSON fails the task", async () => {
    const { api, workflowId, start } = await world();
    start(() => ({ count: 1n }));
    expect(await ended(api, await submit(api, workflowId))).toMatchObject({
      status: "FAILED",
      error: { type: "TypeError", message: expect.stringContaining("BigInt") },
    });
  });
});

import { deploy } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore, postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueueGauges } from "../../../src/http/operations/queue-gauges.ts";
import { PlainWorker, taskDefinition } from "./tasks.ts";

onOneStore((home) => {
  let service: TestService;
  let metricsPort: number;

  beforeAll(async () => {
    metricsPort = await findFreePort();
    service = new TestService(home, {
      STEPWELL_METRICS_PORT: String(metricsPort),
      STEPWELL_METRICS_MAX_QUEUES: "2",
      STEPWELL_POLL_MS: "50",
    });
    await service.start();
  }, 60_000);
  afterAll(() => service.stop());

  /** Returns the values of the metrics of tasks, by names and labels. */
  async function measured(): Promise<Record<string, number>> {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const lines = text.matchAll(/^stepwell_(task_\w+?)(?:\{(.*)\})? (\S+)$/gm);
    return Object.fromEntries(
      [...lines].map(([, name, labels, value]) => [[name, labels].join(" ").trim(), Number(value)]),
    );
  }

  inWholeMatrix(() => {
    test("Prometheus shows each of the first queues, and all others together", async () => {
      const { api, organizationId } = await service.newOrganization();
      const put = async (queue: string) => await api.call("SubmitTask", { params: { queue }, body: {} });
      await put("first");
      await put("second");
      const labels = (queue: string) => `organization="${organizationId}",queue="${queue}"`;
      expect(await measured()).toMatchObject({
        [`task_queue_waiting ${labels("first")}`]: 1,
        [`task_queue_waiting ${labels("second")}`]: 1,
        [`task_queue_workers ${labels("second")}`]: 0,
      });

      for (const queue of ["a", "b", "b", "second"]) await put(queue);
      const [task] = await new PlainWorker(api, "second").poll();
      await api.call("UpdateTaskQueue", { params: { queue: "first" }, body: { paused: true } });
      await expect.poll(measured, { timeout: 10_000 }).toMatchObject({
        [`task_queue_waiting ${labels("first")}`]: 1,
        [`task_queue_paused ${labels("first")}`]: 1,
        [`task_queue_waiting ${labels("second")}`]: 1,
        [`task_queue_held ${labels("second")}`]: 1,
        [`task_queue_paused ${labels("second")}`]: 0,
        'task_queue_waiting organization="other",queue="other"': 3,
      });
      const now = await measured();
      expect(Object.keys(now).filter((name) => name.startsWith("task_queue_waiting"))).toHaveLength(3);
      expect(now[`task_queue_oldest_seconds ${labels("first")}`]).toBeGreaterThan(1);
      expect(task).toMatchObject({ step: "task" });
    }, 20_000);
  });

  test("Prometheus measures how long tasks were due when a worker got them, and counts the expired leases", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, taskDefinition({ heartbeatSeconds: 1 }));
    const before = await measured();
    await api.call("SubmitJob", { body: { workflowId } });
    const worker = new PlainWorker(api);
    await worker.next();
    // The lease ends without an answer, and the task is handed out again.
    await worker.complete(await worker.next(), {});
    const now = await measured();
    const grown = (name: string) => (now[name] ?? 0) - (before[name] ?? 0);
    expect(grown("task_leases_lost_total")).toBe(1);
    expect(grown("task_hand_out_seconds_count")).toBe(2);
    expect(grown("task_hand_out_seconds_sum")).toBeLessThan(1);
  });
});

describe("on a node that names one queue", () => {
  const service = useService(postgresHome);

  test("a queue that has been empty for an hour gives its place to another", async () => {
    const { api } = await service.newOrganization();
    const put = async (queue: string) =>
      (await api.call<{ jobId: string }>("SubmitTask", { params: { queue }, body: {} })).body;
    let now = service.running.engine.now();
    const gauges = new QueueGauges({
      database: service.running.database,
      maxQueues: 1,
      now: () => now,
      onFailure: (error) => expect.unreachable(String(error)),
    });
    const named = async () => (await gauges.read()).map(({ queue, waitingCount }) => [queue, waitingCount]);
    const first = await put("first");
    expect(await named()).toEqual([["first", 1]]);
    await put("second");
    await api.call("CancelJob", { params: { jobId: first.jobId } });
    expect(await named()).toEqual([["first", 1]]);
    now += 10_000;
    expect(await named()).toEqual([
      ["first", 0],
      ["other", 1],
    ]);
    now += 3_600_000;
    expect(await named()).toEqual([["second", 1]]);
  });
});

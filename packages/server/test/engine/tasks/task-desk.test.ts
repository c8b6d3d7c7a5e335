import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { callNameOf } from "../../../src/core/job/call.ts";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import type { GroupCommit } from "../../../src/engine/commit/group-commit.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { lostTasksDuty } from "../../../src/engine/maintenance/lost-tasks.ts";
import { takeoverDuty } from "../../../src/engine/maintenance/takeover.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";
import { WaitingPlaces } from "../../../src/engine/reading/waiting-places.ts";
import { TaskDesk } from "../../../src/engine/tasks/task-desk.ts";
import type { Task } from "../../../src/engine/tasks/task-inputs.ts";
import { statement } from "../../../src/store/home/database.ts";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";
import { startedAt } from "../../core/interleaving/runs.ts";
import { forEach, task, textOf } from "../../core/job/jobs.ts";
import { happening } from "../commands.ts";
import { MortalNodes } from "../node/mortal-nodes.ts";

const endLeases = statement<never>(
  "test_end_leases",
  "organization",
  "UPDATE job_call SET lease_until = now() - interval '1 second' WHERE organization_id = $1 AND lease_until IS NOT NULL",
);

const endTimes = statement<never>(
  "test_end_times",
  "organization",
  "UPDATE job_call SET timeout_at = now() - interval '1 second' WHERE organization_id = $1",
);

onEveryStore((home) => {
  let nodes: MortalNodes;
  beforeAll(async () => {
    nodes = await MortalNodes.over(home);
  });
  afterAll(() => nodes.close());

  /** Makes the desk of a node that remembers nothing. */
  function newDesk(): TaskDesk {
    return new TaskDesk({
      database: nodes.database,
      recent: new RecentJobs(),
      places: new WaitingPlaces({ maxCount: 10, maxCountOf: () => 10 }),
      maxBytes: 1_000_000,
      onFailure: (error) => expect.unreachable(String(error)),
    });
  }

  async function poll(desk: TaskDesk, organizationId: string, maxTasks = 1): Promise<readonly Task[]> {
    const asked = { organizationId, queue: "q", worker: "w", maxTasks, signal: new AbortController().signal };
    return await desk.poll({ ...asked, deadline: performance.now() });
  }

  async function take(key: JobKey): Promise<Task> {
    const [taken] = await poll(newDesk(), key.organizationId);
    if (taken === undefined) throw new Error("There is no task.");
    return taken;
  }

  async function submitted(): Promise<JobKey> {
    const version = await nodes.register(textOf([task("work", null)]));
    return await nodes.submit(nodes.node(), version, { sku: "A" });
  }

  const succeeded = (done: Task): UntimedFact => ({
    type: "step.succeeded",
    by: "worker",
    ...callNameOf(done),
    output: { done: true },
  });

  async function statusOf(key: JobKey): Promise<string> {
    return (await nodes.find(key)).row.state.status;
  }

  /** Makes one node take over the calls of all others. */
  async function takeOverAll(node: GroupCommit): Promise<void> {
    const config = readConfig({});
    const duty = takeoverDuty({
      database: nodes.database,
      nodeId: randomUUID(),
      leaseMs: 1_000,
      everyMs: 1_000,
      lookAround: async () => ({ livingNodeIds: [], deadNodes: [] }),
      plans: new Plans(executorCatalog(config), config),
      report: async (key, fact) => (await node.commit(happening(key, fact), "engine")).type === "done",
      owes: () => false,
      roomCount: () => 100,
    });
    await duty.runOnce();
  }

  function lostTasks(report: (key: JobKey, fact: UntimedFact) => Promise<boolean>) {
    const config = readConfig({});
    return lostTasksDuty({
      database: nodes.database,
      nodeId: randomUUID(),
      everyMs: 1_000,
      plans: new Plans(executorCatalog(config), config),
      report,
      onLost: () => {},
      random: () => 0,
    });
  }

  test("a task survives the node that created it and the node that handed it out", async () => {
    const key = await submitted();
    const taken = await take(key);
    expect(taken).toMatchObject({ ...key, step: "work", visit: 1, stand: { input: { sku: "A" }, attempt: 1 } });
    await nodes.deliver(nodes.node({ isDying: true }), key, [succeeded(taken)], startedAt);
    expect(await statusOf(key)).toBe("RUNNING");
    await nodes.deliver(nodes.node(), key, [succeeded(taken)], startedAt);
    expect(await nodes.find(key)).toMatchObject({ row: { state: { status: "SUCCEEDED" } }, calls: [] });
  });

  test("a task does not exist if its node died before the commit", async () => {
    const version = await nodes.register(textOf([task("work", null)]));
    await expect(nodes.submit(nodes.node({ isDying: true }), version, {})).rejects.toThrow("The node died");
    expect(await poll(newDesk(), version.organizationId)).toEqual([]);
  });

  test("an answer that is delivered twice counts once", async () => {
    const key = await submitted();
    const taken = await take(key);
    await nodes.deliver(nodes.node(), key, [succeeded(taken)], startedAt);
    await expect(nodes.node().commit(happening(key, succeeded(taken)))).rejects.toThrow(
      "do not hold this task any more",
    );
    const { entries } = await nodes.find(key);
    expect(entries.filter(({ type }) => type === "step.succeeded")).toHaveLength(1);
  });

  test("a lost worker's task is reported by another node if the node that found it dies", async () => {
    const key = await submitted();
    const lost = await take(key);
    await nodes.database.query(endLeases, [key.organizationId]);
    await lostTasks(async () => false).runOnce();
    // The task must not be taken until its job knows that the worker was lost. Until then, an answer from that worker would still count.
    expect(await poll(newDesk(), key.organizationId)).toEqual([]);
    await takeOverAll(nodes.node());
    const found = await take(key);
    expect(found).toMatchObject({ stand: { attempt: 2, interruptions: 1 } });
    await expect(nodes.node().commit(happening(key, succeeded(lost)))).rejects.toThrow(
      "do not hold this task any more",
    );
    await nodes.deliver(nodes.node(), key, [succeeded(found)], startedAt);
    expect(await statusOf(key)).toBe("SUCCEEDED");
  });

  test("a worker that answers after its lease, but before its loss is detected, is in time", async () => {
    const key = await submitted();
    const taken = await take(key);
    await nodes.database.query(endLeases, [key.organizationId]);
    await nodes.deliver(nodes.node(), key, [succeeded(taken)], startedAt);
    expect(await statusOf(key)).toBe("SUCCEEDED");
    const told: UntimedFact[] = [];
    await lostTasks(async (_key, fact) => told.push(fact) > 0).runOnce();
    expect(told).toEqual([]);
  });

  test("many tasks with ended leases are reported in portions, and other work runs between them", async () => {
    const version = await nodes.register(
      textOf([forEach("each", { items: "${ input.list }", step: "work", concurrency: 40 }, null), task("work", null)]),
    );
    const { organizationId } = version;
    await nodes.submit(nodes.node(), version, { list: Array.from({ length: 40 }, (_, index) => index) });
    await nodes.database.query(endTimes, [organizationId]);
    let [underWay, most, told] = [0, 0, 0];
    await lostTasks(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await setImmediate();
      underWay -= 1;
      told += 1;
      return true;
    }).runOnce();
    expect(told).toBe(40);
    expect(most).toBeLessThan(40);
  });

  test("jobs whose reports take long do not delay the reports of another organization's lost tasks", async () => {
    const version = textOf([task("work", null)]);
    const [slow, other] = [await nodes.register(version), await nodes.register(version)];
    await nodes.submit(nodes.node(), slow, {});
    await nodes.database.query(endTimes, [slow.organizationId]);
    const mayEnd = Promise.withResolvers<boolean>();
    const told: string[] = [];
    const duty = lostTasks(async ({ organizationId }) => {
      if (organizationId === slow.organizationId || organizationId === other.organizationId) told.push(organizationId);
      return organizationId === slow.organizationId ? await mayEnd.promise : true;
    });
    await duty.runOnce();
    await nodes.submit(nodes.node(), other, {});
    await nodes.database.query(endTimes, [other.organizationId]);
    await duty.runOnce();
    expect(told).toEqual([slow.organizationId, other.organizationId]);
    mayEnd.resolve(true);
  });

  test("a takeover between nodes does not touch tasks that wait or that workers hold", async () => {
    const [waiting, held] = [await submitted(), await submitted()];
    await take(held);
    await takeOverAll(nodes.node());
    for (const key of [waiting, held]) {
      expect((await nodes.find(key)).calls).toMatchObject([{ nodeId: null, epoch: 1, queue: "q" }]);
    }
  });

  test("the tasks of branches come in the order of their items, each with the input of its step", async () => {
    const each = forEach("each", { items: "${ input.list }", step: "work", concurrency: 12 }, null);
    const version = await nodes.register(textOf([each, task("work", null)]));
    const list = Array.from({ length: 12 }, (_, index) =>
      index % 4 > 0 ? index : { text: "x".repeat(3_000 + index) },
    );
    const key = await nodes.submit(nodes.node(), version, { list });
    const tasks = await poll(newDesk(), key.organizationId, 20);
    expect(tasks.map(({ branch, stand }) => [branch, stand.input])).toEqual(
      list.map((item, index) => [`each:1[${index}]`, item]),
    );
    for (const done of tasks) await nodes.deliver(nodes.node(), key, [succeeded(done)], startedAt);
    expect(await nodes.find(key)).toMatchObject({ row: { state: { status: "SUCCEEDED" } }, calls: [] });
  });

  test("a task whose worker has disconnected goes at once to another worker that waits", async () => {
    const version = await nodes.register(textOf([task("work", null)]));
    const { organizationId } = version;
    const desk = newDesk();
    const asked = { organizationId, queue: "q", worker: "w", maxTasks: 1, deadline: performance.now() + 10_000 };
    const gone = new AbortController();
    const polls = [gone, new AbortController()].map(({ signal }) => desk.poll({ ...asked, signal }));
    await nodes.submit(nodes.node(), version, {});
    desk.ring({ organizationId, queue: "q" });
    gone.abort();
    const polledAt = performance.now();
    expect((await Promise.all(polls)).map((tasks) => tasks.length)).toEqual([0, 1]);
    expect(performance.now() - polledAt).toBeLessThan(timeLimit(5_000));
  });

  test("only one node's poll for a task is answered, however many nodes ask", async () => {
    const key = await submitted();
    const taken = await Promise.all(Array.from({ length: 5 }, () => poll(newDesk(), key.organizationId)));
    expect(taken.flat()).toHaveLength(1);
  });
});

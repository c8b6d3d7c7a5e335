import { setImmediate } from "node:timers/promises";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GroupCommit } from "../../../src/engine/commit/group-commit.ts";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";
import { WaitingPlaces } from "../../../src/engine/reading/waiting-places.ts";
import { TaskDesk } from "../../../src/engine/tasks/task-desk.ts";
import type { Task } from "../../../src/engine/tasks/task-inputs.ts";
import type { TaskOffers } from "../../../src/engine/tasks/task-offers.ts";
import type { HandedTask } from "../../../src/store/jobs/job-calls.ts";
import { setQueuePaused } from "../../../src/store/jobs/task-queues.ts";
import { findWaitingLines } from "../../../src/store/jobs/tasks.ts";
import { forEach, someone, task, textOf } from "../../core/job/jobs.ts";
import { MortalNodes, type Registered } from "../node/mortal-nodes.ts";

// Only some of these tests call `ring`. In the others, a waiting worker is answered by the commit that makes a task, or not at all.
onEveryStore((home) => {
  let nodes: MortalNodes;
  beforeAll(async () => {
    nodes = await MortalNodes.over(home);
  });
  afterAll(() => nodes.close());

  /** Makes a node where a worker waits. `given` resolves to the tasks that the worker gets; `leaving` ends its poll. */
  async function waiting(organizationId: string, { maxTasks = 10, isDying = false } = {}) {
    const { database } = nodes;
    const looked = Promise.withResolvers<void>();
    const desk = new TaskDesk({
      database: {
        ...database,
        query: async (statement, values) => {
          const rows = await database.query(statement, values);
          looked.resolve();
          return rows;
        },
      },
      recent: new RecentJobs(),
      places: new WaitingPlaces({ maxCount: 10, maxCountOf: () => 10 }),
      maxBytes: 1_000_000,
      onFailure: (error) => expect.unreachable(String(error)),
    });
    const leaving = new AbortController();
    const asked = { organizationId, queue: "q", worker: "w", maxTasks, signal: leaving.signal };
    const given = desk.poll({ ...asked, deadline: performance.now() + 20_000 });
    await looked.promise;
    // The desk has just read that there are no tasks. After this turn of the event loop, it is idle.
    await setImmediate();
    return { desk, given, leaving, node: nodes.node({ isDying, offers: () => desk.offers() }) };
  }

  async function registered(...steps: Parameters<typeof textOf>[0]): Promise<Registered> {
    return await nodes.register(textOf(steps));
  }

  async function linesIn({ organizationId }: Registered) {
    return await findWaitingLines(nodes.database, { organizationId, queue: "q" }, undefined, 10);
  }

  const inputsOf = (tasks: readonly Task[]) => tasks.map(({ stand }) => stand.input);

  test("a worker that waits holds a task from the commit that makes it", async () => {
    const version = await registered(task("work", null));
    const { node, given } = await waiting(version.organizationId);
    const key = await nodes.submit(node, version, { n: 1 });
    const [handed, ...others] = await given;
    expect(others).toEqual([]);
    expect(handed).toMatchObject({
      ...key,
      queue: "q",
      step: "work",
      visit: 1,
      branch: "",
      stand: { input: { n: 1 } },
    });
    const { calls } = await nodes.find(key);
    expect(calls).toMatchObject([{ worker: "w", epoch: handed?.epoch, leaseUntil: handed?.leaseUntil, nodeId: null }]);
    expect(handed?.leaseUntil).toBeGreaterThan(Date.now() + 50_000);
    expect(await linesIn(version)).toEqual([]);
  });

  test("the tasks of one commit are given together, each with the input of its step", async () => {
    const each = forEach("each", { items: "${ input.list }", step: "work", concurrency: 5 }, null);
    const version = await registered(each, task("work", null));
    const { node, given } = await waiting(version.organizationId);
    const list = [1, { text: "x".repeat(3_000) }, 3];
    await nodes.submit(node, version, { list });
    expect(inputsOf(await given)).toEqual(list);
  });

  test("if a commit makes more tasks than the waiting workers can take, it gives them none", async () => {
    const each = forEach("each", { items: "${ input.list }", step: "work", concurrency: 5 }, null);
    const version = await registered(each, task("work", null));
    const { node, given, leaving } = await waiting(version.organizationId, { maxTasks: 2 });
    await nodes.submit(node, version, { list: [1, 2, 3] });
    expect(await linesIn(version)).toHaveLength(1);
    leaving.abort();
    expect(await given).toEqual([]);
  });

  test("a worker gets, together with the new task, a task that was already waiting", async () => {
    const version = await registered(task("work", null));
    const { desk, node, given } = await waiting(version.organizationId);
    await nodes.submit(nodes.node(), version, { n: 1 });
    await nodes.submit(node, version, { n: 2 });
    desk.ring({ organizationId: version.organizationId, queue: "q" });
    // Both tasks are due in the same millisecond here, so their ids decide which is first, and the test accepts both orders.
    const inputs = inputsOf(await given);
    expect(inputs).toHaveLength(2);
    expect(inputs).toEqual(expect.arrayContaining([{ n: 1 }, { n: 2 }]));
  });

  test("no task of a paused queue is given", async () => {
    const version = await registered(task("work", null));
    const queue = { organizationId: version.organizationId, queue: "q" };
    const { node, given, leaving } = await waiting(version.organizationId);
    await nodes.database.transaction((transaction) =>
      setQueuePaused(transaction, queue, { at: Date.now(), by: someone }),
    );
    await nodes.submit(node, version, {});
    await nodes.database.transaction((transaction) => setQueuePaused(transaction, queue, null));
    expect(await linesIn(version)).toHaveLength(1);
    leaving.abort();
    expect(await given).toEqual([]);
  });

  test("a worker continues to wait if the node with its task dies before the commit", async () => {
    const version = await registered(task("work", null));
    const { desk, node, given } = await waiting(version.organizationId, { isDying: true });
    await expect(nodes.submit(node, version, { n: 1 })).rejects.toThrow("The node died");
    const alive: GroupCommit = nodes.node({ offers: () => desk.offers() });
    await nodes.submit(alive, version, { n: 2 });
    // If the desk was still looking for tasks at the time of the commit, the commit offered it none. `ring` makes the desk look again.
    desk.ring({ organizationId: version.organizationId, queue: "q" });
    expect(inputsOf(await given)).toEqual([{ n: 2 }]);
  });

  test("a worker whose task ended before the worker received it gets the next one at once", async () => {
    const version = await registered(task("work", null));
    const { desk, given } = await waiting(version.organizationId);
    let end = () => {};
    const offers = (): TaskOffers => {
      const ofDesk = desk.offers();
      return {
        // The desk gets an epoch that no call of the job has, as if the job had already continued without this task.
        offer: (tasks) => ofDesk.offer(tasks.map((offered) => ({ ...offered, epoch: offered.epoch + 1 }))),
        note: (handed) => ofDesk.note(handed),
        end: (isCommitted) => {
          end = () => ofDesk.end(isCommitted);
        },
      };
    };
    await nodes.submit(nodes.node({ offers }), version, { n: 1 });
    await nodes.submit(nodes.node(), version, { n: 2 });
    desk.ring({ organizationId: version.organizationId, queue: "q" });
    end();
    expect(inputsOf(await given)).toEqual([{ n: 2 }]);
  });

  test("a task whose worker disconnected during the commit is available to all workers at once", async () => {
    const version = await registered(task("work", null));
    const { desk, given, leaving } = await waiting(version.organizationId);
    const offers = () => {
      const ofDesk = desk.offers();
      const note = (handed: readonly HandedTask[]) => {
        ofDesk.note(handed);
        leaving.abort();
      };
      return { offer: ofDesk.offer.bind(ofDesk), note, end: ofDesk.end.bind(ofDesk) };
    };
    const key = await nodes.submit(nodes.node({ offers }), version, {});
    expect(await given).toEqual([]);
    await expect.poll(async () => (await nodes.find(key)).calls).toMatchObject([{ worker: null, leaseUntil: null }]);
  });
});

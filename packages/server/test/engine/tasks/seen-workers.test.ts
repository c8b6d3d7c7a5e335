import { onEveryStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SeenWorkers } from "../../../src/engine/tasks/seen-workers.ts";
import { listTaskQueues, listTaskWorkers, setQueuePaused } from "../../../src/store/jobs/task-queues.ts";
import { takeTasks } from "../../../src/store/jobs/tasks.ts";
import { someone, task, textOf } from "../../core/job/jobs.ts";
import { MortalNodes } from "../node/mortal-nodes.ts";

const dayMs = 86_400_000;

onEveryStore((home) => {
  let nodes: MortalNodes;
  beforeAll(async () => {
    nodes = await MortalNodes.over(home);
  });
  afterAll(() => nodes.close());

  const version = () => nodes.register(textOf([task("work", null, { config: { queue: "held" } })]));

  /** Notes that workers polled these queues this many days ago. */
  async function asked(
    organizationId: string,
    daysAgo: number,
    queues: readonly string[],
    workerCount = 1,
  ): Promise<void> {
    const seen = new SeenWorkers(nodes.database, () => Date.now() - daysAgo * dayMs);
    for (const queue of queues) {
      for (let number = 0; number < workerCount; number += 1)
        seen.note({ organizationId, queue, worker: `w${number}` });
    }
    const duty = seen.duty(1_000, () => []);
    while ((await duty.runOnce())?.againInMs === 0);
  }

  async function queuesOf(organizationId: string): Promise<string[]> {
    return (await listTaskQueues(nodes.database, organizationId, null, 100)).map(({ queue }) => queue);
  }

  test("a queue that no worker polled for a day is forgotten, unless it is paused or has a task with a worker", async () => {
    const registered = await version();
    const { organizationId, workflowId } = registered;
    await nodes.submit(nodes.node(), registered, {});
    const line = { priority: 0, workflowId };
    expect(await takeTasks(nodes.database, { organizationId, queue: "held" }, [line], 1, ["w0"])).toHaveLength(1);
    const paused = { at: Date.now(), by: someone };
    await nodes.database.transaction((transaction) =>
      setQueuePaused(transaction, { organizationId, queue: "paused" }, paused),
    );
    await asked(organizationId, 0, ["new"]);
    await asked(organizationId, 2, ["held", "old", "paused"]);
    expect(await queuesOf(organizationId)).toEqual(["held", "new", "paused"]);
    expect(await listTaskWorkers(nodes.database, { organizationId, queue: "old" }, 10)).toEqual([]);

    // The task ends, and no worker polls its queue any more.
    const end = { name: "end_calls", scope: "organization", planned: "each-time" } as const;
    await nodes.database.query({ ...end, text: "DELETE FROM job_call WHERE organization_id = $1" }, [organizationId]);
    expect(await queuesOf(organizationId)).toEqual(["new", "paused"]);
  });

  test("all workers are forgotten after a day, however many names they invent", async () => {
    const { organizationId } = await version();
    await asked(organizationId, 2, ["a", "b"], 400);
    expect(await queuesOf(organizationId)).toEqual([]);
    expect(await listTaskWorkers(nodes.database, { organizationId, queue: "a" }, 10)).toEqual([]);
  });
});

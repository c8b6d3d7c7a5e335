import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";
import { WaitingPlaces } from "../../../src/engine/reading/waiting-places.ts";
import { TaskDesk } from "../../../src/engine/tasks/task-desk.ts";
import type { Database } from "../../../src/store/home/database.ts";
import { task, textOf } from "../../core/job/jobs.ts";
import { MortalNodes } from "../node/mortal-nodes.ts";

onOneStore((home) => {
  let nodes: MortalNodes;
  beforeAll(async () => {
    nodes = await MortalNodes.over(home);
  });
  afterAll(() => nodes.close());

  test("only as many large inputs are read as a few workers can take", async () => {
    const version = await nodes.register(textOf([task("work", null)]));
    const text = "x".repeat(900_000);
    for (let count = 0; count < 80; count += 1) await nodes.submit(nodes.node(), version, { text });
    let readCount = 0;
    const counting: Database = {
      ...nodes.database,
      query: async (asked, values) => {
        const rows = await nodes.database.query(asked, values);
        readCount += rows.filter((row) => JSON.stringify(row).length > text.length).length;
        return rows;
      },
    };
    const desk = new TaskDesk({
      database: counting,
      recent: new RecentJobs(),
      places: new WaitingPlaces({ maxCount: 10, maxCountOf: () => 10 }),
      maxBytes: 1_000_000_000,
      onFailure: (error) => expect.unreachable(String(error)),
    });
    const { signal } = new AbortController();
    const asked = { organizationId: version.organizationId, queue: "q", worker: "w", maxTasks: 80, signal };
    const tasks = await desk.poll({ ...asked, deadline: performance.now() });
    expect(tasks.length).toBeGreaterThan(2);
    expect(readCount).toBeLessThan(40);
    // The tasks that the first poll took and did not return are put back into the queue, but perhaps only after its answer.
    expect((await desk.poll({ ...asked, deadline: performance.now() + 10_000 })).length).toBeGreaterThan(0);
  });
});

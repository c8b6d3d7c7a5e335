import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";
import type { Database, Queryable } from "../../../src/store/home/database.ts";
import { deleteIdleQueues, listTaskQueues } from "../../../src/store/jobs/task-queues.ts";
import {
  findLostTasks,
  findQueuesWithTasks,
  findTimedOutTasks,
  findWaitingLines,
  type QueueKey,
  takeTasks,
  type WaitingLine,
} from "../../../src/store/jobs/tasks.ts";

const nobody = { versionIds: [], jobIds: [], organizationIds: [] };

onEveryStore((home) => {
  const opened = useDatabase(home);

  /** Makes a queue with tasks of several workflows. `priority` gives the priority of task n in SQL; the statement `more` runs after the insertion. */
  async function queueWith(taskCount: number, workflowCount: number, priority = "0", more = ""): Promise<QueueKey> {
    const organizationId = randomUUID();
    const { database } = opened;
    await database.query(said("INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)"), [
      organizationId,
    ]);
    await database.query(
      said(`INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, begun, ready_at, queue, priority, workflow_id, queued_at, heartbeat_ms)
        SELECT $1::uuid, gen_random_uuid(), '', $1::uuid, 'work', 1, 1, false, now(), 'q', ${priority}, lpad(to_hex(n % $3::integer + 1), 32, '0')::uuid, now(), 60000
        FROM generate_series(1, $2::integer) AS n`),
      [organizationId, taskCount, workflowCount],
    );
    if (more !== "") await database.query(said(more), [organizationId]);
    await database.upkeep.vacuum("job_call");
    return { organizationId, queue: "q" };
  }

  const numbersOf = (lines: readonly WaitingLine[]) =>
    lines.map(({ workflowId }) => Number.parseInt(workflowId.replaceAll("-", ""), 16));

  async function turnsOf(key: QueueKey, count: number, after?: WaitingLine): Promise<WaitingLine[]> {
    return await findWaitingLines(opened.database, key, after?.workflowId, count);
  }

  test("each of a thousand workflows has its first turn before any has its second", async () => {
    const key = await queueWith(2_000, 1_000);
    const seen: number[] = [];
    let lines = await turnsOf(key, 7);
    while (seen.length < 1_000) {
      seen.push(...numbersOf(lines));
      lines = await turnsOf(key, 7, lines.at(-1));
    }
    expect(new Set(seen.slice(0, 1_000)).size).toBe(1_000);
    expect(seen.slice(1_000)).toEqual([1]);
  });

  test("the turns go round, and a line of a lower priority comes after them", async () => {
    const key = await queueWith(10, 5, "CASE WHEN n % 5 < 3 THEN 10 ELSE -10 END");
    const [first, second, lower] = await turnsOf(key, 2);
    expect(numbersOf([first, second].flatMap((line) => line ?? []))).toEqual([1, 2]);
    expect(lower).toMatchObject({ priority: -10 });
    const round = await turnsOf(key, 5, second);
    expect(numbersOf(round.slice(0, 3))).toEqual([3, 1, 2]);
    expect(round.map(({ priority }) => priority)).toEqual([10, 10, 10, -10]);
  });

  test("a paused queue has no lines", async () => {
    const key = await queueWith(
      3,
      1,
      "0",
      "INSERT INTO task_queue (organization_id, queue, paused_at) VALUES ($1, 'q', now())",
    );
    expect(await turnsOf(key, 5)).toEqual([]);
  });
});

// These tests check how the statements find their rows among many.
onEveryStore((home) => {
  const opened = useDatabase(home);
  const key: QueueKey = { organizationId: randomUUID(), queue: "q7" };

  beforeAll(async () => {
    await opened.database.query(
      said(
        "INSERT INTO organization SELECT o, o::text, 'test', now(), now(), NULL FROM (SELECT $1::uuid AS o UNION SELECT gen_random_uuid() FROM generate_series(1, 20)) AS ids",
      ),
      [key.organizationId],
    );
    await opened.database.query(
      said(`INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, begun, ready_at, queue, priority, workflow_id, queued_at, heartbeat_ms, worker, taken_at, lease_until, timeout_at)
        SELECT organization_id, gen_random_uuid(), '', $1::uuid, 'work', 1, 1, false, now(), 'q' || n % 10, 0, gen_random_uuid(), now(), 60000,
          CASE WHEN n % 4 = 0 THEN 'w' END, CASE WHEN n % 4 = 0 THEN now() END, CASE WHEN n % 4 = 0 THEN now() + interval '1 hour' END,
          CASE WHEN n % 3 = 0 THEN now() + interval '1 day' END
        FROM organization CROSS JOIN generate_series(1, 2000) AS n`),
      [key.organizationId],
    );
    await opened.database.query(
      said(
        "INSERT INTO task_queue SELECT organization_id, 'q' || n, now() - interval '2 days' FROM organization CROSS JOIN generate_series(1, 300) AS n WHERE $1::uuid IS NOT NULL",
      ),
      [key.organizationId],
    );
    await opened.database.query(
      said(
        "INSERT INTO task_worker SELECT organization_id, 'q' || n % 10, 'w' || n, now(), now() FROM organization CROSS JOIN generate_series(1, 500) AS n WHERE $1::uuid IS NOT NULL",
      ),
      [key.organizationId],
    );
    for (const table of ["job_call", "task_queue", "task_worker"]) await opened.database.upkeep.vacuum(table);
  }, 60_000);

  test.each<[name: string, ask: (db: Queryable) => Promise<unknown>]>([
    ["the lines of a queue", (db) => findWaitingLines(db, key, key.organizationId, 10)],
    [
      "the tasks that a poll takes",
      (db) => takeTasks(db, key, [{ priority: 0, workflowId: key.organizationId }], 1, ["w"]),
    ],
    [
      "the queues with tasks among those that are asked",
      (db) => findQueuesWithTasks(db, [key, { ...key, queue: "q8" }]),
    ],
    ["the queues of an organization", (db) => listTaskQueues(db, key.organizationId, null, 20)],
    ["the tasks whose leases ran out", (db) => findLostTasks(db, nobody, 500)],
    ["the tasks whose time is up", (db) => findTimedOutTasks(db, nobody, 500)],
    ["the queues that are to be forgotten", (db) => deleteIdleQueues(db, [key, { ...key, queue: "q8" }])],
  ])("%s are found by an index", async (_name, ask) => {
    const plans = await plansOf(opened.database, ask);
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.join("\n")).not.toMatch(/Seq Scan on (job_call|task_queue|task_worker)/);
  });
});

/** Returns the plan of each statement of `ask`. */
async function plansOf(database: Database, ask: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  await ask({
    async query(asked, values) {
      const text = `EXPLAIN ${asked.text}`;
      const lines = (await database.query<unknown>(
        { name: text, scope: "organization", text, planned: "each-time" },
        values,
      )) as { "QUERY PLAN": string }[];
      plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
      return await database.query(asked, values);
    },
  } as Queryable);
  return plans;
}

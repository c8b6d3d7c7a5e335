import { definitionOf, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import type pg from "pg";
import { expect, test, vi } from "vitest";
import { TurnReads } from "../../../src/engine/reading/turn-reads.ts";
import { type Database, type Queryable, StoreUnavailableError } from "../../../src/store/home/database.ts";
import { ReadLane } from "../../../src/store/home/lanes.ts";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";

const key = (jobId: string, organizationId = "o"): JobKey => ({ organizationId, jobId });

test("simultaneous reads share a statement, and a failed read does not affect the others", async () => {
  const asked: string[][] = [];
  const reads = new TurnReads(async (keys) => {
    asked.push(keys.map(({ jobId }) => jobId));
    if (keys.some(({ jobId }) => jobId === "broken")) throw new Error("That one cannot be read.");
    return keys.filter(({ jobId }) => jobId !== "unknown");
  });
  const answers = await Promise.allSettled(["a", "broken", "b", "unknown", "c"].map((jobId) => reads.read(key(jobId))));
  expect(answers.map((answer) => (answer.status === "fulfilled" ? answer.value?.jobId : "failed"))).toEqual([
    "a",
    "failed",
    "b",
    undefined,
    "c",
  ]);
  expect(asked[0]).toEqual(["a", "broken", "b", "unknown", "c"]);
});

test("a store that is unreachable is asked only once per turn", async () => {
  let askedCount = 0;
  const reads = new TurnReads(async () => {
    askedCount += 1;
    throw new StoreUnavailableError("nothing-written", new Error("gone"));
  });
  const answers = await Promise.allSettled(["a", "b", "c"].map((jobId) => reads.read(key(jobId))));
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(askedCount).toBe(1);
});

test("a job of another organization is not found, although its id is right", async () => {
  const reads = new TurnReads(async () => [key("a", "theirs")]);
  expect(await reads.read(key("a", "ours"))).toBeUndefined();
});

test("a reader of many slices lets requests run in between, even if the store answers at once", async () => {
  const lane = { pool: undefined as unknown as pg.Pool, run: <Result>(work: () => Promise<Result>) => work() };
  const reads = new ReadLane(lane, { maxRunning: 1, maxRunningPerOrganization: 1, deadlineMs: 60_000 }).forRead("o");
  let readCount = 0;
  const reader = (async () => {
    for (; readCount < 100; readCount += 1) await reads.run(async () => []);
  })();
  await new Promise((resolve) => setImmediate(resolve));
  expect(readCount).toBeLessThan(5);
  await reader;
});

onEveryStore((home) => {
  const service = useService(home);

  /** From now on, records the names of the statements that run outside of transactions. */
  function listen(database: Database): string[] {
    const names: string[] = [];
    const noted = ({ query }: Queryable): Queryable["query"] => {
      return (statement, values) => {
        names.push(statement.name);
        return query(statement, values);
      };
    };
    const { requests, reader } = database;
    const query = noted(requests);
    vi.spyOn(requests, "query").mockImplementation(query);
    vi.spyOn(database, "reader").mockImplementation((organizationId) => {
      const read = reader.call(database, organizationId);
      return { ...read, query: noted(read) };
    });
    return names;
  }

  test("a request that waits for a large job reads its progress, and its values only once, at the end", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const { jobId } = await submitAndWait(api, workflowId, { text: "x".repeat(500_000) });
    const names = listen(service.running.database);
    const count = (name: string) => names.filter((one) => one === name).length;
    try {
      const answer = api.call("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
      for (let event = 1; event <= 5; event += 1) {
        await vi.waitFor(() => expect(count("read_job_standings")).toBeGreaterThanOrEqual(event), {
          interval: 5,
          timeout: 10_000,
        });
        // The first look would already have read the whole of a small job.
        expect([count("read_job"), count("read_small_jobs"), count("read_history_before")]).toEqual([0, 1, 0]);
        await api.call("SendJobEvent", { params: { jobId }, body: { eventId: event === 5 ? "x" : `other${event}` } });
      }
      expect((await answer).body).toMatchObject({ status: "SUCCEEDED" });
      expect([count("read_job"), count("read_history_before")]).toEqual([1, 1]);
    } finally {
      vi.restoreAllMocks();
    }
  });
});

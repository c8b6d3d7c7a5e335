import type pg from "pg";
import { expect, test } from "vitest";
import { TurnReads } from "../../../src/engine/reading/turn-reads.ts";
import { StoreUnavailableError } from "../../../src/store/home/database.ts";
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

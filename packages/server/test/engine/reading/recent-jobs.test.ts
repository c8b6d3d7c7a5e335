import { expect, test } from "vitest";
import type { HistoryEntry } from "../../../src/core/job/history.ts";
import type { Job } from "../../../src/core/job/job-state.ts";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";

const job = (jobId: string, sequence: number, input: object = {}) => ({ jobId, sequence, input }) as unknown as Job;
const entries = (from: number, to: number) =>
  Array.from(
    { length: to - from + 1 },
    (_, index) => ({ sequence: from + index, at: 0, type: "job.started" }) as HistoryEntry,
  );

test("a job that was followed from its start is known completely", () => {
  const recent = new RecentJobs();
  recent.follow(job("a", 2), entries(1, 2));
  recent.follow(job("a", 5), entries(3, 5));
  expect(recent.get("a")?.entries.map((entry) => entry.sequence)).toEqual([1, 2, 3, 4, 5]);
});

test("a job is forgotten if another node filled a gap, and is unknown if its start was not seen", () => {
  const recent = new RecentJobs();
  recent.follow(job("a", 2), entries(1, 2));
  recent.follow(job("a", 6), entries(5, 6));
  expect(recent.get("a")).toBeUndefined();
  recent.follow(job("b", 4), entries(3, 4));
  expect(recent.get("b")).toBeUndefined();
});

test("large jobs are not kept, and only the latest of many jobs are kept", () => {
  const recent = new RecentJobs();
  recent.follow(job("large", 1, { text: "x".repeat(10_000) }), entries(1, 1));
  expect(recent.get("large")).toBeUndefined();
  for (let number = 0; number < 7_000; number += 1) recent.follow(job(`${number}`, 1), entries(1, 1));
  expect(recent.get("0")).toBeUndefined();
  expect(recent.get("6999")).toBeDefined();
});

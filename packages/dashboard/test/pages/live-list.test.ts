import { expect, test } from "vitest";
import type { ListedJob } from "../../src/api/jobs.ts";
import { type LivePage, liveList } from "../../src/pages/jobs/live-list.ts";

const job = (jobId: string, status: ListedJob["status"] = "RUNNING"): ListedJob => ({
  jobId,
  status,
  workflowId: "w",
  workflowName: "test",
  workflowVersion: { versionId: "v", versionNumber: 1 },
  submittedBy: { type: "apiToken", id: "t" },
  createdAt: "2026-01-31T12:00:00.000Z",
  updatedAt: "2026-01-31T12:00:00.000Z",
});

const page = (ids: string, nextPageToken?: string): LivePage => ({
  jobs: ids.split("").map((id) => job(id)),
  ...(nextPageToken !== undefined && { nextPageToken }),
});

function summary(loaded: readonly LivePage[], latest: LivePage | undefined, order: "newest" | "oldest" = "newest") {
  const { jobs, goneIds, newCount } = liveList(loaded, latest, order);
  return { jobs: jobs.map(({ jobId }) => jobId).join(""), gone: [...goneIds].join(""), newCount };
}

test("loaded rows stay unchanged, even if newer rows have arrived", () => {
  expect(summary([page("fed", "t"), page("cba")], page("hgf", "u"))).toEqual({ jobs: "fedcba", gone: "", newCount: 2 });
});

test("jobs are shown as they were last loaded", () => {
  const latest = { jobs: [job("b", "SUCCEEDED"), job("a")] };
  expect(liveList([page("ba")], latest, "newest").jobs.map(({ status }) => status)).toEqual(["SUCCEEDED", "RUNNING"]);
});

test("jobs that are no longer listed are recognized, within the first page", () => {
  expect(summary([page("fed", "t"), page("cba", "u")], page("fdc", "v"))).toEqual({
    jobs: "fedcba",
    gone: "e",
    newCount: 0,
  });
  expect(summary([page("cba")], page("c"))).toEqual({ jobs: "cba", gone: "ba", newCount: 0 });
  expect(summary([page("cba")], { jobs: [] })).toEqual({ jobs: "cba", gone: "cba", newCount: 0 });
});

test("jobs beyond the loaded pages are not new", () => {
  expect(summary([page("fe", "t")], page("fedc", "u"))).toEqual({ jobs: "fe", gone: "", newCount: 0 });
});

test("with the oldest first, new jobs come at the end", () => {
  expect(summary([page("abc")], page("abcd"), "oldest")).toEqual({ jobs: "abc", gone: "", newCount: 1 });
  expect(summary([page("ab", "t")], page("ab", "t"), "oldest")).toEqual({ jobs: "ab", gone: "", newCount: 0 });
  expect(summary([page("abc", "t"), page("def")], page("acd", "t"), "oldest")).toEqual({
    jobs: "abcdef",
    gone: "b",
    newCount: 0,
  });
});

test("before the first page has been reloaded, no job is new and none is gone", () => {
  expect(summary([page("ba")], undefined)).toEqual({ jobs: "ba", gone: "", newCount: 0 });
});

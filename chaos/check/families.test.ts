import { expect, test } from "vitest";
import type { JobStatus } from "../operation.ts";
import { forkedShapes } from "../workflows.ts";
import { Families } from "./families.ts";
import type { FinalJob } from "./final-job.ts";
import { numbered, started, succeeded, type Transition } from "./sound-campaign.ts";

const shape = forkedShapes.find(({ name }) => name === "child");
const begun: readonly Transition[] = [
  { type: "job.submitted", by: { type: "user", id: "owner" } },
  { type: "job.started" },
  started("", "begin"),
];
const done = succeeded("", "begin");
const failed: Transition = {
  type: "step.failed",
  step: "begin",
  visit: 1,
  attempt: 1,
  error: { code: "ChildFailed", message: "The child failed." },
};
const cancelled: Transition = { type: "job.cancelled", by: { type: "user", id: "owner" } };

test.each<[string, readonly Transition[], JobStatus]>([
  ["a step that succeeded as its child did", [done], "SUCCEEDED"],
  ["a step that failed as its child did", [failed], "FAILED"],
  ["a step whose child was cancelled", [failed], "CANCELLED"],
  ["a step that waits for its child", [], "RUNNING"],
  ["a cancelled job whose child was cancelled with it", [cancelled], "CANCELLED"],
  ["a cancelled job whose child had ended before", [cancelled], "SUCCEEDED"],
])("%s is sound", (_, end, status) => {
  expect(complaints(parentWith(end), childWith(status))).toEqual([]);
});

test.each<[string, readonly Transition[], JobStatus, string]>([
  ["a step that succeeded while its child runs", [done], "RUNNING", "succeeded, and its child is RUNNING"],
  ["a step that succeeded though its child failed", [done], "FAILED", "succeeded, and its child is FAILED"],
  ["a step that failed though its child succeeded", [failed], "SUCCEEDED", "failed, and its child is SUCCEEDED"],
  ["a cancelled job whose child goes on", [cancelled], "RUNNING", "is over, and its child is RUNNING"],
])("%s is a violation", (_, end, status, complaint) => {
  expect(complaints(parentWith(end), childWith(status))).toEqual([`violation: parent:begin:1 ${complaint}.`]);
});

test("a step that succeeded without a child is a violation", () => {
  expect(complaints(parentWith([done]))).toEqual(["violation: parent:begin:1 succeeded, and its child is not there."]);
});

test("two children of one visit are a duplicate, and a child that belongs to no step is a violation", () => {
  const twin = { ...childWith("SUCCEEDED"), jobId: "twin" };
  expect(complaints(parentWith([done]), childWith("SUCCEEDED"), twin)).toEqual([
    "duplicated: parent:begin:1 began 2 jobs: child, twin.",
  ]);
  expect(complaints(childWith("SUCCEEDED"))).toEqual([
    "violation: It is the child of parent:begin:1, and no such step was begun.",
  ]);
});

function complaints(...jobs: readonly FinalJob[]): string[] {
  const families = new Families();
  for (const job of jobs) families.add(job, job.jobId === "parent" ? shape : undefined);
  return [...families.findings()].map(({ kind, detail }) => `${kind}: ${detail}`);
}

function parentWith(end: readonly Transition[]): FinalJob {
  return { ...job("parent", "RUNNING"), entries: numbered(...begun, ...end) };
}

function childWith(status: JobStatus): FinalJob {
  return { ...job("child", status), parent: { jobId: "parent", step: "begin", branch: "", visit: 1 } };
}

function job(jobId: string, status: JobStatus): FinalJob {
  const of = { organizationId: "organization", workflowId: "workflow", input: {} };
  return { ...of, jobId, status, listedStatus: status, steps: [], entries: [], events: [] };
}

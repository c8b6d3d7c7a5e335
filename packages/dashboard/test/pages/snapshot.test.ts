import { expect, test } from "vitest";
import type { WholeJob } from "../../src/api/job.ts";
import { type JobStory, tellStory } from "../../src/pages/job/job-story.ts";
import { entriesOf, stepRunCount } from "../../src/pages/job/snapshot.ts";

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

const done = { type: "/service/noop", visit: 1, attempts: 1, input: { n: 1 } } as const;
const prepared = {
  ...done,
  name: "prepare",
  status: "success",
  output: 2,
  startedAt: at(1),
  finishedAt: at(2),
} as const;
const waiting = { ...done, name: "approve", status: "successful_but_incomplete", startedAt: at(2) } as const;
const failure = { code: "ExecutorError", message: "It broke." };
const awaiting = {
  eventIds: ["approved", "paid"],
  receivedEventIds: ["paid"],
  missingEventIds: ["approved"],
  since: at(2),
};

test.each<[string, Partial<WholeJob>, Partial<JobStory>, object]>([
  [
    "waits",
    { status: "RUNNING", steps: [prepared, waiting], currentStep: { ...waiting, awaiting } },
    { status: "RUNNING" },
    { name: "approve", status: "waiting", eventIds: ["approved", "paid"], receivedEventIds: ["paid"] },
  ],
  [
    "waits in a branch",
    {
      status: "RUNNING",
      steps: [
        { ...done, name: "split", status: "running", branchCount: 2, startedAt: at(1) },
        { ...waiting, branch: "split:1[left]" },
        { ...prepared, branch: "split:1[right]" },
      ],
      currentStep: { ...waiting, branch: "split:1[left]", awaiting },
    },
    { status: "RUNNING" },
    { name: "approve", branch: "split:1[left]", status: "waiting", receivedEventIds: ["paid"] },
  ],
  [
    "was failed by a branch",
    {
      status: "FAILED",
      steps: [
        {
          ...done,
          name: "split",
          status: "failure",
          error: failure,
          branchCount: 2,
          startedAt: at(1),
          finishedAt: at(3),
        },
        {
          ...waiting,
          branch: "split:1[left]",
          status: "failure",
          error: { code: "Cancelled", message: "" },
          finishedAt: at(3),
        },
      ],
      finishedAt: at(3),
      error: { ...failure, step: "split", attempt: 1 },
    },
    { status: "FAILED" },
    { name: "split", status: "failed", fork: { branchCount: 2, hasItems: false } },
  ],
  [
    "sleeps",
    { status: "RUNNING", steps: [{ ...waiting, delayEndsAt: at(9) }] },
    { status: "RUNNING" },
    { name: "approve", status: "sleeping", delayEndsAt: at(9) },
  ],
  [
    "is tried again",
    { status: "RUNNING", steps: [{ ...prepared, status: "running", attempts: 3, error: failure, retryAt: at(9) }] },
    { status: "RUNNING" },
    { name: "prepare", status: "retrying", attempts: 3, retryAt: at(9), error: failure },
  ],
  [
    "has succeeded",
    { status: "SUCCEEDED", steps: [prepared], finishedAt: at(2) },
    { status: "SUCCEEDED", finishedAt: at(2) },
    { name: "prepare", status: "succeeded", output: 2, end: Date.parse(at(2)) },
  ],
  [
    "has failed",
    {
      status: "FAILED",
      steps: [{ ...prepared, status: "failure", error: failure }],
      finishedAt: at(2),
      error: { ...failure, step: "prepare", attempt: 1 },
    },
    { status: "FAILED", error: { ...failure, step: "prepare", attempt: 1 } as NonNullable<JobStory["error"]> },
    { name: "prepare", status: "failed", error: failure },
  ],
  [
    "was cancelled while it waited",
    { status: "CANCELLED", steps: [prepared, { ...waiting, finishedAt: at(3) }], finishedAt: at(3) },
    { status: "CANCELLED" },
    { name: "approve", status: "cancelled", end: Date.parse(at(3)) },
  ],
  [
    "was resumed and has not gone on yet",
    { status: "PENDING", steps: [{ ...prepared, status: "failure", error: failure }] },
    { status: "PENDING" },
    { name: "prepare", status: "failed" },
  ],
])("a job that %s is shown as such before its history has loaded", (_, job, story, current) => {
  const whole = { createdAt: at(0), startedAt: at(1), updatedAt: at(3), ...job } as WholeJob;
  const told = tellStory(entriesOf(whole));
  expect(told).toMatchObject(story);
  expect(told.current).toMatchObject(current);
  expect(told.runs.length).toBe(stepRunCount(whole));
});

test("a step that was cancelled with its branch is not a failure", () => {
  const cancelled = { code: "Cancelled", message: "" };
  const steps = [
    { ...done, name: "split", status: "success", branchCount: 1, startedAt: at(1), finishedAt: at(2) },
    { ...waiting, branch: "split:1[left]", status: "failure", error: cancelled, finishedAt: at(2) },
  ];
  const whole = {
    createdAt: at(0),
    startedAt: at(1),
    updatedAt: at(3),
    status: "RUNNING",
    steps,
  } as unknown as WholeJob;
  expect(tellStory(entriesOf(whole)).runs.at(-1)).toMatchObject({ status: "cancelled", end: Date.parse(at(2)) });
});

test("step runs that GetJob omits are counted as well", () => {
  expect(stepRunCount({ steps: [prepared], earlierStepRuns: { prepare: 3, approve: 4 } } as unknown as WholeJob)).toBe(
    8,
  );
});

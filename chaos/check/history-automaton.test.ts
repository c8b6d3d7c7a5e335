import { expect, test } from "vitest";
import { foldHistory } from "./history-automaton.ts";
import { numbered, type Transition } from "./sound-campaign.ts";

const by = { type: "user", id: "owner" } as const;
const error = { code: "ExecutorError", message: "no" } as const;
const step = { step: "call", visit: 1 } as const;
const submitted = { type: "job.submitted", by } as const;
const started = { type: "job.started" } as const;
const entered = { type: "step.started", ...step, input: { value: 1 } } as const;
const succeeded = { type: "step.succeeded", ...step, attempt: 1, output: { value: 1 } } as const;

test("a call that is interrupted and retried is a valid history", () => {
  const { status, steps } = fold(
    submitted,
    started,
    entered,
    { type: "step.attemptFailed", ...step, attempt: 1, error, retryAt: 0 },
    { type: "step.attemptStarted", ...step, attempt: 2 },
    { type: "step.interrupted", ...step, attempt: 2 },
    { type: "step.attemptStarted", ...step, attempt: 3 },
    { ...succeeded, attempt: 3 },
    { type: "job.succeeded" },
  );
  expect(status).toBe("SUCCEEDED");
  expect(steps).toMatchObject([{ name: "call", attempt: 3, phase: "succeeded" }]);
});

test("a failed job that is resumed begins another attempt of its step", () => {
  const failed = { type: "step.failed", ...step, attempt: 1, error } as const;
  const { status } = fold(
    submitted,
    started,
    entered,
    failed,
    { type: "job.failed", error: { ...error, step: "call", attempt: 1 } },
    { type: "job.resumed", by },
    { type: "step.attemptStarted", ...step, attempt: 2 },
  );
  expect(status).toBe("RUNNING");
});

test.each<[string, Transition[]]>([
  ["Entry 1 (job.started) is wrong here", [started]],
  ["Entry 2 (job.submitted) is wrong here", [submitted, submitted]],
  [
    "job.resumed) comes while the job is SUCCEEDED",
    [submitted, started, entered, succeeded, { type: "job.succeeded" }, { type: "job.resumed", by }],
  ],
  ["a second start", [submitted, { type: "job.cancelled", by }, { type: "job.resumed", by }, started, started]],
  ["while another step is under way", [submitted, started, entered, { ...entered, visit: 2 }]],
  ["should be visit 1", [submitted, started, { ...entered, visit: 2 }]],
  ["while the step is succeeded", [submitted, started, entered, succeeded, succeeded]],
  ["not the latest", [submitted, started, entered, { ...succeeded, step: "other" }]],
  ["consumes event 1, which is not there", [submitted, started, entered, { ...succeeded, consumed: [1] }]],
  ["before the last step has succeeded", [submitted, started, entered, { type: "job.succeeded" }]],
  ["while the job is SUCCEEDED", [submitted, started, entered, succeeded, { type: "job.succeeded" }, started]],
  ["kept twice", [submitted, event(1), event(2)]],
  ["is not awaited", [submitted, { ...event(1), outcome: "matched" }]],
  ["should be event 1", [submitted, event(2)]],
])("an invalid history is rejected, and the error says: … %s", (complaint, transitions) => {
  expect(() => fold(...transitions)).toThrow(complaint);
});

const left = "split:1[left]";
const split = { step: "split", visit: 1 } as const;
const forked = [
  submitted,
  started,
  { ...entered, ...split },
  { type: "step.forked", ...split, branchCount: 2 },
] as const satisfies Transition[];
const inLeft = { ...entered, branch: left } as const;
const joined = { ...succeeded, ...split } as const;

test("branches run independently, and a resume continues the branch that had failed", () => {
  const inRight = { ...step, branch: "split:1[right]" } as const;
  const { steps } = fold(
    ...forked,
    inLeft,
    { ...entered, ...inRight },
    { ...succeeded, branch: left },
    { type: "step.failed", ...inRight, attempt: 1, error },
    { type: "step.failed", ...split, attempt: 1, error },
    { type: "job.failed", error: { ...error, step: "split", attempt: 1 } },
    { type: "job.resumed", by },
    { type: "step.attemptStarted", ...split, attempt: 2 },
    { type: "step.attemptStarted", ...inRight, attempt: 2 },
    { ...succeeded, ...inRight, attempt: 2 },
    { ...joined, attempt: 2 },
    { type: "job.succeeded" },
  );
  expect(steps.map(({ phase }) => phase)).toEqual(["succeeded", "succeeded", "succeeded"]);
});

test.each<[string, Transition[]]>([
  ["in a branch that is not open", [submitted, started, inLeft]],
  ["in a branch that is not open", [...forked, { ...inLeft, branch: "split:1[2]" }]],
  ["in a branch that is not open", [...forked, joined, inLeft]],
  ["after its branch has ended", [...forked, inLeft, joined, { ...succeeded, branch: left }]],
  ["not the latest", [...forked, { ...succeeded, branch: left }]],
  [
    "before the last step has succeeded",
    [...forked, inLeft, { ...succeeded, branch: left }, { type: "job.succeeded" }],
  ],
  ["while a step is under way", [...forked, { type: "job.failed", error: { ...error, step: "a", attempt: 1 } }]],
])("an invalid history with branches is rejected, and the error says: … %s", (complaint, transitions) => {
  expect(() => fold(...transitions)).toThrow(complaint);
});

test("events with one id for two branches are both kept, and each can only end the wait of its own branch", () => {
  const waits = ["split:1[0]", "split:1[1]"].flatMap((branch): Transition[] => [
    { ...entered, branch },
    { type: "step.waiting", ...step, branch, eventIds: ["go"] },
  ]);
  const addressOf = (branch: string) => ({ branch, step: "call", visit: 1 });
  const addresses = new Map([
    [1, addressOf("split:1[0]")],
    [2, addressOf("split:1[1]")],
  ]);
  const matched = (eventNumber: number) => ({ ...event(eventNumber), outcome: "matched" }) as const;
  const entries = numbered(...forked, ...waits, matched(1), matched(2));
  expect([...foldHistory(entries, addresses).kept.keys()]).toEqual([1, 2]);
  expect(() => foldHistory(entries)).toThrow("kept twice");
  const stolen = { ...succeeded, branch: "split:1[0]", consumed: [2] } as const;
  const sequence = entries.length + 1;
  expect(() => foldHistory([...entries, { sequence, ...stolen }], addresses)).toThrow("sent for another wait");
});

test("a sequence that repeats a number is refused", () => {
  expect(() =>
    foldHistory([
      { sequence: 1, ...submitted },
      { sequence: 1, ...started },
    ]),
  ).toThrow("follows number 1");
});

function fold(...transitions: Transition[]) {
  return foldHistory(numbered(...transitions));
}

function event(eventNumber: number) {
  return { type: "event.received", eventId: "go", eventNumber, outcome: "buffered" } as const;
}

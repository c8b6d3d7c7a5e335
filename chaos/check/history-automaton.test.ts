import { expect, test } from "vitest";
import { type Entry, foldHistory } from "./history-automaton.ts";

const by = { type: "user", id: "owner" } as const;
const error = { code: "ExecutorError", message: "no" } as const;
const step = { step: "call", visit: 1 } as const;
const submitted = { type: "job.submitted", by } as const;
const started = { type: "job.started" } as const;
const entered = { type: "step.started", ...step, input: { value: 1 } } as const;
const succeeded = { type: "step.succeeded", ...step, attempt: 1, output: { value: 1 } } as const;

test("a retried and interrupted call is a path", () => {
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

test("a failed job that is resumed enters its step again", () => {
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
  ["does not stand at the beginning", [started]],
  ["or twice", [submitted, submitted]],
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
])("a history is refused that … %s", (complaint, transitions) => {
  expect(() => fold(...transitions)).toThrow(complaint);
});

test("a sequence that repeats a number is refused", () => {
  expect(() =>
    foldHistory([
      { sequence: 1, ...submitted },
      { sequence: 1, ...started },
    ]),
  ).toThrow("follows number 1");
});

type Transition = Entry extends infer Each ? (Each extends unknown ? Omit<Each, "sequence"> : never) : never;

function fold(...transitions: Transition[]) {
  return foldHistory(transitions.map((transition, index) => ({ ...transition, sequence: index + 1 }) as Entry));
}

function event(eventNumber: number) {
  return { type: "event.received", eventId: "go", eventNumber, outcome: "buffered" } as const;
}

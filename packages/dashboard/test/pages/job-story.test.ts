import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { describe, expect, test } from "vitest";
import type { HistoryEntry } from "../../src/api/live/many-jobs-stream.ts";
import { wayKey } from "../../src/graph/graph.ts";
import { branchWords, runWords } from "../../src/pages/job/branch-words.ts";
import { missingEventsOf } from "../../src/pages/job/events/missing-events.ts";
import { shownStatusOf, tellStory } from "../../src/pages/job/job-story.ts";
import { awaitedStateOf } from "../../src/pages/job/step-run.ts";
import { looksOf } from "../../src/pages/job/story-looks.ts";

const begin = Date.parse("2026-01-31T12:00:00.000Z");

type Sketch = Pick<HistoryEntry, "type"> & Partial<HistoryEntry>;

/** Makes a history, each entry a second after the one before. */
function history(...sketches: Sketch[]): HistoryEntry[] {
  return sketches.map((sketch, index) => ({
    sequence: index + 1,
    at: new Date(begin + index * 1_000).toISOString(),
    ...sketch,
  }));
}

const second = (count: number) => begin + count * 1_000;
const error = { code: "ExecutorError", message: "no luck" };
const received = (eventNumber: number, eventId: string, outcome: "matched" | "buffered"): Sketch => ({
  type: "event.received",
  eventNumber,
  eventId,
  outcome,
});
const submitted: Sketch = { type: "job.submitted" };
const started: Sketch = { type: "job.started" };
const step = (type: HistoryEntry["type"], name: string, more: Partial<HistoryEntry> = {}): Sketch => ({
  type,
  step: name,
  visit: 1,
  ...more,
});

describe("the story of a job", () => {
  test("says of an accepted job that it waits for its turn", () => {
    const story = tellStory(history(submitted));
    expect(story).toMatchObject({
      status: "PENDING",
      runs: [],
      queued: [{ kind: "queued", start: begin }],
      sequence: 1,
    });
    expect(story.current).toBeUndefined();
  });

  test("says until when a job sleeps, but not after the job has continued", () => {
    const delayEndsAt = "2026-02-01T12:00:00.000Z";
    const asleep = [submitted, started, step("step.started", "pause"), step("step.delayed", "pause", { delayEndsAt })];
    expect(tellStory(history(...asleep)).current).toMatchObject({
      status: "sleeping",
      delayEndsAt,
      spans: [{ kind: "sleeping", start: second(2) }],
    });
    expect(shownStatusOf(tellStory(history(...asleep)))).toBe("SLEEPING");
    const awake = tellStory(history(...asleep, step("step.succeeded", "pause"))).current;
    expect(awake).toMatchObject({ status: "succeeded" });
    expect(awake).not.toHaveProperty("delayEndsAt");
  });

  test("says which events a job waits for, and which of them have arrived", () => {
    const story = tellStory(
      history(
        submitted,
        started,
        step("step.started", "approve", { input: { a: 1 } }),
        step("step.waiting", "approve", { eventIds: ["x", "y"], timeoutAt: "2026-02-01T12:00:00.000Z" }),
        { type: "event.received", eventId: "x", outcome: "matched" },
        { type: "event.received", eventId: "z", outcome: "unmatched" },
      ),
    );
    expect(story.status).toBe("RUNNING");
    expect(story.current).toMatchObject({
      name: "approve",
      status: "waiting",
      eventIds: ["x", "y"],
      receivedEventIds: ["x"],
      timeoutAt: "2026-02-01T12:00:00.000Z",
      spans: [{ kind: "waiting", start: second(2) }],
    });
    expect(looksOf(story).get("approve")).toEqual({ status: "waiting", visit: 1, attempts: 1 });
  });

  test("an event that came before a wait counts for this wait, unless an earlier wait consumed it", () => {
    const ended = [
      submitted,
      received(1, "x", "buffered"),
      started,
      step("step.started", "first"),
      step("step.succeeded", "first", { consumed: [1] }),
    ];
    const waiting = [step("step.started", "second"), step("step.waiting", "second", { eventIds: ["x", "y"] })];
    expect(missingEventsOf(tellStory(history(...ended, ...waiting))).map(({ eventId }) => eventId)).toEqual(["x", "y"]);
    const again = tellStory(history(...ended, received(2, "x", "buffered"), ...waiting));
    expect(missingEventsOf(again).map(({ eventId }) => eventId)).toEqual(["y"]);
  });

  test.each([
    ["ran out of time leaves its events to the next wait", "Timeout", ["y"]],
    ["failed with all its events leaves none of them", "OutputMismatch", ["x", "y"]],
  ])("a wait that %s", (_, code, missing) => {
    const story = tellStory(
      history(
        submitted,
        started,
        step("step.started", "first"),
        step("step.waiting", "first", { eventIds: ["x", "z"] }),
        received(1, "x", "matched"),
        step("step.failed", "first", { error: { code, message: "" }, next: "second" }),
        step("step.started", "second"),
        step("step.waiting", "second", { eventIds: ["x", "y"] }),
      ),
    );
    expect(story.runs[0]?.receivedEventIds).toEqual(["x"]);
    expect(missingEventsOf(story).map(({ eventId }) => eventId)).toEqual(missing);
  });

  test("a wait for one of several events that has succeeded does not need the others", () => {
    const story = tellStory(
      history(
        submitted,
        started,
        step("step.started", "decide"),
        step("step.waiting", "decide", { eventIds: ["approved", "rejected"] }),
        received(1, "rejected", "matched"),
        step("step.succeeded", "decide", { consumed: [1] }),
      ),
    );
    const states = story.runs.flatMap((run) => run.eventIds?.map((eventId) => awaitedStateOf(run, eventId)));
    expect(states).toEqual(["unneeded", "received"]);
  });

  test("the story of a successful job shows its way", () => {
    const story = tellStory(
      history(
        submitted,
        started,
        step("step.started", "a", { input: {} }),
        step("step.succeeded", "a", { output: { done: true } }),
        step("step.started", "b", { input: {} }),
        step("step.succeeded", "b", { output: 7 }),
        { type: "job.succeeded" },
      ),
    );
    expect(story.status).toBe("SUCCEEDED");
    expect(story.finishedAt).toBe("2026-01-31T12:00:06.000Z");
    expect([...story.taken]).toEqual([wayKey("", "a"), wayKey("a", "b"), wayKey("b", "")]);
    expect(story.runs.map(({ status, output, start, end }) => ({ status, output, start, end }))).toEqual([
      { status: "succeeded", output: { done: true }, start: second(2), end: second(3) },
      { status: "succeeded", output: 7, start: second(4), end: second(5) },
    ]);
  });

  test("shows a choice before its target is entered, and distinguishes a failure from a choice that leads to the same step", () => {
    const chosen = [submitted, started, step("step.started", "a"), step("step.succeeded", "a", { next: "b" })];
    expect([...tellStory(history(...chosen)).taken]).toEqual([wayKey("", "a"), wayKey("a", "b")]);
    const ended = tellStory(history(...chosen.slice(0, -1), step("step.succeeded", "a", { next: null })));
    expect(ended.taken.has(wayKey("a", ""))).toBe(true);
    const failed = [...chosen.slice(0, -1), step("step.failed", "a", { error, next: "b" }), step("step.started", "b")];
    expect([...tellStory(history(...failed)).taken]).toEqual([wayKey("", "a"), wayKey("a", "b", "failure")]);
  });

  test("the story of a job that retries shows each attempt and each pause", () => {
    const story = tellStory(
      history(
        submitted,
        started,
        step("step.started", "charge", { input: {} }),
        step("step.attemptFailed", "charge", { attempt: 1, error, retryAt: "2026-01-31T12:00:04.000Z" }),
        step("step.attemptStarted", "charge", { attempt: 2 }),
        step("step.interrupted", "charge", { attempt: 2 }),
        step("step.attemptStarted", "charge", { attempt: 3 }),
        step("step.handedBack", "charge", { attempt: 3 }),
      ),
    );
    expect(story.current).toMatchObject({ status: "retrying", attempts: 3 });
    expect(story.current?.spans).toEqual([
      { kind: "attempt", start: second(2), end: second(3), attempt: 1, outcome: "failed", error },
      { kind: "pause", start: second(3), end: second(4) },
      { kind: "attempt", start: second(4), end: second(5), attempt: 2, outcome: "interrupted" },
      { kind: "attempt", start: second(6), end: second(7), attempt: 3, outcome: "handedBack" },
      { kind: "pause", start: second(7) },
    ]);
  });

  test("a job that fails and is resumed continues in the same visit, after a wait for its turn", () => {
    const failed = history(
      submitted,
      started,
      step("step.started", "charge", { input: {} }),
      step("step.failed", "charge", { attempt: 1, error }),
      { type: "job.failed", error: { ...error, step: "charge", attempt: 1 } },
    );
    const ended = tellStory(failed);
    expect(ended).toMatchObject({ status: "FAILED", error: { message: "no luck", step: "charge" } });
    expect(ended.current).toMatchObject({ status: "failed", error });

    const more = history(submitted, submitted, submitted, submitted, submitted, { type: "job.resumed" });
    const pending = tellStory([...failed, ...more.slice(5)]);
    expect(pending.status).toBe("PENDING");
    expect(pending.error).toBeUndefined();
    expect(pending.queued.at(-1)).toEqual({ kind: "queued", start: second(5) });

    const again = history(
      submitted,
      submitted,
      submitted,
      submitted,
      submitted,
      submitted,
      step("step.attemptStarted", "charge", { attempt: 2 }),
    );
    const running = tellStory([...failed, ...more.slice(5), ...again.slice(6)]);
    expect(running.status).toBe("RUNNING");
    expect(running.queued.at(-1)).toEqual({ kind: "queued", start: second(5), end: second(6) });
    expect(running.runs).toHaveLength(1);
    expect(running.current).toMatchObject({ status: "running", attempts: 2 });
    expect(running.current?.end).toBeUndefined();
  });

  test("the story of a cancelled job ends the step that was running, and no other", () => {
    const cancelled = tellStory(
      history(submitted, started, step("step.started", "a"), step("step.waiting", "a", { eventIds: ["x"] }), {
        type: "job.cancelled",
      }),
    );
    expect(cancelled).toMatchObject({ status: "CANCELLED", current: { status: "cancelled", end: second(4) } });
    expect(tellStory(history(submitted, { type: "job.cancelled" }))).toMatchObject({ status: "CANCELLED", runs: [] });
  });

  test("the story of a loop shows the latest visit of each step", () => {
    const visits = [1, 2, 3].flatMap((visit) => [
      step("step.started", "a", { visit }),
      step("step.succeeded", "a", { visit }),
    ]);
    const story = tellStory(history(submitted, started, ...visits));
    expect(looksOf(story).get("a")).toEqual({ status: "succeeded", visit: 3, attempts: 1 });
    expect(new Set(story.runs.map(({ key }) => key)).size).toBe(3);
  });
});

describe("the story of a job with branches", () => {
  const forked = (name: string, branchCount: number, more: Partial<HistoryEntry> = {}) => [
    step("step.started", name, more),
    step("step.forked", name, { ...more, branchCount }),
  ];
  const inBranch = (type: HistoryEntry["type"], name: string, branch: string, more: Partial<HistoryEntry> = {}) =>
    step(type, name, { ...more, branch });
  const split = [
    submitted,
    started,
    ...forked("split", 2),
    inBranch("step.started", "approve", "split:1[left]"),
    inBranch("step.waiting", "approve", "split:1[left]", { eventIds: ["x"] }),
    inBranch("step.started", "pay", "split:1[right]"),
  ];

  test("says that the job waits for the events of a branch if that branch waits", () => {
    const story = tellStory(history(...split));
    expect(shownStatusOf(story)).toBe("WAITING");
    expect(story.current).toMatchObject({ name: "approve", branch: "split:1[left]" });
    expect(missingEventsOf(story)).toEqual([{ eventId: "x", step: "approve", visit: 1, branch: "split:1[left]" }]);
    expect(story.progress.get(story.main?.key ?? "")).toEqual({
      all: 2,
      open: 2,
      succeeded: 0,
      failed: 0,
      cancelled: 0,
    });
    expect(looksOf(story).get("pay")).toEqual({ status: "running", visit: 1, attempts: 1 });
  });

  test("gives an event to the wait that has waited longest and lacks it", () => {
    const waits = ["each:1[0]", "each:1[1]"].flatMap((branch) => [
      inBranch("step.started", "approve", branch),
      inBranch("step.waiting", "approve", branch, { eventIds: ["x"] }),
    ]);
    const event: Sketch = { type: "event.received", eventId: "x", outcome: "matched" };
    const story = tellStory(history(submitted, started, ...forked("each", 2, { items: [1, 2] }), ...waits, event));
    expect(missingEventsOf(story).map(({ branch }) => branch)).toEqual(["each:1[1]"]);
    // The current step is the one that has the items, and not the step of one item, because there may be many items.
    expect(story.current?.name).toBe("each");
  });

  test("takes an event back from the wait that has waited longest when another wait has consumed it", () => {
    const waits = ["each:1[0]", "each:1[1]"].flatMap((branch) => [
      inBranch("step.started", "approve", branch),
      inBranch("step.waiting", "approve", branch, { eventIds: ["x"] }),
    ]);
    const before = [submitted, started, ...forked("each", 2, { items: [1, 2] }), ...waits, received(1, "x", "matched")];
    const consumed = inBranch("step.succeeded", "approve", "each:1[1]", { consumed: [1] });
    const story = tellStory(history(...before, consumed));
    expect(missingEventsOf(story).map(({ branch }) => branch)).toEqual(["each:1[0]"]);
    expect(story.runs.at(-1)?.receivedEventIds).toEqual(["x"]);
  });

  test("separates visits of different branches, and counts the items in each status", () => {
    const story = tellStory(
      history(
        submitted,
        started,
        ...forked("each", 10_000, { items: [] }),
        inBranch("step.started", "check", "each:1[0]"),
        inBranch("step.succeeded", "check", "each:1[0]"),
        inBranch("step.started", "check", "each:1[1]"),
        inBranch("step.failed", "check", "each:1[1]", { error }),
        inBranch("step.started", "check", "each:1[4211]"),
      ),
    );
    const progress = { all: 10_000, open: 1, succeeded: 1, failed: 1, cancelled: 0 };
    expect(looksOf(story).get("each")).toMatchObject({ status: "running", progress });
    const counts = new Map([
      ["running", 1],
      ["failed", 1],
      ["succeeded", 1],
    ]);
    expect(looksOf(story).get("check")).toEqual({ status: "running", visit: 1, attempts: 1, counts });
    expect(looksOf(story, "each:1[1]").get("check")).toEqual({ status: "failed", visit: 1, attempts: 1 });
    expect(branchWords(story, "each:1[4211]")).toBe("item 4,211 of 10,000");
    expect(runWords(story, { name: "check", branch: "each:1[0]", visit: 2 })).toBe("check (item 0 of 10,000, visit 2)");
  });

  test("ends the open branches with their step, and a resume opens them again", () => {
    const failed = [
      ...split,
      inBranch("step.failed", "pay", "split:1[right]", { error }),
      step("step.failed", "split", { error: { ...error, code: "BranchFailed" } }),
      { type: "job.failed", error: { ...error, step: "split", attempt: 1 } } as Sketch,
    ];
    const story = tellStory(history(...failed));
    expect(looksOf(story).get("approve")?.status).toBe("cancelled");
    expect(looksOf(story).get("split")?.progress).toMatchObject({ open: 0, failed: 1, cancelled: 1 });
    expect(shownStatusOf(story)).toBe("FAILED");
    const again = [
      { type: "job.resumed" } as Sketch,
      step("step.attemptStarted", "split", { attempt: 2 }),
      inBranch("step.attemptStarted", "pay", "split:1[right]", { attempt: 2 }),
    ];
    const resumed = tellStory(history(...failed, ...again));
    expect(looksOf(resumed).get("split")?.progress).toMatchObject({ open: 1, cancelled: 1 });
  });

  test("marks the transitions into branches, within them, and to their ends", () => {
    const { taken } = tellStory(
      history(
        ...split.slice(0, -1),
        inBranch("step.succeeded", "approve", "split:1[left]"),
        inBranch("step.started", "ship", "split:1[left]"),
        inBranch("step.succeeded", "ship", "split:1[left]"),
      ),
    );
    expect([...taken]).toEqual([
      wayKey("", "split"),
      wayKey("split", "approve", "branch"),
      wayKey("approve", "ship"),
      wayKey("ship", ""),
    ]);
  });

  test("reports a lost worker, and not a lost node, if the step is a task", () => {
    const lost = [submitted, started, step("step.started", "work"), step("step.interrupted", "work")];
    const outcome = (type: string) => tellStory(history(...lost), new Map([["work", type]])).main?.spans[0]?.outcome;
    expect(outcome("/service/task")).toBe("workerLost");
    expect(outcome("/service/http")).toBe("interrupted");
  });
});

test("the story of a history of 30,000 entries is built without noticeable delay", () => {
  const visits = Array.from({ length: 10_000 }, (_, visit) => [
    step("step.started", `s${visit % 7}`, { visit }),
    step("step.succeeded", `s${visit % 7}`, { visit }),
  ]).flat();
  const entries = history(submitted, started, ...visits);
  const began = performance.now();
  tellStory(entries);
  expect(performance.now() - began).toBeLessThan(timeLimit(3_000));
});

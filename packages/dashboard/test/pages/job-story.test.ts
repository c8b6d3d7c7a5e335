import { describe, expect, test } from "vitest";
import type { HistoryEntry } from "../../src/api/live/many-jobs-stream.ts";
import { wayKey } from "../../src/graph/graph.ts";
import { tellStory } from "../../src/pages/job/job-story.ts";

const begin = Date.parse("2026-01-31T12:00:00.000Z");

type Sketch = Pick<HistoryEntry, "type"> & Partial<HistoryEntry>;

/** Each entry a second after the one before. */
function history(...sketches: Sketch[]): HistoryEntry[] {
  return sketches.map((sketch, index) => ({
    sequence: index + 1,
    at: new Date(begin + index * 1_000).toISOString(),
    ...sketch,
  }));
}

const second = (count: number) => begin + count * 1_000;
const error = { code: "ExecutorError", message: "no luck" };
const submitted: Sketch = { type: "job.submitted" };
const started: Sketch = { type: "job.started" };
const step = (type: HistoryEntry["type"], name: string, more: Partial<HistoryEntry> = {}): Sketch => ({
  type,
  step: name,
  visit: 1,
  ...more,
});

describe("the story of a job", () => {
  test("that is accepted is that it stands in line", () => {
    const story = tellStory(history(submitted));
    expect(story).toMatchObject({
      status: "PENDING",
      runs: [],
      queued: [{ kind: "queued", start: begin }],
      sequence: 1,
    });
    expect(story.current).toBeUndefined();
  });

  test("that waits says for what, and what of it is there", () => {
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
    expect(story.looks.get("approve")).toEqual({ status: "waiting", visit: 1, attempts: 1 });
  });

  test("that succeeds says which ways it took", () => {
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

  test("that tries again tells each attempt and each pause", () => {
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

  test("that fails and is resumed goes on in the same visit, after a while in line", () => {
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

  test("that is cancelled ends the step that was under way, and no other", () => {
    const cancelled = tellStory(
      history(submitted, started, step("step.started", "a"), step("step.waiting", "a", { eventIds: ["x"] }), {
        type: "job.cancelled",
      }),
    );
    expect(cancelled).toMatchObject({ status: "CANCELLED", current: { status: "cancelled", end: second(4) } });
    expect(tellStory(history(submitted, { type: "job.cancelled" }))).toMatchObject({ status: "CANCELLED", runs: [] });
  });

  test("of a loop shows the latest visit of each step", () => {
    const visits = [1, 2, 3].flatMap((visit) => [
      step("step.started", "a", { visit }),
      step("step.succeeded", "a", { visit }),
    ]);
    const story = tellStory(history(submitted, started, ...visits));
    expect(story.looks.get("a")).toEqual({ status: "succeeded", visit: 3, attempts: 1 });
    expect(new Set(story.runs.map(({ key }) => key)).size).toBe(3);
  });
});

test("a history of 30,000 entries is told while nobody notices", () => {
  const visits = Array.from({ length: 10_000 }, (_, visit) => [
    step("step.started", `s${visit % 7}`, { visit }),
    step("step.succeeded", `s${visit % 7}`, { visit }),
  ]).flat();
  const entries = history(submitted, started, ...visits);
  const began = performance.now();
  tellStory(entries);
  expect(performance.now() - began).toBeLessThan(3_000);
});

import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { describe, expect, test } from "vitest";
import { noteEvent, releaseEvents } from "../../../src/core/job/events/kept-events.ts";
import type { Progress } from "../../../src/core/job/job-state.ts";
import { call, forEach, noop, parallel, type StepSketch, Story, wait } from "./jobs.ts";

/** The wait on the left claims `x` and gives up after a second. The wait on the right needs `x`, too. */
const givingUp = (more: object, right: string[] = ["x"]) => [
  parallel("split", { left: "a", right: "b" }, null),
  { ...wait("a", ["x", "y"], null), timeoutSeconds: 1, ...more },
  wait("b", right, null),
  noop("gave-up", null),
];
const handled = { onFailure: [{ on: ["Timeout"], then: "gave-up" }] };

/** The ids of the events that the waits of a job still need. */
function lackedBy({ job: { state } }: Story): string[] {
  if (state.status !== "RUNNING") return [];
  return state.cursors.flatMap(({ stand }) => (stand.phase === "waiting" ? stand.missingEventIds : []));
}

describe("an event that is free for other waits again", () => {
  test("completes a wait that lacks it", () => {
    const story = new Story(givingUp(handled));
    story.send("x");
    story.later(1_000);
    expect(story.branches).toEqual(["split:1[right]"]);
    story.later(0);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("is available to a wait that lacks further events", () => {
    const story = new Story(givingUp(handled, ["x", "z"]));
    story.send("x");
    story.later(1_000);
    expect(lackedBy(story)).toEqual(["z"]);
    expect(story.send("x")).toBe("duplicate");
    expect(story.send("z")).toBe("matched");
    expect(story.status).toBe("SUCCEEDED");
  });

  test("brings its payload to that wait", () => {
    const [fork, left, right, last] = givingUp(handled);
    const read = { ...right, mapping: { output: "${ events.x.payload.sku }" } } as StepSketch;
    const story = new Story([fork, left, read, last] as StepSketch[]);
    story.send("x", { payload: { sku: "A" } });
    story.later(1_000);
    story.later(0);
    expect(story.outputOf("split")).toMatchObject({ right: "A" });
  });

  test("is also free when the branch that claimed it has failed and another branch may still win", () => {
    const [, ...steps] = givingUp({});
    const story = new Story([
      parallel("split", { left: "a", right: "b" }, null, { until: "any" }),
      ...steps.slice(0, 2),
    ]);
    story.send("x");
    story.later(1_000);
    story.later(0);
    expect(story.outputOf("split")).toMatchObject({ branch: "right" });
  });

  test("is also free when the fork of the branch that claimed it is over", () => {
    const story = new Story([
      parallel("outer", { race: "race", waiting: "b" }, null),
      parallel("race", { left: "a", right: "c" }, null, { until: "any" }),
      wait("a", ["x", "y"], null),
      call("c", null),
      wait("b", ["x"], null),
    ]);
    story.send("x");
    story.succeed({}, story.callIn("outer:1[race]/race:1[right]"));
    expect(story.branches).toEqual(["outer:1[waiting]"]);
    story.later(0);
    expect(story.status).toBe("SUCCEEDED");
  });
});

describe("a branch's wait that has enough events and ends with the next commit", () => {
  /** The left branch claims `x` and gives up. `x` is then enough for the right branch, which has waited longer than the third branch. */
  const freed = () => {
    const story = new Story([
      parallel("split", { left: "a", right: "b", third: "c" }, null),
      { ...wait("a", ["x", "y"], null), timeoutSeconds: 1, ...handled },
      wait("b", ["x", "z"], null, { match: "any" }),
      wait("c", ["z"], null),
      noop("gave-up", null),
    ]);
    story.send("x");
    story.later(1_000);
    return story;
  };

  test("leaves further events to other waits", () => {
    const story = freed();
    expect(story.send("z")).toBe("matched");
    expect(story.branches).toEqual(["split:1[right]"]);
    story.later(0);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("takes no event from those that are kept", () => {
    const story = freed();
    story.send("z");
    expect(story.send("z")).toBe("buffered");
    story.later(0);
    expect(story.entries.filter(({ type }) => type === "step.succeeded")).toContainEqual(
      expect.objectContaining({ step: "b", consumed: [1] }),
    );
  });

  test("gets no further event, even if the event names the wait", () => {
    const story = freed();
    expect(story.send("z", { step: "b", branch: "split:1[right]" })).toBe("buffered");
    expect(story.send("z", { step: "b", branch: "split:1[right]", visit: 1 })).toBe("ConflictError");
  });
});

test("an event for an item that the list does not have is refused once the list is known", () => {
  const story = new Story(
    [forEach("each", { items: "${ input.list }", step: "w", concurrency: 1 }, null), wait("w", ["x"], null)],
    {
      input: { list: [1, 2] },
    },
  );
  expect(story.send("x", { step: "w", branch: "each:1[2]" })).toBe("ValidationError");
  expect(story.send("x", { step: "w", branch: "each:1[1]" })).toBe("buffered");
  expect(story.send("x", { step: "w", branch: "each:2[2]" })).toBe("buffered");
});

test("the branch that an error message suggests is accepted, even if names contain the characters of a path", () => {
  const story = new Story([
    forEach("ship: all/parts", { items: [1, 2], step: "split [a]", concurrency: 1 }, null),
    parallel("split [a]", { "to/do": "w" }, null),
    wait("w", ["x"], null),
  ]);
  story.send("x", { step: "w" });
  const verdict = story.changes.at(-1)?.verdict;
  const detail = (verdict?.type === "rejected" && verdict.problems?.[0]?.detail) || "";
  const [, branch = ""] = /such as `([^`]+)`/.exec(detail) ?? [];
  expect(branch).not.toBe("");
  expect(story.send("x", { step: "w", branch })).toBe("matched");
});

test("a branch that has not begun can get an event while its fork is stopped", () => {
  const story = new Story([
    parallel("split", { left: "each", right: "b" }, null, { until: "any" }),
    forEach("each", { items: [1, 2, 3], step: "work", concurrency: 1 }, null),
    call("work", "w"),
    wait("w", ["x"], null),
    call("b", null),
  ]);
  story.fail("permanent", {}, story.callIn("split:1[left]/each:1[0]"));
  expect(story.branches).toContain("split:1[left]");
  expect(story.send("x", { step: "w", branch: "split:1[left]/each:1[0]" })).not.toBe("ConflictError");
  expect(story.send("x", { step: "w", branch: "split:1[left]/each:1[2]" })).toBe("buffered");
});

test("a job that keeps the maximum of events for later waits may accept the next one soon", () => {
  const story = new Story([call("work", "w"), wait("w", "${ input.ids }", null)], {
    input: { ids: ["x"] },
    maxEvents: 2_000,
  });
  for (let count = 0; count < 1_000; count += 1) story.send(`later-${count}`);
  expect(story.send("one more")).toBe("RateLimitError");
  expect(story.changes.at(-1)?.verdict).toMatchObject({ isPassing: true });
});

test("ten thousand events that were sent for one branch are forgotten at once when the branch ends", () => {
  const branch = "split:1[left]";
  const none: Progress = { stepRunCount: 0, bufferedEvents: {}, eventCount: 0 };
  const addressed = Array.from({ length: 10_000 }, (_, index) => ({
    eventId: "x",
    eventNumber: index + 1,
    branch,
    step: "w",
    visit: index + 1,
  }));
  const start = performance.now();
  const left = releaseEvents({ ...none, addressedEvents: addressed }, (path) => path === branch);
  expect(performance.now() - start).toBeLessThan(timeLimit(500));
  expect(left).toEqual(none);
  expect(
    noteEvent(left, { eventId: "x", eventNumber: 1, address: undefined, isBare: false, sentAt: undefined })
      .bufferedEvents,
  ).toEqual({ x: 1 });
});

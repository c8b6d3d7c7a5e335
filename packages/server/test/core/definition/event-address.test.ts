import { expect, test } from "vitest";
import { call, Story, wait } from "../job/jobs.ts";

/** A wait step that leads to a call. When the call fails, the job returns to the wait step. */
const loop = [wait("gate", ["go"], "work"), call("work", null, { onFailure: "gate" })];
const goOnceMore = (story: Story) => story.fail("permanent");

test("a double click opens one gate of a loop, because the second event is for a visit that is over", () => {
  const story = new Story(loop);
  expect(story.send("go", { step: "gate", visit: 1 })).toBe("matched");
  expect(story.send("go", { step: "gate", visit: 1 })).toBe("ConflictError");
  goOnceMore(story);
  expect(story.step).toMatchObject({ phase: "waiting", name: "gate", visit: 2, missingEventIds: ["go"] });
});

test("an event for a future visit is kept until that visit, whatever happens before", () => {
  const story = new Story(loop);
  expect(story.send("go", { step: "gate", visit: 2 })).toBe("buffered");
  expect(story.send("go", { step: "gate", visit: 2 })).toBe("duplicate");
  expect(story.step).toMatchObject({ phase: "waiting", visit: 1, missingEventIds: ["go"] });
  expect(story.send("go")).toBe("matched");
  goOnceMore(story);
  expect(story.step).toMatchObject({ phase: "calling", name: "work", visit: 2 });
});

test("an event without a visit is for the open wait, or else for the next wait", () => {
  const story = new Story(loop);
  expect(story.send("go", { step: "gate" })).toBe("matched");
  expect(story.send("go", { step: "gate" })).toBe("buffered");
  expect(story.send("go", { step: "gate", visit: 2 })).toBe("duplicate");
  goOnceMore(story);
  expect(story.step).toMatchObject({ phase: "calling", name: "work", visit: 2 });
});

test("a wait that has the event does not accept it again, whichever way it is sent", () => {
  const both = [wait("gate", ["go", "stay"], "work"), call("work", null, { onFailure: "gate" })];
  for (const [first, second] of [
    [{}, { step: "gate", visit: 1 }],
    [{ step: "gate", visit: 1 }, {}],
  ] as const) {
    const story = new Story(both);
    expect(story.send("go", first)).toBe("matched");
    expect(story.send("go", second)).toBe("duplicate");
    expect(story.send("stay")).toBe("matched");
    goOnceMore(story);
    expect(story.step).toMatchObject({ visit: 2, missingEventIds: ["go", "stay"] });
  }
});

test("an event for one wait opens no other wait that lists the same id", () => {
  const story = new Story([wait("first", ["go"], "second"), wait("second", ["go"], null)]);
  expect(story.send("go", { step: "second" })).toBe("buffered");
  expect(story.step).toMatchObject({ name: "first", missingEventIds: ["go"] });
  expect(story.send("go")).toBe("matched");
  expect(story.status).toBe("SUCCEEDED");
});

test("if two events fit, the event that was sent for the wait counts, and the other is kept for a later wait", () => {
  const story = new Story([call("before", "first"), wait("first", ["go"], "second"), wait("second", ["go"], null)]);
  expect(story.send("go")).toBe("buffered");
  expect(story.send("go", { step: "first", visit: 1 })).toBe("buffered");
  const { events } = story.succeed({});
  expect(events).toMatchObject([
    { type: "consumed", eventNumber: 2, step: "first" },
    { type: "consumed", eventNumber: 1, step: "second" },
  ]);
  expect(story.status).toBe("SUCCEEDED");
});

test("a job that was resumed in its wait accepts an event for the visit that was open", () => {
  const story = new Story([wait("gate", ["go"], null)]);
  story.apply({ type: "job.cancelled", by: { type: "service", id: "x" } });
  expect(story.send("go", { step: "gate", visit: 1 })).toBe("ConflictError");
  story.apply({ type: "job.resumed", by: { type: "service", id: "x" } });
  expect(story.send("go", { step: "gate", visit: 1 })).toBe("buffered");
  story.later(0);
  expect(story.status).toBe("SUCCEEDED");
});

test("the state forgets events that no visit can use any more", () => {
  const story = new Story([
    { ...wait("gate", ["go", "stay"], "work", { timeoutSeconds: 1 }), onFailure: "work" },
    call("work", null, { onFailure: "gate" }),
  ]);
  story.send("go", { step: "gate", visit: 1 });
  story.later(1_000);
  goOnceMore(story);
  expect(story.step).toMatchObject({ phase: "waiting", visit: 2, missingEventIds: ["go", "stay"] });
  story.send("go");
  story.send("stay");
  const { state } = story.job;
  expect(state).toMatchObject({ progress: { bufferedEvents: {} } });
  expect(Object.keys("progress" in state ? state.progress : {})).not.toContain("addressedEvents");
});

test.each([
  [{ step: "work" }, "/step", "the step `work` does not list the event `go`"],
  [{ step: "gat" }, "/step", "the job's version has no step `gat`; did you mean `gate`?"],
  [{ visit: 1 }, "/visit", "needs the name of its step; add `step`, or leave `visit` out"],
])("an event for %j is rejected with the reason", (more, pointer, detail) => {
  const story = new Story(loop);
  story.send("go", more);
  expect(story.changes.at(-1)?.verdict).toMatchObject({ code: "ValidationError", problems: [{ pointer, detail }] });
});

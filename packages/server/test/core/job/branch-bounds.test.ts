import { describe, expect, test } from "vitest";
import { callsOf } from "../../../src/core/job/call.ts";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import { standsOf } from "../../../src/core/job/job-state.ts";
import { branchesLookedInto } from "../../../src/core/job/looks-into-values.ts";
import { numbersIn, unreadState } from "../../../src/core/job/values/stored-state.ts";
import { call, delay, forEach, someone, transform, wait } from "./jobs.ts";
import { StoredStory } from "./stored-story.ts";

/** So many branches that one commit must not read the values of all. Each branch has one value, which is stored in a row of its own. */
const branchCount = 120;
const large = "x".repeat(3_000);
const input = { list: Array.from({ length: branchCount }, (_, index) => index), text: large };
const limits = { input, maxStepRuns: 1_000, maxOutputBytes: 1_000_000, maxEvents: 1_000 };

/** Makes a fork in which every branch makes a large value of its own and carries it to its last step, `next`. */
function fanOut(last: Parameters<typeof forEach>[1] & object, next: StepOf, output = "list"): StoredStory {
  const each = forEach(
    "each",
    { items: "${ input.list }", step: "make", concurrency: branchCount, output, ...last },
    null,
  );
  const story = new StoredStory(
    [each, transform("make", { text: "${ input.text + string(index) }" }, next.name), next],
    limits,
  );
  while (story.branches.length < branchCount || standsOf(story.job.state).some(({ phase }) => phase === "next"))
    story.later(0);
  return story;
}

type StepOf = ReturnType<typeof wait>;

/** The number of values that a commit with these facts reads. */
function readCount({ plan, store: { row }, now }: StoredStory, ...facts: readonly UntimedFact[]): number {
  return numbersIn(row.state, branchesLookedInto(plan, unreadState(row), facts, now)).length;
}

const due = { type: "timer.due" } as const;

describe("a job with many open branches", () => {
  test("an event reads only the values of the wait that it completes", () => {
    const story = fanOut({ output: "counts" }, wait("last", ["x"], null));
    expect(numbersIn(story.store.row.state, new Set(story.branches)).length).toBe(branchCount);
    const sent = (more: object): UntimedFact => ({
      type: "event.received",
      eventId: "x",
      sentBy: someone,
      keptAs: null,
      ...more,
    });
    expect(readCount(story, sent({ step: "last", branch: "each:1[7]" }))).toBeLessThan(4);
    expect(readCount(story, sent({}))).toBeLessThan(4);
    for (let item = 0; item < branchCount; item += 1) expect(story.send("x")).toBe("matched");
    expect(story.status).toBe("SUCCEEDED");
  });

  test("several events in one commit read the values of the waits that they may complete, up to a bound", () => {
    const sent = (eventId: string, more = {}) =>
      ({ type: "event.received", eventId, sentBy: someone, keptAs: null, ...more }) as const;
    const story = fanOut({ output: "counts" }, wait("last", ["x", "y"], null, { match: "any" }));
    const one = readCount(story, sent("x"));
    expect(readCount(story, sent("x"), sent("x"))).toBeGreaterThan(one + 10);
    expect(readCount(story, sent("x"), sent("y"))).toBeGreaterThan(one + 10);
    expect(readCount(story, ...Array.from({ length: 100 }, () => sent("x")))).toBeLessThan(24);
    const addressed = [7, 8].map((item) => sent("x", { step: "last", branch: `each:1[${item}]` }));
    expect(readCount(story, ...addressed)).toBe(one + 1);
  });

  test("a commit that ends, resumes and continues the job reads values of the branches that then continue", () => {
    const story = fanOut({ output: "counts" }, wait("last", ["x"], null));
    expect(readCount(story, due)).toBeLessThan(4);
    const ended = { type: "job.cancelled", by: someone } as const;
    const resumed = { type: "job.resumed", by: someone } as const;
    expect(readCount(story, ended, resumed, due)).toBeGreaterThan(10);
    expect(readCount(story, ended, resumed)).toBe(0);
  });

  test("the outcome of a call reads the values of its branch and of the branches around it", () => {
    const story = fanOut({ output: "counts" }, call("last", null));
    const owed = story.callIn("each:1[7]");
    expect(readCount(story, { type: "step.succeeded", ...owed, output: 1 })).toBeLessThan(4);
    for (const one of callsOf(story.job.state)) story.succeed(1, one);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("a timer in the commit that hands calls back reads the values of these branches, up to a bound", () => {
    const story = fanOut({ output: "counts" }, call("last", null));
    const handedBack = callsOf(story.job.state).map(
      (owed) => ({ type: "call.handedBack", ...owed, begun: true }) as const,
    );
    const few = handedBack.slice(0, 3);
    expect(readCount(story, ...few)).toBe(0);
    expect(readCount(story, ...few, due)).toBe(readCount(story, due) + few.length);
    expect(readCount(story, ...handedBack, due)).toBeLessThan(24);
  });

  test("a timer in a commit with another fact reads the values of waits, because the fact may free events for them", () => {
    const story = fanOut({ output: "counts" }, wait("last", ["x"], null));
    const other = { type: "event.received", eventId: "y", sentBy: someone, keptAs: null } as const;
    const count = readCount(story, other, due);
    expect(count).toBeGreaterThan(readCount(story, due) + 10);
    expect(count).toBeLessThan(24);
  });

  test("branches that are due at the same time continue over several commits, so that no commit reads too many values", () => {
    const story = fanOut({ output: "counts" }, delay("last", { seconds: 10 }, null));
    story.now += 10_000;
    let commitCount = 0;
    for (; story.status === "RUNNING"; commitCount += 1) {
      expect(readCount(story, due)).toBeLessThan(24);
      story.later(0);
    }
    expect(story.status).toBe("SUCCEEDED");
    expect(commitCount).toBeLessThan(12);
  });

  test("branches that have begun continue before others begin, so that few are open at a time", () => {
    const each = forEach(
      "each",
      { items: "${ input.list }", step: "make", concurrency: branchCount, output: "counts" },
      null,
    );
    const made = { text: "${ input.text + string(index) }" };
    const steps = [each, transform("make", made, "last"), wait("last", ["x"], null)];
    const story = new StoredStory(steps, { ...limits, input: { ...input, text: "x".repeat(400_000) } });
    while (standsOf(story.job.state).filter(({ phase }) => phase === "waiting").length < branchCount) {
      const onTheirWay = standsOf(story.job.state).filter(({ phase }) => phase === "next");
      expect(onTheirWay.length).toBeLessThan(3);
      story.later(0);
    }
  });

  test("a resume continues every branch, over several commits", () => {
    const story = fanOut({ output: "counts" }, call("last", null));
    story.apply({ type: "job.cancelled", by: someone });
    story.apply({ type: "job.resumed", by: someone });
    let commitCount = 0;
    for (; callsOf(story.job.state).length < branchCount; commitCount += 1) {
      expect(commitCount).toBeLessThan(12);
      expect(readCount(story, due)).toBeLessThan(24);
      story.later(0);
    }
    for (const one of callsOf(story.job.state)) story.succeed(1, one);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("a branch that is scheduled after a resume ends with its fork, and does not wake again", () => {
    const story = fanOut({ output: "counts" }, call("last", null));
    story.apply({ type: "job.cancelled", by: someone });
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    const [first] = callsOf(story.job.state);
    if (first === undefined) throw new Error("No call is under way.");
    story.fail("permanent", {}, first);
    expect(story.status).toBe("FAILED");
    story.apply({ type: "job.resumed", by: someone });
    while (callsOf(story.job.state).length < branchCount) story.later(0);
    for (const one of callsOf(story.job.state)) story.succeed(1, one);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("a job fails if its open waits together list too many event ids for one commit", () => {
    const eventIds = Array.from({ length: 100 }, (_, index) => `${"x".repeat(200)}-${index}`);
    const each = forEach("each", { items: "${ input.list }", step: "w", concurrency: 100 }, null);
    const story = new StoredStory([each, wait("w", eventIds, null)], limits);
    const { state } = story.job;
    expect(state).toMatchObject({
      status: "FAILED",
      error: { code: "ValueLimitExceeded", step: "w", branch: "each:1[49]" },
    });
    expect(JSON.stringify(story.store.row.state).length).toBeLessThan(1_500_000);
  });
});

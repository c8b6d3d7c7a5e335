import fc from "fast-check";
import { validate, version } from "uuid";
import { describe, expect, test } from "vitest";
import { childIdOf, leftChildren, maxDepth } from "../../../src/core/job/child-job.ts";
import type { Parent } from "../../../src/core/job/job.ts";
import { call, childJob, identity, parallel, Story, transform, wait } from "./jobs.ts";

const parent: Parent = {
  jobId: identity.jobId,
  rootJobId: identity.jobId,
  depth: 1,
  step: "begin",
  visit: 1,
  epoch: 4,
};
const place = { ...identity, branch: "", step: "begin", visit: 1 };
const noticesOf = (story: Story) => story.changes.flatMap(({ notice }) => notice ?? []);
const left = (story: Story, before: Story["job"], told: readonly number[] = []) =>
  leftChildren(story.plan, identity, before.state, story.job.state, new Set(told));

describe("the id of a child", () => {
  test("is a UUID version 7 with a time after the visit's start and after the parent's id", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 47 }), fc.string(), (at, step) => {
        const id = childIdOf({ ...place, step }, at);
        expect(validate(id) && version(id)).toBe(7);
        expect(id > place.jobId).toBe(true);
        const time = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
        expect(time).toBe(Math.max(at, 0x0190b1f00000) + 1);
      }),
    );
  });

  test("is the same for each attempt, and different for each job, branch, step and visit", () => {
    const others = [{}, { visit: 2 }, { step: "other" }, { branch: "each:1[0]" }, { jobId: identity.versionId }];
    const ids = others.map((other) => childIdOf({ ...place, ...other }, 1_000));
    expect(new Set(ids).size).toBe(others.length);
    expect(childIdOf({ ...place }, 1_000)).toBe(ids[0]);

    const story = new Story([childJob("begin", "other", null, { retry: { maxAttempts: 2, jitter: false } })]);
    story.fail("ordinary", { code: "ChildFailed" });
    story.later(1_000);
    const children = story.changes.flatMap(({ effects }) => effects.flatMap(({ child }) => child?.jobId ?? []));
    expect(children).toEqual([children[0], children[0]]);
  });
});

describe("a step that starts a child job", () => {
  test("starts the child with its own input and the requested version", () => {
    const story = new Story([childJob("begin", "other", null)], { input: { n: 1 } });
    const [effect] = story.changes[0]?.effects ?? [];
    expect(effect).toMatchObject({
      input: { n: 1 },
      child: { workflow: "other", version: { tag: "$LIVE" }, isAwaited: true, timeoutAt: null },
    });
  });

  test("fails if its input is not an object", () => {
    const story = new Story([childJob("begin", "other", null, { mapping: { input: "${ input.n }" } })], {
      input: { n: 1 },
    });
    expect([story.status, story.entries.at(-1)]).toMatchObject(["FAILED", { error: { code: "ChildNotStarted" } }]);
  });

  test.each([
    [maxDepth - 1, "RUNNING"],
    [maxDepth, "FAILED"],
  ])("a job on level %d that starts a child is then %s", (depth, status) => {
    const story = new Story([childJob("begin", "other", null)], { madeBy: { ...parent, depth } });
    expect(story.status).toBe(status);
    if (status === "FAILED") expect(story.entries.at(-1)).toMatchObject({ error: { code: "TooManyChildren" } });
  });

  test("is retried until there is room for its child, which uses up no attempt", () => {
    const story = new Story([childJob("begin", "other", null, { retry: { maxAttempts: 2, jitter: false } })]);
    const postpone = () => {
      const failure = {
        kind: "postponed",
        error: { code: "ChildNotStarted", message: "" },
        retryAfterMs: 9_000,
      } as const;
      story.apply({ type: "step.failed", ...story.call, failure, random: 1 });
    };
    for (let minute = 0; minute < 5; minute += 1) {
      postpone();
      expect(story.step).toMatchObject({ phase: "retrying", wakeAt: story.now + 9_000, failedAttempts: 0 });
      story.later(9_000);
    }
    story.fail("ordinary", { code: "ChildFailed" });
    story.later(1_000);
    expect(story.succeed({}).job.state.status).toBe("SUCCEEDED");
  });

  test("abandons its child when the step is cancelled, but not after the child has ended", () => {
    const story = new Story([childJob("begin", "other", null)]);
    const { job } = story;
    const childId = story.changes[0]?.effects[0]?.child?.jobId;
    story.apply({ type: "job.cancelled", by: identity.submittedBy });
    expect(left(story, job)).toEqual([{ childId, branch: "", step: "begin", visit: 1, epoch: 1 }]);
    expect(left(story, job, [1])).toEqual([]);
  });

  test("abandons no child that it does not wait for", () => {
    const story = new Story([childJob("begin", "other", null, { wait: false })]);
    const { job } = story;
    story.apply({ type: "job.cancelled", by: identity.submittedBy });
    expect(left(story, job)).toEqual([]);
  });

  test("abandons the children of the branches that its fork cancels", () => {
    const story = new Story([
      parallel("race", { a: "a", b: "b" }, null, { until: "any" }),
      childJob("a", "other", null),
      childJob("b", "other", null),
    ]);
    const { job } = story;
    const won = story.callIn("race:1[a]");
    story.apply({ type: "step.succeeded", by: "job", ...won, output: {} });
    expect(left(story, job, [won.epoch]).map(({ branch }) => branch)).toEqual(["race:1[b]"]);
  });
});

describe("a child sends to its parent", () => {
  test("its output, only once", () => {
    const story = new Story([call("a", null)], { madeBy: parent });
    story.succeed({ n: 1 });
    expect(noticesOf(story)).toEqual([{ epoch: 4, outcome: { output: { n: 1 } } }]);
  });

  test("its error, and nothing more after a resume of the child", () => {
    const story = new Story([call("a", null)], { madeBy: parent });
    story.fail("permanent", { type: "OutOfStock" });
    const error = { code: "ExecutorError", type: "OutOfStock", message: "no luck", jobId: identity.jobId, step: "a" };
    expect(noticesOf(story)).toEqual([{ epoch: 4, outcome: { error } }]);

    story.apply({ type: "job.resumed", by: identity.submittedBy });
    story.later(0);
    story.succeed({});
    expect([story.status, noticesOf(story).length]).toEqual(["SUCCEEDED", 1]);
  });

  test("the fact that a user cancelled it", () => {
    const story = new Story([call("a", null)], { madeBy: parent });
    story.apply({ type: "job.cancelled", by: identity.submittedBy });
    expect(noticesOf(story)).toMatchObject([{ epoch: 4, outcome: { error: { code: "Cancelled" } } }]);
  });

  test("nothing, if no parent waits", () => {
    const story = new Story([transform("a", { n: 1 }, null)], { madeBy: { ...parent, epoch: undefined } });
    expect([story.status, noticesOf(story)]).toEqual(["SUCCEEDED", []]);
  });

  test("its end, for the latest call that waits for it", () => {
    const story = new Story([call("a", null)], { madeBy: parent });
    story.apply({ type: "parent.called", epoch: 9 });
    story.succeed({});
    expect(story.types).toContain("job.awaited");
    expect(noticesOf(story)).toEqual([{ epoch: 9, outcome: { output: {} } }]);
  });
});

describe("a parent that stops waiting", () => {
  test("cancels the child that waits for its call, and the child then sends no notice", () => {
    const story = new Story([wait("w", ["x"], null)], { madeBy: parent });
    story.apply({ type: "parent.left", epoch: 4 });
    expect([story.status, noticesOf(story)]).toEqual(["CANCELLED", []]);
  });

  test("leaves a child unchanged that another call of the parent now waits for", () => {
    const story = new Story([wait("w", ["x"], null)], { madeBy: parent });
    story.apply({ type: "parent.called", epoch: 9 });
    expect(story.apply({ type: "parent.left", epoch: 4 }).verdict).toEqual({ type: "ignored" });
    expect(story.status).toBe("RUNNING");
  });

  test("is ignored by a child that was resumed in the meantime", () => {
    const story = new Story([wait("w", ["x"], null)], { madeBy: parent });
    story.apply({ type: "parent.left", epoch: 4 });
    story.apply({ type: "job.resumed", by: identity.submittedBy });
    story.later(0);
    story.apply({ type: "parent.left", epoch: 4 });
    expect(story.status).toBe("RUNNING");
  });
});

test.each(["FAILED", "CANCELLED"])("a call of the parent resumes a child that is %s", (status) => {
  const story = new Story([call("a", null)], { madeBy: parent });
  if (status === "FAILED") story.fail("permanent");
  else story.apply({ type: "job.cancelled", by: identity.submittedBy });
  expect(story.status).toBe(status);

  story.apply({ type: "parent.called", epoch: 9 });
  story.later(0);
  story.succeed({ n: 2 });

  expect(noticesOf(story).at(-1)).toEqual({ epoch: 9, outcome: { output: { n: 2 } } });
});

test("a child that has succeeded is not changed by another call of its parent", () => {
  const story = new Story([transform("a", {}, null)], { madeBy: parent });
  expect(story.apply({ type: "parent.called", epoch: 9 }).verdict).toEqual({ type: "ignored" });
});

test.each(["RUNNING", "CANCELLED"])(
  "a child that is %s, and for which no step waits, is not changed by another attempt",
  (status) => {
    const story = new Story([call("a", null)], { madeBy: { ...parent, epoch: undefined } });
    if (status === "CANCELLED") story.apply({ type: "job.cancelled", by: identity.submittedBy });
    expect(story.apply({ type: "parent.called", epoch: undefined }).verdict).toEqual({ type: "ignored" });
    expect(story.status).toBe(status);
  },
);

test("a job without a parent has no data about parents in its state", () => {
  const story = new Story([call("a", null)]);
  expect(story.job.parent).toBeNull();
  expect(JSON.stringify(story.job.state)).not.toContain("awaitedBy");
});

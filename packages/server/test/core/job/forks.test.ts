import { describe, expect, test } from "vitest";
import { foldSteps } from "../../../src/core/job/history.ts";
import type { StepError } from "../../../src/core/job/job-state.ts";
import { call, delay, forEach, noop, parallel, Story, transform, wait } from "./jobs.ts";

const items = { items: "${ input.list }", step: "work" };
const list = (...values: number[]) => ({ list: values });

/** Returns the error of the job, which must have failed. */
function errorOf({ job: { state } }: Story): StepError {
  if (state.status !== "FAILED") throw new Error(`The job is ${state.status}.`);
  return state.error;
}

function callsIn(story: Story): string[] {
  const { state } = story.job;
  return state.status === "RUNNING"
    ? state.cursors.flatMap(({ branch, stand }) => (stand.phase === "calling" ? [`${branch} ${stand.name}`] : []))
    : [];
}

/** The branch, step, status, attempts and error code of each run. */
function runsOf(story: Story): string[] {
  return foldSteps(story.job.input, story.entries).map(
    ({ name, branch = "", status, attempts, error }) =>
      `${branch} ${name} ${status} ${attempts}${error === undefined ? "" : ` ${error.code}`}`,
  );
}

describe("a parallel step", () => {
  const both = [
    parallel("split", { left: "a", right: "b" }, "end"),
    call("a", null),
    call("b", null),
    noop("end", null),
  ];

  test("runs its branches side by side and gives what each of them gave, by name", () => {
    const story = new Story(both, { input: { n: 1 } });
    expect(callsIn(story)).toEqual(["split:1[left] a", "split:1[right] b"]);
    story.succeed({ right: true }, story.callIn("split:1[right]"));
    expect(story.branches).toEqual(["split:1[left]"]);
    story.succeed({ left: true }, story.callIn("split:1[left]"));
    expect(story.status).toBe("SUCCEEDED");
    expect(story.outputOf("end")).toEqual({ left: { left: true }, right: { right: true } });
  });

  test("ends in one commit if it has no calls", () => {
    const story = new Story([parallel("split", { left: "a", right: "b" }, null), noop("a", null), noop("b", null)], {
      input: { n: 1 },
    });
    expect(story.status).toBe("SUCCEEDED");
    expect(story.outputOf("split")).toEqual({ left: { n: 1 }, right: { n: 1 } });
  });

  test("fails when a branch fails, with that failure as its cause, and drops the outputs of the other branches", () => {
    const story = new Story(both);
    const late = story.callIn("split:1[left]");
    story.fail("permanent", { type: "Boom" }, story.callIn("split:1[right]"));
    expect(errorOf(story)).toMatchObject({
      code: "BranchFailed",
      step: "split",
      message: "The branch `right` of split failed: its step `b` failed with ExecutorError (Boom). no luck",
      cause: { code: "ExecutorError", type: "Boom", step: "b", branch: "split:1[right]" },
    });
    expect(story.succeed({}, late).verdict.type).toBe("ignored");
    expect(runsOf(story)).toEqual([
      " split failure 1 BranchFailed",
      "split:1[left] a failure 1 Cancelled",
      "split:1[right] b failure 1 ExecutorError",
    ]);
  });

  test("names the other job in which a step failed", () => {
    const story = new Story(both);
    const cause = {
      code: "ExecutorError",
      type: "Boom",
      message: "no luck",
      jobId: "the child",
      step: "ship",
    } as const;
    story.fail("permanent", { code: "ChildFailed", cause }, story.callIn("split:1[right]"));
    expect(errorOf(story)).toMatchObject({
      code: "BranchFailed",
      message:
        "The branch `right` of split failed: the step `ship` of the job the child failed with ExecutorError (Boom). no luck",
      cause,
    });
  });

  test("repeats after a resume only the branches that failed or were cancelled", () => {
    const story = new Story([
      parallel("split", { done: "a", left: "b", right: "c" }, null),
      ...["a", "b", "c"].map((name) => call(name, null)),
    ]);
    story.succeed({ n: 1 }, story.callIn("split:1[done]"));
    story.fail("permanent", {}, story.callIn("split:1[left]"));
    story.apply({ type: "job.resumed", by: story.job.submittedBy });
    story.later(0);
    expect(callsIn(story)).toEqual(["split:1[left] b", "split:1[right] c"]);
    story.succeed({ n: 3 }, story.callIn("split:1[right]"));
    story.succeed({ n: 2 }, story.callIn("split:1[left]"));
    expect(story.outputOf("split")).toEqual({ done: { n: 1 }, left: { n: 2 }, right: { n: 3 } });
    expect(runsOf(story)).toEqual([
      " split success 2",
      "split:1[done] a success 1",
      "split:1[left] b success 2",
      "split:1[right] c success 2",
    ]);
  });

  test("continues with the step that its onFailure names, and its branches end", () => {
    const story = new Story([
      parallel("split", { left: "a", right: "b" }, null, { onFailure: [{ on: ["BranchFailed"], then: "tell" }] }),
      call("a", null),
      call("b", null),
      transform("tell", { why: "${ error.cause.type } in ${ error.cause.step }", step: "${ error.step }" }, null),
    ]);
    story.fail("permanent", { type: "Boom" }, story.callIn("split:1[right]"));
    expect(story.status).toBe("SUCCEEDED");
    expect(story.outputOf("tell")).toEqual({ why: "Boom in b", step: "split" });
  });

  test("does not fail when a step of the branch handles the failure", () => {
    const story = new Story([
      parallel("split", { left: "a" }, null),
      call("a", null, { onFailure: "mend" }),
      transform("mend", { mended: "${ error.code }" }, null),
    ]);
    story.fail("permanent", {}, story.callIn("split:1[left]"));
    expect(story.outputOf("split")).toEqual({ left: { mended: "ExecutorError" } });
  });
});

describe("a parallel step that waits for any branch", () => {
  const race = [
    parallel("race", { left: "a", right: "b" }, "end", { until: "any" }),
    call("a", null),
    call("b", null),
    noop("end", null),
  ];

  test("ends with the first branch that succeeds, and cancels the others", () => {
    const story = new Story(race);
    story.succeed({ n: 2 }, story.callIn("race:1[right]"));
    expect(story.outputOf("end")).toEqual({ branch: "right", output: { n: 2 } });
    expect(runsOf(story)).toContain("race:1[left] a failure 1 Cancelled");
  });

  test("continues after the failure of one branch", () => {
    const story = new Story(race);
    story.fail("permanent", {}, story.callIn("race:1[left]"));
    expect(story.status).toBe("RUNNING");
    story.succeed({ n: 2 }, story.callIn("race:1[right]"));
    expect(story.status).toBe("SUCCEEDED");
  });

  test("fails only when all branches have failed, and repeats all of them after a resume", () => {
    const story = new Story(race);
    story.fail("permanent", {}, story.callIn("race:1[left]"));
    story.fail("permanent", { type: "Last" }, story.callIn("race:1[right]"));
    expect(errorOf(story)).toMatchObject({ code: "BranchFailed", cause: { type: "Last" } });
    story.apply({ type: "job.resumed", by: story.job.submittedBy });
    story.later(0);
    expect(callsIn(story)).toEqual(["race:1[left] a", "race:1[right] b"]);
  });
});

describe("a forEach step", () => {
  const each = [forEach("each", { ...items, concurrency: 2 }, "end"), call("work", null), noop("end", null)];

  test("runs its body once per item, with a bounded number at a time, and gives the outputs in the order of the items", () => {
    const story = new Story(each, { input: list(10, 11, 12) });
    expect(callsIn(story)).toEqual(["each:1[0] work", "each:1[1] work"]);
    story.succeed({ n: "second" }, story.callIn("each:1[1]"));
    expect(callsIn(story)).toEqual(["each:1[0] work", "each:1[2] work"]);
    story.succeed({ n: "third" }, story.callIn("each:1[2]"));
    story.succeed({ n: "first" }, story.callIn("each:1[0]"));
    expect(story.outputOf("end")).toEqual([{ n: "first" }, { n: "second" }, { n: "third" }]);
  });

  test("passes an item to the first step of the body, and to expressions", () => {
    const story = new Story(
      [
        forEach("each", items, null),
        noop("work", "told"),
        transform("told", { item: "${ item }", index: "${ index }", named: '${ forks["each"].item }' }, null),
      ],
      { input: list(5, 7) },
    );
    expect(story.outputOf("each")).toEqual([
      { item: 5, index: 0, named: 5 },
      { item: 7, index: 1, named: 7 },
    ]);
    expect(story.entries.flatMap((entry) => (entry.type === "step.started" ? [entry.input] : []))).toContainEqual({
      value: 5,
    });
  });

  test("gives a step with a closed definition the properties of the item before those from outside", () => {
    const story = new Story(
      [
        noop("first", "each"),
        forEach("each", items, null),
        noop("work", "taken"),
        noop("taken", null, { input: "both" }),
      ],
      {
        input: { list: [{ a: "item's" }, {}], a: "job's", b: "around" },
        definitions: { both: { type: "object", properties: { a: {}, b: {} }, additionalProperties: false } },
      },
    );
    expect(story.outputOf("each")).toEqual([
      { a: "item's", b: "around" },
      { a: "job's", b: "around" },
    ]);
  });

  test("over no items gives an empty list", () => {
    const story = new Story(each, { input: list() });
    expect(story.outputOf("end")).toEqual([]);
  });

  test("takes several commits for a thousand items without calls, and keeps few branches open", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => index);
    const story = new Story([forEach("each", { ...items, concurrency: 100 }, null), noop("work", null)], {
      input: { list: many },
      maxOutputBytes: 10_000,
    });
    let commits = 0;
    for (; story.status === "RUNNING"; commits += 1) {
      expect(story.branches.length).toBeLessThan(2);
      story.later(0);
    }
    expect(commits).toBe(6);
    expect(story.outputOf("each")).toEqual(many);
  });

  test("keeps few results in its state: further results are written once each, and the next commit builds the list", () => {
    const story = new Story(
      [forEach("each", { ...items, concurrency: 1 }, "end"), call("work", null), noop("end", null)],
      {
        input: { list: Array.from({ length: 30 }, (_, index) => index) },
        maxOutputBytes: 10_000,
      },
    );
    for (let index = 0; index < 30; index += 1) {
      expect(JSON.stringify(story.job.state).length).toBeLessThan(4_000);
      story.succeed({ index, text: "x".repeat(100) }, story.callIn(`each:1[${index}]`));
    }
    expect(story.status).toBe("RUNNING");
    const numbers = story.changes.flatMap(({ results }) => results.map(({ valueNumber }) => valueNumber));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => 1_000_000_000 + index));
    story.later(0);
    expect(story.outputOf("end")).toEqual(Array.from({ length: 30 }, (_, index) => ({ index, text: "x".repeat(100) })));
  });

  test("fails with the first item that fails, and continues after a resume with that item and the cancelled ones", () => {
    const story = new Story(each, { input: list(10, 11, 12) });
    story.succeed({ n: 0 }, story.callIn("each:1[0]"));
    story.fail("permanent", { type: "Boom" }, story.callIn("each:1[1]"));
    expect(errorOf(story)).toMatchObject({ code: "ItemFailed", cause: { type: "Boom", branch: "each:1[1]" } });
    story.apply({ type: "job.resumed", by: story.job.submittedBy });
    story.later(0);
    expect(callsIn(story)).toEqual(["each:1[1] work", "each:1[2] work"]);
    story.succeed({ n: 2 }, story.callIn("each:1[2]"));
    story.succeed({ n: 1 }, story.callIn("each:1[1]"));
    expect(story.outputOf("end")).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  test("collects failures as results", () => {
    const story = new Story([forEach("each", { ...items, onItemFailure: "collect" }, null), call("work", null)], {
      input: list(1, 2),
    });
    story.fail("permanent", { type: "Boom" }, story.callIn("each:1[0]"));
    story.succeed({ n: 2 }, story.callIn("each:1[1]"));
    expect(story.outputOf("each")).toEqual([
      {
        status: "failed",
        error: { code: "ExecutorError", message: "no luck", type: "Boom", step: "work", branch: "each:1[0]" },
      },
      { status: "succeeded", output: { n: 2 } },
    ]);
  });

  test("fails at one failure above its limit of collected failures, and repeats that item after a resume", () => {
    const config = { ...items, onItemFailure: "collect", maxFailures: 1, output: "counts", concurrency: 1 };
    const story = new Story([forEach("each", config, null), call("work", null)], { input: list(1, 2, 3) });
    story.fail("permanent", {}, story.callIn("each:1[0]"));
    story.fail("permanent", {}, story.callIn("each:1[1]"));
    expect(errorOf(story).code).toBe("TooManyFailures");
    story.apply({ type: "job.resumed", by: story.job.submittedBy });
    story.later(0);
    expect(callsIn(story)).toEqual(["each:1[1] work"]);
    story.succeed({}, story.callIn("each:1[1]"));
    story.succeed({}, story.callIn("each:1[2]"));
    expect(story.outputOf("each")).toEqual({ total: 3, succeeded: 2, failed: 1 });
  });

  test("fails as soon as its list is too large, before more items begin", () => {
    const story = new Story([forEach("each", { ...items, concurrency: 1 }, null), call("work", null)], {
      input: list(1, 2, 3),
      maxOutputBytes: 100,
    });
    story.succeed("x".repeat(60), story.callIn("each:1[0]"));
    story.succeed("x".repeat(60), story.callIn("each:1[1]"));
    expect(errorOf(story)).toMatchObject({ code: "OutputTooLarge", step: "each" });
    expect(story.types.filter((type) => type === "step.started")).toHaveLength(3);
  });

  test("fails if `items` gives no list", () => {
    const story = new Story(each, { input: { list: 5 } });
    expect(errorOf(story)).toMatchObject({ code: "ExpressionFailed", step: "each" });
  });

  test("has new branches when a loop enters it again", () => {
    const story = new Story(
      [
        forEach("each", items, "count"),
        call("work", null),
        transform(
          "count",
          { n: "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }" },
          { choose: [{ if: "output.n < 2", then: "each" }], else: null },
        ),
      ],
      { input: list(1) },
    );
    story.succeed({}, story.callIn("each:1[0]"));
    story.succeed({}, story.callIn("each:2[0]"));
    expect(story.status).toBe("SUCCEEDED");
  });
});

describe("nested forks", () => {
  const nested = [
    forEach("outer", { items: "${ input.list }", step: "split" }, null),
    parallel("split", { left: "inner", right: "b" }, null),
    forEach("inner", { items: "${ [item, item + 1] }", step: "work" }, null),
    call("work", "told"),
    transform("told", { item: "${ item }", outer: "${ forks.outer.item }" }, null),
    call("b", null),
  ];

  test("name their branches by their path", () => {
    const story = new Story(nested, { input: list(10) });
    expect(callsIn(story)).toEqual([
      "outer:1[0]/split:1[left]/inner:1[0] work",
      "outer:1[0]/split:1[left]/inner:1[1] work",
      "outer:1[0]/split:1[right] b",
    ]);
    story.succeed({}, story.callIn("outer:1[0]/split:1[right]"));
    story.succeed({}, story.callIn("outer:1[0]/split:1[left]/inner:1[1]"));
    story.succeed({}, story.callIn("outer:1[0]/split:1[left]/inner:1[0]"));
    expect(story.outputOf("outer")).toEqual([
      {
        left: [
          { item: 10, outer: 10 },
          { item: 11, outer: 10 },
        ],
        right: {},
      },
    ]);
  });

  test("pass a failure outwards to the first fork whose onFailure handles it", () => {
    const story = new Story([
      parallel("outer", { one: "inner", two: "c" }, null),
      parallel("inner", { left: "a", right: "b" }, null, { onFailure: "mend" }),
      ...["a", "b", "c"].map((name) => call(name, null)),
      transform("mend", { cause: "${ error.cause.branch }" }, null),
    ]);
    story.fail("permanent", {}, story.callIn("outer:1[one]/inner:1[left]"));
    expect(callsIn(story)).toEqual(["outer:1[two] c"]);
    story.succeed({}, story.callIn("outer:1[two]"));
    expect(story.outputOf("outer")).toEqual({ one: { cause: "outer:1[one]/inner:1[left]" }, two: {} });
  });

  test("stop every branch after an unhandled failure, and a resume continues each branch", () => {
    const story = new Story(nested, { input: list(10) });
    story.succeed({}, story.callIn("outer:1[0]/split:1[left]/inner:1[1]"));
    story.fail("permanent", {}, story.callIn("outer:1[0]/split:1[left]/inner:1[0]"));
    expect(errorOf(story)).toMatchObject({
      code: "ItemFailed",
      step: "outer",
      cause: { code: "ExecutorError", step: "work" },
    });
    story.apply({ type: "job.resumed", by: story.job.submittedBy });
    story.later(0);
    expect(callsIn(story)).toEqual(["outer:1[0]/split:1[left]/inner:1[0] work", "outer:1[0]/split:1[right] b"]);
    story.succeed({}, story.callIn("outer:1[0]/split:1[left]/inner:1[0]"));
    story.succeed({}, story.callIn("outer:1[0]/split:1[right]"));
    expect(story.status).toBe("SUCCEEDED");
  });
});

describe("a job with branches", () => {
  const race = [
    parallel("split", { left: "a", right: "b" }, null),
    wait("a", ["x", "y"], null),
    wait("b", ["x"], null),
  ];

  test("an event goes to the wait that has waited longest, and the next event with the same id to the other wait", () => {
    const story = new Story(race);
    expect(story.send("x")).toBe("matched");
    expect(story.branches).toHaveLength(2);
    expect(story.send("x")).toBe("matched");
    expect(story.branches).toEqual(["split:1[left]"]);
    expect(story.send("x")).toBe("duplicate");
    story.send("y");
    expect(story.status).toBe("SUCCEEDED");
  });

  test("an event that a wait claimed is free for other waits when the branch of that wait is over", () => {
    const story = new Story([
      parallel("split", { left: "a", right: "c" }, "later", { until: "any" }),
      wait("a", ["x", "y"], null),
      call("c", null),
      wait("later", ["x"], null),
    ]);
    story.send("x");
    story.succeed({}, story.callIn("split:1[right]"));
    expect(story.status).toBe("SUCCEEDED");
  });

  test("an event that is sent to a step in a branch is only for that branch", () => {
    const story = new Story(race);
    expect(story.send("x", { step: "b", branch: "split:1[right]" })).toBe("matched");
    expect(story.branches).toEqual(["split:1[left]"]);
    expect(story.send("x", { step: "b", branch: "split:1[right]" })).toBe("ConflictError");
    expect(story.send("x", { step: "a" })).toBe("ValidationError");
    expect(story.send("x", { step: "a", branch: "split:1[right]" })).toBe("ValidationError");
    expect(story.send("x", { branch: "split:1[right]" })).toBe("ValidationError");
  });

  test("an event can be sent for an item that has not begun", () => {
    const story = new Story([forEach("each", { ...items, concurrency: 1 }, null), wait("work", ["x"], null)], {
      input: list(1, 2),
    });
    expect(story.send("x", { step: "work", branch: "each:1[1]" })).toBe("buffered");
    expect(story.branches).toEqual(["each:1[0]"]);
    story.send("x");
    expect(story.status).toBe("SUCCEEDED");
  });

  test("each delay ends at its own time, and a failed call is retried in its own branch", () => {
    const story = new Story([
      parallel("split", { short: "s", long: "l", call: "c" }, null),
      delay("s", { seconds: 10 }, null),
      delay("l", { seconds: 60 }, null),
      call("c", null, { retry: { maxAttempts: 2, initialIntervalSeconds: 20, jitter: false } }),
    ]);
    story.fail("ordinary", {}, story.callIn("split:1[call]"));
    story.later(10_000);
    expect(story.branches).toEqual(["split:1[long]", "split:1[call]"]);
    story.later(10_000);
    story.succeed({}, story.callIn("split:1[call]"));
    story.later(40_000);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("a cancelled job continues in every branch after a resume", () => {
    const story = new Story([
      parallel("split", { left: "a", right: "b", nap: "d" }, null),
      call("a", null),
      wait("b", ["x"], null),
      delay("d", { seconds: 60 }, null),
    ]);
    const late = story.callIn("split:1[left]");
    story.apply({ type: "job.cancelled", by: story.job.submittedBy });
    expect(runsOf(story)).toEqual([
      " split failure 1 Cancelled",
      "split:1[left] a failure 1 Cancelled",
      "split:1[right] b successful_but_incomplete 1",
      "split:1[nap] d successful_but_incomplete 1",
    ]);
    story.apply({ type: "job.resumed", by: story.job.submittedBy });
    story.later(0);
    expect(story.succeed({}, late).verdict.type).toBe("ignored");
    story.succeed({}, story.callIn("split:1[left]"));
    story.send("x");
    story.later(60_000);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("the timeout of the job ends all branches", () => {
    const story = new Story(
      [
        parallel("split", { left: "a", right: "b" }, null, { onFailure: "end" }),
        call("a", null),
        call("b", null),
        noop("end", null),
      ],
      { timeoutSeconds: 100 },
    );
    story.later(100_000);
    expect(errorOf(story)).toMatchObject({ code: "Timeout", step: "split" });
    expect(runsOf(story).filter((run) => run.includes("Cancelled"))).toHaveLength(2);
  });

  test("each branch can enter as many steps as a job without branches", () => {
    const count = (name: string, most: number) =>
      transform(
        name,
        { n: `\${ has(steps.${name}.output) ? steps.${name}.output.n + 1 : 1 }` },
        { choose: [{ if: `output.n < ${most}`, then: name }], else: null },
      );
    const split = (most: number) => [
      parallel("split", { left: "a", right: "b" }, null),
      count("a", most),
      count("b", most),
    ];
    const story = new Story(split(40), { maxStepRuns: 40 });
    expect(story.status).toBe("SUCCEEDED");
    expect(errorOf(new Story(split(41), { maxStepRuns: 40 }))).toMatchObject({
      code: "StepLimitExceeded",
      step: "a",
      branch: "split:1[left]",
      message:
        "The branch entered 40 steps, which is the maximum of one branch. Check whether there is a loop that never ends.",
    });
  });

  test("the main line of a job with branches can enter as many steps as a job without branches, and its failure names the maximum", () => {
    const again = { choose: [{ if: "output.n < 50", then: "count" }], else: null };
    const steps = [
      parallel("split", { left: "a", right: "b" }, "count"),
      noop("a", null),
      noop("b", null),
      transform("count", { n: "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }" }, again),
    ];
    expect(errorOf(new Story(steps, { maxStepRuns: 40 }))).toMatchObject({
      code: "StepLimitExceeded",
      message: expect.stringMatching(/^The main line entered 40 steps, which is the maximum of one main line\./),
    });
  });

  test("a job that has used nearly all result numbers of the store enters no further fork", () => {
    const steps = [wait("first", ["x"], "each"), forEach("each", items, null), noop("work", null)];
    const countedTo = (resultNumberCount: number) => {
      const story = new Story(steps, { input: list(1) });
      const { state } = story.job;
      if (state.status !== "RUNNING") throw new Error(`The job is ${state.status}.`);
      story.job = { ...story.job, state: { ...state, progress: { ...state.progress, resultNumberCount } } };
      story.send("x");
      return story;
    };
    expect(countedTo(999_999_999).status).toBe("SUCCEEDED");
    expect(errorOf(countedTo(1_000_000_000))).toMatchObject({
      code: "StepLimitExceeded",
      step: "each",
      message:
        "The branches of the job have 1000000000 stored results, which is the maximum of one job. Check whether there is a loop that never ends.",
    });
  });
});

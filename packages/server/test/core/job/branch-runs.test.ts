import { describe, expect, test } from "vitest";
import { BranchFolder, type ForkSearch } from "../../../src/core/job/branch-runs.ts";
import { call, forEach, noop, parallel, Story, someone, wait } from "./jobs.ts";

/** The path, place, status, step and error code of each branch according to the history. */
function branchesOf(story: Story, search: Partial<ForkSearch> = {}): string[] | undefined {
  const folder = new BranchFolder(story.plan, { parent: "", step: undefined, visit: undefined, ...search });
  for (const entry of story.entries) folder.add(entry);
  return folder.run?.branches.map(
    ({ path, place, status, step, error }) =>
      `${path} (${place}) ${status} in ${step}${error === undefined ? "" : ` with ${error.code}`}`,
  );
}

const list = (...values: number[]) => ({ input: { list: values } });
const collecting = { items: "${ input.list }", step: "work", onItemFailure: "collect", concurrency: 2 };

describe("the branches of a step", () => {
  test("are those that have begun, each at its own step", () => {
    const story = new Story(
      [forEach("each", collecting, null), call("work", "told"), call("told", null)],
      list(1, 2, 3),
    );
    story.succeed({}, story.callIn("each:1[1]"));
    expect(branchesOf(story)).toEqual(["each:1[0] (0) open in work", "each:1[1] (1) open in told"]);
    story.fail("permanent", {}, story.callIn("each:1[0]"));
    story.succeed({}, story.callIn("each:1[1]"));
    expect(branchesOf(story)).toEqual([
      "each:1[0] (0) failed in work with ExecutorError",
      "each:1[1] (1) succeeded in told",
      "each:1[2] (2) open in work",
    ]);
  });

  test("are cancelled when their step is cancelled, the job is cancelled, or an outer step fails", () => {
    const failing = new Story([parallel("split", { left: "a", right: "b" }, null), call("a", null), call("b", null)]);
    failing.fail("permanent", {}, failing.callIn("split:1[right]"));
    expect(branchesOf(failing)).toEqual([
      "split:1[left] (0) cancelled in a",
      "split:1[right] (1) failed in b with ExecutorError",
    ]);
    const inner = { inner: "each", other: "c" };
    const nested = new Story(
      [parallel("split", inner, null), forEach("each", collecting, null), wait("work", ["x"], null), call("c", null)],
      list(1),
    );
    const search = { parent: "split:1[inner]" };
    expect(branchesOf(nested, search)).toEqual(["split:1[inner]/each:1[0] (0) open in work"]);
    nested.fail("permanent", {}, nested.callIn("split:1[other]"));
    expect(branchesOf(nested, search)).toEqual(["split:1[inner]/each:1[0] (0) cancelled in work"]);
    const stopped = new Story([forEach("each", collecting, null), wait("work", ["x"], null)], list(1));
    stopped.apply({ type: "job.cancelled", by: someone });
    expect(branchesOf(stopped)).toEqual(["each:1[0] (0) cancelled in work"]);
  });

  test("are open again after a resume of the job", () => {
    const { onItemFailure: _, ...failFast } = collecting;
    const story = new Story([forEach("each", failFast, null), call("work", null)], list(1, 2));
    story.fail("permanent", {}, story.callIn("each:1[1]"));
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    expect(branchesOf(story)).toEqual(["each:1[0] (0) open in work", "each:1[1] (1) open in work"]);
  });

  test("end where a choice ends them, and continue where a failure is handled", () => {
    const choosing = (choice: string) =>
      new Story(
        [
          parallel("split", { left: "a", right: "w" }, null),
          { ...noop("a", null), transitionToStep: { choose: [{ if: choice, then: null }], else: "b" } },
          call("b", null, { onFailure: "c" }),
          wait("c", ["y"], null),
          wait("w", ["x"], null),
        ],
        {},
      );
    expect(branchesOf(choosing("true"))?.[0]).toBe("split:1[left] (0) succeeded in a");
    const going = choosing("false");
    expect(branchesOf(going)?.[0]).toBe("split:1[left] (0) open in b");
    going.fail("permanent");
    expect(branchesOf(going)?.[0]).toBe("split:1[left] (0) open in c");
  });

  test("are those of the latest visit unless another visit is requested", () => {
    const story = new Story(
      [
        parallel("split", { "a/b": "a" }, "again"),
        noop("a", null),
        { ...wait("again", ["x"], null), transitionToStep: { choose: [{ if: "false", then: null }], else: "split" } },
      ],
      {},
    );
    story.send("x");
    expect(branchesOf(story)).toEqual(["split:2[a%2Fb] (0) succeeded in a"]);
    expect(branchesOf(story, { step: "split", visit: 1 })).toEqual(["split:1[a%2Fb] (0) succeeded in a"]);
    expect(branchesOf(story, { step: "a" })).toBeUndefined();
  });
});

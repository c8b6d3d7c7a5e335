import { expect, test } from "vitest";
import { call, forEach, Story } from "./jobs.ts";

const workOf = (concurrency: number) => [
  forEach("each", { items: "${ input.list }", step: "work", concurrency }, null),
  call("work", null),
];
const list = (length: number) => ({ list: Array.from({ length }, (_, index) => index) });

test("two changes of one state do not see each other", () => {
  const story = new Story(workOf(20), { input: list(20) });
  story.succeed(0, story.callIn("each:1[0]"));
  const before = story.job;
  story.succeed(1, story.callIn("each:1[1]"));
  const [first] = [story.branches];
  story.job = before;
  story.succeed(2, story.callIn("each:1[2]"));
  expect(first).toEqual(Array.from({ length: 18 }, (_, index) => `each:1[${index + 2}]`));
  expect(story.branches).toEqual(["each:1[1]", ...Array.from({ length: 17 }, (_, index) => `each:1[${index + 3}]`)]);
});

test("a change that is dropped has no effect", () => {
  const story = new Story(workOf(20), { input: list(20) });
  story.succeed(0, story.callIn("each:1[0]"));
  const before = story.job;
  story.fail("permanent", {}, story.callIn("each:1[5]"));
  expect(story.status).toBe("FAILED");
  story.job = before;
  for (let index = 1; index < 20; index += 1) story.succeed(index, story.callIn(`each:1[${index}]`));
  expect(story.status).toBe("SUCCEEDED");
  expect(story.outputOf("each")).toEqual(list(20).list);
});

test("inner branches end with their outer branch, however many other branches are open", () => {
  const inner = forEach("inner", { items: "${ input.list }", step: "work", concurrency: 10 }, null);
  const outer = forEach(
    "outer",
    { items: "${ input.list }", step: "inner", concurrency: 3, onItemFailure: "collect" },
    null,
  );
  const story = new Story([outer, inner, call("work", null)], { input: list(3) });
  expect(story.branches).toHaveLength(12);
  story.fail("permanent", {}, story.callIn("outer:1[1]/inner:1[2]"));
  expect(story.branches.filter((branch) => branch.startsWith("outer:1[1]"))).toEqual([]);
  expect(story.branches).toHaveLength(8);
});

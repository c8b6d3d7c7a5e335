import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, Story, task } from "../job/jobs.ts";
import { parse, workflow } from "../job/sketches.ts";

const ref = { $ref: "#/definitions/any" };

describe("a task is rejected", () => {
  test.each<[string, JsonObject, string]>([
    ["without a queue", {}, "/queue"],
    ["with a queue that no path can name", { queue: "a/b" }, "/queue"],
    ["with a queue that is another path", { queue: ".." }, "/queue"],
    ["with a fraction of a priority", { queue: "q", priority: 0.5 }, "/priority"],
    ["with a priority beyond all", { queue: "q", priority: 101 }, "/priority"],
    ["without time for a heartbeat", { queue: "q", heartbeatSeconds: 0 }, "/heartbeatSeconds"],
  ])("%s", (_, config, pointer) => {
    const integrationDetails = { type: "/service/task", config, inputDefinition: ref, outputDefinition: ref };
    const { problems } = parse(workflow([{ name: "work", integrationDetails, transitionToStep: null }]));
    expect(problems.map((problem) => problem.pointer)).toEqual([`/steps/0/integrationDetails/config${pointer}`]);
  });
});

test("a job whose first step is a task needs no room on a node", () => {
  const story = new Story([task("work", null)], { hasRoom: false });
  expect(story.step).toMatchObject({ phase: "calling", name: "work" });
});

test("a task's delivery settings contain the values of its expressions", () => {
  const config = { queue: "${ input.queue }", priority: "${ input.vip ? 9 : 0 }", heartbeatSeconds: 5 };
  const story = new Story([task("work", null, { config, timeoutSeconds: 10 })], { input: { queue: "a", vip: true } });
  expect(story.changes[0]?.effects).toMatchObject([
    { task: { queue: "a", priority: 9, heartbeatMs: 5_000, timeoutAt: story.now + 10_000 } },
  ]);
});

test("a task has the defaults for fields that its config omits", () => {
  expect(new Story([task("work", null)]).changes[0]?.effects).toMatchObject([
    { task: { queue: "q", priority: 0, heartbeatMs: 60_000, timeoutAt: null } },
  ]);
});

test("a late answer of a worker is rejected, and a late answer of a node is ignored", () => {
  const story = new Story([task("work", null)]);
  const late = story.call;
  story.interrupt();
  expect(story.apply({ type: "step.succeeded", by: "worker", ...late, output: {} }).verdict).toMatchObject({
    type: "rejected",
    code: "ConflictError",
  });
  expect(story.apply({ type: "step.succeeded", ...late, output: {} }).verdict).toEqual({ type: "ignored" });
  expect(story.status).toBe("RUNNING");
});

test("a worker cannot end the call of a node", () => {
  const story = new Story([call("a", null)]);
  const change = story.apply({ type: "step.succeeded", by: "worker", ...story.call, output: {} });
  expect(change.verdict).toMatchObject({ type: "rejected", code: "ConflictError" });
  expect(story.status).toBe("RUNNING");
});

test("a lost worker uses up no attempt of the policy, but a task that loses its workers again and again fails", () => {
  const story = new Story([task("work", null)]);
  const lose = () => story.interrupt().effects[0]?.isSuspect;
  expect([lose(), lose(), lose(), lose(), lose()]).toEqual([false, false, false, false, false]);
  expect(story.step).toMatchObject({ phase: "calling", attempt: 6, interruptions: 5 });
  story.interrupt();
  expect(story.status).toBe("FAILED");
  expect(story.entries.at(-1)).toMatchObject({
    error: {
      code: "Interrupted",
      message: expect.stringContaining("The worker that carried out work was lost 6 times"),
    },
  });
});

test("a task that is given back is in its queue again at once", () => {
  const story = new Story([task("work", null)]);
  const change = story.apply({ type: "call.handedBack", by: "worker", ...story.call, begun: true });
  expect(change.effects).toMatchObject([{ attempt: 2, task: { queue: "q" } }]);
  expect(story.step).toMatchObject({ phase: "calling", interruptions: 0, failedAttempts: 0 });
});

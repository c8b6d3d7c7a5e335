import { describe, expect, test } from "vitest";
import { foldSteps } from "../../../src/core/job/history.ts";
import { timeoutAtOf } from "../../../src/core/job/job-state.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, delay, noop, type StepSketch, Story, someone, wait } from "./jobs.ts";
import { noop as noopOf, parse, workflow } from "./sketches.ts";

describe("a definition is rejected if its", () => {
  const definition = (fields: JsonObject) => ({ ...workflow([noopOf("a", ["any", "any"], null)]), ...fields });

  test.each<[string, JsonObject, string, string]>([
    ["timeout is 0", { timeoutSeconds: 0 }, "/timeoutSeconds", "above 0 and at most 31536000 (a year)"],
    ["timeout is a text", { timeoutSeconds: "5" }, "/timeoutSeconds", "but is a string"],
    ["description is not a text", { description: 5 }, "/description", "must be a string, but is a number"],
    ["description is too long", { description: "x".repeat(10_001) }, "/description", "longer than 10000 characters"],
  ])("%s", (_, fields, pointer, words) => {
    expect(parse(definition(fields)).problems).toEqual([{ pointer, detail: expect.stringContaining(words) }]);
  });

  test("a definition is accepted if both timeouts are valid", () => {
    const { definition: parsed, problems } = parse(definition({ timeoutSeconds: 0.5, description: "For orders." }));
    expect({ problems, timeoutMs: parsed?.timeoutMs }).toEqual({ problems: [], timeoutMs: 500 });
  });
});

/** For each phase, a job that is in this phase when its timeout comes. */
const phases: readonly (readonly [string, readonly StepSketch[], (story: Story) => void])[] = [
  ["calling", [call("a", null)], () => undefined],
  ["waiting", [wait("a", ["x"], null)], () => undefined],
  ["retrying", [call("a", null, { retry: { initialIntervalSeconds: 60 } })], (story) => story.fail()],
  ["delayed", [delay("a", { seconds: 60 }, null)], () => undefined],
];

describe.each(phases)("a job that is %s at its timeout", (phase, steps, prepare) => {
  const timedOut = () => {
    const story = new Story(steps, { timeoutSeconds: 10 });
    prepare(story);
    expect(story.step.phase).toBe(phase);
    story.reload();
    return story;
  };

  test("fails with Timeout in its current step, and not earlier", () => {
    const story = timedOut();
    expect(story.later(9_999).verdict.type).toBe("ignored");
    const change = story.later(1);
    const error = { code: "Timeout", type: "JobTimeout", message: expect.stringContaining("after 10 s") };
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { ...error, step: "a", attempt: 1 } });
    expect(change.entries).toMatchObject([{ type: "step.failed", step: "a", error }, { type: "job.failed" }]);
    expect(foldSteps(story.job.input, story.entries)).toMatchObject([{ status: "failure", error }]);
    expect(timeoutAtOf(story.job.state)).toBeNull();
  });

  test("has its whole time again after a resume", () => {
    const story = timedOut();
    story.later(10_000);
    story.now += 5_000;
    story.apply({ type: "job.resumed", by: someone });
    expect(timeoutAtOf(story.job.state)).toBeNull();
    story.later(3_000);
    expect(story.step).toMatchObject({ name: "a", visit: 1 });
    expect(timeoutAtOf(story.job.state)).toBe(story.now + 10_000);
    story.later(10_000);
    expect(story.status).toBe("FAILED");
  });
});

describe("a job with a timeout", () => {
  test("drops the outcome of the call that it gave up", () => {
    const story = new Story([call("a", null)], { timeoutSeconds: 10 });
    story.later(10_000);
    expect(story.succeed({}).verdict.type).toBe("ignored");
    expect(story.status).toBe("FAILED");
  });

  test("does not use `onFailure` when it times out", () => {
    const story = new Story([call("a", null, { onFailure: "b" }), noop("b", null)], { timeoutSeconds: 10 });
    story.later(10_000);
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { step: "a" } });
  });

  test("keeps its deadline across steps", () => {
    const story = new Story([call("a", "b"), wait("b", ["x", "y"], "c"), call("c", null)], { timeoutSeconds: 10 });
    const endsAt = story.now + 10_000;
    story.now += 4_000;
    story.succeed({});
    story.send("x");
    expect(timeoutAtOf(story.job.state)).toBe(endsAt);
    story.send("y");
    expect(timeoutAtOf(story.job.state)).toBe(endsAt);
    story.later(6_000);
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { step: "c" } });
  });

  test("can wait for room without a limit, because its time begins when it runs", () => {
    const story = new Story([call("a", null)], { timeoutSeconds: 10, hasRoom: false });
    expect(timeoutAtOf(story.job.state)).toBeNull();
    story.later(60_000);
    expect(story.step.phase).toBe("calling");
    expect(timeoutAtOf(story.job.state)).toBe(story.now + 10_000);
  });

  test("can fail between two steps, as in a chain that needs many commits", () => {
    const steps = Array.from({ length: 450 }, (_, index) => noop(`s${index}`, index === 449 ? null : `s${index + 1}`));
    const story = new Story(steps, { timeoutSeconds: 10, maxStepRuns: 1_000 });
    expect(story.step.phase).toBe("next");
    story.later(10_000);
    expect(story.job.state).toMatchObject({
      status: "FAILED",
      error: { type: "JobTimeout", step: "s200", attempt: 0 },
    });
    expect(foldSteps(story.job.input, story.entries).at(-1)).toMatchObject({ name: "s199", status: "success" });
  });

  test("has no timeout in its state if the definition has none", () => {
    expect(JSON.stringify(new Story([call("a", null)]).job.state)).not.toContain("timeout");
  });
});

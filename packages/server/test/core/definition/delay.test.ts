import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { delayEnd, readDelay } from "../../../src/core/definition/delay.ts";
import { foldSteps } from "../../../src/core/job/history.ts";
import { isTerminal, wakeAtOf } from "../../../src/core/job/job-state.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, delay, noop, Story, someone, wait } from "../job/jobs.ts";
import { parse, workflow } from "../job/sketches.ts";

const ref = { $ref: "#/definitions/any" };

function problemsOf(config: JsonObject, more: JsonObject = {}) {
  const integrationDetails = { type: "/service/delay", config, inputDefinition: ref, outputDefinition: ref };
  return parse(workflow([{ name: "sleep", integrationDetails, transitionToStep: null, ...more }])).problems;
}

describe("a delay is rejected", () => {
  test.each<[string, JsonObject, string, string]>([
    ["without a time", {}, "", "exactly one of `seconds`"],
    ["with both times", { seconds: 1, until: "2026-01-31T12:00:00Z" }, "", "exactly one of `seconds`"],
    ["of a negative time", { seconds: -1 }, "/seconds", "must be 0 or more"],
    ["of more than a year", { seconds: 31_536_001 }, "/seconds", "must be 31536000 or less"],
    ["of seconds as text", { seconds: "5" }, "/seconds", "must be a number"],
    ["until a time after the year 9999", { until: "9999-12-31T23:59:59-05:00" }, "/until", "before the year 10000"],
    ["until a day", { until: "2026-01-31" }, "/until", "must be a time as in"],
    ["until a time without a zone", { until: "2026-01-31T12:00:00" }, "/until", "must be a time as in"],
    ["until a number", { until: 5 }, "/until", "must be a string"],
    ["with another field", { seconds: 5, minutes: 1 }, "/minutes", ""],
  ])("%s", (_, config, pointer, words) => {
    const at = `/steps/0/integrationDetails/config${pointer}`;
    expect(problemsOf(config)).toEqual([{ pointer: at, detail: expect.stringContaining(words) }]);
  });

  test("with a timeout or a retry policy", () => {
    expect(
      problemsOf({ seconds: 5 }, { timeoutSeconds: 6, retry: {} }).map(({ pointer, detail }) => [pointer, detail]),
    ).toEqual([
      ["/steps/0/retry", expect.stringContaining("nothing to try again")],
      ["/steps/0/timeoutSeconds", expect.stringContaining("lasts as long as its config says")],
    ]);
  });
});

test.each([
  [{ seconds: 31_536_001 }, "seconds", "for a longer delay, use `until`"],
  [{ seconds: -1 }, "seconds", "from 0 to 31536000 (a year)"],
  [{ until: "tomorrow" }, "until", "as in 2026-01-31T12:00:00Z"],
  [{}, "", "exactly one"],
])("a delay of %o is rejected", (config, field, words) => {
  expect(readDelay(config)).toEqual({ field, problem: expect.stringContaining(words) });
});

test.each([
  [{ seconds: 1.5 }, 2_500],
  [{ seconds: 0 }, 1_000],
  [{ until: "1970-01-01T00:00:05Z" }, 5_000],
  [{ until: "1970-01-01t01:00:05.250+01:00" }, 5_250],
  [{ until: "2016-12-31T23:59:60Z" }, Date.parse("2017-01-01T00:00:00Z")],
])("a delay of %o that begins a second after 1970 ends at %i", (config, end) => {
  const read = readDelay(config);
  expect("problem" in read ? read.problem : delayEnd(read, 1_000)).toBe(end);
});

describe("a job in a delay", () => {
  test("sleeps until its time, and passes on the received value", () => {
    const story = new Story([delay("sleep", { seconds: 60 }, "next"), call("next", null)], { input: { sku: "A" } });
    const begunAt = story.now;
    expect(story.step).toMatchObject({ phase: "delayed", name: "sleep", wakeAt: begunAt + 60_000 });
    expect(story.entries.at(-1)).toMatchObject({ type: "step.delayed", visit: 1, delayEndsAt: begunAt + 60_000 });
    expect(story.later(59_999).verdict.type).toBe("ignored");
    expect(story.later(1).effects).toMatchObject([{ step: "next", input: { sku: "A" } }]);
  });

  test("continues at once if the time has passed", () => {
    const story = new Story([delay("sleep", { until: "1970-01-01T00:00:05Z" }, "b"), noop("b", null)]);
    expect(story.status).toBe("SUCCEEDED");
    expect(story.types).not.toContain("step.delayed");
  });

  test("is shown as waiting, with the end of the delay, until it continues", () => {
    const story = new Story([delay("sleep", { seconds: 60 }, null)]);
    const runs = () => foldSteps(story.job.input, story.entries);
    expect(runs()).toMatchObject([{ status: "successful_but_incomplete", delayEndsAt: story.now + 60_000 }]);
    story.later(60_000);
    expect(runs()).toMatchObject([{ status: "success", finishedAt: story.now }]);
    expect(runs()[0]).not.toHaveProperty("delayEndsAt");
  });

  test("sleeps until the same time when it is cancelled and resumed", () => {
    const story = new Story([delay("sleep", { seconds: 60 }, null)]);
    const endsAt = story.now + 60_000;
    story.now += 20_000;
    story.apply({ type: "job.cancelled", by: someone });
    expect(foldSteps(story.job.input, story.entries)).toMatchObject([{ status: "successful_but_incomplete" }]);
    story.reload();
    story.now += 20_000;
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    expect(story.step).toMatchObject({ phase: "delayed", visit: 1, attempt: 2, wakeAt: endsAt });
    story.later(20_000);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("continues at once when it is resumed after its time", () => {
    const story = new Story([delay("sleep", { seconds: 60 }, null)]);
    story.apply({ type: "job.cancelled", by: someone });
    story.now += 60_000;
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("does not sleep again after a resume if it failed when it woke, because the delay counts from the entry into the step", () => {
    const definitions = { sku: { type: "object", properties: { sku: { type: "string" } } } };
    const story = new Story([delay("sleep", { seconds: 60 }, null, { output: "sku" })], {
      definitions,
      input: { sku: 5 },
    });
    story.later(60_000);
    expect(story.status).toBe("FAILED");
    story.reload();
    story.now += 10_000;
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    expect(story.status).toBe("FAILED");
    expect(story.types.filter((type) => type === "step.delayed")).toHaveLength(1);
  });

  test("keeps events for a later wait", () => {
    const story = new Story([delay("sleep", { seconds: 60 }, "gate"), wait("gate", ["go"], null)]);
    expect(story.send("go")).toBe("buffered");
    story.later(60_000);
    expect(story.status).toBe("SUCCEEDED");
  });

  test("fails when it wakes with a value that does not fit its output definition, and `onFailure` can handle the failure", () => {
    const definitions = { sku: { type: "object", properties: { sku: { type: "string" } } } };
    const steps = [delay("sleep", { seconds: 1 }, null, { output: "sku", onFailure: "tell" }), call("tell", null)];
    const story = new Story(steps, { definitions, input: { sku: 5 } });
    expect(story.later(1_000).effects).toMatchObject([{ step: "tell" }]);
  });
});

test("a job of delays ends, whatever the times of its timers and however often it is cancelled and resumed", () => {
  const steps = [delay("a", { seconds: 3 }, "b"), delay("b", { seconds: 5 }, null)];
  const moves = fc.array(
    fc.record({ ms: fc.integer({ min: 0, max: 4_000 }), what: fc.constantFrom("wake", "cancel", "resume") }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(moves, (chosen) => {
      const story = new Story(steps);
      const begunAt = story.now;
      for (const { ms, what } of chosen) {
        story.now += ms;
        if (what === "wake") story.apply({ type: "timer.due" });
        else story.apply({ type: what === "cancel" ? "job.cancelled" : "job.resumed", by: someone });
      }
      if (story.status === "CANCELLED") story.apply({ type: "job.resumed", by: someone });
      while (!isTerminal(story.job.state.status)) {
        story.now = Math.max(story.now, wakeAtOf(story.job.state) ?? Number.NaN);
        story.apply({ type: "timer.due" });
      }
      expect(story.status).toBe("SUCCEEDED");
      expect(story.now - begunAt).toBeGreaterThanOrEqual(8_000);
      const runs = foldSteps(story.job.input, story.entries);
      expect(runs.map(({ name, status }) => [name, status])).toEqual([
        ["a", "success"],
        ["b", "success"],
      ]);
    }),
  );
});

import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallName, callNameOf, callsOf, compareCalls } from "../../../src/core/job/call.ts";
import type { Failure, UntimedFact } from "../../../src/core/job/fact.ts";
import { foldSteps } from "../../../src/core/job/history.ts";
import { submitJob } from "../../../src/core/job/job.ts";
import { standsOf } from "../../../src/core/job/job-state.ts";
import { call, jobLimits, noop, planOf, Story, someone, wait } from "./jobs.ts";

const permanent: Failure = { kind: "permanent", error: { code: "ExecutorError", message: "no luck" } };
const order = {
  type: "object",
  properties: { sku: { type: "string" }, count: { type: "integer" } },
  required: ["sku", "count"],
  additionalProperties: false,
};

describe("a job whose steps have no calls", () => {
  test("runs to its end in the commit that accepts it", () => {
    const story = new Story([noop("a", "b"), noop("b", "c"), noop("c", null)], { input: { sku: "A" } });
    expect(story.status).toBe("SUCCEEDED");
    expect(story.types).toEqual([
      "job.submitted",
      "job.started",
      ...["a", "b", "c"].flatMap(() => ["step.started", "step.succeeded"]),
      "job.succeeded",
    ]);
    expect(story.entries.map((entry) => entry.sequence)).toEqual(story.entries.map((_, index) => index + 1));
    expect(story.job.sequence).toBe(story.entries.length);
  });

  test("writes its input once, however many steps pass it on", () => {
    const story = new Story([noop("a", "b"), noop("b", null)], {
      input: { sku: "a value long enough to be found again" },
    });
    expect(JSON.stringify(story.entries)).not.toContain("long enough");
    expect(foldSteps(story.job.input, story.entries).map((run) => run.output)).toEqual([
      story.job.input,
      story.job.input,
    ]);
  });

  test("writes its input once, even if every step takes only its declared properties", () => {
    const text = "a value long enough to be found again";
    const closed = { type: "object", properties: { sku: {}, count: {} }, additionalProperties: false };
    const taking = { input: "closed", output: "closed" };
    const story = new Story([noop("a", "b", taking), noop("b", "c", taking), noop("c", null, taking)], {
      input: { sku: text },
      definitions: { closed },
    });
    expect(JSON.stringify(story.entries)).not.toContain("long enough");
    expect(foldSteps(story.job.input, story.entries).map((run) => run.output)).toEqual(Array(3).fill({ sku: text }));
  });

  test("continues in another commit after it has written much", () => {
    const closed = (...names: string[]) => ({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, {}])),
      additionalProperties: false,
    });
    const taking = (name: string) => ({ input: name, output: name });
    const steps = Array.from({ length: 20 }, (_, index) =>
      noop(`s${index}`, index === 19 ? null : `s${index + 1}`, taking(index % 2 === 0 ? "both" : "one")),
    );
    const story = new Story(steps, {
      input: { a: "x".repeat(900_000), b: "" },
      definitions: { both: closed("a", "b"), one: closed("a") },
    });
    while (story.status === "RUNNING") story.later(0);
    expect(story.status).toBe("SUCCEEDED");
    const sizes = story.changes.map(({ entries }) => JSON.stringify(entries).length);
    expect(Math.max(...sizes)).toBeLessThan(4_000_000);
    expect(foldSteps(story.job.input, story.entries).map((run) => run.status)).toEqual(Array(20).fill("success"));
  });

  test("continues in another commit after 200 steps", () => {
    const steps = Array.from({ length: 450 }, (_, index) => noop(`s${index}`, index === 449 ? null : `s${index + 1}`));
    const plan = planOf(steps);
    const limits = { ...jobLimits, maxStepRuns: 1_000 };
    const change = submitJob(plan, { ...new Story([noop("a", null)]).job, at: 5, hasRoomForCall: true }, limits);
    if ("problems" in change) throw new Error("rejected");
    expect(standsOf(change.job.state)).toMatchObject([{ phase: "next", name: "s200", wakeAt: 5 }]);
  });

  test("fails when it enters more steps than a job may enter", () => {
    const steps = [noop("a", "b"), noop("b", "a", { onFailure: "end", output: "never" }), noop("end", null)];
    // `b` cannot fail here, so the job never leaves the loop, although the definition has a way out of it.
    const story = new Story(steps, { definitions: { never: {} } });
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { code: "StepLimitExceeded" } });
    expect(story.types.filter((type) => type === "step.started")).toHaveLength(jobLimits.maxStepRuns);
  });
});

test("a node whose clock is behind never writes a time before a stored time, and sets timers by its own clock", () => {
  const story = new Story([wait("w", ["x"], "f"), call("f", null, { retry: { maxAttempts: 2, jitter: false } })]);
  const submittedAt = story.now;
  story.now -= 30;
  story.send("x");
  story.fail();
  expect(story.entries.map((entry) => entry.at)).toEqual(story.entries.map(() => submittedAt));
  expect(story.step).toMatchObject({ phase: "retrying", wakeAt: submittedAt - 30 + 1_000 });
  story.later(1_000);
  story.succeed({});
  expect(story.job).toMatchObject({
    createdAt: submittedAt,
    finishedAt: submittedAt + 970,
    updatedAt: submittedAt + 970,
  });
});

describe("the input of a job", () => {
  test("is rejected with pointers, without a job, if it does not fit the first step", () => {
    const plan = planOf([noop("a", null, { input: "order" })], { order });
    const change = submitJob(
      plan,
      { ...new Story([noop("a", null)]).job, input: { sku: 5 }, at: 1, hasRoomForCall: true },
      jobLimits,
    );
    expect("problems" in change && change.problems.map((problem) => problem.pointer).sort()).toEqual([
      "/count",
      "/sku",
    ]);
  });
});

describe("the value that a step receives", () => {
  test("is, with a closed input definition, each property from the nearest earlier output that has it, or else from the job's input", () => {
    const closed = (...names: string[]) => ({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, {}])),
      additionalProperties: false,
    });
    const story = new Story([call("first", "second"), call("second", "third"), call("third", null, { input: "abc" })], {
      input: { a: "job", b: "job", c: "job", d: "job" },
      definitions: { abc: closed("a", "b", "c") },
    });
    story.succeed({ a: "first", b: "first" });
    const change = story.succeed({ b: "second", x: 1 });
    expect(change.effects[0]?.input).toEqual({ a: "first", b: "second", c: "job" });
  });

  test("is, with an open input definition, the whole previous output", () => {
    const story = new Story([call("first", "second"), call("second", null)], { input: { a: "job" } });
    expect(story.changes[0]?.effects[0]?.input).toEqual({ a: "job" });
    expect(story.succeed({ z: [1, 2] }).effects[0]?.input).toEqual({ z: [1, 2] });
  });

  test("is, after a failure and with an open input definition, the last existing output", () => {
    const story = new Story(
      [call("first", "second"), call("second", null, { onFailure: "undo" }), call("undo", null)],
      {
        input: { a: "job" },
      },
    );
    story.succeed({ reserved: true });
    expect(story.fail().effects[0]).toMatchObject({ step: "undo", input: { reserved: true } });
  });

  test("can be null", () => {
    const closed = { type: "object", properties: { a: {} }, additionalProperties: false };
    const story = new Story(
      [call("first", "second"), call("second", "third", { input: "closed" }), call("third", null)],
      {
        input: { a: "job" },
        definitions: { closed },
      },
    );
    expect(story.succeed({ a: null }).effects[0]?.input).toEqual({ a: null });
    expect(story.succeed(null).effects[0]?.input).toBe(null);
  });

  test("stays in the job's state only while a later step may read it", () => {
    const sku = { type: "object", properties: { sku: {} }, additionalProperties: false };
    const story = new Story(
      [
        call("first", "second"),
        call("second", "third"),
        call("third", "fourth", { input: "sku" }),
        call("fourth", null),
      ],
      { definitions: { sku } },
    );
    story.succeed({ sku: "A", rest: "x".repeat(100) });
    story.succeed({ done: true });
    expect(story.job.state).toMatchObject({ cursors: [{ carried: { properties: { sku: "A" } } }] });
    story.succeed({});
    expect(story.job.state).toMatchObject({ cursors: [{ carried: { properties: {} } }] });
  });

  test("can have a property with the name of an object's inherited member", () => {
    const odd = { type: "object", properties: { constructor: {}, toString: {} }, additionalProperties: false };
    const story = new Story([call("first", "toString"), call("toString", null, { input: "odd" })], {
      definitions: { odd },
    });
    expect(story.succeed({ toString: 1 }).effects[0]?.input).toEqual({ toString: 1 });
  });
});

describe("a step whose value does not fit its definition", () => {
  test("fails with OutputMismatch, pointer and type, and is not retried", () => {
    const retry = { maxAttempts: 5 };
    const story = new Story([call("a", null, { output: "order", retry })], { definitions: { order } });
    story.succeed({ sku: "A", count: "three" });
    expect(story.job.state).toMatchObject({
      status: "FAILED",
      error: { code: "OutputMismatch", step: "a", attempt: 1 },
    });
    expect(story.job.state).toMatchObject({ error: { message: expect.stringMatching(/\/count .*string/) } });
  });

  test("fails with InputMismatch before the call, and onFailure can handle it", () => {
    const story = new Story(
      [call("a", "b"), call("b", null, { input: "order", onFailure: "tell" }), noop("tell", null)],
      { definitions: { order } },
    );
    const change = story.succeed({ sku: "A" });
    expect(change.effects).toEqual([]);
    expect(story.types).toContain("step.failed");
    expect(story.status).toBe("SUCCEEDED");
  });
});

describe("a wait step", () => {
  test("continues if and only if all of its events are present, in any order, early, late and twice", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(["e1", "e2", "e3", "e4"]),
        fc.array(fc.constantFrom("e1", "e2", "e3", "e4"), { maxLength: 6 }),
        fc.boolean(),
        (some, repeats, early) => {
          const story = new Story([call("first", "wait"), wait("wait", ["e1", "e2", "e3", "e4"], null)]);
          if (!early) story.succeed({});
          const received = new Set<string>();
          for (const eventId of [...some, ...repeats]) {
            if (story.status !== "RUNNING") break;
            const outcome = story.send(eventId);
            expect(outcome).toBe(received.has(eventId) ? "duplicate" : early ? "buffered" : "matched");
            received.add(eventId);
          }
          if (early) story.succeed({});
          expect(story.status).toBe(received.size === 4 ? "SUCCEEDED" : "RUNNING");
        },
      ),
      { numRuns: tries(200) },
    );
  });

  test("ends in the same history whatever the order of its events", () => {
    const endings = [
      ["x", "y"],
      ["y", "x"],
    ].map((eventIds) => {
      const story = new Story([wait("w", ["x", "y"], "after"), noop("after", null)], { input: { a: 1 } });
      for (const eventId of eventIds) story.send(eventId);
      return foldSteps(story.job.input, story.entries);
    });
    expect(endings[0]).toEqual(endings[1]);
  });

  test("shows the received and the missing events", () => {
    const story = new Story([wait("w", ["x", "y", "z"], null)]);
    story.send("y");
    expect(story.step).toMatchObject({ phase: "waiting", missingEventIds: ["x", "z"] });
  });

  test("consumes its events: the next visit needs new ones", () => {
    const story = new Story([wait("w", ["x"], "f"), call("f", "w", { onFailure: "end" }), noop("end", null)]);
    expect(story.send("x")).toBe("matched");
    expect(story.send("x")).toBe("buffered");
    expect(story.send("x")).toBe("duplicate");
    story.succeed({});
    expect(story.step).toMatchObject({ phase: "calling", name: "f", visit: 2 });
    story.succeed({});
    expect(story.step).toMatchObject({ phase: "waiting", name: "w", visit: 3, missingEventIds: ["x"] });
  });

  test.each([
    ["any", ["y"]],
    [2, ["z", "x"]],
  ])("with match %s continues after that number of events", (match, eventIds) => {
    const story = new Story([wait("w", ["x", "y", "z"], null, { match })]);
    for (const eventId of eventIds) {
      expect(story.status).toBe("RUNNING");
      story.send(eventId);
    }
    expect(story.status).toBe("SUCCEEDED");
  });

  test("fails with Timeout at its timeout, and waits again after a resume, with the events that it has", () => {
    const story = new Story([wait("w", ["x", "y"], null, { timeoutSeconds: 60 })]);
    story.send("x");
    expect(story.later(59_999).verdict.type).toBe("ignored");
    story.later(1);
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { code: "Timeout", step: "w" } });
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    expect(story.step).toMatchObject({ phase: "waiting", visit: 1, attempt: 2, missingEventIds: ["y"] });
    story.send("y");
    expect(story.status).toBe("SUCCEEDED");
  });
});

describe("an event", () => {
  test("is kept, counted, and called unmatched if no step lists its id", () => {
    const story = new Story([wait("w", ["x"], null)]);
    expect(story.send("X")).toBe("unmatched");
    expect(story.step).toMatchObject({ missingEventIds: ["x"] });
    expect(story.job.state).toMatchObject({ progress: { eventCount: 1, unmatchedCount: 1 } });
    expect(story.changes.at(-1)?.events).toMatchObject([{ type: "kept", eventId: "X", outcome: "unmatched" }]);
  });

  test("is rejected if the job has ended, or if the job has too many events", () => {
    const finished = new Story([noop("a", null)]);
    expect(
      finished.apply({ type: "event.received", eventId: "x", sentBy: someone, keptAs: null }).verdict,
    ).toMatchObject({
      type: "rejected",
      code: "ConflictError",
    });
    const full = new Story([wait("w", ["x"], null)]);
    for (let count = 0; count < jobLimits.maxEvents; count += 1) full.send(`other ${count}`);
    expect(full.apply({ type: "event.received", eventId: "another", sentBy: someone, keptAs: null })).toMatchObject({
      verdict: { type: "rejected", code: "RateLimitError", detail: expect.stringContaining("no step of its version") },
      entries: [],
    });
  });

  test("an event that a step lists is accepted however many unmatched events the job has, up to a limit of its own", () => {
    const ids = Array.from({ length: jobLimits.maxEvents + 1 }, (_, index) => `x ${index}`);
    const story = new Story([wait("w", ids, null)]);
    for (let count = 0; count < jobLimits.maxEvents; count += 1) story.send(`other ${count}`);
    expect(ids.slice(1).map((id) => story.send(id))).toEqual(ids.slice(1).map(() => "matched"));
    expect(
      story.apply({ type: "event.received", eventId: "x 0", sentBy: someone, keptAs: null }).verdict,
    ).toMatchObject({
      type: "rejected",
      code: "RateLimitError",
      detail: expect.stringContaining("for its wait steps"),
    });
  });

  test("can have the name of an object's inherited member", () => {
    const story = new Story([wait("w", ["__proto__", "constructor"], null)]);
    expect(story.send("constructor")).toBe("matched");
    expect(story.send("constructor")).toBe("duplicate");
    expect(story.send("__proto__")).toBe("matched");
    expect(story.status).toBe("SUCCEEDED");
  });
});

describe("the calls of a job", () => {
  test("a failed call is retried as the policy says, and then fails the job", () => {
    const retry = { maxAttempts: 3, initialIntervalSeconds: 2, backoffRate: 3, maxIntervalSeconds: 5, jitter: false };
    const story = new Story([call("a", null, { retry })]);
    story.fail();
    expect(story.step).toMatchObject({ phase: "retrying", wakeAt: story.now + 2_000 });
    expect(story.later(2_000).effects[0]).toMatchObject({ attempt: 2 });
    story.fail();
    expect(story.step).toMatchObject({ phase: "retrying", wakeAt: story.now + 5_000 });
    story.later(5_000);
    story.fail();
    expect(story.job.state).toMatchObject({
      status: "FAILED",
      error: { code: "ExecutorError", step: "a", attempt: 3 },
    });
  });

  test.each([
    ["ordinary", "FAILED"],
    ["permanent", "FAILED"],
    ["transient", "RUNNING"],
  ] as const)("a call without a policy that fails as %s leaves the job %s", (kind, status) => {
    const story = new Story([call("a", null)]);
    story.fail(kind);
    expect(story.status).toBe(status);
  });

  describe.each<[name: string, outcome: (call: CallName) => UntimedFact]>([
    ["success", (call) => ({ type: "step.succeeded", ...call, output: {} })],
    ["failure", (call) => ({ type: "step.failed", ...call, failure: permanent, random: 1 })],
    ["interruption", (call) => ({ type: "step.interrupted", ...call, isNodeDead: true })],
    ["handing back", (call) => ({ type: "call.handedBack", ...call, begun: true })],
  ])("a call for which a %s is reported", (_name, outcome) => {
    test.each<[name: string, other: Partial<CallName>]>([
      ["an earlier epoch", { epoch: 1 }],
      ["a later epoch", { epoch: 3 }],
      ["another branch", { branch: "fan-out:1[0]" }],
      ["another step", { step: "b" }],
      ["another visit", { visit: 2 }],
    ])("does not change if the report has %s", (_what, other) => {
      const story = new Story([call("a", "b"), call("b", null)]);
      story.interrupt();
      const before = story.job;
      expect(story.call).toEqual({ branch: "", step: "a", visit: 1, epoch: 2 });
      expect(story.apply(outcome({ ...story.call, ...other }))).toMatchObject({
        entries: [],
        effects: [],
        verdict: { type: "ignored" },
      });
      expect(story.job).toBe(before);
      story.apply(outcome(story.call));
      expect(story.job).not.toEqual(before);
    });
  });

  test("a call that crashes its node again and again fails its job", () => {
    const story = new Story([call("a", null)]);
    for (let count = 0; count < 8; count += 1) story.interrupt();
    expect(story.job.state).toMatchObject({
      status: "FAILED",
      error: { code: "Interrupted", message: expect.stringContaining("was lost 8 times") },
    });
  });

  test("a call becomes a suspect when two nodes have died during it; only later deaths count against the call, and losses on living nodes do not", () => {
    const story = new Story([call("a", null)]);
    const lose = (isNodeDead: boolean) => story.interrupt(isNodeDead).effects[0]?.isSuspect;
    expect([lose(true), lose(false), lose(false), lose(true)]).toEqual([false, false, false, true]);
    for (let count = 3; count <= 7; count += 1) expect(lose(true)).toBe(true);
    expect(story.status).toBe("RUNNING");
    lose(true);
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { code: "Interrupted" } });
  });

  test("a call keeps its attempt number if it is handed back before it began", () => {
    const story = new Story([call("a", null)]);
    story.handBack(false);
    expect(story.later(0).effects[0]).toMatchObject({ attempt: 1 });
    story.handBack(true);
    expect(story.later(0).effects[0]).toMatchObject({ attempt: 2 });
  });

  test("a call waits in the store while no node has room for it", () => {
    const story = new Story([call("a", null)], { hasRoom: false });
    expect(story.status).toBe("PENDING");
    expect(story.send("early")).toBe("unmatched");
    expect(story.later(0).effects).toHaveLength(1);
    expect(story.status).toBe("RUNNING");
  });
});

describe("cancel and resume", () => {
  test("a cancelled job is final except for a resume, which continues the visit with a new attempt", () => {
    const story = new Story([call("a", "b"), call("b", null)], { input: { n: 1 } });
    story.succeed({ from: "a" });
    story.apply({ type: "job.cancelled", by: someone });
    expect(story.status).toBe("CANCELLED");
    expect(story.succeed({}).verdict.type).toBe("ignored");
    expect(story.apply({ type: "job.cancelled", by: someone }).verdict.type).toBe("ignored");
    story.apply({ type: "job.resumed", by: someone });
    expect(story.status).toBe("PENDING");
    expect(story.later(0).effects[0]).toMatchObject({ step: "b", visit: 1, attempt: 2, input: { from: "a" } });
    expect(foldSteps(story.job.input, story.entries).map((run) => [run.name, run.status, run.attempts])).toEqual([
      ["a", "success", 1],
      ["b", "running", 2],
    ]);
  });

  test("a wait of a cancelled job is not a failure, but a call that the job gave up is one", () => {
    const last = (story: Story) => foldSteps(story.job.input, story.entries).at(-1);
    const waiting = new Story([wait("w", ["x"], null)]);
    waiting.apply({ type: "job.cancelled", by: someone });
    expect(last(waiting)).toMatchObject({ status: "successful_but_incomplete", finishedAt: waiting.job.finishedAt });
    expect(last(waiting)).not.toHaveProperty("error");
    expect(last(waiting)).not.toHaveProperty("waitingSince");
    waiting.apply({ type: "job.resumed", by: someone });
    waiting.later(0);
    expect(last(waiting)).toMatchObject({ status: "successful_but_incomplete", attempts: 2 });
    expect(last(waiting)).not.toHaveProperty("finishedAt");

    const calling = new Story([call("c", null)]);
    calling.apply({ type: "job.cancelled", by: someone });
    expect(last(calling)).toMatchObject({ status: "failure", error: { code: "Cancelled" } });
  });

  test("a job that succeeded can be neither cancelled nor resumed", () => {
    const story = new Story([noop("a", null)]);
    for (const type of ["job.cancelled", "job.resumed"] as const) {
      expect(story.apply({ type, by: someone }).verdict).toMatchObject({ type: "rejected", code: "ConflictError" });
    }
  });

  test("a resumed job has all of its attempts again", () => {
    const retry = { maxAttempts: 2, initialIntervalSeconds: 1, jitter: false };
    const story = new Story([call("a", null, { retry })]);
    story.fail();
    story.later(1_000);
    story.fail();
    story.apply({ type: "job.resumed", by: someone });
    story.later(0);
    story.fail();
    expect(story.step).toMatchObject({ phase: "retrying", attempt: 3 });
  });
});

test("after any facts, histories have no gaps, finished jobs stay finished, and each call that begins has one effect, under a new epoch", () => {
  const fact = fc.oneof(
    fc.constantFrom("x", "y", "z").map((eventId) => (story: Story) => void story.send(eventId)),
    fc.constant((story: Story) => void story.succeed({ ok: true })),
    fc
      .constantFrom("ordinary" as const, "permanent" as const, "transient" as const)
      .map((kind) => (story: Story) => void story.fail(kind)),
    fc.constant((story: Story) => void story.interrupt()),
    fc.constant((story: Story) => void story.handBack(true)),
    fc.integer({ min: 0, max: 120_000 }).map((ms) => (story: Story) => void story.later(ms)),
    fc.constant((story: Story) => void story.apply({ type: "job.cancelled", by: someone })),
    fc.constant((story: Story) => void story.apply({ type: "job.resumed", by: someone })),
  );
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 40 }), (facts) => {
      const story = new Story([
        call("a", "w", { retry: { maxAttempts: 2 } }),
        wait("w", ["x", "y"], "b", { timeoutSeconds: 60 }),
        call("b", "w", { onFailure: "end" }),
        noop("end", null),
      ]);
      for (const apply of facts) {
        const before = story.job;
        apply(story);
        if (before.state.status === "SUCCEEDED") expect(story.job).toEqual(before);
        const change = story.changes.at(-1);
        expect(change?.entries.map((entry) => entry.sequence)).toEqual(
          change?.entries.map((_, index) => before.sequence + 1 + index),
        );
        const { made, ended } = compareCalls(before.state, story.job.state);
        expect(change?.effects.map(callNameOf)).toEqual(made);
        for (const { epoch } of made) expect(epoch).toBeGreaterThan(before.leaseEpoch);
        const changed = new Set([...made, ...ended].map(({ branch }) => branch));
        const kept = callsOf(before.state).filter(({ branch }) => !changed.has(branch));
        expect(callsOf(story.job.state)).toEqual([...kept, ...made]);
        expect(JSON.parse(JSON.stringify(story.job))).toEqual(story.job);
      }
    }),
    { numRuns: tries(500) },
  );
});

import { describe, expect, test } from "vitest";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import { foldSteps } from "../../../src/core/job/history.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { toTime } from "../../../src/core/time.ts";
import { call, delay, jobLimits, noop, Story, someone, transform, wait } from "../job/jobs.ts";

/** Returns the runs of the steps, in the order of their start, each with its input and its output or error. */
function runs({ job, entries }: Story) {
  return foldSteps(job.input, entries).map(({ name, input, output, error }) => ({ name, input, output, error }));
}

describe("`input` of a step", () => {
  test("is the value that the step receives, made of the job's input and outputs of earlier steps", () => {
    const input = { sku: "${ input.sku }", id: "${ steps.reserve.output.id }", text: "for ${ input.sku }: $${ 1 }" };
    const story = new Story([call("reserve", "ship"), call("ship", null, { mapping: { input } })], {
      input: { sku: "A", count: 2 },
    });
    story.succeed({ id: 7, much: "more" });
    expect(runs(story)[1]).toMatchObject({ input: { sku: "A", id: 7, text: "for A: ${ 1 }" } });
  });

  test("can ask whether a step has run, and which events a wait has consumed", () => {
    const input = {
      hasRun: "${ has(steps.later.output) }",
      by: "${ events.approved.payload.by }",
      at: "${ events['approved'].sentAt }",
    };
    const story = new Story([
      wait("gate", ["approved"], "a"),
      transform("a", input, "b"),
      noop("b", "later"),
      call("later", null),
    ]);
    story.send("approved", { payload: { by: "Ada", secret: "x".repeat(10_000) } });
    expect(runs(story)[1]?.output).toEqual({ hasRun: false, by: "Ada", at: "1970-01-01T00:16:40.000Z" });
    expect(JSON.stringify(story.job.state)).not.toContain("xxx");
  });

  test.each<[string, JsonValue | undefined]>([
    ["no payload", undefined],
    ["a payload without the property", { note: "n" }],
    ["a payload that is no object", "text"],
  ])("reads only the newest event of an id: after one with %s, no data of an earlier event is left", (_, second) => {
    const by = "${ has(events.x.payload.by) ? events.x.payload.by : 'nobody' }";
    const story = new Story([wait("one", ["x"], "two"), wait("two", ["x"], "c"), transform("c", { by }, null)]);
    story.send("x", { payload: { by: "Ada" } });
    story.send("x", second === undefined ? {} : { payload: second });
    expect(runs(story)[2]?.output).toEqual({ by: "nobody" });
  });

  test("fails its step if an expression has no value, and `onFailure` can handle the failure", () => {
    const input = "${ steps.a.output.missing }";
    const told = "${ error.code } in ${ error.step }: ${ error.message }";
    const story = new Story([
      call("a", "b"),
      { ...transform("b", input, null), onFailure: "c" },
      transform("c", { told }, null),
    ]);
    story.succeed({ there: 1 });
    expect(story.status).toBe("SUCCEEDED");
    expect(runs(story)[1]).toMatchObject({ input: null, error: { code: "ExpressionFailed" } });
    expect(runs(story)[2]?.output).toEqual({
      told: expect.stringMatching(/^ExpressionFailed in b: In `input` of b, `steps\.a\.output\.missing`/),
    });
  });

  test("an `input` of the first step is evaluated when the job is submitted", () => {
    const steps = [transform("a", { id: "${ input.order.id }" }, null)];
    expect(() => new Story(steps, { input: { order: {} } })).toThrow("In `input`");
    expect(new Story(steps, { input: { order: { id: 3 } } }).status).toBe("SUCCEEDED");
  });
});

describe("`output` of a step", () => {
  test("is made of the step's raw result, and later steps see only this output", () => {
    const story = new Story([
      call("a", "b", { mapping: { output: { id: "${ result.body.id }", all: "${ result }" } } }),
      noop("b", null),
    ]);
    story.succeed({ body: { id: 5 } });
    expect(runs(story)[1]?.input).toEqual({ id: 5, all: { body: { id: 5 } } });
  });
});

describe("a choice", () => {
  const choice = {
    choose: [
      { if: "output.total > 100", then: "big" },
      { if: "output.total > 10", then: "middle" },
    ],
    else: null,
  };
  const steps = [call("a", null, { transitionToStep: choice }), noop("big", null), noop("middle", null)];

  test.each([
    [500, ["a", "big"]],
    [50, ["a", "middle"]],
    [5, ["a"]],
  ])("a choice with %d leads to %j", (total, names) => {
    const story = new Story(steps);
    story.succeed({ total });
    expect(story.status).toBe("SUCCEEDED");
    expect(runs(story).map(({ name }) => name)).toEqual(names);
    const ended = story.entries.find((entry) => entry.type === "step.succeeded");
    expect(ended).toMatchObject({ next: names[1] ?? null });
  });

  test("a choice whose condition is neither true nor false fails its step", () => {
    const story = new Story([
      call("a", null, { transitionToStep: { choose: [{ if: "output.total", then: "a" }], else: null } }),
    ]);
    story.succeed({ total: 1 });
    expect(story.status).toBe("FAILED");
    expect(runs(story)[0]).toMatchObject({ error: { code: "ExpressionFailed" } });
  });
});

test("a loop can count with its step's earlier output, and ends by a condition", () => {
  const n = "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }";
  const next = { choose: [{ if: "output.n < 1000", then: "count" }], else: null };
  const story = new Story([transform("count", { n }, next)], { maxStepRuns: 1_001 });
  while (story.status === "RUNNING") story.later(0);
  expect(runs(story).at(-1)?.output).toEqual({ n: 1_000 });
});

describe("expressions in `config`", () => {
  test("can give the event ids of a wait, and an earlier event counts", () => {
    const eventIds = ["paid-${ input.id }", "approved"];
    const story = new Story([call("a", "gate"), wait("gate", eventIds, "b"), noop("b", null)], { input: { id: "7" } });
    expect(story.send("paid-7", { payload: { amount: 5 } })).toBe("buffered");
    story.succeed({});
    expect(story.step).toMatchObject({ phase: "waiting", missingEventIds: ["approved"] });
    expect(story.send("paid-8")).toBe("buffered");
    expect(story.send("approved")).toBe("matched");
    expect(story.status).toBe("SUCCEEDED");
  });

  test("can give the whole list of event ids, with the payload of an event that came early", () => {
    const decision = { type: "object", properties: { approved: { type: "boolean" } }, additionalProperties: false };
    const steps = [
      call("a", "gate"),
      { ...wait("gate", "${ input.people.map(one, 'by-' + one) }" as never, null), output: "decision" },
    ];
    const story = new Story(steps, { input: { people: ["ada", "bob"] }, definitions: { decision } });
    story.send("by-ada");
    story.send("by-bob", { payload: { approved: true } });
    story.succeed({});
    story.later(0);
    expect(story.status).toBe("SUCCEEDED");
    expect(runs(story)[1]?.output).toEqual({ approved: true });
  });

  test.each<[string, JsonValue[], UntimedFact]>([
    [
      "its last event comes",
      ["${ 'x' }", "y"],
      { type: "event.received", eventId: "y", sentBy: someone, keptAs: null },
    ],
    ["a timer is due", ["${ 'x' }"], { type: "timer.due" }],
  ])(
    "let a wait end one commit later if %s in the commit in which the wait begins, and no payload was read",
    (_, ids, fact) => {
      const story = new Story([
        call("a", "gate"),
        wait("gate", ids, "tell"),
        transform("tell", { by: "${ events.x.payload.by }" }, null),
      ]);
      story.send("x", { payload: { by: "me" } });
      story.applyTogether([{ type: "step.succeeded", ...story.call, output: {} }, fact]);
      expect(story.step).toMatchObject({ phase: "waiting", wakeAt: story.now });
      story.reload();
      story.later(0);
      expect(story.status).toBe("SUCCEEDED");
      expect(runs(story).at(-1)?.output).toEqual({ by: "me" });
    },
  );

  test("can give a list of which only some events are needed", () => {
    const gate = wait("gate", "${ input.ids }" as never, null, { match: 2 });
    const story = new Story([gate], { input: { ids: ["a", "b", "c"] } });
    story.send("c");
    expect(story.status).toBe("RUNNING");
    story.send("a");
    expect(story.status).toBe("SUCCEEDED");
    const short = new Story([gate], { input: { ids: ["a"] } });
    expect(runs(short)[0]?.error?.message).toContain("/match asks for 2 events");
  });

  test("give no invalid event id", () => {
    const story = new Story([wait("gate", ["${ input.id }"], null)], { input: { id: "a\nb" } });
    expect(runs(story)[0]?.error?.message).toContain("In `config` of gate, /eventIds/0 ");
  });

  test("let a job keep a limited number of events for later waits, and always those that the open wait lists", () => {
    const story = new Story([wait("gate", ["${ input.id }"], null)], { input: { id: "paid" }, maxEvents: 5_000 });
    for (let index = 0; index < 1_000; index += 1) expect(story.send(`other-${index}`)).toBe("buffered");
    expect(story.send("one-more")).toBe("RateLimitError");
    expect(story.send("paid")).toBe("matched");
    expect(story.status).toBe("SUCCEEDED");
  });

  test("fail the step if they give an invalid config", () => {
    const twice = new Story([wait("gate", ["${ input.id }", "a"], null)], { input: { id: "a" } });
    expect(runs(twice)[0]?.error).toMatchObject({
      code: "ExpressionFailed",
      message: expect.stringContaining("/eventIds/1 repeats"),
    });
    const slow = new Story([delay("sleep", { seconds: "${ input.seconds }" }, null)], { input: { seconds: "soon" } });
    expect(runs(slow)[0]?.error?.message).toMatch("In `config` of sleep, /seconds must be a number");
  });

  test.each<[string, JsonObject]>([
    ["/steps/0/integrationDetails/config/seconds", { seconds: "${ 1 + }" }],
    ["/steps/0/integrationDetails/config/until", { until: "at ${ input.at" }],
  ])("are rejected at registration if they cannot be parsed, at %s", (pointer, config) => {
    expect(() => new Story([delay("sleep", config, null)])).toThrow(`"pointer":"${pointer}"`);
  });

  test("can give the duration of a delay", () => {
    const story = new Story([delay("sleep", { seconds: "${ input.seconds * 2 }" }, null)], { input: { seconds: 30 } });
    expect(story.step).toMatchObject({ phase: "delayed", wakeAt: story.now + 60_000 });
  });

  test("give every attempt of a call the same config, also after a resume of the job", () => {
    const story = new Story(
      [
        {
          ...call("a", null, { retry: { maxAttempts: 2, jitter: false } }),
          type: "/service/http",
          config: { method: "POST", url: "https://example.com", body: { at: "${ now }", by: "${ input.by }" } },
        },
      ],
      { input: { by: "me" } },
    );
    const begun = toTime(story.now);
    const resume = () => {
      story.apply({ type: "job.resumed", by: someone });
      story.later(0);
    };
    story.fail();
    story.later(60_000);
    story.fail();
    expect(story.status).toBe("FAILED");
    story.now += 60_000;
    resume();
    story.interrupt();
    story.apply({ type: "job.cancelled", by: someone });
    story.reload();
    story.now += 60_000;
    resume();
    const made = story.changes.flatMap(({ effects }) => effects);
    expect(made.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    for (const { config } of made) expect(config).toMatchObject({ body: { at: begun, by: "me" } });
  });
});

describe("what a job carries for later steps", () => {
  const names = ["a", "b", "c", "d"];
  const gatherers = (read: (name: string) => string) => [
    ...names.map((name, index) => call(name, names[index + 1] ?? "sum")),
    transform("sum", Object.fromEntries(names.map((name) => [name, `\${ size(${read(name)}) }`])), null),
  ];

  test.each([
    ["whole outputs", (name: string) => `steps.${name}.output`, "`/steps/a/output` (6011 bytes)"],
    ["properties of outputs", (name: string) => `steps.${name}.output.text`, "`/steps/a/output/text` (6002 bytes)"],
  ])("has a bound: %s", (_, read, listed) => {
    const story = new Story(gatherers(read), { maxCarriedBytes: 20_000 });
    for (const _name of names) story.succeed({ text: "x".repeat(6_000) });
    expect(story.job.state).toMatchObject({
      status: "FAILED",
      error: { code: "ValueLimitExceeded", step: "sum", message: expect.stringContaining(listed) },
    });
    expect(runs(story).map(({ name, error }) => [name, error])).toEqual(names.map((name) => [name, undefined]));
  });

  test("includes only values that expressions read", () => {
    const story = new Story(
      gatherers((name) => `steps.${name}.output.id`),
      { maxCarriedBytes: 20_000 },
    );
    for (const name of names) story.succeed({ id: name, text: "x".repeat(6_000) });
    expect(story.status).toBe("SUCCEEDED");
  });

  test("does not stop a resumed job if the bound is higher by then", () => {
    const steps = gatherers((name) => `steps.${name}.output`);
    const story = new Story(steps, { maxCarriedBytes: 20_000 });
    for (const _name of names) story.succeed({ text: "x".repeat(6_000) });
    const higher = new Story(story.plan, { maxCarriedBytes: 30_000 });
    higher.job = story.job;
    higher.apply({ type: "job.resumed", by: someone });
    higher.later(0);
    expect(higher.status).toBe("SUCCEEDED");
  });
});

describe("the value of a template", () => {
  const twice = "${ input.text + input.text }";

  test.each([
    ["`input`", transform("a", { twice }, null)],
    ["`output`", noop("a", null, { mapping: { output: { twice } } })],
    ["`config`", wait("a", [twice], null)],
  ])("fails its step if %s is larger than an output can be", (what, step) => {
    const input = { text: "x".repeat(jobLimits.maxOutputBytes / 2) };
    const story = new Story([noop("start", "a"), step], { input });
    expect(story.status).toBe("FAILED");
    expect(runs(story)[1]?.error).toMatchObject({ code: "OutputTooLarge", message: expect.stringContaining(what) });
  });

  test("counts as work although it is not stored: many such steps need several commits", () => {
    const large = { input: {}, output: Array.from({ length: 12 }, () => "${ input.text }") };
    const names = Array.from({ length: 150 }, (_, index) => `s${index}`);
    const steps = names.map((name, index) => {
      const next = names[index + 1] ?? null;
      return { ...noop(name, next, { mapping: large }), ...(next !== null && { onFailure: next }) };
    });
    const story = new Story([noop("start", "s0"), ...steps], {
      input: { text: "\u0001".repeat(50_000) },
      maxStepRuns: 200,
      maxOutputBytes: 1_000_000,
    });
    expect(story.step).toMatchObject({ phase: "next" });
    expect(runs(story).length).toBeLessThan(5);
  });

  test.each(["${ {'__proto__': 1} }", "${ {input.key: 1} }", "${ merge({'a': 1}, {input.key: 1}) }"])(
    "has no forbidden key: %s",
    (made) => {
      const story = new Story([noop("start", "a"), transform("a", { made }, null)], { input: { key: "__proto__" } });
      expect(runs(story)[1]?.error).toMatchObject({
        code: "ExpressionFailed",
        message: expect.stringContaining("`__proto__`"),
      });
    },
  );

  test("has no key `prototype` under the key `constructor`, even if an expression gives the key", () => {
    const made = { constructor: "${ {input.key: 1} }" };
    const story = new Story([noop("start", "a"), transform("a", made, null)], { input: { key: "prototype" } });
    expect(runs(story)[1]?.error).toMatchObject({ code: "ExpressionFailed" });
  });
});

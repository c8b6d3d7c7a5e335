import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { payloadsToRead } from "../../../src/core/job/events/event-payloads.ts";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import { foldSteps } from "../../../src/core/job/history.ts";
import { standsOf } from "../../../src/core/job/job-state.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { call, noop, type StepSketch, Story, someone, wait } from "../job/jobs.ts";
import { closed, number, open, text } from "../job/sketches.ts";

const boolean = { type: "boolean" };
const definitions: Record<string, JsonObject> = {
  order: closed({ sku: text, count: number }),
  decided: closed({ sku: text, approved: boolean, comment: text }, ["sku"]),
  surelyDecided: closed({ sku: text, approved: boolean }),
  decision: closed({ approved: boolean, comment: text }, ["approved"]),
  recount: closed({ count: number }, []),
  nothing: closed({}),
  approval: closed({ approved: boolean }, []),
  commented: closed({ approved: boolean, comment: text }, []),
};
const order = { sku: "S", count: 1 };

function gate(name: string, next: string | null, output: string, more: Partial<StepSketch> = {}): StepSketch {
  return { ...wait(name, ["manager", "auditor"], next, { match: "any" }), input: "order", output, ...more };
}

function story(steps: readonly StepSketch[], input: JsonObject = order): Story {
  return new Story(steps, { input, definitions });
}

function runsOf({ job, entries }: Story) {
  return foldSteps(job.input, entries);
}

function outputOf(told: Story): JsonValue | undefined {
  return runsOf(told).at(-1)?.output;
}

describe("the output of a wait step", () => {
  test.each<[string, JsonObject | undefined, JsonObject]>([
    ["the declared properties of the payload", { approved: false }, { sku: "S", approved: false }],
    ["all declared properties", { approved: true, comment: "ok" }, { sku: "S", approved: true, comment: "ok" }],
    ["no undeclared property", { approved: true, boss: "me" }, { sku: "S", approved: true }],
    ["its former value, without a payload", undefined, { sku: "S" }],
    [
      "the input's own property where the payload has one of the same name",
      { sku: "other", approved: true },
      { sku: "S", approved: true },
    ],
  ])("has %s", (_name, payload, expected) => {
    const told = story([gate("g", null, "decided")]);
    expect(told.send("manager", payload === undefined ? {} : { payload })).toBe("matched");
    expect(told.status).toBe("SUCCEEDED");
    expect(outputOf(told)).toEqual(expected);
  });

  test.each<[string, JsonValue]>([
    ["a text", "yes"],
    ["a list", [{ approved: true }]],
    ["null", null],
  ])("has no property of a payload that is %s", (_name, payload) => {
    const told = story([gate("g", null, "decided")]);
    expect(told.send("manager", { payload })).toBe("matched");
    expect(outputOf(told)).toEqual({ sku: "S" });
  });

  test("has a property only from the event whose payload definition declares it, if the output definition is open", () => {
    const config = { payloadDefinitions: { manager: { $ref: "#/definitions/decision" } } };
    const step = { ...wait("g", ["manager", "auditor"], null, config), input: "order" };
    const told = story([step]);
    told.send("auditor", { payload: { approved: false, comment: "from the wrong event" } });
    told.send("manager", { payload: { approved: true } });
    expect(outputOf(told)).toEqual({ ...order, approved: true });
  });

  test("has a property of the input overwritten only by an event whose own payload definition declares it", () => {
    const config = { payloadDefinitions: { manager: { $ref: "#/definitions/recount" } } };
    const step = { ...wait("g", ["auditor", "manager"], null, config), input: "order", output: "order" };
    const told = story([step]);
    told.send("auditor", { payload: { count: 7 } });
    told.send("manager", { payload: { count: 2 } });
    expect(outputOf(told)).toEqual({ sku: "S", count: 2 });
  });

  test.each([["manager", "auditor"] as const, ["auditor", "manager"] as const])(
    "has the property of the event that is first in `eventIds`, also if %s came first",
    (...arrivals) => {
      const told = story([gate("g", null, "decided", { config: { eventIds: ["manager", "auditor"] } })]);
      for (const eventId of arrivals)
        told.send(eventId, { payload: { approved: eventId === "manager", comment: eventId } });
      expect(outputOf(told)).toEqual({ sku: "S", approved: true, comment: "manager" });
    },
  );

  test("is the input itself, written once, if the events had no payloads", () => {
    const told = story([{ ...gate("g", null, "order"), input: "order" }]);
    told.send("manager");
    const [output] = told.entries.flatMap((entry) => (entry.type === "step.succeeded" ? [entry.output] : []));
    if (output === undefined || !("value" in output)) throw new Error("The step gave nothing.");
    // The output is the same object as the input: the history recognizes the input by its identity.
    expect(output.value).toBe(told.job.input);
  });

  test("has only the properties of the payloads if the input is not an object", () => {
    const told = story([call("c", "g"), { ...wait("g", ["manager"], null), output: "approval" }]);
    told.succeed(null);
    told.send("manager", { payload: { approved: true } });
    expect(outputOf(told)).toEqual({ approved: true });
  });

  test("has no property of an open input that only events can provide", () => {
    const told = story([call("c", "g"), { ...wait("g", ["manager"], null), output: "commented" }]);
    told.succeed({ approved: true, comment: "of the call" });
    told.send("manager", { payload: { comment: "of the event" } });
    expect(outputOf(told)).toEqual({ comment: "of the event" });
  });

  test("fails the step if it is larger than the limit, and a smaller answer lets the resumed job continue", () => {
    const told = story([gate("g", null, "decided")]);
    told.send("manager", { payload: { comment: "x".repeat(2_000) } });
    expect(told.job.state).toMatchObject({ status: "FAILED", error: { code: "OutputTooLarge" } });
    told.apply({ type: "job.resumed", by: { type: "service", id: "s" } });
    told.later(0);
    expect(told.send("manager", { payload: { comment: "short" } })).toBe("matched");
    expect(outputOf(told)).toEqual({ sku: "S", comment: "short" });
  });
});

describe("payloads are loaded from the store", () => {
  const ids = Array.from({ length: 20 }, (_, number) => `event ${number}`);
  const late = {
    type: "event.received",
    eventId: "event 19",
    keptAs: null,
    sentBy: { type: "user", id: "u" },
  } as const;

  test("only once, however many steps list their events", () => {
    const gates = Array.from({ length: 200 }, (_, number) =>
      gate(`g${number}`, number === 199 ? null : `g${number + 1}`, "decided", { config: { eventIds: ids } }),
    );
    const told = story(gates);
    for (const id of ids.slice(0, 19)) told.send(id, { payload: { approved: true } });
    expect(payloadsToRead(told.plan, told.job, [late])).toHaveLength(19);
  });

  test("for one wait at a time: a job whose next wait has payloads to read enters it in the next commit", () => {
    const config = { eventIds: ["manager"] };
    const told = story([
      call("c", "first"),
      gate("first", "second", "decided", { config }),
      gate("second", "third", "decided", { config: { eventIds: ["auditor", "boss"] } }),
      gate("third", null, "decided", { config: { eventIds: ["clerk"] } }),
    ]);
    for (const id of ["manager", "auditor", "clerk"]) told.send(id, { payload: { approved: true, comment: id } });
    told.succeed(order);
    expect(told.step).toMatchObject({ phase: "next", name: "second", wakeAt: told.now });
    expect(told.send("boss")).toBe("buffered");
    told.later(0);
    expect(told.step).toMatchObject({ phase: "next", name: "third", wakeAt: told.now });
    told.later(0);
    expect(outputOf(told)).toEqual({ sku: "S", approved: true, comment: "clerk" });
  });
});

describe("a property that the output requires and no event provided", () => {
  const steps = [gate("g", null, "surelyDecided")];

  test("is missing without an error if no event had a payload", () => {
    const told = story(steps);
    told.send("manager");
    expect(told.status).toBe("SUCCEEDED");
    expect(outputOf(told)).toEqual({ sku: "S" });
  });

  test.each<JsonValue>([{}, { comment: "none" }, "yes", null])(
    "fails the step if the payload is %j, and a better event lets the resumed job continue",
    (payload) => {
      const told = story(steps);
      told.send("manager", { payload });
      expect(told.job.state).toMatchObject({ status: "FAILED", error: { code: "OutputMismatch" } });
      told.apply({ type: "job.resumed", by: { type: "service", id: "s" } });
      told.later(0);
      expect(told.step).toMatchObject({ phase: "waiting", visit: 1 });
      expect(told.send("manager", { step: "g", visit: 1, payload: { approved: true } })).toBe("matched");
      expect(told.status).toBe("SUCCEEDED");
    },
  );
});

describe("a property that only a wait's events provide is not taken from earlier values", () => {
  const ship = (input: string) => noop("ship", null, { input, output: "anything" });

  test("even if an earlier gate's answer has it", () => {
    const told = story([gate("first", "second", "decided"), gate("second", "ship", "decided"), ship("commented")]);
    told.send("manager", { payload: { approved: true, comment: "first" } });
    told.send("manager", { payload: { comment: "second" } });
    expect(outputOf(told)).toEqual({ comment: "second" });
  });

  test("even if the job's input has it", () => {
    const told = story(
      [
        noop("in", "g"),
        gate("g", "between", "decided"),
        noop("between", "ship", { input: "nothing" }),
        ship("commented"),
      ],
      { ...order, approved: true, comment: "of the input" },
    );
    told.send("manager");
    expect(outputOf(told)).toEqual({});
  });

  test("but a later step can provide it", () => {
    const told = story(
      [noop("in", "g"), gate("g", "c", "decided"), call("c", "ship", { input: "nothing" }), ship("approval")],
      {
        ...order,
        approved: true,
      },
    );
    told.send("manager");
    expect(told.job.state).toMatchObject({ cursors: [{ carried: { absentProperties: ["approved"] } }] });
    told.succeed({ approved: false });
    expect(outputOf(told)).toEqual({ approved: false });
  });

  test("so that each visit of a loop provides its own", () => {
    const told = story([
      gate("g", "work", "decided", { config: { eventIds: ["manager"] } }),
      call("work", "ship", { input: "approval", onFailure: "g" }),
      ship("approval"),
    ]);
    told.send("manager", { payload: { approved: true } });
    expect(told.step).toMatchObject({ name: "work", input: { approved: true } });
    told.fail("permanent");
    told.send("manager");
    expect(told.step).toMatchObject({ name: "work", input: {} });
  });

  test("a job that was cancelled while it waited, and is resumed, finds the payloads that had come", () => {
    const told = story([
      gate("g", "ship", "decided", { config: { eventIds: ["manager", "auditor"] } }),
      ship("approval"),
    ]);
    told.send("manager", { payload: { approved: false } });
    told.apply({ type: "job.cancelled", by: { type: "service", id: "s" } });
    told.apply({ type: "job.resumed", by: { type: "service", id: "s" } });
    expect(told.send("auditor")).toBe("buffered");
    told.later(0);
    expect(outputOf(told)).toEqual({ approved: false });
  });

  test("a failed wait hides no property from the step that handles the failure", () => {
    const told = story([
      gate("first", "second", "decided"),
      { ...gate("second", "ship", "decided"), timeoutSeconds: 1, onFailure: "ship" },
      ship("approval"),
    ]);
    told.send("manager", { payload: { approved: true } });
    told.later(1_000);
    expect(outputOf(told)).toEqual({ approved: true });
  });

  test("the state keeps no event that was sent for a failed visit, unless the job may come back to that visit", () => {
    const config = { eventIds: ["manager", "auditor"] };
    const steps = [
      { ...gate("g", "end", "decided", { config }), timeoutSeconds: 1, onFailure: "c" },
      call("c", "g"),
      noop("end", null),
    ];
    const told = story(steps);
    told.send("manager", { step: "g", visit: 1 });
    told.send("manager", { step: "g", visit: 2, payload: { approved: true } });
    told.later(1_000);
    expect(told.job.state).toMatchObject({ progress: { addressedEvents: [{ visit: 2 }] } });
    expect("progress" in told.job.state && told.job.state.progress).not.toHaveProperty("bareEvents");
    told.succeed(order);
    told.later(0);
    expect(told.step).toMatchObject({ name: "g", visit: 2, missingEventIds: ["auditor"] });

    const failing = story([{ ...gate("g", null, "decided", { config }), timeoutSeconds: 1 }]);
    failing.send("manager", { step: "g", visit: 1 });
    failing.later(1_000);
    expect(failing.job.state).toMatchObject({ status: "FAILED", progress: { addressedEvents: [{ visit: 1 }] } });
  });

  test("the state keeps no payload once no step can read it", () => {
    const told = story([noop("in", "g"), gate("g", "c", "decided"), call("c", null, { input: "nothing" })], {
      ...order,
      approved: true,
    });
    told.send("manager");
    expect(told.job.state).toMatchObject({ cursors: [{ carried: { properties: {} } }] });
    expect(told.job.state).not.toHaveProperty(["cursors", 0, "carried", "absentProperties"]);
  });
});

test("thousands of absent properties cost a step no noticeable time", () => {
  const names = Array.from({ length: 20_000 }, (_, number) => `property ${number}`);
  const many = closed(Object.fromEntries(names.map((name) => [name, {}])), []);
  const steps = [
    noop("in", "g"),
    { ...wait("g", ["manager"], "c"), input: "nothing", output: "many" },
    call("c", "n", { input: "nothing", output: "nothing" }),
    noop("n", null, { input: "many" }),
  ];
  const input = Object.fromEntries(names.map((name) => [name, 1]));
  const told = new Story(steps, { input, definitions: { nothing: closed({}), many } });
  told.send("manager");
  told.reload();
  const startedAt = performance.now();
  told.succeed({});
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(500));
  expect(outputOf(told)).toEqual({});
});

test.each<[string, JsonObject]>([
  ["a dependent property", { dependentRequired: { sku: ["approved"] } }],
  ["more properties than the input has", { minProperties: 2 }],
  ["one of two properties", { oneOf: [{ required: ["approved"] }, { required: ["comment"] }] }],
  ["a property by a condition", { if: { required: ["sku"] }, then: { required: ["approved"] } }],
  ["that a property is not left out", { not: { properties: { approved: false } } }],
])(
  "if no event had a payload, a wait ends without properties that only events provide, even if its output definition requires %s",
  (_, rules) => {
    const decided = { ...definitions.decided, ...rules };
    const told = new Story([gate("g", null, "decided")], { input: order, definitions: { ...definitions, decided } });
    told.send("manager");
    expect(told.status).toBe("SUCCEEDED");
    expect(outputOf(told)).toEqual({ sku: "S" });
  },
);

test("an output definition with nested alternatives compiles quickly, however many ways lead to one of them", () => {
  const alternatives = (level: number) => ({
    anyOf: Array.from({ length: 8 }, () => ({ $ref: `#/definitions/level ${level}` })),
  });
  const levels = Array.from({ length: 6 }, (_, level) => [`level ${level}`, alternatives(level + 1)] as const);
  const decided = { ...closed({ sku: text, approved: boolean }), ...alternatives(0) };
  const last = closed({ sku: text, approved: boolean });
  const startedAt = performance.now();
  const told = new Story([gate("g", null, "decided")], {
    input: order,
    definitions: { ...definitions, ...Object.fromEntries(levels), "level 6": last, decided },
  });
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(3_000));
  told.send("manager");
  expect(outputOf(told)).toEqual({ sku: "S" });
});

describe("sending an event is rejected", () => {
  test.each<[string, JsonObject, string]>([
    ["whose property does not fit the output definition", { approved: "yes" }, "/payload/approved"],
    ["whose property does not fit that of a later step with the same id", { count: "1" }, "/payload/count"],
  ])("%s", (_name, payload, pointer) => {
    const told = story([gate("g", "h", "decided"), { ...gate("h", null, "recount"), input: "nothing" }]);
    expect(told.send("manager", { payload })).toBe("ValidationError");
    expect(told.changes.at(-1)?.verdict).toMatchObject({ problems: [{ pointer }] });
    expect(told.changes.at(-1)).toMatchObject({ entries: [], events: [] });
  });

  test("whose property does not fit a pattern of the output definition, or a part of its `allOf`", () => {
    const { decided } = definitions;
    const patterned = { ...decided, patternProperties: { "^appr": { const: true } } };
    const combined = { allOf: [decided ?? {}, { properties: { comment: { minLength: 3 } } }] };
    for (const [output, payload, pointer] of [
      [patterned, { approved: false }, "/payload/approved"],
      [combined, { comment: "no" }, "/payload/comment"],
    ] as const) {
      const told = new Story([gate("g", null, "decided")], {
        input: order,
        definitions: { ...definitions, decided: output },
      });
      expect(told.send("manager", { payload })).toBe("ValidationError");
      expect(told.changes.at(-1)?.verdict).toMatchObject({ problems: [{ pointer }] });
    }
  });

  test("without a payload, but only if `payloadDefinitions` defines the payload", () => {
    const config = { payloadDefinitions: { manager: { $ref: "#/definitions/decision" } } };
    const told = story([{ ...wait("g", ["manager", "auditor"], null, config), input: "order" }]);
    expect(told.send("manager")).toBe("ValidationError");
    expect(told.send("auditor")).toBe("matched");
  });
});

test.each<[JsonValue, JsonObject[]]>([
  [{ approved: true }, []],
  [
    { approved: true, boss: "me", count: 2 },
    [
      {
        pointer: "/payload/boss",
        detail: "is kept with the event, but reaches no step; declare it in the output definition of `g`",
      },
      {
        pointer: "/payload/count",
        detail: expect.stringContaining("does not overwrite the input of `g`") as unknown as string,
      },
    ],
  ],
  ["yes", [{ pointer: "/payload", detail: expect.stringContaining("is not an object") as unknown as string }]],
])("the answer to a payload of %j warns of properties that reach no step", (payload, warnings) => {
  const told = story([gate("g", null, "decided")]);
  told.send("manager", { payload });
  expect(told.changes.at(-1)?.verdict).toMatchObject({ type: "event", warnings });
});

test.each(["yes", { by: "me" }])("a payload of %j that an expression reads gets no warning", (payload) => {
  const look = { mapping: { input: "${ events['manager'].payload }" } };
  const told = new Story([wait("g", ["manager"], "look"), noop("look", null, look)]);
  told.send("manager", { payload });
  expect(told.changes.at(-1)?.verdict).toMatchObject({ type: "event", warnings: [] });
});

/** One gate requires all three events. The property below checks that the result does not depend on when and in which order they come. */
const events = ["a", "b", "c"];
const payload = fc.option(
  fc.dictionary(fc.constantFrom("approved", "comment", "sku", "other"), fc.constant(true), { noNullPrototype: true }),
  { nil: undefined },
);
const free = { order: open({}, []), decided: { type: "object", properties: { approved: {}, comment: {} } } };

test("required events with different ids end with the same result in every order, early and late", () => {
  const property = fc.property(
    fc.tuple(payload, payload, payload),
    fc.shuffledSubarray(events, { minLength: 3 }),
    fc.nat(3),
    (payloads, arrivals, earlyCount) => {
      const tell = (order: readonly string[], early: number): JsonValue | undefined => {
        const steps = [call("c", "g"), { ...wait("g", events, "end"), output: "decided" }, noop("end", null)];
        const told = new Story(steps, { input: { approved: "of the input" }, definitions: free });
        const send = (eventId: string) => {
          const one = payloads[events.indexOf(eventId)];
          told.send(eventId, one === undefined ? {} : { payload: one });
        };
        order.slice(0, early).forEach(send);
        told.succeed({ sku: "S", comment: "of the call" });
        order.slice(early).forEach(send);
        expect(told.status).toBe("SUCCEEDED");
        return outputOf(told);
      };
      expect(tell(arrivals, earlyCount)).toEqual(tell(events, 0));
    },
  );
  fc.assert(property, { numRuns: tries(300) });
});

test("a wait for some of its events gives their payloads in the committed order, and a replay gives the same", () => {
  const property = fc.property(
    fc.array(fc.tuple(fc.constantFrom(...events), payload), { maxLength: 12 }),
    fc.integer({ min: 1, max: 3 }),
    (sent, match) => {
      const tell = (isReloaded: boolean) => {
        const steps = [
          { ...wait("g", events, "again", { match }), output: "decided" },
          { ...wait("again", events, null, { match }), output: "decided" },
        ];
        const told = new Story(steps, { definitions: free });
        const outcomes = sent.map(([eventId, one]) => {
          if (isReloaded) told.reload();
          return told.send(eventId, one === undefined ? {} : { payload: one });
        });
        return { outcomes, runs: runsOf(told), state: told.job.state };
      };
      expect(tell(true)).toEqual(tell(false));
    },
  );
  fc.assert(property, { numRuns: tries(200) });
});

const eventFact: fc.Arbitrary<UntimedFact> = fc
  .record({
    eventId: fc.constantFrom(...events),
    payload,
    address: fc.option(fc.record({ step: fc.constantFrom("g", "h"), visit: fc.integer({ min: 1, max: 3 }) })),
  })
  .map(({ eventId, payload, address }) => ({
    type: "event.received",
    eventId,
    ...(payload !== undefined && { payload }),
    ...address,
    sentBy: someone,
    keptAs: null,
  }));

const otherFact = fc.constantFrom<("succeed" | "fail" | UntimedFact)[]>(
  "succeed",
  "fail",
  { type: "timer.due" },
  { type: "job.cancelled", by: someone },
  { type: "job.resumed", by: someone },
);

test("every commit has the payloads that its facts need, in any combination, and every job reaches its waits", () => {
  const property = fc.property(
    fc.array(fc.array(fc.oneof({ weight: 4, arbitrary: eventFact }, otherFact), { maxLength: 5 }), { maxLength: 12 }),
    fc.integer({ min: 1, max: 3 }),
    (commits, match) => {
      const steps = [
        { ...wait("g", events, "c", { match }), output: "decided" },
        call("c", "h", { onFailure: "end" }),
        { ...wait("h", events, "n", { match: 2 }), output: "decided" },
        noop("n", "g"),
        noop("end", null),
      ];
      const told = new Story(steps, { definitions: free });
      for (const facts of commits) {
        const made = told.call;
        const error = { code: "ExecutorError" as const, message: "no luck" };
        told.applyTogether(
          facts.map((fact): UntimedFact => {
            if (fact === "succeed") return { type: "step.succeeded", ...made, output: {} };
            if (fact !== "fail") return fact;
            return { type: "step.failed", ...made, failure: { kind: "permanent", error }, random: 1 };
          }),
        );
        const { state, sequence } = told.job;
        if (standsOf(state)[0]?.phase !== "next") continue;
        told.later(0);
        expect(told.job.sequence).toBeGreaterThan(sequence);
      }
    },
  );
  fc.assert(property, { numRuns: tries(150) });
});

import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../../src/core/job/fact.ts";
import { plainEntries, valueIn } from "../../../src/core/job/history.ts";
import type { StoredState } from "../../../src/core/job/values/stored-state.ts";
import { maxInlineBytes } from "../../../src/core/job/values/value-book.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, noop, planOf, type StepSketch, Story, someone, task, transform, wait } from "./jobs.ts";
import { StoredStory } from "./stored-story.ts";

const text = (length: number) => "x".repeat(length);

/** Texts whose length is close to `maxInlineBytes` or far from it. Several values may have the same text. */
const anyText = fc.oneof(
  fc.constant("short"),
  fc.integer({ min: 40, max: 90 }).map(text),
  fc.integer({ min: maxInlineBytes - 40, max: maxInlineBytes + 10 }).map(text),
  fc.integer({ min: 7_000, max: 9_000 }).map(text),
);
const nested = fc.oneof(anyText, fc.record({ deep: anyText, list: fc.array(anyText, { maxLength: 2 }) }));
const someObject = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "__proto__x"), nested, { minKeys: 1, maxKeys: 4 });

const definitions: Record<string, JsonObject> = {
  ab: { type: "object", properties: { a: {}, b: {} }, additionalProperties: false },
  bc: { type: "object", properties: { b: {}, c: {} }, additionalProperties: false },
  brings: { type: "object", properties: { a: {}, brought: {} }, additionalProperties: false },
};
const schema = fc.constantFrom(undefined, "ab", "bc");

/** A chain of steps. Each passes on its input, waits for events, or makes a call. If the failure of one is handled, the step `handler` comes last. */
const anySteps = fc
  .array(
    fc.record({
      kind: fc.constantFrom("noop", "wait", "call"),
      input: schema,
      fails: fc.nat(5).map((n) => n === 0),
      brings: fc.boolean(),
      handled: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  )
  .map((sketches) => {
    const steps = sketches.map(({ kind, input, fails, brings, handled }, index): StepSketch => {
      const next = index === sketches.length - 1 ? null : `s${index + 1}`;
      // Any input fits the first step, so that every job can be submitted.
      const given = index > 0 && input !== undefined ? { input } : {};
      const more = { ...given, ...(fails && { output: "ab" }), ...(handled && { onFailure: "handler" }) };
      if (kind === "noop") return noop(`s${index}`, next, more);
      if (kind === "call") return call(`s${index}`, next, { ...more, retry: { maxAttempts: 2 } });
      const output = brings ? { output: "brings" } : {};
      return { ...wait(`s${index}`, ["x", "y"], next, { timeoutSeconds: 60 }), ...more, ...output };
    });
    return sketches.some(({ handled }) => handled) ? [...steps, noop("handler", null, { input: "ab" })] : steps;
  })
  .filter((steps) => isAccepted(steps));

function isAccepted(steps: readonly StepSketch[]): boolean {
  try {
    planOf(steps, definitions);
    return true;
  } catch {
    return false;
  }
}

type Move = (story: Story) => Change | string;
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: someObject.map((output) => (story: Story) => story.succeed(output as JsonObject)) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom("x", "y", "z"), fc.option(someObject, { nil: undefined })).map(
      ([eventId, brought]) =>
        (story: Story) =>
          story.send(eventId, brought === undefined ? {} : { payload: { brought } as JsonObject }),
    ),
  },
  fc.constantFrom<Move>(
    (story) => story.fail("ordinary"),
    (story) => story.fail("permanent"),
    (story) => story.later(100_000),
    (story) => story.interrupt(),
    (story) => story.handBack(true),
    (story) => story.apply({ type: "job.cancelled", by: someone }),
    (story) => story.apply({ type: "job.resumed", by: someone }),
  ),
);

const moves = fc.array(anyMove, { minLength: 5, maxLength: 25 });

test("a job behaves the same and shows the same values, whichever of them are stored separately and read again", () => {
  let rowCount = 0;
  fc.assert(
    fc.property(anySteps, someObject, fc.nat(3), moves, (steps, input, earlierCount, moves) => {
      const plain = new Story(steps, { input: input as JsonObject, definitions });
      const stored = new StoredStory(steps, { input: input as JsonObject, definitions }, earlierCount);
      for (const move of moves) {
        move(plain);
        move(stored);
        const [expected, change] = [plain.changes.at(-1), stored.changes.at(-1)];
        expect(change?.effects).toEqual(expected?.effects);
        expect(change?.events).toEqual(expected?.events);
        expect(stored.store.state).toEqual(plain.job.state);
      }
      expect(stored.store.plainEntries).toEqual([...plainEntries(plain.job.input, plain.entries)]);
      for (const entry of stored.store.commits.slice(earlierCount).flat()) {
        const value = valueIn(entry);
        if (value !== undefined && "value" in value)
          expect(Buffer.byteLength(JSON.stringify(value.value))).toBeLessThanOrEqual(maxInlineBytes);
      }
      rowCount += stored.store.values.size;
    }),
    { numRuns: tries(400) },
  );
  // With fewer rows, the test would show nothing.
  expect(rowCount).toBeGreaterThan(tries(100));
});

test("a value that was not read throws as soon as its content is used", () => {
  const story = new StoredStory([wait("w", ["x", "y"], null)], { input: { text: text(5_000) } });
  story.send("x");
  const { step } = story;
  const { input } = story.job;
  if (step.phase !== "waiting") throw new Error("The job does not wait.");
  expect(step.input).toBe(input);
  expect(() => Object.keys(input)).toThrow("not read");
  expect(() => input.text).toThrow("not read");
  expect(() => JSON.stringify(step.input)).toThrow("not read");
  expect(story.send("y")).toBe("matched");
  expect(story.status).toBe("SUCCEEDED");
});

test("if a job keeps a small part of a large output, the part is stored again; a large part is a reference to the stored output", () => {
  const steps = (input: string) => [
    call("c", "w"),
    { ...wait("w", ["x"], "n"), input: "bc" },
    noop("n", null, { input }),
  ];
  const few = new StoredStory(steps("ab"), { definitions });
  few.succeed({ a: text(3_000), d: text(90_000) });
  expect([...few.store.values].map(([number, { bytes }]) => [number < 0, bytes > 10_000])).toEqual([
    [false, true],
    [true, false],
  ]);
  const many = new StoredStory(steps("ab"), { definitions });
  many.succeed({ a: text(30_000), d: text(60_000) });
  expect([...many.store.values.keys()].every((number) => number > 0)).toBe(true);
  for (const story of [few, many]) {
    const { values } = story.store.row.state;
    expect(Object.keys(values?.properties ?? {})).toEqual(["a"]);
    story.send("x");
    expect(story.status).toBe("SUCCEEDED");
  }
});

test("a stored value is stored again when less than a quarter of it is left, so that few unneeded bytes are read", () => {
  const names = Array.from({ length: 6 }, (_, index) => `s${index}`);
  const reader = (name: string, next: string | null) =>
    transform(`after-${name}`, { length: `\${ size(steps.${name}.output.b) }` }, next);
  // Each step gives values of which one is read by the next step, and another only at the end.
  const steps = [
    ...names.flatMap((name, index) => [
      call(name, `read-${name}`),
      transform(`read-${name}`, { length: `\${ size(steps.${name}.output.a) }` }, `wait-${name}`),
      wait(`wait-${name}`, [`e${index}`], names[index + 1] ?? `after-${names[0]}`),
    ]),
    ...names.map((name, index) => reader(name, names[index + 1] === undefined ? null : `after-${names[index + 1]}`)),
  ];
  const story = new StoredStory(steps, {});
  for (const [index, _name] of names.entries()) {
    story.succeed({ a: text(30_000), b: text(5_000), c: text(9_000) });
    story.send(`e${index}`);
    const { values } = story.store.row.state as StoredState;
    const read = new Set(Object.values(values?.slots ?? {}));
    const bytes = [...read].reduce((sum, number) => sum + (story.store.values.get(number)?.bytes ?? 0), 0);
    expect(bytes).toBeLessThan(5_100 * (index + 1));
  }
  expect(story.status).toBe("SUCCEEDED");
});

test("an event that a job only records needs no stored values, even if an expression later reads a whole stored value", () => {
  const story = new StoredStory(
    [call("a", "w"), wait("w", ["x", "y"], "b"), transform("b", { size: "${ size(steps.a.output) }" }, null)],
    {},
  );
  story.succeed({ text: text(5_000) });
  expect(story.send("x")).toBe("matched");
  expect(story.send("y")).toBe("matched");
  expect(story.status).toBe("SUCCEEDED");
});

test("a task that a worker gives back is in the queue that its input names, however large the input is", () => {
  const config = { queue: "${ input.queue }" };
  const story = new StoredStory([task("work", null, { config })], { input: { queue: "a", text: text(5_000) } });
  const change = story.apply({ type: "call.handedBack", by: "worker", ...story.call, begun: true });
  expect(change.effects).toMatchObject([{ attempt: 2, task: { queue: "a" } }]);
});

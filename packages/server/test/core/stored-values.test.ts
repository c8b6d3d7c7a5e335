import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change, UntimedFact } from "../../src/core/job/fact.ts";
import { type HistoryEntry, plainEntries, valueIn, withValue } from "../../src/core/job/history.ts";
import type { JobState } from "../../src/core/job/job-state.ts";
import { looksIntoValues } from "../../src/core/job/looks-into-values.ts";
import { openJob, type StoredJob } from "../../src/core/job/opened-job.ts";
import { numbersIn, type StoredState, withPlaces } from "../../src/core/job/stored-state.ts";
import { maxInlineBytes, ValueBook } from "../../src/core/job/value-book.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/json.ts";
import { call, noop, planOf, type StepSketch, Story, someone, wait } from "./jobs.ts";

/**
 * A job whose every commit goes through the store's form and back, as after a crash between any two commits. The first ones are made by a release that
 * kept all values in the rows.
 */
class StoredStory extends Story {
  readonly rows = new Map<number, { readonly text: string; readonly bytes: number }>();
  readonly written: HistoryEntry[][] = [];
  readonly #earlierCount: number;
  stored: StoredJob;

  constructor(steps: readonly StepSketch[], options: ConstructorParameters<typeof Story>[1], earlierCount = 0) {
    super(steps, options);
    this.#earlierCount = earlierCount;
    const book = new ValueBook();
    book.learnInput(this.job.input);
    this.stored = this.#commit(book, this.changes[0]);
  }

  override apply(fact: UntimedFact): Change {
    const isEarlier = this.written.length < this.#earlierCount;
    const isNeeded = isEarlier || looksIntoValues(this.plan, this.stored.state, [fact]);
    const numbers = isNeeded ? numbersIn(this.stored.state).filter((number) => number !== 0) : [];
    const read = numbers.map((valueNumber) => ({ valueNumber, ...this.#row(valueNumber) }));
    const input = isNeeded ? copy(this.stored.input) : undefined;
    const { job, values } = openJob({ ...copy(this.stored), input }, read);
    this.job = job;
    const change = super.apply(fact);
    if (change.entries.length > 0) this.stored = this.#commit(values, change);
    return change;
  }

  /** The history as it is read in pages: every commit by itself. */
  get readEntries() {
    return this.written.flatMap((entries) => {
      const whole = entries.map((entry) =>
        withValue(entry, (value) =>
          "stored" in value && value.stored !== 0 ? { value: this.#row(value.stored).value } : value,
        ),
      );
      return [...plainEntries(this.input, whole)];
    });
  }

  get input(): JsonObject {
    return this.stored.input ?? {};
  }

  /** The state with all of its values. */
  get state(): JobState {
    return withPlaces(this.stored.state, (number, property) => {
      const value = number === 0 ? this.input : this.#row(number).value;
      return property === undefined ? value : ((value as JsonObject)[property] ?? null);
    });
  }

  #row(number: number): { readonly value: JsonValue; readonly bytes: number } {
    const row = this.rows.get(number);
    if (row === undefined) throw new Error(`There is no row ${number}.`);
    return { value: JSON.parse(row.text), bytes: row.bytes };
  }

  #commit(book: ValueBook, change: Change | undefined): StoredJob {
    if (change === undefined) throw new Error("The job has no beginning.");
    const { input, state, ...row } = change.job;
    if (this.written.length < this.#earlierCount) {
      this.written.push(copy([...change.entries]));
      return { ...row, state: copy(state), input: this.stored?.input ?? copy(input) };
    }
    this.written.push(copy([...book.entries(change.entries)]));
    const stored = copy(book.state(state, change.job.sequence));
    for (const { valueNumber, ...added } of book.added) {
      expect(this.rows.has(valueNumber)).toBe(false);
      this.rows.set(valueNumber, added);
    }
    return { ...row, state: stored, input: this.stored?.input ?? copy(input) };
  }
}

function copy<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

const text = (length: number) => "x".repeat(length);

/** Around the bound, far from it, and shared. */
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

/** A chain with a handler at its end, of steps that pass, wait and call. */
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
      // Any input fits the first step, so that there is a job.
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
const epoch = (story: Story) => story.job.leaseEpoch;
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
    (story) => story.apply({ type: "step.interrupted", leaseEpoch: epoch(story), isNodeDead: true }),
    (story) => story.apply({ type: "call.handedBack", leaseEpoch: epoch(story), begun: true }),
    (story) => story.apply({ type: "job.cancelled", by: someone }),
    (story) => story.apply({ type: "job.resumed", by: someone }),
  ),
);

const moves = fc.array(anyMove, { minLength: 5, maxLength: 25 });

test("a job goes the same way and shows the same values, whichever of them are stored apart and read again", () => {
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
        expect(stored.state).toEqual(plain.job.state);
      }
      expect(stored.readEntries).toEqual([...plainEntries(plain.job.input, plain.entries)]);
      for (const entry of stored.written.slice(earlierCount).flat()) {
        const value = valueIn(entry);
        if (value !== undefined && "value" in value)
          expect(Buffer.byteLength(JSON.stringify(value.value))).toBeLessThanOrEqual(maxInlineBytes);
      }
      rowCount += stored.rows.size;
    }),
    { numRuns: 400 },
  );
  // Else the test would say nothing.
  expect(rowCount).toBeGreaterThan(100);
});

test("a value that was not read throws as soon as anything looks into it", () => {
  const story = new StoredStory([wait("w", ["x", "y"], null)], { input: { text: text(5_000) } });
  story.send("x");
  const { state, input } = story.job;
  if (state.status !== "RUNNING" || state.step.phase === "next") throw new Error("The job does not wait.");
  const { step } = state;
  expect(step.input).toBe(input);
  expect(() => Object.keys(input)).toThrow("not read");
  expect(() => input.text).toThrow("not read");
  expect(() => JSON.stringify(step.input)).toThrow("not read");
  expect(story.send("y")).toBe("matched");
  expect(story.status).toBe("SUCCEEDED");
});

test("a few properties of a large output are stored once more, many are named as parts of it", () => {
  const steps = (input: string) => [call("c", "w"), wait("w", ["x"], "n"), noop("n", null, { input })];
  const few = new StoredStory(steps("ab"), { definitions });
  few.succeed({ a: text(3_000), d: text(90_000) });
  expect([...few.rows].map(([number, { bytes }]) => [number < 0, bytes > 10_000])).toEqual([
    [false, true],
    [true, false],
  ]);
  const many = new StoredStory(steps("ab"), { definitions });
  many.succeed({ a: text(30_000), d: text(60_000) });
  expect([...many.rows.keys()].every((number) => number > 0)).toBe(true);
  for (const story of [few, many]) {
    const { values } = story.stored.state as StoredState;
    expect(Object.keys(values?.properties ?? {})).toEqual(["a"]);
    story.send("x");
    expect(story.status).toBe("SUCCEEDED");
  }
});

import type { EventValues, ForkValues, Scope, StepValues } from "../expression/expression.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { getOwn } from "../json/record.ts";
import { baseOf, errorSlot, eventSlot, propertyOf, stepSlot } from "../plan/slots.ts";
import type { Timestamp } from "../time.ts";
import { toTime } from "../time.ts";
import type { JobDraft, Level } from "./draft.ts";

/** The values that the step with the expression has so far. */
export interface Made {
  readonly step: string;
  /** The input that the step received; undefined until it has received one. */
  readonly input?: JsonValue;
  readonly result?: JsonValue;
  readonly output?: JsonValue;
  /** The events that this visit has just consumed, by their ids. */
  readonly events?: ReadonlyMap<string, EventValues>;
  /** The time that `now` stands for. By default this is the time of the commit. */
  readonly now?: Timestamp;
}

/**
 * Makes the scope of an expression. It has the values that the current branch and the branches around it remember, and the values of the current
 * step.
 */
export function scopeOf(draft: JobDraft, made: Made): Scope {
  const { job, at } = draft;
  const { jobId, createdAt, workflowName, versionNumber } = job;
  const levels = draft.levels();
  const known = new Map<Level, Slots>();
  const remembered = (level: Level) => {
    const slots = known.get(level) ?? new Slots(level.carried.slots ?? {});
    known.set(level, slots);
    return slots;
  };
  const loops = levels.flatMap((level) => loopOf(level) ?? []);
  return {
    // This is a getter, because the job's input may not have been read. An expression that does not read the input still works.
    get input() {
      return job.input;
    },
    step: (name) => {
      // A step is either on the main line or in branches of one fork. So at most one of these levels has visits of it.
      const level = levels.find(({ carried }) => Object.hasOwn(carried.visits, name));
      if (level === undefined) return undefined;
      const values = remembered(level).ofStep(name);
      return name === made.step && made.input !== undefined ? { ...values, input: made.input } : values;
    },
    event: (eventId) => made.events?.get(eventId) ?? firstOf(levels, (level) => remembered(level).ofEvent(eventId)),
    result: made.result,
    output: made.output,
    error: firstOf(levels, ({ carried }) => getOwn(carried.slots ?? {}, errorSlot)),
    // These are getters, so that an item is read only when an expression needs it.
    get item() {
      return loops[0]?.item;
    },
    get index() {
      return loops[0]?.index;
    },
    fork: (name) => loops.find((loop) => loop.name === name),
    job: { jobId, submittedAt: toTime(createdAt), workflowName, versionNumber },
    now: made.now ?? at,
  };
}

/** The scope of the expressions in a step's config. `now` is the start of the visit, so that every attempt gets the same config. */
export function configScope(draft: JobDraft, step: string, input: JsonValue): Scope {
  return scopeOf(draft, { step, input, now: draft.visitStartedAt });
}

/** The item of a branch. Undefined for the main line, and for a branch that has a name and no item. */
export function loopOf({ fork, key }: Level): (ForkValues & { readonly name: string }) | undefined {
  if (fork?.items === undefined || key === undefined) return undefined;
  const { name, items } = fork;
  const index = Number(key);
  return {
    name,
    index,
    get item() {
      return items[index] ?? null;
    },
  };
}

function firstOf<Value>(levels: readonly Level[], find: (level: Level) => Value | undefined): Value | undefined {
  for (const level of levels) {
    const value = find(level);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Finds the values that a branch remembers, by step and by event. */
class Slots {
  readonly #values = new Map<string, JsonValue>();

  /** Puts each value together from its slots. When only properties of a value were remembered, the value is an object with these properties. */
  constructor(slots: JsonObject) {
    const parts = new Map<string, [string, JsonValue][]>();
    for (const [slot, value] of Object.entries(slots)) {
      const property = propertyOf(slot);
      if (property === undefined) this.#values.set(slot, value);
      else parts.set(baseOf(slot), [...(parts.get(baseOf(slot)) ?? []), [property, value]]);
    }
    for (const [base, properties] of parts) {
      const whole = this.#values.get(base) ?? {};
      if (isJsonObject(whole)) this.#values.set(base, Object.fromEntries([...Object.entries(whole), ...properties]));
    }
  }

  ofStep(name: string): StepValues {
    const [input, output, error] = (["input", "output", "error"] as const).map((part) =>
      this.#values.get(stepSlot(name, part)),
    );
    return { input, output, error };
  }

  ofEvent(eventId: string): EventValues | undefined {
    const sentAt = this.#values.get(eventSlot(eventId, "sentAt"));
    return typeof sentAt === "string"
      ? { sentAt, payload: this.#values.get(eventSlot(eventId, "payload")) }
      : undefined;
  }
}

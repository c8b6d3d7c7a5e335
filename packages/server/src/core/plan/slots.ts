import type { StepDefinition } from "../definition/definition-parts.ts";
import { BitRows, type RowOf } from "../definition/graph/bit-rows.ts";
import type { StepGraph } from "../definition/graph/step-graph.ts";
import type { Reference } from "../expression/expression.ts";
import { pointerTo } from "../problem.ts";
import { liveAfter } from "./live-sets.ts";

/*
 * A slot is a place for a value that a branch remembers for expressions. Its name has the form of a pointer. "/steps/reserve/output" has the output
 * of a step, or shows only that there was one. "/steps/reserve/output/sku" has a property of that output. "/events/approved/payload" has a payload,
 * and "/error" the last failure that was caught.
 */

export const errorSlot = "/error";

export function stepSlot(step: string, part: "input" | "output" | "error"): string {
  return `${pointerTo("/steps", step)}/${part}`;
}

export function eventSlot(eventId: string, part: "payload" | "sentAt"): string {
  return `${pointerTo("/events", eventId)}/${part}`;
}

/** The name of the property, for the slot of a single property. Undefined for the slot of a whole value. */
export function propertyOf(slot: string): string | undefined {
  const token = slot.split("/")[4];
  return token?.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The slot of the whole value. For the slot of a property, this is the slot of the value that has the property. */
export function baseOf(slot: string): string {
  return slot.split("/", 4).join("/");
}

/** The part of a value that is remembered: the whole value, these properties of it, or nothing (undefined). */
export type KeptPart = "whole" | readonly string[] | undefined;

/** The values that a branch remembers for expressions when it leaves a step. */
export interface Remembering {
  /** The slots that expressions of later steps may still read. */
  readonly slots: ReadonlySet<string>;
  /** For each value, the part that these expressions may read. The key is the slot of the whole value. */
  readonly parts: ReadonlyMap<string, KeptPart>;
}

/**
 * Returns a function that says, by a step's index, what is remembered at the step's end. Undefined when no expression of the definition reads a
 * slot. `references` has, by the step's index, everything that the step's expressions may read.
 */
export function rememberingAfter(
  steps: readonly StepDefinition[],
  graph: StepGraph,
  references: readonly (readonly Reference[])[],
): ((index: number) => Remembering) | undefined {
  const { names, readBy, ofSteps, others } = slotsIn(references);
  if (names.length === 0) return undefined;
  const toRows = (lists: readonly (readonly number[])[]) => rowsOf(lists, names.length);
  const own = steps.map(({ name }) => ofSteps.get(name) ?? []);
  const errors = others.filter((slot) => names[slot] === errorSlot);
  const overwritten = toRows(own);
  const overwrittenByFailure = errors.length === 0 ? overwritten : toRows(own.map((slots) => [...slots, ...errors]));
  const after = liveAfter({
    graph,
    names,
    readBy: toRows(readBy),
    overwrittenOn: ({ kind, from }) =>
      kind === "fork" ? undefined : kind === "failure" ? overwrittenByFailure(from) : overwritten(from),
    // A step has no values before it has run. But an event may have come at any time.
    given: { atStart: toRows([others])(0), by: overwritten },
  });
  // `after` returns the same object for equal sets, so each result is computed once.
  const known = new Map<ReadonlySet<string>, Remembering>();
  return (index) => {
    const slots = after(index);
    const remembering = known.get(slots) ?? rememberingOf(slots);
    known.set(slots, remembering);
    return remembering;
  };
}

/** The slots of a definition. They have numbers, because there may be twenty thousand of them. */
interface Slots {
  /** The slots by number. */
  readonly names: readonly string[];
  /** The slots that the expressions of each step read, by the step's index. */
  readonly readBy: readonly (readonly number[])[];
  /** For each step, by its name: the slots for its input, its output and its error. */
  readonly ofSteps: ReadonlyMap<string, readonly number[]>;
  readonly others: readonly number[];
}

function slotsIn(references: readonly (readonly Reference[])[]): Slots {
  const numbers = new Map<string, number>();
  const ofSteps = new Map<string, number[]>();
  const others: number[] = [];
  const numberOf = (reference: Reference): number | undefined => {
    const slot = slotOf(reference);
    if (slot === undefined) return undefined;
    const known = numbers.get(slot);
    if (known !== undefined) return known;
    const added = numbers.size;
    numbers.set(slot, added);
    const { step } = reference;
    const list = step === undefined ? others : (ofSteps.get(step) ?? []);
    list.push(added);
    if (step !== undefined) ofSteps.set(step, list);
    return added;
  };
  const readBy = references.map((some) => some.flatMap((reference) => numberOf(reference) ?? []));
  return { names: [...numbers.keys()], readBy, ofSteps, others };
}

/** Returns a function that gives, for an index of `lists`, a row with the numbers of that list. */
function rowsOf(lists: readonly (readonly number[])[], bound: number): (index: number) => RowOf {
  const rows = new BitRows(lists.length, bound);
  for (const [row, numbers] of lists.entries()) for (const number of numbers) rows.add(row, number);
  return (row) => ({ rows, row });
}

/** The parts are computed when a job first leaves a step with these slots, because a large definition has hundreds of sets with a thousand slots. */
function rememberingOf(slots: ReadonlySet<string>): Remembering {
  let parts: Remembering["parts"] | undefined;
  return {
    slots,
    get parts() {
      parts ??= partsOf(slots);
      return parts;
    },
  };
}

function partsOf(slots: ReadonlySet<string>): ReadonlyMap<string, KeptPart> {
  const parts = new Map<string, "whole" | string[]>();
  for (const slot of slots) {
    const property = propertyOf(slot);
    const base = baseOf(slot);
    const part = parts.get(base);
    if (property === undefined) parts.set(base, "whole");
    else if (part === undefined) parts.set(base, [property]);
    else if (part !== "whole") part.push(property);
  }
  return parts;
}

function slotOf({ root, step, eventId, part, property }: Reference): string | undefined {
  if (root === "error") return errorSlot;
  // The visits of a step show whether it ran. The time at which an event was sent shows whether the event came.
  if (eventId !== undefined) return withProperty(eventSlot(eventId, part === "payload" ? part : "sentAt"), property);
  if (step === undefined || (part !== "input" && part !== "output" && part !== "error")) return undefined;
  return part === "error" ? stepSlot(step, part) : withProperty(stepSlot(step, part), property);
}

function withProperty(slot: string, property: string | undefined): string {
  return property === undefined ? slot : pointerTo(slot, property);
}

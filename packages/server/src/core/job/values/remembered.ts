import type { EventValues } from "../../expression/expression.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { getOwn } from "../../json/record.ts";
import type { PlanStep } from "../../plan/plan.ts";
import { baseOf, errorSlot, eventSlot, type KeptPart, type Remembering, stepSlot } from "../../plan/slots.ts";
import { pointerTo } from "../../problem.ts";
import type { Carried, StepError } from "../job-state.ts";

/** The values of an ended visit that later expressions may read. */
export interface EndedVisit {
  readonly input: JsonValue;
  readonly outcome: { readonly output: JsonValue } | { readonly error: StepError };
  readonly events?: ReadonlyMap<string, EventValues>;
}

/** Remembers the values of a visit that expressions of later steps may read, and forgets the values that no expression can read any more. */
export function remember(carried: Carried, step: PlanStep, { input, outcome, events }: EndedVisit): Carried {
  const { remembering, name } = step;
  if (remembering === undefined) return carried;
  const { slots: before = {}, ...others } = carried;
  const replaced = new Set([
    ...(["input", "output", "error"] as const).map((part) => stepSlot(name, part)),
    ...[...(events?.keys() ?? [])].flatMap((eventId) => [eventSlot(eventId, "payload"), eventSlot(eventId, "sentAt")]),
  ]);
  const kept: [string, JsonValue][] = Object.entries(before).filter(
    ([slot]) => !replaced.has(baseOf(slot)) && isAskedLater(slot, remembering),
  );
  const put = (slot: string, value: JsonValue, part: KeptPart) => kept.push(...partsOf(slot, value, part));
  const { parts, slots } = remembering;
  put(stepSlot(name, "input"), input, parts.get(stepSlot(name, "input")));
  if ("output" in outcome) put(stepSlot(name, "output"), outcome.output, parts.get(stepSlot(name, "output")));
  else {
    const { cause, ...error } = outcome.error;
    const caught: JsonObject = { ...error, step: name, ...(cause !== undefined && { cause: { ...cause } }) };
    const errors = [stepSlot(name, "error"), errorSlot].filter((slot) => slots.has(slot));
    for (const slot of errors) put(slot, caught, "whole");
  }
  for (const [eventId, { payload, sentAt }] of events ?? []) {
    const part = parts.get(eventSlot(eventId, "payload"));
    const isAsked = part !== undefined || slots.has(eventSlot(eventId, "sentAt"));
    if (isAsked) put(eventSlot(eventId, "sentAt"), sentAt, "whole");
    if (payload !== undefined) put(eventSlot(eventId, "payload"), payload, part);
  }
  // An earlier error may be in `kept` besides the new one. `Object.fromEntries` takes the last of several pairs with the same slot.
  return kept.length === 0 ? others : { ...others, slots: Object.fromEntries(kept) };
}

/** Whether a later expression may still read a slot that was there before the visit. */
function isAskedLater(slot: string, { slots, parts }: Remembering): boolean {
  if (slot === errorSlot) return slots.has(slot);
  const base = baseOf(slot);
  // The time of an event also shows that the event came, so the time stays as long as the payload. The slot of a whole value also shows that there
  // was a value, so it stays as long as any property of the value.
  const asked =
    parts.get(base) ?? (base.endsWith("/sentAt") ? parts.get(base.replace(/sentAt$/, "payload")) : undefined);
  return slot === base ? asked !== undefined : asked === "whole" || slots.has(slot);
}

/**
 * Returns the slots of a value. When only properties are kept, the slot of the whole value has an empty object, which shows that there was a value.
 */
function partsOf(slot: string, value: JsonValue, part: KeptPart): [string, JsonValue][] {
  if (part === undefined) return [];
  if (part === "whole" || !isJsonObject(value)) return [[slot, value]];
  const object: JsonObject = value;
  const found = part.flatMap((property): [string, JsonValue][] => {
    const one = getOwn(object, property);
    return one === undefined ? [] : [[pointerTo(slot, property), one]];
  });
  return [[slot, {}], ...found];
}

import type { PayloadRule } from "../definition/payload-rule.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { WaitPlanStep } from "../plan/plan.ts";
import { narrowValue, type Schema } from "../schema/schema.ts";
import type { ConsumedEvent } from "./consumed-events.ts";
import type { StepError } from "./job-state.ts";

export interface WaitOutput {
  readonly output: JsonValue;
  /** What the output must fit. */
  readonly outputSchema: Schema;
}

/**
 * What a wait step gives on: its input, as far as its output definition lets it through, and what the events of this visit brought. What
 * only events can bring is taken from nothing else, so that an earlier answer never passes for this one's. `consumed` is in the
 * order of `eventIds`: the first event that has a property counts.
 */
export function waitOutput(
  step: WaitPlanStep,
  input: JsonValue,
  consumed: ReadonlyMap<string, ConsumedEvent>,
  maxBytes: number,
): WaitOutput | { readonly error: StepError } {
  const { outputSchema, name } = step;
  const { payloadRule } = step.work;
  const passed = narrowValue(outputSchema, input);
  if (payloadRule === undefined) return { output: passed, outputSchema };
  const brought = new Map<string, JsonValue>();
  let isAnyPayloadThere = false;
  for (const [eventId, { payload }] of consumed) {
    if (payload === undefined) continue;
    isAnyPayloadThere = true;
    if (!isJsonObject(payload)) continue;
    for (const [property, value] of Object.entries(payload)) {
      if (!brought.has(property) && payloadRule.takes(eventId, property)) brought.set(property, value);
    }
  }
  const output = joined(passed, brought, payloadRule);
  // Without anything from payloads it is a part of what was measured before.
  const bytes = brought.size === 0 ? 0 : Buffer.byteLength(JSON.stringify(output));
  if (bytes > maxBytes) {
    return tooLarge(
      `The output of ${name} has ${bytes} bytes with what its events brought; a step's output may have ${maxBytes}.`,
    );
  }
  return { output, outputSchema: isAnyPayloadThere ? outputSchema : payloadRule.bareOutputSchema };
}

function tooLarge(message: string): { readonly error: StepError } {
  return { error: { code: "OutputTooLarge", message } };
}

/** The very input comes back when nothing is added or taken away, so that the history holds it once. One that is no object has no properties. */
function joined(passed: JsonValue, brought: ReadonlyMap<string, JsonValue>, { fromEvents }: PayloadRule): JsonValue {
  const before = isJsonObject(passed) ? Object.entries(passed) : [];
  const left = before.filter(([property]) => !fromEvents.has(property));
  if (brought.size === 0 && left.length === before.length) return passed;
  return Object.fromEntries([...left, ...brought]);
}

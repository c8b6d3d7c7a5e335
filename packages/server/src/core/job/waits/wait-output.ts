import type { PayloadRule } from "../../definition/payload-rule.ts";
import { isJsonObject, type JsonValue } from "../../json/json.ts";
import type { WaitPlanStep } from "../../plan/plan.ts";
import { narrowValue, type Schema } from "../../schema/schema.ts";
import type { StepError } from "../job-state.ts";
import type { ConsumedEvent } from "./consumed-events.ts";

export interface WaitOutput {
  readonly output: JsonValue;
  readonly outputSchema: Schema;
}

/**
 * Makes the output of a wait step: the part of its input that its output definition accepts, and the properties that the events of this visit
 * brought. A property that only events can bring is taken from nowhere else, so that no event of an earlier visit counts for this one. `consumed` is
 * in the order of `eventIds`. When several events have a property, the first one counts.
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
  // When payloads bring no properties, the output need not be measured, because it is a part of a value that was measured before.
  const bytes = brought.size === 0 ? 0 : Buffer.byteLength(JSON.stringify(output));
  if (bytes > maxBytes) {
    return tooLarge(
      `The output of ${name} has ${bytes} bytes together with the properties from its events; a step's output may have ${maxBytes}.`,
    );
  }
  return { output, outputSchema: isAnyPayloadThere ? outputSchema : payloadRule.bareOutputSchema };
}

function tooLarge(message: string): { readonly error: StepError } {
  return { error: { code: "OutputTooLarge", message } };
}

/**
 * Joins the kept part of the input and the properties from events. When nothing is added or taken away, the input itself is returned, so that the
 * history holds it only once. An input that is not an object has no properties.
 */
function joined(passed: JsonValue, brought: ReadonlyMap<string, JsonValue>, { fromEvents }: PayloadRule): JsonValue {
  const before = isJsonObject(passed) ? Object.entries(passed) : [];
  const left = before.filter(([property]) => !fromEvents.has(property));
  if (brought.size === 0 && left.length === before.length) return passed;
  return Object.fromEntries([...left, ...brought]);
}

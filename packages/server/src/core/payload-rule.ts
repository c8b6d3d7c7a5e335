import type { StepDefinition } from "./definition-parts.ts";
import { declaredProperties, isClosed, requiredProperties, type Schema, withoutRequired } from "./schema.ts";

/** Which properties of payloads a wait step takes into its output. */
export interface PayloadRule {
  /** Properties of the output that come from the events of one visit and from nowhere else: absent when none of those brought them. */
  readonly fromEvents: ReadonlySet<string>;
  /** Whether the step takes this property out of the payload of this event. */
  readonly takes: (eventId: string, property: string) => boolean;
  /** What the output must fit when none of the consumed events had a payload: it may then lack what only events bring. */
  readonly bareOutputSchema: Schema;
}

/** What decides about payloads. */
type Definitions = Pick<StepDefinition, "wait" | "inputSchema" | "outputSchema" | "payloadSchemas">;

/**
 * Undefined when the step takes nothing. A property of the input is overwritten only by an event whose own payload definition declares it:
 * otherwise a token for one event could rewrite the very order that is approved.
 */
export function payloadRuleOf(step: Definitions): PayloadRule | undefined {
  const { wait, inputSchema, outputSchema, payloadSchemas } = step;
  if (wait === undefined) return undefined;
  const known = payloadSchemas.size === 0 ? plainRules.get(inputSchema)?.get(outputSchema) : undefined;
  if (known !== undefined) return known.rule;
  const rule = makeRule(step);
  if (payloadSchemas.size === 0) {
    const byOutput = plainRules.get(inputSchema) ?? new WeakMap<Schema, { rule: PayloadRule | undefined }>();
    plainRules.set(inputSchema, byOutput.set(outputSchema, { rule }));
  }
  return rule;
}

/** Hundreds of steps may share two definitions of thousands of names. */
const plainRules = new WeakMap<Schema, WeakMap<Schema, { rule: PayloadRule | undefined }>>();

function makeRule({ inputSchema, outputSchema, payloadSchemas }: Definitions): PayloadRule | undefined {
  const ofInput = declaredProperties(inputSchema);
  const ofOutput = declaredProperties(outputSchema);
  const isOutputClosed = isClosed(outputSchema);
  const ofPayloads = new Map([...payloadSchemas].map(([eventId, schema]) => [eventId, declaredProperties(schema)]));
  const isLetIn = (property: string) => !isOutputClosed || ofOutput.has(property);
  const takes = (eventId: string, property: string): boolean => {
    if (!ofInput.has(property) && ofOutput.has(property)) return true;
    return isLetIn(property) && (ofPayloads.get(eventId)?.has(property) ?? false);
  };
  const named = new Set([...ofOutput, ...[...ofPayloads.values()].flatMap((properties) => [...properties])]);
  const taken = [...named].filter(
    (property) => isLetIn(property) && (!ofInput.has(property) || isIn(ofPayloads, property)),
  );
  if (taken.length === 0) return undefined;
  const fromEvents = new Set(taken.filter((property) => !ofInput.has(property)));
  return { fromEvents, takes, bareOutputSchema: withoutRequired(outputSchema, fromEvents) };
}

function isIn(ofPayloads: ReadonlyMap<string, ReadonlySet<string>>, property: string): boolean {
  return [...ofPayloads.values()].some((properties) => properties.has(property));
}

/** Whether the step cannot end without an event that brings this property. */
export function isCertainlyBrought(
  { wait, payloadSchemas }: Definitions,
  rule: PayloadRule,
  property: string,
): boolean {
  if (wait === undefined || wait.requiredCount < wait.eventIds.length) return false;
  return [...payloadSchemas].some(
    ([eventId, schema]) => rule.takes(eventId, property) && requiredProperties(schema).has(property),
  );
}

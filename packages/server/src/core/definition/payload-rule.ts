import { declaredProperties, isClosed, requiredProperties, type Schema, withoutRequired } from "../schema/schema.ts";
import type { StepDefinition } from "./definition-parts.ts";
import type { WaitWork } from "./step-work.ts";

/** The properties of payloads that a wait step takes into its output. */
export interface PayloadRule {
  /** The properties of the output that only the events of the same visit can bring. A property is absent when none of those events had it. */
  readonly fromEvents: ReadonlySet<string>;
  /** The properties that are in the output of every visit, because the payload definition of a required event requires them. */
  readonly certain: ReadonlySet<string>;
  /** Whether the step takes the property from the payload of this event. */
  readonly takes: (eventId: string, property: string) => boolean;
  /**
   * For each payload definition, one event id that stands for all events with this definition. The key `undefined` stands for the events without a
   * payload definition.
   */
  readonly eventsBySchema: ReadonlyMap<Schema | undefined, string>;
  /** The schema of the output when no consumed event had a payload. Properties that only events bring may then be missing. */
  readonly bareOutputSchema: Schema;
}

/** The parts of a step on which its payload rule depends. */
type Definitions = Pick<StepDefinition, "work" | "inputSchema" | "outputSchema">;

/**
 * Returns the payload rule of a step; undefined when the step takes no property from payloads. If the input definition declares a property, an event
 * overwrites it only if the event's own payload definition declares it, too. Without this rule, the sender of an event could, for example, change
 * the order that is being approved.
 */
export function payloadRuleOf(step: Definitions): PayloadRule | undefined {
  const { work, inputSchema, outputSchema } = step;
  if (work.kind !== "wait") return undefined;
  // Steps with the same input and output definitions share a rule, because there may be hundreds of such steps, and their definitions may declare
  // thousands of properties. A step with payload definitions has its own rule.
  const owner = work.payloadSchemas.size === 0 ? inputSchema : work.payloadSchemas;
  const rules = knownRules.get(owner) ?? new WeakMap<Schema, { readonly rule: PayloadRule | undefined }>();
  knownRules.set(owner, rules);
  const known = rules.get(outputSchema) ?? { rule: makeRule(step, work) };
  rules.set(outputSchema, known);
  return known.rule;
}

const knownRules = new WeakMap<object, WeakMap<Schema, { readonly rule: PayloadRule | undefined }>>();

function makeRule(
  { inputSchema, outputSchema }: Definitions,
  { rule: { eventIds, requiredCount, isOpen = false }, payloadSchemas }: WaitWork,
): PayloadRule | undefined {
  const ofInput = declaredProperties(inputSchema);
  const ofOutput = declaredProperties(outputSchema);
  const isOutputClosed = isClosed(outputSchema);
  const ofAnyEvent = new Set([...ofOutput].filter((property) => !ofInput.has(property)));
  const ofOneEvent = new Map<Schema, ReadonlySet<string>>();
  for (const schema of payloadSchemas.values()) {
    if (ofOneEvent.has(schema)) continue;
    const declared = [...declaredProperties(schema)];
    ofOneEvent.set(schema, new Set(isOutputClosed ? declared.filter((property) => ofOutput.has(property)) : declared));
  }
  const taken = [...ofAnyEvent, ...[...ofOneEvent.values()].flatMap((properties) => [...properties])];
  if (taken.length === 0) return undefined;
  const fromEvents = new Set(taken.filter((property) => !ofInput.has(property)));
  const takenOf = (schema: Schema | undefined, property: string) =>
    ofAnyEvent.has(property) || (schema !== undefined && (ofOneEvent.get(schema)?.has(property) ?? false));
  return {
    fromEvents,
    certain: isOpen || requiredCount < eventIds.length ? new Set() : requiredOf([...ofOneEvent.keys()], takenOf),
    takes: (eventId, property) => takenOf(payloadSchemas.get(eventId), property),
    eventsBySchema: new Map(
      [...eventIds, ...(isOpen ? [idOfExpression] : [])].map((eventId) => [payloadSchemas.get(eventId), eventId]),
    ),
    bareOutputSchema: withoutRequired(outputSchema, fromEvents),
  };
}

/** Stands for the ids that expressions give. Those have no payload definition. No event has an empty id. */
const idOfExpression = "";

function requiredOf(
  schemas: readonly Schema[],
  isTaken: (schema: Schema, property: string) => boolean,
): ReadonlySet<string> {
  return new Set(
    schemas.flatMap((schema) => [...requiredProperties(schema)].filter((property) => isTaken(schema, property))),
  );
}

import { Known } from "../../schema/compare/known.ts";
import { allOfSchemas, anyOfSchemas, anything, newSchema, nothing, type Schema } from "../../schema/node.ts";
import { declaredProperties, isClosed, propertiesAlone } from "../../schema/schema.ts";
import { noTypes, typeSets } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import type { PayloadRule } from "../payload-rule.ts";

/**
 * Returns what is known about the output of a wait step. The output is made from an input that fits each of `received`, and from the step's events.
 * The properties of a payload were checked against the output definition when the event was sent, unless an expression gives the event's id.
 */
export function knownWaitOutput(
  received: readonly Schema[],
  step: StepDefinition,
  rule: PayloadRule,
  budget: WaitOutputBudget,
): Schema {
  const { outputSchema } = step;
  const known = new Known(received);
  if (budget.isExhausted) return anything;
  const isOutputClosed = isClosed(outputSchema);
  const brought = broughtProperties(step, rule, budget);
  const names = isOutputClosed
    ? declaredProperties(outputSchema)
    : new Set([...known.names, ...rule.fromEvents, ...declaredProperties(outputSchema)]);
  budget.charge(names.size);
  const properties = new Map<string, Schema>();
  const required: string[] = [];
  for (const name of names) {
    const ofInput = rule.fromEvents.has(name) || !known.mayHave(name) ? [] : [allOfSchemas(known.property(name))];
    const sources = [...ofInput, ...(brought.get(name) ?? [])];
    if (sources.length > 0) properties.set(name, anyOfSchemas(sources));
    else if (!isOutputClosed) properties.set(name, nothing);
    const isPassedOn = ofInput.length > 0 && known.requires(name);
    if (isPassedOn || rule.certain.has(name)) required.push(name);
  }
  // When events bring properties, the output is an object. An input that is not an object then passes nothing on.
  const types = known.types | typeSets.object;
  const isInputObject = (known.types & typeSets.object) !== noTypes;
  const others = !isInputObject || isOutputClosed ? nothing : allOfSchemas(known.additional);
  return newSchema({
    types,
    objects: {
      properties,
      required: known.types === typeSets.object ? required : [],
      patterns: undefined,
      additional: others,
    },
  });
}

/** The bound on look-ups. Without it, steps that have definitions of their own with thousands of properties would block the process for seconds. */
export class WaitOutputBudget {
  #remaining = 150_000;

  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  charge(lookUps: number): void {
    this.#remaining -= lookUps;
  }
}

/** The schemas of properties that events bring, by name. A property has one schema for each payload definition whose events may bring it. */
function broughtProperties(
  step: StepDefinition,
  rule: PayloadRule,
  budget: WaitOutputBudget,
): ReadonlyMap<string, readonly Schema[]> {
  const known = knownProperties.get(rule);
  if (known !== undefined) return known;
  const ofOutput = propertiesAlone(step.outputSchema).objects?.properties ?? new Map<string, Schema>();
  const payloads = [...rule.eventsBySchema].map(([schema, eventId]) => ({
    eventId,
    known: schema && new Known([schema]),
  }));
  const names = new Set([...rule.fromEvents, ...payloads.flatMap((payload) => [...(payload.known?.names ?? [])])]);
  budget.charge(names.size * payloads.length);
  const properties = new Map<string, readonly Schema[]>();
  if (budget.isExhausted) return properties;
  for (const name of names) {
    const taking = payloads.filter(({ eventId }) => rule.takes(eventId, name));
    const bringing = taking.filter((payload) => payload.known?.mayHave(name) ?? true);
    if (taking.length === 0) continue;
    const own = ofOutput.get(name) ?? [];
    // A property that no event can bring is missing. It gets the schema of the output definition, so that only its absence is reported.
    const schemas = bringing.map((payload) => allOfSchemas([own, payload.known?.property(name) ?? []].flat()));
    properties.set(name, schemas.length > 0 ? schemas : [allOfSchemas([own].flat())]);
  }
  knownProperties.set(rule, properties);
  return properties;
}

const knownProperties = new WeakMap<PayloadRule, ReadonlyMap<string, readonly Schema[]>>();

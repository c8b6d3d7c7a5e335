import type { StepDefinition } from "../definition-parts.ts";
import { isCertainlyBrought, type PayloadRule } from "../payload-rule.ts";
import { Known } from "../schema/known.ts";
import { allOfSchemas, anyOfSchemas, newSchema, nothing, type Schema } from "../schema/node.ts";
import { noTypes, typeSets } from "../schema/type-set.ts";
import { declaredProperties, isClosed, propertiesAlone } from "../schema.ts";

/**
 * What is known of the output that a wait step makes of its input, which fits each of `received`, and of what its events bring. That a
 * property of a payload fits the output definition was seen to when the event was sent.
 */
export function knownWaitOutput(received: readonly Schema[], step: StepDefinition, rule: PayloadRule): Schema {
  const { outputSchema } = step;
  const known = new Known(received);
  const isOutputClosed = isClosed(outputSchema);
  const names = isOutputClosed
    ? declaredProperties(outputSchema)
    : new Set([...known.names, ...rule.fromEvents, ...declaredProperties(outputSchema)]);
  const properties = new Map<string, Schema>();
  const required: string[] = [];
  for (const name of names) {
    const ofInput = rule.fromEvents.has(name) || !known.mayHave(name) ? [] : [allOfSchemas(known.property(name))];
    const sources = [...ofInput, ...broughtSchemas(step, rule, name)];
    if (sources.length > 0) properties.set(name, anyOfSchemas(sources));
    else if (!isOutputClosed) properties.set(name, nothing);
    const isPassedOn = ofInput.length > 0 && known.requires(name);
    if (isPassedOn || isCertainlyBrought(step, rule, name)) required.push(name);
  }
  // An input that is no object has no properties; with what events bring, the output is one.
  const types = known.types | typeSets.object;
  const isInputObject = (known.types & typeSets.object) !== noTypes;
  const others = !isInputObject || isOutputClosed ? nothing : allOfSchemas(known.additional);
  return newSchema({
    types,
    objects: { properties, required: known.types === typeSets.object ? required : [], additional: others },
  });
}

/** What the property is when an event brought it; one schema for each event that may. */
function broughtSchemas(
  { wait, outputSchema, payloadSchemas }: StepDefinition,
  rule: PayloadRule,
  name: string,
): Schema[] {
  const ofOutput = propertiesAlone(outputSchema).objects?.properties.get(name);
  const taking = (wait?.eventIds ?? []).filter((eventId) => rule.takes(eventId, name));
  const schemas = taking.flatMap((eventId) => {
    const payload = payloadSchemas.get(eventId);
    const known = payload && new Known([payload]);
    if (known !== undefined && !known.mayHave(name)) return [];
    return allOfSchemas([...(ofOutput === undefined ? [] : [ofOutput]), ...(known?.property(name) ?? [])]);
  });
  // Where no event can bring it, it is missing, and no misfit besides.
  return schemas.length > 0 || taking.length === 0 ? schemas : [ofOutput ?? nothing];
}

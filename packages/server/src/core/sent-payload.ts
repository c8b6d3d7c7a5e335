import { isJsonObject, type JsonValue } from "./json.ts";
import type { WaitPlanStep } from "./plan.ts";
import { type Problem, pointerTo, quoted } from "./problem.ts";
import { checkValue, declaredProperties, propertiesAlone } from "./schema.ts";

/**
 * What is wrong with an event's payload, with pointers into the body that carried it. It is held against every step that lists the
 * event's id, and never against what the job did before: the sender hears at once, and always the same. An event without a payload
 * counts as null where a step defines what its payload must be.
 */
export function checkPayload(
  steps: readonly WaitPlanStep[],
  eventId: string,
  payload: JsonValue | undefined,
): Problem[] {
  const found = steps.flatMap(({ payloadSchemas, outputSchema }) => {
    const schema = payloadSchemas.get(eventId);
    const asPayload = schema === undefined ? [] : checkValue(schema, payload ?? null);
    const asOutput = isJsonObject(payload) ? checkValue(propertiesAlone(outputSchema), payload) : [];
    return [...asPayload, ...asOutput];
  });
  const different = new Map(found.map((problem) => [`${problem.pointer} ${problem.detail}`, problem]));
  return [...different.values()].map(({ pointer, detail }) => ({ pointer: `/payload${pointer}`, detail }));
}

/** What of a payload none of these steps takes into its output, and what to declare so that one does. */
export function unreadParts(
  steps: readonly WaitPlanStep[],
  eventId: string,
  payload: JsonValue | undefined,
): Problem[] {
  const [first] = steps;
  if (payload === undefined || first === undefined) return [];
  if (!isJsonObject(payload)) {
    const isDefined = steps.some(({ payloadSchemas }) => payloadSchemas.has(eventId));
    const detail = `is no object, so that ${quoted(first.name)} takes nothing of it into its output; send an object with the properties that later steps need`;
    return isDefined ? [] : [{ pointer: "/payload", detail }];
  }
  const isRead = (property: string) => steps.some(({ payloadRule }) => payloadRule?.takes(eventId, property));
  return Object.keys(payload)
    .filter((property) => !isRead(property))
    .slice(0, maxWarnings)
    .map((property) => ({ pointer: pointerTo("/payload", property), detail: reasonOf(first, eventId, property) }));
}

const maxWarnings = 20;

function reasonOf(step: WaitPlanStep, eventId: string, property: string): string {
  const name = quoted(step.name);
  const inPayload = `the definition that its \`payloadDefinitions\` name for ${quoted(eventId)}`;
  if (declaredProperties(step.inputSchema).has(property)) {
    return `is kept with the event, but does not overwrite the input of ${name}; to let it, declare it in ${inPayload} as well`;
  }
  return `is kept with the event, but reaches no step; declare it in the output definition of ${name}`;
}

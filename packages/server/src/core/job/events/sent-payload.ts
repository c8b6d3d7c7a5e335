import { isJsonObject, type JsonValue } from "../../json/json.ts";
import type { WaitPlanStep } from "../../plan/plan.ts";
import { type Problem, pointerTo, quoted } from "../../problem.ts";
import { allOfSchemas, checkValue, declaredProperties, propertiesAlone, type Schema } from "../../schema/schema.ts";

/**
 * Finds the problems of an event's payload, with pointers into the request body. The payload is checked against every step that lists the event's id.
 * What the job has done so far does not matter, so the sender gets the answer at once, and always the same answer. When a step defines the payload,
 * an event without a payload is checked as if its payload were null.
 */
export function checkPayload(
  steps: readonly WaitPlanStep[],
  eventId: string,
  payload: JsonValue | undefined,
): Problem[] {
  const { schema, isDefined } = sentTo(steps, eventId);
  if (payload === undefined && !isDefined) return [];
  const found = checkValue(schema, payload ?? null);
  const different = new Map(found.map((problem) => [`${problem.pointer} ${problem.detail}`, problem]));
  return [...different.values()].map(({ pointer, detail }) => ({ pointer: `/payload${pointer}`, detail }));
}

/**
 * The requirements of all steps on one event. They are combined only once, because hundreds of steps may list the event, and a payload may have
 * thousands of properties.
 */
interface Sent {
  readonly schema: Schema;
  /** Whether some step has a definition of the payload as a whole. */
  readonly isDefined: boolean;
  /** Whether some step takes the property. */
  readonly isTaken: (property: string) => boolean;
  /** Whether some expression reads the payload. An expression may take any part of the payload. */
  readonly isRead: boolean;
}

function sentTo(steps: readonly WaitPlanStep[], eventId: string): Sent {
  const known = knownSent.get(steps);
  if (known !== undefined) return known;
  const payloads = steps.flatMap(({ work }) => work.payloadSchemas.get(eventId) ?? []);
  const outputs = allOfSchemas([...new Set(steps.map(({ outputSchema }) => outputSchema))]);
  const rules = [...new Set(steps.flatMap(({ work }) => work.payloadRule ?? []))];
  const sent = {
    isDefined: payloads.length > 0,
    schema: allOfSchemas([...new Set(payloads), propertiesAlone(outputs)]),
    isTaken: (property: string) => rules.some((rule) => rule.takes(eventId, property)),
    isRead: steps.some(({ work }) => work.readPayloadIds.has(eventId)),
  };
  knownSent.set(steps, sent);
  return sent;
}

/** The key is the list of steps, which the plan keeps for each event id. */
const knownSent = new WeakMap<readonly WaitPlanStep[], Sent>();

/** Finds the parts of a payload that no step takes into its output and no expression reads, and says what to declare so that a step takes them. */
export function unreadParts(
  steps: readonly WaitPlanStep[],
  eventId: string,
  payload: JsonValue | undefined,
): Problem[] {
  const [first] = steps;
  if (payload === undefined || first === undefined) return [];
  const { isTaken, isDefined, isRead } = sentTo(steps, eventId);
  if (isRead) return [];
  if (!isJsonObject(payload)) {
    const detail = `is not an object, so ${quoted(first.name)} takes nothing from it into its output; send an object with the properties that later steps need`;
    return isDefined ? [] : [{ pointer: "/payload", detail }];
  }
  return Object.keys(payload)
    .slice(0, maxLookedAt)
    .filter((property) => !isTaken(property))
    .slice(0, maxWarnings)
    .map((property) => ({ pointer: pointerTo("/payload", property), detail: reasonOf(first, eventId, property) }));
}

const maxWarnings = 20;
/** The maximum number of properties that are checked. Each is checked against all steps that list the event, which may be hundreds. */
const maxLookedAt = 1_000;

function reasonOf(step: WaitPlanStep, eventId: string, property: string): string {
  const name = quoted(step.name);
  const inPayload = `the definition that the step's \`payloadDefinitions\` has for ${quoted(eventId)}`;
  if (declaredProperties(step.inputSchema).has(property)) {
    return `is kept with the event, but does not overwrite the input of ${name}; if it should, also declare it in ${inPayload}`;
  }
  return `is kept with the event, but reaches no step; declare it in the output definition of ${name}`;
}

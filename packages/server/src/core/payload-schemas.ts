import type { WaitRule } from "./executor-kind.ts";
import type { JsonValue } from "./json.ts";
import { type Problem, type ProblemList, pointerTo } from "./problem.ts";
import { checkValue, findDefinition, type Schema } from "./schema.ts";

/** By event id: the schema that the event's payload must satisfy. Events that are not named take any payload. */
export type PayloadSchemas = ReadonlyMap<string, Schema>;

export const noPayloadSchemas: PayloadSchemas = new Map();

/** Resolves a wait step's `payloadDefinitions`. `pointer` leads to them. */
export function readPayloadSchemas(
  { payloadDefinitions = {} }: WaitRule,
  schemas: ReadonlyMap<string, Schema>,
  pointer: string,
  problems: ProblemList,
): PayloadSchemas {
  const read = new Map<string, Schema>();
  for (const [eventId, reference] of Object.entries(payloadDefinitions)) {
    const found = findDefinition(reference, schemas, problems);
    if ("schema" in found) read.set(eventId, found.schema);
    else problems.add(pointerTo(pointerTo(pointer, eventId), "$ref"), found.problem);
  }
  return read;
}

/**
 * What is wrong with an event's payload, with pointers into the body that carried it. An event that several steps await must fit each of
 * them: which of them it will be for is not known yet. One without a payload counts as null.
 */
export function checkPayload(
  steps: readonly { readonly payloadSchemas: PayloadSchemas }[],
  eventId: string,
  payload: JsonValue | undefined,
): Problem[] {
  return steps.flatMap(({ payloadSchemas }) => {
    const schema = payloadSchemas.get(eventId);
    const problems = schema === undefined ? [] : checkValue(schema, payload ?? null);
    return problems.map((problem) => ({ ...problem, pointer: `/payload${problem.pointer}` }));
  });
}

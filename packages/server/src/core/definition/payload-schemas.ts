import { type ProblemList, pointerTo } from "../problem.ts";
import { findDefinition, type Schema } from "../schema/schema.ts";
import type { WaitRule } from "./executor-kind.ts";

/** The schemas of payloads, by event id. Only the output definition restricts the payload of an event without an entry. */
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

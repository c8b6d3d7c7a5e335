import { maxTimeoutSeconds } from "../../core/definition/definition-timeouts.ts";
import type { WaitRule } from "../../core/definition/executor-kind.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Problem, pointerTo } from "../../core/problem.ts";
import type { Executor } from "./executor.ts";

export function waitForEvents(limits: { maxEventIdsPerStep: number; maxNameLength: number }): Executor {
  return {
    type: "/service/waitForEventIds",
    title: "Wait for events",
    summary:
      "Waits until the events that it lists, or some of them, have been sent; the output is the input with properties from the events.",
    behaviour: "wait",
    configSchema: configSchema(limits.maxEventIdsPerStep, limits.maxNameLength),
    expressionFields: { eventIds: { type: "array", items: { type: "string" } } },
    checkConfig,
    waitRule,
  };
}

function configSchema(maxEventIds: number, maxLength: number): JsonObject {
  // The schema of an event id that SendJobEvent accepts. An event whose id does not fit this schema could never arrive.
  const eventId = { type: "string", minLength: 1, maxLength, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]*$" };
  const reference = {
    type: "object",
    properties: { $ref: { type: "string", description: "The definition: #/definitions/<name>." } },
    required: ["$ref"],
    additionalProperties: false,
  };
  return {
    type: "object",
    properties: {
      eventIds: {
        description: "The ids of the events that the step waits for, each once.",
        type: "array",
        items: eventId,
        minItems: 1,
        maxItems: maxEventIds,
      },
      match: {
        description: "How many of the events the step needs: all (the default), any, or a number.",
        anyOf: [{ enum: ["all", "any"] }, { type: "integer", minimum: 1, maximum: maxEventIds }],
      },
      payloadDefinitions: {
        description: "For each event id, the definition that the event's payload must fit.",
        type: "object",
        additionalProperties: reference,
      },
      timeoutSeconds: {
        description:
          "The time after which the wait fails with Timeout. Without it, the step waits for ever, unless the step itself or the workflow definition has a `timeoutSeconds` of its own.",
        type: "number",
        exclusiveMinimum: 0,
        maximum: maxTimeoutSeconds,
      },
    },
    required: ["eventIds"],
    additionalProperties: false,
  };
}

function checkConfig(config: JsonObject): Problem[] {
  const eventIds = stringsOf(config.eventIds);
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, eventId] of eventIds.entries()) {
    const pointer = pointerTo("/eventIds", index);
    if (seen.has(eventId)) problems.push({ pointer, detail: `repeats "${eventId}": name each event id once` });
    seen.add(eventId);
  }
  // When an expression gives the ids, their number is not known before the job runs.
  const isCounted = Array.isArray(config.eventIds);
  if (isCounted && typeof config.match === "number" && config.match > eventIds.length) {
    problems.push({
      pointer: "/match",
      detail: `asks for ${config.match} events, but only ${eventIds.length} are listed`,
    });
  }
  for (const eventId of Object.keys(objectOf(config.payloadDefinitions))) {
    if (seen.has(eventId)) continue;
    const pointer = pointerTo("/payloadDefinitions", eventId);
    problems.push({ pointer, detail: "is for an event that this step does not wait for: list it in `eventIds`" });
  }
  return problems;
}

function waitRule(config: JsonObject): WaitRule {
  const eventIds = stringsOf(config.eventIds);
  return {
    eventIds,
    requiredCount: requiredCount(config.match, eventIds.length),
    payloadDefinitions: payloadReferences(config.payloadDefinitions),
    ...(typeof config.timeoutSeconds === "number" && { timeoutMs: config.timeoutSeconds * 1000 }),
  };
}

function requiredCount(match: JsonValue | undefined, listed: number): number {
  if (match === "any") return 1;
  return typeof match === "number" ? match : listed;
}

function payloadReferences(value: JsonValue | undefined): Record<string, JsonValue> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([eventId, reference]) => [eventId, objectOf(reference).$ref ?? null]),
  );
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function stringsOf(value: JsonObject[string] | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

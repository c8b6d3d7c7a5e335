import type { WaitKind, WaitRule } from "../../core/executor-kind.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { type Problem, pointerTo } from "../../core/problem.ts";

/** `/service/waitForEventIds`: waits until all of `eventIds` (or `any`, or a number of them) are here. */
export const waitForEvents: WaitKind = {
  type: "/service/waitForEventIds",
  behaviour: "wait",
  configSchema: {
    type: "object",
    properties: {
      eventIds: { type: "array", items: { type: "string", minLength: 1, maxLength: 256 }, minItems: 1, maxItems: 100 },
      match: { anyOf: [{ enum: ["all", "any"] }, { type: "integer", minimum: 1, maximum: 100 }] },
      timeoutSeconds: { type: "number", exclusiveMinimum: 0, maximum: 31_536_000 },
    },
    required: ["eventIds"],
    additionalProperties: false,
  },
  checkConfig(config) {
    const eventIds = stringsOf(config.eventIds);
    const problems: Problem[] = [];
    const seen = new Set<string>();
    for (const [index, eventId] of eventIds.entries()) {
      const pointer = pointerTo("/eventIds", index);
      if (seen.has(eventId)) problems.push({ pointer, detail: `repeats "${eventId}": name each event id once` });
      seen.add(eventId);
    }
    if (typeof config.match === "number" && config.match > eventIds.length) {
      problems.push({
        pointer: "/match",
        detail: `asks for ${config.match} events, but only ${eventIds.length} are listed`,
      });
    }
    return problems;
  },
  waitRule(config): WaitRule {
    const eventIds = stringsOf(config.eventIds);
    return {
      eventIds,
      requiredCount: requiredCount(config.match, eventIds.length),
      ...(typeof config.timeoutSeconds === "number" && { timeoutMs: config.timeoutSeconds * 1000 }),
    };
  },
};

function requiredCount(match: JsonValue | undefined, listed: number): number {
  if (match === "any") return 1;
  return typeof match === "number" ? match : listed;
}

function stringsOf(value: JsonObject[string] | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

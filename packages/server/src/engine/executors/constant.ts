import type { JsonValue } from "../../core/json/json.ts";

/** Whether a text of a definition is known when it is registered: one with an expression is judged when its step is called. */
export function isConstant(value: JsonValue): boolean {
  return typeof value !== "string" || !value.includes("${");
}

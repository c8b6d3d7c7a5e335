import type { JsonValue } from "../../core/json/json.ts";

/** Whether a text of a definition is known at registration. A text with an expression is judged when its step is called. */
export function isConstant(value: JsonValue): boolean {
  return typeof value !== "string" || !value.includes("${");
}

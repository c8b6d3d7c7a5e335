import type { JsonValue } from "../../core/json/json.ts";

/** Whether a text of a definition is constant. A text with an expression has no value at registration, so it is checked when its step is called. */
export function isConstant(value: JsonValue): boolean {
  return typeof value !== "string" || !value.includes("${");
}

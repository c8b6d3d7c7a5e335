import type { JsonValue } from "../../core/json/json.ts";

/** Whether a value in a config is constant. A text with an expression has no value at registration, so it is checked when a job reaches the step. */
export function isConstant(value: JsonValue): boolean {
  return typeof value !== "string" || !value.includes("${");
}

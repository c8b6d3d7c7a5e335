import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import { type Budget, unitsPerSortedKey } from "./budget.ts";
import { toJson, type Value } from "./value.ts";

/**
 * Returns the value as JSON text. If the value itself is a text, a timestamp or a duration, it has no quotes. The keys of each object are sorted,
 * because the properties of a job's input may have another order after the job was read from the store, and an expression must not show whether the
 * node was restarted.
 */
export function jsonText(value: Value, budget: Budget): string {
  const json = toJson(value, budget);
  if (typeof json !== "object" || json === null) {
    budget.spend(unitsPerScalar);
    return typeof json === "string" ? json : JSON.stringify(json);
  }
  spendOnMembers(json, budget);
  return canonicalJson(json);
}

function spendOnMembers(value: Value, budget: Budget): void {
  if (typeof value === "string") budget.spendOnText(value.length, charactersPerUnit);
  else if (Array.isArray(value)) {
    budget.spend(1 + value.length * unitsPerScalar);
    for (const item of value) if (typeof item === "string" || typeof item === "object") spendOnMembers(item, budget);
  } else if (isJsonObject(value as JsonObject)) {
    const keys = Object.keys(value as JsonObject);
    budget.spend(1 + keys.length * (unitsPerSortedKey + unitsPerScalar));
    for (const key of keys) {
      budget.spendOnText(key.length, charactersPerUnit);
      spendOnMembers((value as JsonObject)[key] as Value, budget);
    }
  }
}

const unitsPerScalar = 6;
/** Fewer than for plain text, because a character may need an escape. */
const charactersPerUnit = 3;

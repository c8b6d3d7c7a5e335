import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { getOwn } from "../json/record.ts";
import { type Budget, unitsPerKey } from "./budget.ts";

/** Whether two values are the same JSON, whatever the order of keys. The cost depends on the parts that are compared. */
export function isSame(one: JsonValue, other: JsonValue, budget: Budget): boolean {
  budget.spend(1);
  if (typeof one === "string" && typeof other === "string") {
    budget.spendOnText(one.length === other.length ? one.length : 0);
    return one === other;
  }
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSame(item, other[index] as JsonValue, budget))
    );
  }
  return isJsonObject(one) && isJsonObject(other) && areSameObjects(one, other, budget);
}

function areSameObjects(one: JsonObject, other: JsonObject, budget: Budget): boolean {
  const keys = Object.keys(one);
  const otherCount = Object.keys(other).length;
  budget.spend((keys.length + otherCount) * unitsPerKey);
  return (
    keys.length === otherCount &&
    keys.every((key) => {
      const value = getOwn(other, key);
      return value !== undefined && isSame(one[key] as JsonValue, value, budget);
    })
  );
}

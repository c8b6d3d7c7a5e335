import type { JsonObject, JsonValue } from "../../json/json.ts";

/**
 * Makes a placeholder for a value that was not read because it should not be needed. Any access to the placeholder throws. So a mistake about the
 * needed values cannot lead to a wrong value.
 */
export function unreadValue(): JsonObject {
  const value = new Proxy({}, refuseAll);
  unread.add(value);
  return value;
}

export function isUnread(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && unread.has(value);
}

const unread = new WeakSet<object>();

function refuse(): never {
  throw new Error("The code uses a value of a job, but this value was not read from the store.");
}

const refuseAll: ProxyHandler<JsonObject> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
  getPrototypeOf: refuse,
};

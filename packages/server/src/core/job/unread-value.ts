import type { JsonObject, JsonValue } from "../json/json.ts";

/**
 * Stands for a value that was not read, since nothing was to look into it. Whatever looks into it all the same throws: a mistake about what is needed must not become a
 * wrong value.
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
  throw new Error("A value of a job is looked into that was not read.");
}

const refuseAll: ProxyHandler<JsonObject> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
  getPrototypeOf: refuse,
};

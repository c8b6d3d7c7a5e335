/**
 * Functions for records whose keys come from outside. A step or an event may have the name `constructor` or `__proto__`. So reading finds only own
 * keys, and writing defines a key and does not assign it.
 */
export function getOwn<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

export function withOwn<Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
  value: Value,
): Record<string, Value> {
  return { ...record, [key]: value };
}

export function withoutOwn<Value>(
  record: Readonly<Record<string, Value>>,
  keys: ReadonlySet<string>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.has(key)));
}

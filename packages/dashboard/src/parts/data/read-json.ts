/**
 * Returns the JSON value of a text. Undefined for a text that is not JSON, and for a text with a number such as 1e400, which would be sent as null.
 */
export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text, refuseInfinite) };
  } catch {
    return undefined;
  }
}

function refuseInfinite(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("The number is too large.");
  return value;
}

/** The value that a text stands for. Undefined for what is no JSON, or would be sent as something else: 1e400 is infinite here, and null in JSON. */
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

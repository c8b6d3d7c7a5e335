/** Knows the methods of each path. A known path with another method gets a 405 and not a 404, and the answer to OPTIONS lists the methods. */
export class KnownPaths {
  readonly #paths = new Map<string, Set<string>>();

  add(pattern: string, methods: string | readonly string[]): void {
    const known = this.#paths.get(pattern) ?? new Set();
    for (const method of [methods].flat()) known.add(method);
    this.#paths.set(pattern, known);
  }

  /** Returns an empty list for a path that no route has. */
  methodsOf(path: string): readonly string[] {
    const segments = path.split("/");
    const methods = new Set<string>();
    for (const [pattern, known] of this.#paths) {
      if (matches(pattern.split("/"), segments)) for (const method of known) methods.add(method);
    }
    if (methods.size > 0) methods.add("OPTIONS");
    return [...methods].sort();
  }
}

/** A `*` at the end matches any rest of the path. */
function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === "*") return matches(pattern.slice(0, -1), segments.slice(0, pattern.length - 1));
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => (part.startsWith(":") ? segments[index] !== "" : part === segments[index]));
}

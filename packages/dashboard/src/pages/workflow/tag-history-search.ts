/** Not in the path: there the router takes a name that begins with a dollar for a parameter. */
export interface TagHistorySearch {
  readonly tag: string;
}

/** The router reads what looks like a number as one. */
export function parseTagHistorySearch({ tag = "$LIVE" }: Record<string, unknown>): TagHistorySearch {
  return { tag: String(tag) };
}

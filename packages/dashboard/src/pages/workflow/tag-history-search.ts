/** The tag is not in the path, since the router takes a part that begins with a dollar sign for a parameter. */
export interface TagHistorySearch {
  readonly tag: string;
}

/** The router reads a tag that looks like a number as a number. */
export function parseTagHistorySearch({ tag = "$LIVE" }: Record<string, unknown>): TagHistorySearch {
  return { tag: String(tag) };
}

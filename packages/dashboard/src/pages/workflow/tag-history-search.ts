/** The tag is not in the path, because the router treats a part of a path that begins with a dollar sign as a parameter. */
export interface TagHistorySearch {
  readonly tag: string;
}

/** The router reads a tag that looks like a number as a number, so it is turned back into text. */
export function parseTagHistorySearch({ tag = "$LIVE" }: Record<string, unknown>): TagHistorySearch {
  return { tag: String(tag) };
}

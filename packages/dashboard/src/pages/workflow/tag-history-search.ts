/** The tag is not in the path, because the router treats a part of a path that begins with a dollar sign as a parameter. */
export interface TagHistorySearch {
  readonly tag: string;
}

/** An address without a tag leads to the history of `$LIVE`. */
export function parseTagHistorySearch({ tag = "$LIVE" }: Record<string, unknown>): TagHistorySearch {
  return { tag: String(tag) };
}

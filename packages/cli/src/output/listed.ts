import type { Pages } from "@stepwell/client";
import { warn } from "./terminal.ts";

/** Returns the first `limit` items of a list, and warns if the list has more. */
export async function listed<Page, Item>(
  limit: number,
  list: (pageSize: number) => Pages<Page, Item>,
): Promise<readonly Item[]> {
  // Asks for one item more than is shown, to learn whether there are more.
  const items = await list(Math.min(limit + 1, maxPageSize)).toArray(limit + 1);
  if (items.length > limit) warn(`There are more than ${limit}. List more with --limit.`);
  return items.slice(0, limit);
}

/** Every list of the API allows pages of this size. */
const maxPageSize = 100;

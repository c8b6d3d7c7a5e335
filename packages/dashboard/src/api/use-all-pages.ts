import { useEffect } from "react";
import type { PagedQuery } from "./more-pages.ts";

interface LoadedPages extends PagedQuery {
  readonly data?: { readonly pages: readonly unknown[] } | undefined;
}

/** At most this many pages are loaded, since nobody reads a longer list of choices to its end. */
const mostPages = 10;

/** Loads the pages of a list one after the other, up to `mostPages`, for a choice among its items. */
export function useAllPages(query: LoadedPages): void {
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const isWanted = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && (data?.pages.length ?? 0) < mostPages;
  useEffect(() => {
    if (isWanted) void fetchNextPage();
  }, [isWanted, fetchNextPage]);
}

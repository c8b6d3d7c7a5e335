import { useEffect } from "react";
import type { PagedQuery } from "../parts/data/more-pages.ts";

interface LoadedPages extends PagedQuery {
  readonly data?: { readonly pages: readonly unknown[] } | undefined;
}

/** A choice of more than so many pages is one that nobody reads through. */
const mostPages = 10;

/** For a choice among all of a list, which comes in pages. */
export function useAllPages(query: LoadedPages): void {
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const isWanted = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && (data?.pages.length ?? 0) < mostPages;
  useEffect(() => {
    if (isWanted) void fetchNextPage();
  }, [isWanted, fetchNextPage]);
}

import { useEffect } from "react";

interface PagedQuery {
  readonly data?: { readonly pages: readonly unknown[] } | undefined;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** A choice of more than so many pages is one that nobody reads through. */
const mostPages = 10;

/** For a choice among all of a list, which comes in pages. */
export function useAllPages({ data, hasNextPage, isFetchingNextPage, fetchNextPage }: PagedQuery): void {
  const isWanted = hasNextPage && !isFetchingNextPage && (data?.pages.length ?? 0) < mostPages;
  useEffect(() => {
    if (isWanted) void fetchNextPage();
  }, [isWanted, fetchNextPage]);
}

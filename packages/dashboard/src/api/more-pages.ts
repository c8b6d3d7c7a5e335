/** The state of the pages that a list has not loaded yet. */
export interface MorePages {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** The next page could not be loaded. It is requested again only when the reader asks for it. */
  readonly hasFailed: boolean;
  readonly load: () => void;
}

export interface PagedQuery {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly fetchNextPage: () => unknown;
}

export function morePages(query: PagedQuery): MorePages {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  return {
    hasMore: hasNextPage,
    isLoading: isFetchingNextPage,
    hasFailed: isFetchNextPageError,
    load: () => void fetchNextPage(),
  };
}

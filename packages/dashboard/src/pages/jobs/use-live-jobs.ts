import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { jobPagesQuery, jobsQuery } from "../../api/jobs.ts";
import { morePages } from "../../api/more-pages.ts";
import type { JobSearch } from "./job-search.ts";
import { liveList } from "./live-list.ts";
import { rememberList } from "./shown-list.ts";

const pageSize = 100;

/** A list of jobs that updates itself without moving rows: new jobs are shown only when the reader asks for them. */
export function useLiveJobs(organizationId: string, search: JobSearch) {
  const queries = useQueryClient();
  const filters = useMemo(() => ({ ...search, pageSize }), [search]);
  const place = usePlace(organizationId);
  const pages = jobPagesQuery(organizationId, filters, place);
  useEffect(() => rememberList(organizationId, pages));
  const query = useInfiniteQuery(pages);
  const { data, error, refetch } = query;
  const { data: latest, isError, isPaused } = useQuery(jobsQuery(organizationId, filters));
  // The list is old when the request failed, or when its repetition waits until the page is visible again.
  const isOld = isError || isPaused;
  const loaded = data?.pages;
  const list = useMemo(
    () => (loaded === undefined ? undefined : liveList(loaded, latest, search.order ?? "newest")),
    [loaded, latest, search.order],
  );
  const { queryKey } = pages;
  const showLatest = useCallback(() => {
    if (latest === undefined) return;
    queries.setQueryData(queryKey, { pages: [latest], pageParams: [undefined] });
  }, [latest, queries, queryKey]);
  // An empty list shows new jobs at once, since no rows can jump.
  const isFirst = list?.jobs.length === 0 && list.newCount > 0;
  useEffect(() => {
    if (isFirst) showLatest();
  }, [isFirst, showLatest]);
  return { list, error, more: morePages(query), refetch, showLatest, isOld };
}

/**
 * The place of this list in the browser's history. The last known place is kept, because the address already belongs to the next page while this list
 * is still shown.
 */
function usePlace(organizationId: string): string | undefined {
  const key = useLocation({
    select: ({ pathname, state }) => (pathname.endsWith(`/${organizationId}/jobs`) ? state.__TSR_key : undefined),
  });
  const [place, setPlace] = useState(key);
  if (key !== undefined && key !== place) setPlace(key);
  return key ?? place;
}

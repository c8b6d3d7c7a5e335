import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { JobKey } from "../../api/job.ts";
import "../../parts/controls/Button.css";
import { Icon, type IconName } from "../../parts/layout/Icon.tsx";
import { texts } from "../../texts/texts.ts";
import { type JobPages, lastList } from "../jobs/shown-list.ts";

/** Links to the jobs before and after this one in the list that was shown last. Shows nothing if this job is not in that list. */
export function JobNeighbours({ jobKey }: { readonly jobKey: JobKey }) {
  const pages = lastList(jobKey.organizationId);
  return pages && <Neighbours jobKey={jobKey} pages={pages} />;
}

function Neighbours({ jobKey, pages }: { readonly jobKey: JobKey; readonly pages: JobPages }) {
  const words = texts.job;
  // The list keeps its pages while it is used here, so that a reader who goes back finds them.
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = useInfiniteQuery({
    ...pages,
    // A list that is no longer in memory is not requested again, because this job may be far down in it.
    enabled: false,
  });
  const jobs = data?.pages.flatMap((page) => page.jobs) ?? [];
  const index = jobs.findIndex(({ jobId }) => jobId === jobKey.jobId);
  const isLast = index !== -1 && index === jobs.length - 1;
  useEffect(() => {
    if (isLast && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [isLast, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  if (index === -1) return null;
  const { organizationId } = jobKey;
  return (
    <nav className="row" aria-label={words.neighbours}>
      <Neighbour organizationId={organizationId} jobId={jobs[index - 1]?.jobId} icon="left" text={words.previous} />
      <Neighbour organizationId={organizationId} jobId={jobs[index + 1]?.jobId} icon="right" text={words.next} />
    </nav>
  );
}

interface NeighbourProps {
  readonly organizationId: string;
  /** The id of the neighbour; undefined at either end of the list. */
  readonly jobId: string | undefined;
  readonly icon: IconName;
  readonly text: string;
}

/** A link to a neighbour, whose page replaces this job's page in the browser's history. So the browser's Back button leads to the list. */
function Neighbour({ organizationId, jobId, icon, text }: NeighbourProps) {
  if (jobId === undefined) return null;
  return (
    <Link
      to="/app/organizations/$organizationId/jobs/$jobId"
      params={{ organizationId, jobId }}
      replace
      className="button button-quiet"
      title={text}
    >
      <Icon name={icon} />
      <span className="visually-hidden">{text}</span>
    </Link>
  );
}

import type { ListedJob } from "../../api/jobs.ts";

export interface LivePage {
  readonly jobs: readonly ListedJob[];
  readonly nextPageToken?: string | undefined;
}

export interface LiveList {
  /** The loaded jobs, each in the state in which it was last received. */
  readonly jobs: readonly ListedJob[];
  /** The ids of jobs that no longer belong to the list. These jobs are shown until the reader asks for the present list, so that nothing jumps. */
  readonly goneIds: ReadonlySet<string>;
  /** The number of new jobs that are not shown yet. */
  readonly newCount: number;
}

/**
 * Combines the loaded list with the latest state of its first page, which is read again and again. Ids are in the order of creation. So a job whose
 * id is in the range of the first page, but which is not on that page, no longer belongs to the list.
 */
export function liveList(
  loaded: readonly LivePage[],
  latest: LivePage | undefined,
  order: "newest" | "oldest",
): LiveList {
  const shown = loaded.flatMap((page) => page.jobs);
  if (latest === undefined) return { jobs: shown, goneIds: new Set(), newCount: 0 };
  const fresh = new Map(latest.jobs.map((job) => [job.jobId, job]));
  const isCovered = coverage(latest, order);
  const shownIds = new Set(shown.map(({ jobId }) => jobId));
  const isWhole = loaded.at(-1)?.nextPageToken === undefined;
  const last = shown.at(-1)?.jobId;
  return {
    jobs: shown.map((job) => fresh.get(job.jobId) ?? job),
    goneIds: new Set(shown.filter(({ jobId }) => isCovered(jobId) && !fresh.has(jobId)).map(({ jobId }) => jobId)),
    // A job beyond the loaded pages is not new.
    newCount: latest.jobs.filter(
      ({ jobId }) => !shownIds.has(jobId) && (isWhole || last === undefined || isBefore(jobId, last, order)),
    ).length,
  };
}

function coverage({ jobs, nextPageToken }: LivePage, order: "newest" | "oldest"): (jobId: string) => boolean {
  const last = jobs.at(-1)?.jobId;
  if (nextPageToken === undefined || last === undefined) return () => true;
  return (jobId) => jobId === last || isBefore(jobId, last, order);
}

function isBefore(jobId: string, other: string, order: "newest" | "oldest"): boolean {
  return order === "newest" ? jobId > other : jobId < other;
}

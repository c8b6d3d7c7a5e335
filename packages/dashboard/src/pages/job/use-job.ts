import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type JobKey, jobQuery, jobQueryKey, type WholeJob } from "../../api/job.ts";
import { type HistoryEntry, type JobFeed, JobWatch } from "../../api/job-stream.ts";
import type { ProblemError } from "../../api/problem.ts";
import type { ShownStatus } from "../../parts/words/StatusBadge.tsx";
import { usePaced } from "../../parts/words/use-paced.ts";
import { isFinished, type JobStory, tellStory } from "./job-story.ts";

export interface ShownJob {
  /** What never changes of it: its workflow, its version, its input. */
  readonly job: WholeJob;
  readonly story: JobStory;
  readonly entries: readonly HistoryEntry[];
  readonly connection: JobFeed["connection"];
  readonly shownStatus: ShownStatus;
  readonly lookAgain: () => void;
}

interface FollowedJob {
  readonly shown: ShownJob | undefined;
  readonly error: ProblemError | Error | null;
  /** Undefined where asking again is no use. */
  readonly retry: (() => void) | undefined;
}

/** A job with all that happens to it, as it happens. */
export function useJob(key: JobKey): FollowedJob {
  const { organizationId, jobId } = key;
  const watch = useMemo(() => new JobWatch({ organizationId, jobId }), [organizationId, jobId]);
  const feed = useSyncExternalStore(watch.subscribe, watch.current);
  const story = useMemo(() => tellStory(feed.entries), [feed.entries]);
  const { data: job, error, refetch } = useQuery(jobQuery(key));
  useFreshEvents(key, story, feed.entries);
  const retry = feed.error === undefined ? () => void refetch() : undefined;
  if (job === undefined || story.sequence === 0) return { shown: undefined, error: feed.error ?? error, retry };
  const { entries, connection } = feed;
  return {
    shown: { job, story, entries, connection, shownStatus: shownStatusOf(story), lookAgain: watch.lookAgain },
    // What is known stands, and so does what somebody writes there: the session may have ended.
    error: feed.error ?? null,
    retry,
  };
}

function shownStatusOf({ status, current }: JobStory): ShownStatus {
  if (status !== "RUNNING") return status;
  if (current?.status === "waiting") return "WAITING";
  return current?.status === "retrying" ? "RETRYING" : "RUNNING";
}

/** As many as come in between are asked for at once. */
const askMs = 500;

/** What else is known of the job's events is asked for again when the history tells of another one, or of one that was consumed. */
function useFreshEvents(key: JobKey, { status }: JobStory, entries: readonly HistoryEntry[]): void {
  const queries = useQueryClient();
  const { organizationId, jobId } = key;
  const told = useMemo(
    () => entries.filter(({ type, consumed }) => type === "event.received" || consumed !== undefined).length,
    [entries],
  );
  const count = usePaced(told, askMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another count is the reason
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: [...jobQueryKey({ organizationId, jobId }), "events"] });
  }, [queries, organizationId, jobId, count, isFinished(status)]);
}

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type JobKey, jobQuery, jobQueryKey, type WholeJob } from "../../api/job.ts";
import { type JobFeed, JobWatch } from "../../api/live/job-watch.ts";
import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import type { ProblemError } from "../../api/problem.ts";
import { stepsOfText } from "../../graph/graph-step.ts";
import type { ShownStatus } from "../../parts/words/StatusBadge.tsx";
import { usePaced } from "../../parts/words/use-paced.ts";
import { isFinished, type JobStory, shownStatusOf, tellStory } from "./job-story.ts";
import { entriesOf, stepRunCount } from "./snapshot.ts";
import { useJobVersion } from "./use-job-version.ts";

export interface ShownJob {
  /** The job as GetJob returned it. Only the parts that never change, such as its workflow and its input, are shown from here. */
  readonly job: WholeJob;
  readonly story: JobStory;
  /** The types of those steps that are known, by the step's name. */
  readonly types: ReadonlyMap<string, string>;
  readonly entries: readonly HistoryEntry[];
  readonly connection: JobFeed["connection"];
  readonly shownStatus: ShownStatus;
}

interface FollowedJob {
  readonly shown: ShownJob | undefined;
  readonly error: ProblemError | Error | null;
  /** Undefined if another request cannot help. */
  readonly retry: (() => void) | undefined;
}

/**
 * Follows a job and everything that happens to it. Until its history is loaded, it is shown as GetJob describes it, so that the page can be drawn
 * without a stream.
 */
export function useJob(key: JobKey): FollowedJob {
  const { organizationId, jobId } = key;
  const watch = useMemo(() => new JobWatch({ organizationId, jobId }), [organizationId, jobId]);
  const feed = useSyncExternalStore(watch.subscribe, watch.current);
  const { data: job, error, refetch } = useQuery(jobQuery(key));
  const types = useTypes(organizationId, job);
  const paced = usePaced(feed.entries, tellMs);
  const entries = feed.entries.length < manyEntries ? feed.entries : paced;
  const told = useMemo(() => tellStory(entries, types), [entries, types]);
  const snapshot = useMemo(() => job && tellStory(entriesOf(job), types), [job, types]);
  const isTold = told.sequence > 0 && told.runs.length >= (job === undefined ? 0 : stepRunCount(job));
  const story = isTold ? told : (snapshot ?? told);
  useFreshEvents(key, story, entries);
  const retry = feed.error === undefined ? () => void refetch() : undefined;
  if (job === undefined) return { shown: undefined, error: feed.error ?? error, retry };
  return {
    shown: { job, story, types, entries, connection: feed.connection, shownStatus: shownStatusOf(story) },
    // The known job and everything that was typed stay on the page even after an error, since the cause may be that the session has ended.
    error: feed.error ?? null,
    retry,
  };
}

/**
 * The story is always built from the whole history, which takes 80 ms for 30,000 entries. From `manyEntries` on, it is rebuilt at most once in
 * `tellMs`.
 */
const manyEntries = 3_000;
const tellMs = 500;

/**
 * Returns the types of all steps in the definition. If the definition is not loaded, or the reader may not read it, returns the types of the steps
 * that GetJob names.
 */
function useTypes(organizationId: string, job: WholeJob | undefined): ReadonlyMap<string, string> {
  const { version } = useJobVersion(organizationId, job);
  return useMemo(() => {
    const steps = (version && stepsOfText(version.definition)) ?? job?.steps ?? [];
    return new Map(steps.map(({ name, type }) => [name, type]));
  }, [version, job?.steps]);
}

/** One request reads all events that come within this time. */
const askMs = 500;

/** Reads the job's events again when the history shows that one was received or consumed, and when the job ends. */
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

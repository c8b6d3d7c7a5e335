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
  /** The job with what never changes: its workflow, its version, its input. */
  readonly job: WholeJob;
  readonly story: JobStory;
  /** The type of each step that is known, by its name. */
  readonly types: ReadonlyMap<string, string>;
  readonly entries: readonly HistoryEntry[];
  readonly connection: JobFeed["connection"];
  readonly shownStatus: ShownStatus;
}

interface FollowedJob {
  readonly shown: ShownJob | undefined;
  readonly error: ProblemError | Error | null;
  /** Undefined where asking again is no use. */
  readonly retry: (() => void) | undefined;
}

/** A job with all that happens to it, as it happens. Until its history is here, as GetJob tells of it: a page needs no stream to be drawn. */
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
    // The job that is known stays on the page, and so does what somebody writes there: the session may have ended.
    error: feed.error ?? null,
    retry,
  };
}

/** A story is told from its beginning each time, which takes 80 ms for 30,000 entries: a long one is told anew only so often. */
const manyEntries = 3_000;
const tellMs = 500;

/** The definition has them all; of a job whose definition may not be read, the steps that it had when the page was opened. */
function useTypes(organizationId: string, job: WholeJob | undefined): ReadonlyMap<string, string> {
  const { version } = useJobVersion(organizationId, job);
  return useMemo(() => {
    const steps = (version && stepsOfText(version.definition)) ?? job?.steps ?? [];
    return new Map(steps.map(({ name, type }) => [name, type]));
  }, [version, job?.steps]);
}

/** As many as come in between are asked for at once. */
const askMs = 500;

/** Reads the job's events again when the history tells of another one, or of one that was consumed. */
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

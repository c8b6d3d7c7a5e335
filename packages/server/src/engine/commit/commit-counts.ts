import type { EventChange } from "../../core/job/fact.ts";
import type { HistoryEntry } from "../../core/job/history.ts";
import type { Job } from "../../core/job/job-state.ts";
import { countEntries, earlierLifeOf } from "../../core/job/metrics/job-counts.ts";
import { ChangeSum } from "../../core/job/metrics/metric-change.ts";
import type { ValueBook } from "../../core/job/values/value-book.ts";
import type { Timestamp } from "../../core/time.ts";
import { historyText } from "../../store/jobs/jobs.ts";
import type { OrganizationChanges } from "../../store/jobs/metric-rollups.ts";
import type { Command } from "./command.ts";

/** A job that the batch changed, with the fields that are counted. `before` is undefined for a job that the batch creates. */
export interface CountedJob {
  readonly before: Job | undefined;
  readonly job: Job;
  readonly entries: readonly HistoryEntry[];
  readonly values: ValueBook;
  /** An estimate in bytes of what this batch adds to the job's row and to its events' rows. Outputs are counted with the history or the values. */
  readonly payloadBytes: number;
}

/** Sums up what one commit adds to the metrics of the organizations. */
export class CommitCounts {
  readonly #sums = new Map<string, ChangeSum>();

  get changes(): OrganizationChanges[] {
    return [...this.#sums].map(([organizationId, { changes }]) => ({ organizationId, changes }));
  }

  /** Counts the entries that the commit adds to the history of a job. Returns the row that holds them (`historyText`). */
  countHistory({ before, job, entries, values }: CountedJob): string {
    const { organizationId, jobId, workflowId, createdAt } = job;
    const { counts, isComplete } = countEntries(earlierLifeOf(before, createdAt), entries);
    if (isComplete) this.#sumOf(organizationId).add(workflowId, counts);
    return historyText({ organizationId, jobId, entries: values.entries(entries), counted: isComplete });
  }

  /**
   * Counts and returns the bytes that the commit adds to the store for a job. It uses only lengths that are known anyway. Call it after the history
   * and the state are made, because making them moves large values into rows of their own. Updated rows of jobs add nothing, because they replace the
   * old rows.
   */
  countStoredBytes({ job, values, payloadBytes }: CountedJob, history: string, at: Timestamp): number {
    let count = history.length + payloadBytes;
    for (const { bytes } of values.added) count += bytes;
    this.#sumOf(job.organizationId).add(job.workflowId, [{ measure: "storedBytes", at, count, durationMs: null }]);
    return count;
  }

  #sumOf(organizationId: string): ChangeSum {
    const sum = this.#sums.get(organizationId) ?? new ChangeSum();
    this.#sums.set(organizationId, sum);
    return sum;
  }
}

/** Estimates how many bytes a command adds to the store: the row of a new job, or the rows of the events that the job keeps. */
export function payloadBytesOf(command: Command, events: readonly EventChange[]): number {
  if (command.type === "submit") return command.bytes + newJobBytes;
  const keptCount = events.filter(({ type }) => type === "kept").length;
  return keptCount === 0 ? 0 : command.bytes + keptCount * newEventBytes;
}

/** Estimates in bytes: the row of a new job with its state but without its input, and the row of an event without its payload. */
const newJobBytes = 1_000;
const newEventBytes = 200;

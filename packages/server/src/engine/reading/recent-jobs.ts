import { type HistoryEntry, valueIn } from "../../core/job/history.ts";
import type { Job } from "../../core/job/job-state.ts";
import { sizeOfJson } from "../../core/json/json-size.ts";

/** A job with its whole history, as one commit left it. */
export interface JobSnapshot {
  readonly job: Job;
  readonly entries: readonly HistoryEntry[];
}

const maxJobs = 6_000;
/** The largest size of a job that is kept. Sizes are counted roughly as by `sizeOfJson`. */
const maxSize = 8_000;
const maxTotalSize = 12_000_000;
const droppedAtOnce = 50;

/**
 * The small jobs that this node changed last. A client that submits a job, or sends an event to a job, usually asks for this job next. If other nodes
 * write too, the reader must ask the store whether the snapshot is still the newest.
 */
export class RecentJobs {
  readonly #snapshots = new Map<string, JobSnapshot & { readonly size: number }>();
  #totalSize = 0;

  get(jobId: string): JobSnapshot | undefined {
    return this.#snapshots.get(jobId);
  }

  /** Notes a committed change. `entries` are the history entries of this commit. */
  follow(job: Job, entries: readonly HistoryEntry[]): void {
    const isNew = entries[0]?.sequence === 1;
    const known = this.#snapshots.get(job.jobId);
    const before = isNew ? [] : known?.entries;
    const sizeBefore = isNew ? sizeOfJson(job.input, maxSize) : (known?.size ?? 0);
    this.#drop(job.jobId);
    // Only a complete history is kept. This one is incomplete if its beginning is missing, or if another node has written some entries.
    if (before === undefined || before.length + entries.length !== job.sequence) return;
    const size = sizeBefore + entries.reduce((sum, entry) => sum + sizeOfEntry(entry), 0);
    if (size > maxSize) return;
    // The input is taken from the known snapshot. It never changes, and not every commit reads it.
    const input = known === undefined || isNew ? job.input : known.job.input;
    this.#snapshots.set(job.jobId, { job: { ...job, input }, entries: [...before, ...entries], size });
    this.#totalSize += size;
    while (this.#snapshots.size > maxJobs || this.#totalSize > maxTotalSize) this.#dropOldest();
  }

  /**
   * Drops the jobs that changed longest ago, which come first because a Map keeps the order of insertion. It drops several jobs together,
   * because a Map passes all deleted keys at its beginning each time it looks for its first key.
   */
  #dropOldest(): void {
    for (const oldest of this.#snapshots.keys().take(droppedAtOnce)) this.#drop(oldest);
  }

  #drop(jobId: string): void {
    this.#totalSize -= this.#snapshots.get(jobId)?.size ?? 0;
    this.#snapshots.delete(jobId);
  }
}

/** The size of an entry, not counting the value that some entries carry. */
const plainEntrySize = 100;

function sizeOfEntry(entry: HistoryEntry): number {
  const stored = valueIn(entry);
  return plainEntrySize + (stored !== undefined && "value" in stored ? sizeOfJson(stored.value, maxSize) : 0);
}

import { foldSteps } from "../core/job/history.ts";
import type { Job } from "../core/job/job-state.ts";
import type { Queryable } from "../store/home/database.ts";
import { type JobKey, readJobs, readSequences } from "../store/jobs/jobs.ts";
import type { WholeJob } from "./engine.ts";
import type { JobSnapshot, RecentJobs } from "./recent-jobs.ts";

export interface JobReaderOptions {
  readonly db: Queryable;
  readonly recent: RecentJobs;
  /** True when no other process can write: what this node saw last is then what the store has. */
  readonly isAlone: boolean;
}

/** Reads jobs; the reads that arrive in one turn of the event loop share a statement. */
export class JobReader {
  readonly #options: JobReaderOptions;
  #waiting: Waiting[] = [];

  constructor(options: JobReaderOptions) {
    this.#options = options;
  }

  async read(key: JobKey): Promise<WholeJob | undefined> {
    const known = this.#options.isAlone ? this.#recall(key) : undefined;
    if (known !== undefined) return wholeJob(known.job, known.entries);
    return await new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => void this.#readAll());
      this.#waiting.push({ key, resolve, reject });
    });
  }

  async #readAll(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += maxReadsAtOnce) {
      await this.#readSome(waiting.slice(start, start + maxReadsAtOnce));
    }
  }

  async #readSome(waiting: readonly Waiting[]): Promise<void> {
    try {
      const changed = await this.#answerUnchanged(waiting);
      if (changed.length > 0) await this.#answerFromStore(changed);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Of a job that this node knows, its sequence alone tells whether that is still all. Answers the reads that need more. */
  async #answerUnchanged(waiting: readonly Waiting[]): Promise<readonly Waiting[]> {
    const known = waiting.filter(({ key }) => this.#recall(key) !== undefined);
    if (known.length === 0) return waiting;
    const sequences = await readSequences(
      this.#options.db,
      known.map(({ key }) => key),
    );
    const sequenceOf = new Map(sequences.map(({ jobId, sequence }) => [jobId, sequence]));
    return waiting.filter(({ key, resolve }) => {
      const snapshot = this.#recall(key);
      if (snapshot === undefined || snapshot.job.sequence !== sequenceOf.get(key.jobId)) return true;
      resolve(wholeJob(snapshot.job, snapshot.entries));
      return false;
    });
  }

  async #answerFromStore(waiting: readonly Waiting[]): Promise<void> {
    const rows = await readJobs(
      this.#options.db,
      waiting.map(({ key }) => key),
    );
    const byId = new Map(rows.map((row) => [row.jobId, row]));
    for (const { key, resolve } of waiting) {
      const row = byId.get(key.jobId);
      // Job ids are unique, but only together with its organization does an id give access.
      if (row === undefined || row.organizationId !== key.organizationId) {
        resolve(undefined);
        continue;
      }
      const { commits, ...job } = row;
      resolve(wholeJob(job, commits.flat()));
    }
  }

  #recall({ organizationId, jobId }: JobKey): JobSnapshot | undefined {
    const snapshot = this.#options.recent.get(jobId);
    return snapshot?.job.organizationId === organizationId ? snapshot : undefined;
  }
}

interface Waiting {
  readonly key: JobKey;
  readonly resolve: (job: WholeJob | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const maxReadsAtOnce = 200;

/** `entries` is the job's whole history. */
export function wholeJob(job: Job, entries: WholeJob["entries"]): WholeJob {
  const steps = foldSteps(job.input, entries);
  return { job, steps, entries, output: job.state.status === "SUCCEEDED" ? steps.at(-1)?.output : undefined };
}

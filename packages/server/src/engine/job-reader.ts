import { foldSteps } from "../core/history.ts";
import type { Job } from "../core/job-state.ts";
import type { Queryable } from "../store/database.ts";
import { type JobKey, readJobs } from "../store/jobs.ts";
import type { WholeJob } from "./engine.ts";

/** Reads jobs; the reads that arrive in one turn of the event loop share one statement. */
export class JobReader {
  readonly #db: Queryable;
  #waiting: Waiting[] = [];

  constructor(db: Queryable) {
    this.#db = db;
  }

  read(key: JobKey): Promise<WholeJob | undefined> {
    return new Promise((resolve, reject) => {
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
      const rows = await readJobs(
        this.#db,
        waiting.map(({ key }) => key),
      );
      const byId = new Map(rows.map((row) => [row.jobId, row]));
      for (const { key, resolve } of waiting) {
        const row = byId.get(key.jobId);
        // Job ids are unique, but only together with its organization does an id give access.
        if (row === undefined || row.organizationId !== key.organizationId) resolve(undefined);
        else resolve(wholeJob(row, row.commits.flat()));
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
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

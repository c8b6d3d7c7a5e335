import { BranchFolder, type ForkRun, type ForkSearch } from "../../core/job/branch-runs.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Queryable } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { type BranchFold, foldBranches } from "./job-history.ts";

/** The bound on the folds in memory. Each may hold 10,000 branches, in about 2 MB. */
const maxFolds = 8;

/**
 * Keeps the folded branches of the forks that were asked for last. A history only grows. So the next page of a list, or the same page after the job
 * has gone on, reads only the new entries and not the whole history again.
 */
export class RecentForks {
  readonly #folds = new Map<string, BranchFold & { turn: Promise<unknown> }>();

  async read(db: Queryable, key: JobKey, plan: Plan, search: ForkSearch): Promise<ForkRun | undefined> {
    const { organizationId, jobId } = key;
    const name = JSON.stringify([organizationId, jobId, search.parent, search.step, search.visit]);
    const fold = this.#folds.get(name) ?? {
      folder: new BranchFolder(plan, search),
      reached: 0,
      turn: Promise.resolve(),
    };
    // The Map keeps the order of insertion, so the first key is the one that was asked for longest ago.
    this.#folds.delete(name);
    this.#folds.set(name, fold);
    const [oldest = name] = this.#folds.keys();
    if (this.#folds.size > maxFolds) this.#folds.delete(oldest);
    const reading = fold.turn.then(() => foldBranches(db, key, fold));
    fold.turn = reading.catch(() => undefined);
    await reading;
    return fold.folder.run;
  }
}

import { mainBranch } from "../../../src/core/branch-path.ts";
import type { Change, UntimedFact } from "../../../src/core/job/fact.ts";
import { type StoredState, storedState } from "../../../src/core/job/values/stored-state.ts";
import { ValueBook } from "../../../src/core/job/values/value-book.ts";
import { JobStore } from "../interleaving/job-store.ts";
import { type StepSketch, Story } from "./jobs.ts";

/**
 * A job that goes through the stored form and back at every commit, as if a crash happened between any two commits. The first `earlierCount`
 * commits are made by a release that kept all values in the row of the job.
 */
export class StoredStory extends Story {
  readonly store = new JobStore();
  readonly #earlierCount: number;

  constructor(steps: readonly StepSketch[], options: ConstructorParameters<typeof Story>[1], earlierCount = 0) {
    super(steps, options);
    this.#earlierCount = earlierCount;
    const book = new ValueBook();
    book.learnInput(this.job.input);
    this.#commit(book, this.changes[0]);
  }

  override apply(fact: UntimedFact): Change {
    const opened = this.#isEarlier
      ? this.store.openWith(new Set([mainBranch]))
      : this.store.open(this.plan, [fact], this.now);
    this.job = opened.job;
    const change = super.apply(fact);
    opened.values.addResults(change.results);
    if (change.entries.length > 0) this.#commit(opened.values, change);
    return change;
  }

  get #isEarlier(): boolean {
    return this.store.commits.length < this.#earlierCount;
  }

  #commit(book: ValueBook, change: Change | undefined): void {
    if (change === undefined) throw new Error("The job has no beginning.");
    const { job, entries } = change;
    if (!this.#isEarlier) {
      this.store.write(book, job, entries);
      return;
    }
    const { state, ...row } = job;
    const input = this.store.commits.length === 0 ? row.input : this.store.input;
    this.store.writeRow({ ...row, state: withoutEpoch(storedState(state)), input }, entries);
  }
}

/** Earlier releases did not write the epoch of a call into the state, since it was the epoch of the job. */
function withoutEpoch(state: StoredState): StoredState {
  if (state.status !== "RUNNING" || state.step.phase !== "calling") return state;
  const { epoch: _, ...step } = state.step;
  return { ...state, step } as StoredState;
}

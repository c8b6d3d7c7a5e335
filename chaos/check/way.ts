import { isDeepStrictEqual } from "node:util";
import { mainLine, pathOf } from "../branches.ts";
import {
  branchesOf,
  canFail,
  type Fork,
  isFork,
  type Line,
  type Luck,
  leadsOn,
  type StepShape,
  stepsWithin,
  type WorkflowShape,
} from "../workflows.ts";
import { type Fold, isFor, isWaiting, type StepFold } from "./history-automaton.ts";

/**
 * How far a line of steps has come. `resting`: nothing happens before an event arrives. `moving`: the service, a function or a worker must act next.
 * `cut`: the job, or a fork around the line, ended before the line was done. A line whose steps are not those of the workflow is `cut` too.
 */
export type LineState = "done" | "failed" | "cut" | "resting" | "moving";

/** The result of comparing the path of a job with its workflow. */
export interface Way {
  readonly state: LineState;
  readonly complaints: readonly string[];
  /** Whether a task of the job, or of a job below it, ended because its sixth worker was lost. */
  readonly lostSixWorkers: boolean;
}

/** `endedByLostWorkers` has the jobs for which `lostSixWorkers` is already known to be true. Children are checked before their parents. */
export function wayOf(fold: Fold, steps: Line, endedByLostWorkers: ReadonlySet<string> = new Set()): Way {
  const walk = new Walk(fold, endedByLostWorkers);
  const state = walk.line(steps, mainLine, "sound");
  const complaints = [...walk.complaints, ...walk.complaintsAboutStrangers()];
  return { state, complaints, lostSixWorkers: walk.lostSixWorkers };
}

class Walk {
  readonly complaints: string[] = [];
  readonly #fold: Fold;
  readonly #byBranch: ReadonlyMap<string, readonly StepFold[]>;
  readonly #known = new Set<string>();
  /**
   * On a busy machine, six workers in turn may lose the same task because they do not report in time. The service then ends the task and
   * everything around it: the forks, the job, and its parents. These failures are not findings.
   */
  readonly lostSixWorkers: boolean;

  constructor(fold: Fold, ended: ReadonlySet<string>) {
    this.#fold = fold;
    this.#byBranch = Map.groupBy(fold.steps, ({ branch }) => branch);
    this.lostSixWorkers = fold.steps.some(({ error, lostCount }) =>
      error?.code === "Interrupted" ? lostCount === 5 : ended.has(error?.cause?.jobId ?? ""),
    );
  }

  /** `item` is the luck of the item of the innermost forEach around the line; `sound` if there is none. */
  line(steps: Line, branch: string, item: Luck): LineState {
    this.#known.add(branch);
    const runs = this.#byBranch.get(branch) ?? [];
    const taken = runs.map(({ name }) => name);
    const planned = steps.slice(0, taken.length).map(({ name }) => name);
    if (!isDeepStrictEqual(taken, planned)) {
      this.complaints.push(`Its way${inBranch(branch)} is ${JSON.stringify(taken)}, not ${JSON.stringify(planned)}.`);
      return "cut";
    }
    const states = runs.map((run, index) => {
      const step = steps[index];
      return step === undefined ? "cut" : this.#step(step, run, item);
    });
    const early = states.slice(0, -1).findIndex((state) => state !== "done");
    if (early !== -1) this.complaints.push(`It went on from ${taken[early]}${inBranch(branch)}, which is not done.`);
    const last = states.at(-1);
    return last === undefined || (last === "done" && runs.length < steps.length) ? "moving" : last;
  }

  /** Returns a complaint for each branch that the workflow does not have. */
  complaintsAboutStrangers(): string[] {
    const strangers = [...this.#byBranch.keys()].filter((branch) => !this.#known.has(branch));
    return strangers.map((branch) => `It has steps${inBranch(branch)}, which its workflow does not have.`);
  }

  #step(step: StepShape, run: StepFold, item: Luck): LineState {
    const branches = isFork(step) ? this.#branches(step, run, item) : undefined;
    if (run.phase === "failed" && !canFail(step, item) && !this.lostSixWorkers) {
      const why = `${run.error?.code} in attempt ${run.attempt}: ${run.error?.message}`;
      this.complaints.push(`${run.name}${inBranch(run.branch)} failed, though it cannot: ${why}`);
    }
    if (run.phase === "succeeded") {
      if (isFork(step) && branches !== undefined) this.#checkResult(step, run, branches);
      if (step.kind === "wait") this.#checkConsumed(step.eventIds, run);
      return "done";
    }
    if (run.phase === "failed") return leadsOn(step) ? "done" : "failed";
    if (run.isCut) return "cut";
    if (isWaiting(run)) return this.#wait(run);
    // The child rests, since it waits for an event that nobody sends.
    if (step.kind === "child" && run.phase === "running" && hasWait(step.workflow)) return "resting";
    return run.phase === "forked" && isFork(step) && branches !== undefined ? restOf(step, branches) : "moving";
  }

  #branches(step: StepShape & Fork, run: StepFold, item: Luck): Branch[] {
    return branchesOf(step).map(([key, line], index) => {
      const path = pathOf(run.branch, run.name, key);
      const luck = step.kind === "items" ? (step.items[index] ?? "sound") : item;
      return { hasBegun: this.#byBranch.has(path), state: this.line(line, path, luck) };
    });
  }

  #checkResult(step: Fork, { name, branch }: StepFold, branches: readonly Branch[]): void {
    const isEnd = ({ state }: Branch) =>
      state === "done" || (state === "failed" && step.kind === "items" && step.collects);
    const isRace = step.kind === "branches" && step.until === "any";
    if (isRace ? branches.some(isEnd) : branches.every(isEnd)) return;
    const states = branches.map(({ state }) => state).join(", ");
    this.complaints.push(`${name}${inBranch(branch)} succeeded, and its branches are: ${states}.`);
  }

  #checkConsumed(eventIds: readonly string[], { name, branch, consumed }: StepFold): void {
    if (isDeepStrictEqual(consumed.toSorted(), eventIds.toSorted())) return;
    const events = `${JSON.stringify(consumed)}, not ${JSON.stringify(eventIds)}`;
    this.complaints.push(`${name}${inBranch(branch)} consumed the events ${events}.`);
  }

  /** A branch may wait only as long as events are missing. */
  #wait(run: StepFold): LineState {
    if (missingEventIds(this.#fold, run).length > 0) return "resting";
    this.complaints.push(`It waits in ${run.name}${inBranch(run.branch)}, though all its events have come.`);
    return "resting";
  }
}

function hasWait({ steps }: WorkflowShape): boolean {
  return [...stepsWithin(steps)].some(({ kind }) => kind === "wait");
}

export function missingEventIds({ kept }: Fold, run: StepFold): string[] {
  const here = [...kept.values()].filter(({ address }) => isFor(address, run)).map(({ eventId }) => eventId);
  return run.eventIds.filter((eventId) => !here.includes(eventId));
}

interface Branch {
  readonly hasBegun: boolean;
  readonly state: LineState;
}

/** A fork rests when all its open branches rest and no other branch can begin. */
function restOf(step: Fork, branches: readonly Branch[]): LineState {
  const begun = branches.filter(({ hasBegun }) => hasBegun);
  const open = begun.filter(({ state }) => state === "resting" || state === "moving");
  const room = step.kind === "items" ? step.concurrency : branches.length;
  const canBegin = begun.length < branches.length && open.length < room;
  return open.length === 0 || canBegin || open.some(({ state }) => state === "moving") ? "moving" : "resting";
}

function inBranch(branch: string): string {
  return branch === mainLine ? "" : ` in ${branch}`;
}

import { levelOf, mainBranch, pathsOf } from "../branch-path.ts";
import type { ForkRule } from "../definition/executor-kind.ts";
import type { Plan } from "../plan/plan.ts";
import type { Timestamp } from "../time.ts";
import { branchErrorOf } from "./branch-result.ts";
import type { Entry, StepRunKey } from "./history.ts";
import type { BranchError } from "./job-state.ts";
import { placeOf } from "./result-rows.ts";

/** A branch of one visit of a fork, from the job's history. */
export interface BranchRun {
  readonly path: string;
  /** Its position among the branches of the fork: in the list of items, or in the definition. */
  readonly place: number;
  readonly status: BranchRunStatus;
  /** The step in which the branch is, or ended. */
  readonly step: string;
  readonly visit: number;
  readonly startedAt: Timestamp;
  readonly finishedAt?: Timestamp;
  readonly error?: BranchError;
}

/** The order of the statuses is the order in which the API lists branches: those that need attention come first. */
export const branchRunStatuses = ["failed", "open", "cancelled", "succeeded"] as const;
export type BranchRunStatus = (typeof branchRunStatuses)[number];

/** Chooses the visit of a fork whose branches are wanted. If `step` or `visit` is undefined, the latest visit that fits is chosen. */
export interface ForkSearch {
  /** The branch in which the fork is. */
  readonly parent: string;
  readonly step: string | undefined;
  readonly visit: number | undefined;
}

/** A visit of a fork with its branches that have begun. */
export interface ForkRun {
  readonly step: string;
  readonly visit: number;
  readonly branchCount: number;
  readonly branches: readonly BranchRun[];
}

/** Folds a job's history, in its order, into the branches of one visit of a fork. It keeps one `BranchRun` for each branch, and no values. */
export class BranchFolder {
  readonly #plan: Plan;
  readonly #search: ForkSearch;
  #fork: OpenFork | undefined;

  constructor(plan: Plan, search: ForkSearch) {
    this.#plan = plan;
    this.#search = search;
  }

  /** The visit that was found; undefined when no visit fits the search. */
  get run(): ForkRun | undefined {
    if (this.#fork === undefined) return undefined;
    const { step, visit, branchCount, branches } = this.#fork;
    return { step, visit, branchCount, branches: [...branches.values()] };
  }

  add(entry: Entry<unknown>): void {
    if (entry.type === "step.forked" && this.#isMeant(entry)) this.#fork = this.#opened(entry);
    if (this.#fork === undefined) return;
    if (entry.type === "job.cancelled" || entry.type === "job.failed") endOpen(this.#fork, entry.at);
    else if ("step" in entry) this.#addOfStep(this.#fork, entry);
  }

  #isMeant({ branch = mainBranch, step, visit }: StepRunKey): boolean {
    const { parent, step: wanted = step, visit: wantedVisit = visit } = this.#search;
    return branch === parent && step === wanted && visit === wantedVisit;
  }

  #opened({ branch = mainBranch, step, visit, branchCount }: Extract<Entry<unknown>, { type: "step.forked" }>) {
    const work = this.#plan.steps.get(step)?.work;
    if (work?.kind !== "fork") throw new Error(`${step} has no branches.`);
    return { step, visit, branchCount, rule: work.rule, prefix: pathsOf(branch, step, visit), branches: new Map() };
  }

  #addOfStep(fork: OpenFork, entry: StepEntry): void {
    const { branch = mainBranch, step, visit } = entry;
    const { prefix, branches } = fork;
    const isItsBranch = branch.startsWith(prefix) && branch.indexOf("]", prefix.length) === branch.length - 1;
    if (isItsBranch) branches.set(branch, this.#told(fork, branch, entry));
    // The end of the fork, or of a fork around it, also ends its branches.
    else if (isEnd(entry) && prefix.startsWith(pathsOf(branch, step, visit))) endOpen(fork, entry.at);
  }

  #told({ branches, rule }: OpenFork, path: string, entry: StepEntry): BranchRun {
    const { step, visit, at } = entry;
    const before = branches.get(path);
    const { place, startedAt } = before ?? { place: placeOf(rule, levelOf(path)?.key ?? ""), startedAt: at };
    const run = { path, place, step, visit, startedAt };
    if (entry.type === "step.failed" && entry.next === undefined) {
      return { ...run, status: "failed", finishedAt: at, error: branchErrorOf(entry.error, step, path) };
    }
    if (entry.type === "step.succeeded" && this.#isLast(entry)) return { ...run, status: "succeeded", finishedAt: at };
    return { ...run, status: "open" };
  }

  /** The entry names the next step only after a choice. Otherwise the plan names the next step. */
  #isLast({ step, next }: { readonly step: string; readonly next?: string | null }): boolean {
    return next === null || (next === undefined && this.#plan.steps.get(step)?.next === null);
  }
}

interface OpenFork extends Omit<ForkRun, "branches"> {
  readonly rule: ForkRule;
  /** The beginning that the paths of the fork's branches have in common. */
  readonly prefix: string;
  readonly branches: Map<string, BranchRun>;
}

type StepEntry = Extract<Entry<unknown>, StepRunKey>;

function isEnd({ type }: StepEntry): boolean {
  return type === "step.succeeded" || type === "step.failed";
}

function endOpen({ branches }: OpenFork, at: Timestamp): void {
  for (const [path, run] of branches) {
    if (run.status === "open") branches.set(path, { ...run, status: "cancelled", finishedAt: at });
  }
}

import { isInside, mainBranch } from "../../core/branch-path.ts";
import type { BranchFolder } from "../../core/job/branch-runs.ts";
import {
  entryPlacer,
  type HistoryEntry,
  namesEarlierInput,
  type PlacedEntry,
  StepFolder,
  type StepRun,
  type StepRunStatus,
  type StoredValue,
  type ValuePlace,
  valueIn,
  withValue,
} from "../../core/job/history.ts";
import type { Job } from "../../core/job/job-state.ts";
import { maxValuesSize, sizeOfJson } from "../../core/json/json-size.ts";
import type { Queryable } from "../../store/home/database.ts";
import { type HistoryCommit, readCommitsAfter, readCommitsBefore } from "../../store/jobs/job-history.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";

/** The branches of a fork, folded from the history. */
export interface BranchFold {
  readonly folder: BranchFolder;
  /** The sequence of the last entry in the fold. */
  reached: number;
}

/** A part of a list that is read in order. */
export interface Portion<Row> {
  readonly rows: readonly Row[];
  /**
   * The sequence of the entry, or the number of the event, after which the list continues. Set when `rows` has fewer rows than were asked for
   * although there are more.
   */
  readonly moreAfter?: number;
}

export interface EntrySearch {
  /** The sequence of the entry after which the search begins. */
  readonly after: number;
  readonly limit: number;
  /** The bound on the size of the values in all entries together (`sizeOfJson`). One entry is read in any case. */
  readonly maxSize?: number;
}

/** Reads entries in their order, fewer than `limit` when their values are too large together. */
export async function readEntries(
  db: Queryable,
  key: JobKey,
  { after, limit, maxSize = maxValuesSize }: EntrySearch,
): Promise<Portion<PlacedEntry>> {
  const rows: PlacedEntry[] = [];
  let room = maxSize;
  for await (const entries of slicesAfter(db, key, after, limit)) {
    for (const entry of entries) {
      const last = rows.at(-1);
      room -= sizeOfPlace(valueIn(entry), room);
      if (room < 0 && last !== undefined) return { rows, moreAfter: last.sequence };
      rows.push(entry);
      if (rows.length === limit) return { rows };
    }
  }
  return { rows };
}

export interface RunSearch {
  /** The sequence of the run after which the search begins; 0 begins with the first run. */
  readonly after: number;
  readonly limit: number;
  /** Restricts the search to runs of this status; undefined for all. */
  readonly status: StepRunStatus | undefined;
  /** Restricts the search to runs in this branch or in a branch of its forks; undefined for all. */
  readonly branch?: string | undefined;
}

function isMeant({ status, branch }: RunSearch, run: StepRun<ValuePlace>): boolean {
  const path = run.branch ?? mainBranch;
  const isThere = branch === undefined || path === branch || isInside(path, branch);
  return isThere && (status === undefined || run.status === status);
}

/**
 * The number of entries after which a search takes no more runs. A job may have tens of thousands of entries. So a search for a rare status returns
 * what it has found by then.
 */
const maxScannedEntries = 20_000;

/** Reads step runs in the order of their start. */
export async function readRuns(db: Queryable, key: JobKey, search: RunSearch): Promise<Portion<StepRun<ValuePlace>>> {
  const page = new RunPage(search);
  for await (const entries of slicesAfter(db, key, search.after, maxCommitsAtOnce)) {
    for (const entry of entries) {
      if (!page.takes(entry)) return page.portion;
    }
  }
  return page.portion;
}

/** Continues a fold to the end of the history, slice by slice. */
export async function foldBranches(db: Queryable, key: JobKey, fold: BranchFold): Promise<void> {
  for await (const entries of slicesAfter(db, key, fold.reached, maxCommitsAtOnce)) {
    for (const entry of entries) fold.folder.add(entry);
    fold.reached = entries.at(-1)?.sequence ?? fold.reached;
  }
}

/**
 * Collects the runs of a page. The entries of several branches are mixed in the history. So on a job with branches, reading continues until all
 * runs of the page have succeeded, or to the end of the history.
 */
class RunPage {
  readonly #search: RunSearch;
  readonly #folder = new StepFolder<ValuePlace>();
  #meantCount = 0;
  #scannedCount = 0;
  #room = maxValuesSize;
  #isClosed = false;
  #hasBranches = false;

  constructor(search: RunSearch) {
    this.#search = search;
  }

  /** Adds an entry. Returns false once no later entry can concern the page. */
  takes(entry: PlacedEntry): boolean {
    this.#scannedCount += 1;
    if (entry.type === "step.forked" || ("branch" in entry && entry.branch !== undefined)) this.#hasBranches = true;
    if (entry.type === "step.started") {
      // When a run starts on a job without branches, the run before it has ended.
      this.#isClosed ||= this.#isFull();
      if (this.#isClosed && (!this.#hasBranches || this.#folder.runs.every(({ status }) => status === "success")))
        return false;
      if (this.#isClosed) return true;
    }
    this.#folder.add(entry);
    return true;
  }

  get portion(): Portion<StepRun<ValuePlace>> {
    const { limit } = this.#search;
    const rows: StepRun<ValuePlace>[] = [];
    let room = maxValuesSize;
    let last: StepRun<ValuePlace> | undefined;
    for (const run of this.#folder.runs) {
      const isRow = isMeant(this.#search, run);
      if (isRow) room -= sizeOfPlace(run.input, room) + sizeOfPlace(run.output, room);
      if (isRow && rows.length === limit) return { rows };
      if (isRow && rows.length > 0 && room < 0) return cutAfter(rows, last);
      if (isRow) rows.push(run);
      last = run;
    }
    return this.#isClosed && rows.length < limit ? cutAfter(rows, last) : { rows };
  }

  /**
   * Counts the latest run, and returns whether the page has enough runs. It is called only when the next run starts, because the search may ask for a
   * status, and only a run that is over has its final status. On a job with branches, the run may still be under way, and then its present status
   * decides.
   */
  #isFull(): boolean {
    const run = this.#folder.runs.at(-1);
    if (run === undefined) return false;
    if (isMeant(this.#search, run)) {
      this.#room -= sizeOfPlace(run.input, this.#room) + sizeOfPlace(run.output, this.#room);
      this.#meantCount += 1;
    }
    return this.#meantCount >= this.#search.limit || this.#room < 0 || this.#scannedCount > maxScannedEntries;
  }
}

function cutAfter<Row>(rows: readonly Row[], last: { readonly sequence: number } | undefined): Portion<Row> {
  return last === undefined ? { rows } : { rows, moreAfter: last.sequence };
}

export interface NewestRuns {
  /** The entries that were read, in their order. They are the whole history, or at least all entries of `runs`. */
  readonly entries: readonly PlacedEntry[];
  readonly runs: readonly StepRun<ValuePlace>[];
  /** The number of runs of a step before those in `runs`, by the step's name. */
  readonly earlierCounts: ReadonlyMap<string, number>;
}

/** Reads back from the end of the history until it has `maxRuns` step runs. The newest values are included first, as many as fit into one answer. */
export async function readNewestRuns(db: Queryable, job: Job, maxRuns: number): Promise<NewestRuns> {
  const newestFirst: UnplacedEntry[][] = [];
  let runCount = 0;
  let room = maxValuesSize;
  const fitting = (stored: StoredValue): StoredValue | ValuePlace => {
    if (!("value" in stored)) return stored;
    room -= sizeOfJson(stored.value, room);
    return room < 0 ? { leftOut: true } : stored;
  };
  for await (const { entries } of commitsBefore(db, job, job.sequence + 1)) {
    newestFirst.push(entries.toReversed().map((entry) => withValue(entry, fitting)));
    runCount += entries.filter(({ type }) => type === "step.started").length;
    if (runCount >= maxRuns) break;
  }
  const entries = newestFirst.flat().reverse().map(entryPlacer());
  const folder = new StepFolder<ValuePlace>();
  for (const entry of entries) folder.add(entry);
  const earlier = folder.runs.slice(0, -maxRuns);
  const runs = folder.runs.slice(-maxRuns);
  const before = (entries[0]?.sequence ?? 1) === 1 ? [] : await visitsBefore(db, job, entries);
  return { entries, runs, earlierCounts: countEarlier(runs, before, earlier) };
}

type UnplacedEntry = Parameters<ReturnType<typeof entryPlacer>>[0];
type Visit = Pick<StepRun, "name" | "visit" | "branch">;

/**
 * Counts, for each step, the visits before those that are shown. On the main line a step's visits are numbered without a gap, so the number of the
 * first visit shown gives the count. In branches, the visits shown are subtracted from the number of all visits, which `before` has. If `before` is
 * empty, `earlier` has all visits before those shown.
 */
function countEarlier(shown: readonly Visit[], before: readonly Visit[], earlier: readonly Visit[]) {
  const counts = new Map(before.map(({ name, visit }) => [name, visit]));
  const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count);
  for (const { name, branch } of before.length > 0 ? shown : earlier) {
    if (branch !== undefined) add(name, before.length > 0 ? -1 : 1);
  }
  const onMainLine = [
    ...(before.length > 0 ? [] : earlier),
    ...shown.toReversed().map(({ visit, ...run }) => ({ ...run, visit: visit - 1 })),
  ];
  for (const { name, visit, branch } of onMainLine) if (branch === undefined) counts.set(name, visit);
  return new Map(counts.entries().filter(([, count]) => count > 0));
}

/** The latest visit of each step according to the job's state. Its number is the count of the step's visits. */
async function visitsBefore(db: Queryable, job: Job, entries: readonly PlacedEntry[]): Promise<Visit[]> {
  const { state } = job;
  const visits =
    state.status === "SUCCEEDED"
      ? state.visits
      : { ...state.cursors[0].carried.visits, ...state.progress.branchVisits };
  if (visits !== undefined) return Object.entries(visits).map(([name, visit]) => ({ name, visit }));
  // A job that succeeded under an earlier release has no counts.
  const found: Visit[] = [];
  for await (const commit of commitsBefore(db, job, entries[0]?.sequence ?? 1)) {
    for (const entry of commit.entries) {
      if (entry.type === "step.started") found.push({ name: entry.step, visit: entry.visit });
    }
  }
  return found.sort((a, b) => a.visit - b.visit);
}

const maxCommitsAtOnce = 500;

/** Yields the entries after a given one, slice by slice, so that no statement reads a whole history. */
async function* slicesAfter(
  db: Queryable,
  key: JobKey,
  after: number,
  limit: number,
): AsyncGenerator<readonly PlacedEntry[]> {
  let reached = after;
  let placed: ((entry: HistoryEntry) => PlacedEntry) | undefined;
  for (;;) {
    const commits = await readCommitsAfter(db, key, reached, Math.min(limit, maxCommitsAtOnce));
    const entries = commits.flatMap((commit) => commit.entries);
    const [first] = commits;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) return;
    placed ??= entryPlacer(namesEarlierInput(entries) ? await inputBefore(db, key, first.firstSequence) : undefined);
    yield entries.map(placed).filter(({ sequence }) => sequence > after);
    reached = last.sequence;
  }
}

/**
 * Finds the input of the step in which the job was before this entry. It is needed for entries of earlier releases, which may refer to
 * an input that an earlier commit wrote.
 */
async function inputBefore(db: Queryable, key: JobKey, before: number): Promise<ValuePlace | undefined> {
  for await (const { entries } of commitsBefore(db, key, before)) {
    const started = entries.map(entryPlacer()).findLast((entry) => entry.type === "step.started");
    if (started !== undefined) return started.input;
  }
  return undefined;
}

/** Yields the newest commit first. */
async function* commitsBefore(db: Queryable, key: JobKey, before: number): AsyncGenerator<HistoryCommit> {
  let reached = before;
  while (reached > 1) {
    const commits = await readCommitsBefore(db, key, reached, maxCommitsAtOnce);
    const last = commits.at(-1);
    if (last === undefined) return;
    yield* commits;
    reached = last.firstSequence;
  }
}

function sizeOfPlace(place: ValuePlace | undefined, limit: number): number {
  return place !== undefined && "value" in place ? sizeOfJson(place.value, limit) : 0;
}

import { BranchFolder, type ForkRun, type ForkSearch } from "../../core/job/branch-runs.ts";
import {
  foldSteps,
  type HistoryEntry,
  jobInputNumber,
  maxShownStepRuns,
  type PlacedEntry,
  type PlainEntry,
  plainEntries,
  type StepRun,
  type ValuePlace,
  valueIn,
  withValue,
} from "../../core/job/history.ts";
import { awaitedEventIds, type Job } from "../../core/job/job-state.ts";
import { unreadState } from "../../core/job/values/stored-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { maxValuesSize } from "../../core/json/json-size.ts";
import { JsonText, type ShownValue } from "../../core/json/json-text.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Database, Queryable, Reader } from "../../store/home/database.ts";
import { readValuesInPortions } from "../../store/jobs/job-values.ts";
import {
  type JobKey,
  type JobStanding,
  readJob,
  readJobInput,
  readSmallJobs,
  readStandings,
  type SmallJob,
} from "../../store/jobs/jobs.ts";
import {
  type EntrySearch,
  type Portion,
  type RunSearch,
  readEntries,
  readNewestRuns,
  readRuns,
} from "./job-history.ts";
import { RecentForks } from "./recent-forks.ts";
import type { JobSnapshot, RecentJobs } from "./recent-jobs.ts";
import { TurnReads } from "./turn-reads.ts";
import type { WholeJob } from "./whole-job.ts";

export interface JobReaderOptions {
  readonly database: Pick<Database, "requests" | "reader">;
  readonly recent: RecentJobs;
  /** True when no other process can write. The state that this node saw last is then the state in the store. */
  readonly isAlone: boolean;
}

/** Reads jobs and their histories: small jobs whole and several at once, large jobs one by one and in slices. */
export class JobReader {
  readonly #options: JobReaderOptions;
  readonly #standings: TurnReads<JobStanding>;
  readonly #smallJobs: TurnReads<SmallJob>;
  readonly #recentForks = new RecentForks();

  constructor(options: JobReaderOptions) {
    const db = options.database.requests;
    this.#options = options;
    this.#standings = new TurnReads((keys) => readStandings(db, keys));
    this.#smallJobs = new TurnReads((keys) => readSmallJobs(db, keys));
  }

  /** Reads how far the job has come, at very little cost. Undefined when the job does not exist. */
  async standing(key: JobKey): Promise<JobStanding | undefined> {
    const known = this.#options.isAlone ? this.#recall(key) : undefined;
    return known === undefined ? await this.#standings.read(key) : standingOf(known.job);
  }

  /** Reads how far the job has come. Also returns the whole job if the same query has read it. Undefined when the job does not exist. */
  async look(key: JobKey): Promise<Look | undefined> {
    const found = this.#recall(key) === undefined ? await this.#smallJobs.read(key) : undefined;
    const whole = found && wholeSmallJob(found);
    if (whole !== undefined) return { standing: standingOf(whole.job), whole };
    const standing = await this.standing(key);
    return standing && { standing };
  }

  /**
   * Reads the whole job. `known` is its standing if the caller has just read it. If `withValues` is false and the job is large, values in rows of
   * their own are not read. The runs to which they belong say that their values are left out.
   */
  async read(
    key: JobKey,
    { known, withValues = true }: { readonly known?: JobStanding; readonly withValues?: boolean } = {},
  ): Promise<WholeJob | undefined> {
    const snapshot = await this.#newest(key, known);
    if (snapshot !== undefined) return wholeJob(snapshot.job, snapshot.entries);
    const found = await this.#smallJobs.read(key);
    if (found === undefined) return undefined;
    const small = wholeSmallJob(found);
    if (small !== undefined) return small;
    const reader = this.#readerFor(key);
    const job = await readJob(reader, key);
    return job && (await readLarge(reader, { ...job, state: unreadState(job) }, withValues));
  }

  /** Reads entries in their order. Undefined when the job does not exist. */
  async readHistory(key: JobKey, search: EntrySearch): Promise<Portion<PlainEntry> | undefined> {
    const { after, limit } = search;
    const standing = await this.standing(key);
    if (standing === undefined) return undefined;
    if (standing.sequence <= after) return { rows: [] };
    const snapshot = await this.#newest(key, standing);
    if (snapshot !== undefined) {
      const entries = plainEntries(snapshot.job.input, snapshot.entries);
      return { rows: [...entries.filter(({ sequence }) => sequence > after).take(limit)] };
    }
    const reader = this.#readerFor(key);
    const found = await readEntries(reader, key, search);
    const values = await valuesAt(
      reader,
      key,
      found.rows.map((entry) => valueIn(entry)),
    );
    return cutAtUnread(found, (entry) => {
      const place = valueIn(entry);
      if (place !== undefined && values(place) === undefined) return undefined;
      return withValue(entry, (stored) => values(stored) ?? null);
    });
  }

  /** Reads step runs in the order of their start. The portion is empty when the job does not exist. */
  async readSteps(key: JobKey, search: RunSearch): Promise<Portion<StepRun>> {
    const reader = this.#readerFor(key);
    const found = await readRuns(reader, key, search);
    const values = await valuesAt(
      reader,
      key,
      found.rows.flatMap(({ input, output }) => [input, output]),
      // The first run of a page is shown with both of its values, however large they are. Otherwise no page could get past this run.
      { freeCount: 2 },
    );
    return cutAtUnread(found, (run) => {
      const shown = shownRun(run, values);
      return shown.valuesLeftOut ? undefined : shown;
    });
  }

  /** Reads the branches of a visit of a fork; undefined when the job does not exist or has not made such a visit. */
  async readBranches(key: JobKey, plan: Plan, search: ForkSearch): Promise<ForkRun | undefined> {
    const snapshot = await this.#newest(key, undefined);
    if (snapshot === undefined) return await this.#recentForks.read(this.#readerFor(key), key, plan, search);
    const folder = new BranchFolder(plan, search);
    for (const entry of snapshot.entries) folder.add(entry);
    return folder.run;
  }

  /** The job as this node keeps it in memory; undefined when it is not kept, or when the store may have a newer state. */
  async #newest(key: JobKey, known: JobStanding | undefined): Promise<JobSnapshot | undefined> {
    if (this.#recall(key) === undefined) return undefined;
    const standing = this.#options.isAlone ? undefined : (known ?? (await this.#standings.read(key)));
    const snapshot = this.#recall(key);
    return this.#options.isAlone || snapshot?.job.sequence === standing?.sequence ? snapshot : undefined;
  }

  /** Histories and large jobs are read in a separate lane, in which organizations take turns. */
  #readerFor({ organizationId }: JobKey): Reader {
    return this.#options.database.reader(organizationId);
  }

  #recall({ organizationId, jobId }: JobKey): JobSnapshot | undefined {
    const snapshot = this.#options.recent.get(jobId);
    return snapshot?.job.organizationId === organizationId ? snapshot : undefined;
  }
}

export interface Look {
  readonly standing: JobStanding;
  readonly whole?: WholeJob;
}

/** Makes the whole job; undefined for a large job. */
function wholeSmallJob({ commits, state, input, ...row }: SmallJob): WholeJob | undefined {
  const entries = commits?.flat();
  if (!entries?.every(isWhole) || state === null || input === null) return undefined;
  return wholeJob({ ...row, input, state: unreadState({ ...row, state }) }, entries);
}

async function readLarge(db: Queryable, job: Job, withValues: boolean): Promise<WholeJob> {
  const { entries, runs, earlierCounts } = await readNewestRuns(db, job, maxShownStepRuns);
  const last = outputPlace(job, entries);
  const places = [last, ...runs.toReversed().flatMap(({ input, output }) => [output, input])];
  const values = await valuesAt(db, job, withValues ? places : [], { jobInput: job.input });
  const steps = runs.map((run) => shownRun(run, values));
  const output = last === undefined ? outputOf(job, steps) : values(last);
  return { job, steps, output, isLarge: true, entries, earlierRunCounts: earlierCounts };
}

/** Reads the values at these places, in this order, as many as fit into one answer. */
async function valuesAt(
  db: Queryable,
  key: JobKey,
  places: readonly (ValuePlace | undefined)[],
  { jobInput, freeCount = 1 }: { readonly jobInput?: JsonObject; readonly freeCount?: number } = {},
): Promise<ReadValues> {
  const { organizationId, jobId } = key;
  const numbers = new Set(places.flatMap((place) => (place !== undefined && "stored" in place ? place.stored : [])));
  const needsInput = numbers.delete(jobInputNumber) && jobInput === undefined;
  const [read, input] = await Promise.all([
    readValuesInPortions(db, { organizationId, jobId }, [...numbers], maxValuesSize, freeCount),
    needsInput ? readJobInput(db, key) : jobInput,
  ]);
  const values = new Map<number, ShownValue>(read.map(({ valueNumber, text }) => [valueNumber, new JsonText(text)]));
  if (input !== undefined) values.set(jobInputNumber, input);
  return (place) => {
    if ("value" in place) return place.value;
    return "stored" in place ? values.get(place.stored) : undefined;
  };
}

export function standingOf({ organizationId, jobId, sequence, state }: Job): JobStanding {
  return { organizationId, jobId, sequence, status: state.status, isWaiting: awaitedEventIds(state) !== null };
}

/** Makes the whole job. `entries` is its whole history, from this node's memory or read from the store for a small job. */
export function wholeJob(job: Job, entries: readonly HistoryEntry[]): WholeJob {
  const steps = foldSteps(job.input, entries);
  return { job, steps, output: outputOf(job, steps), isLarge: false, entries, earlierRunCounts: new Map() };
}

/** The place of the output of the step that ended the job. In a job with branches, that step may have started before all the runs that are shown. */
function outputPlace({ state }: Job, entries: readonly PlacedEntry[]): ValuePlace | undefined {
  if (state.status !== "SUCCEEDED") return undefined;
  const last = entries.findLast((entry) => entry.type === "step.succeeded" && entry.branch === undefined);
  return last === undefined ? undefined : valueIn(last);
}

function outputOf({ state }: Job, steps: readonly StepRun[]): ShownValue | undefined {
  return state.status === "SUCCEEDED" ? steps.findLast(({ branch }) => branch === undefined)?.output : undefined;
}

/** Finds the value at a place; undefined for a value that was not read. */
type ReadValues = (place: ValuePlace) => ShownValue | undefined;

function isWhole(entry: HistoryEntry): boolean {
  const stored = valueIn(entry);
  return stored === undefined || !("stored" in stored) || stored.stored === jobInputNumber;
}

/** Cuts the rows off before the first one whose values were not read. The next portion begins with that row. */
function cutAtUnread<Row extends { readonly sequence: number }, Shown>(
  { rows, ...more }: Portion<Row>,
  show: (row: Row) => Shown | undefined,
): Portion<Shown> {
  const shown: Shown[] = [];
  for (const [index, row] of rows.entries()) {
    const one = show(row);
    if (one === undefined) {
      const last = rows[index - 1];
      if (last === undefined) throw new Error(`The value of the history entry ${row.sequence} is not in the store.`);
      return { rows: shown, moreAfter: last.sequence };
    }
    shown.push(one);
  }
  return { rows: shown, ...more };
}

/** The run with its values. Both values are left out when one of them was not read. */
function shownRun(run: StepRun<ValuePlace>, values: ReadValues): StepRun {
  const { input: inputPlace, output: outputPlace, ...facts } = run;
  const input = values(inputPlace);
  const output = outputPlace === undefined ? undefined : values(outputPlace);
  const isLeftOut = input === undefined || (outputPlace !== undefined && output === undefined);
  if (isLeftOut) return { ...facts, input: null, valuesLeftOut: true };
  return { ...facts, input, ...(output !== undefined && { output }) };
}

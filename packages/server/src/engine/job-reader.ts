import {
  foldSteps,
  type HistoryEntry,
  maxShownStepRuns,
  type PlainEntry,
  plainEntries,
  type StepRun,
  type ValuePlace,
  valueIn,
  withValue,
} from "../core/job/history.ts";
import { awaitedEventIds, type Job } from "../core/job/job-state.ts";
import type { JsonObject, JsonValue } from "../core/json/json.ts";
import type { Queryable } from "../store/home/database.ts";
import {
  type JobKey,
  type JobStanding,
  readJob,
  readJobInput,
  readSmallJobs,
  readStandings,
  type SmallJob,
} from "../store/jobs/jobs.ts";
import type { WholeJob } from "./engine.ts";
import { type Portion, type RunSearch, readEntries, readNewestRuns, readRuns } from "./job-history.ts";
import type { JobSnapshot, RecentJobs } from "./recent-jobs.ts";
import { takingTurns } from "./taking-turns.ts";
import { TurnReads } from "./turn-reads.ts";

export interface JobReaderOptions {
  readonly db: Queryable;
  readonly recent: RecentJobs;
  /** True when no other process can write: what this node saw last is then what the store has. */
  readonly isAlone: boolean;
  /** How many statements that read histories and large jobs run at once; small reads do not wait for them. */
  readonly maxLargeReads: number;
}

/** Reads jobs and their histories: small jobs together and whole, large ones alone and in slices. */
export class JobReader {
  readonly #options: JobReaderOptions;
  readonly #slowly: Queryable;
  readonly #standings: TurnReads<JobStanding>;
  readonly #smallJobs: TurnReads<SmallJob>;

  constructor(options: JobReaderOptions) {
    const { db, maxLargeReads } = options;
    this.#options = options;
    this.#slowly = takingTurns(db, maxLargeReads);
    this.#standings = new TurnReads((keys) => readStandings(db, keys));
    this.#smallJobs = new TurnReads((keys) => readSmallJobs(db, keys));
  }

  /** How far the job has come, which costs next to nothing. Undefined when there is no such job. */
  async standing(key: JobKey): Promise<JobStanding | undefined> {
    const known = this.#options.isAlone ? this.#recall(key) : undefined;
    return known === undefined ? await this.#standings.read(key) : standingOf(known.job);
  }

  /** `known` is the job's standing, where it was just read. */
  async read(key: JobKey, known?: JobStanding): Promise<WholeJob | undefined> {
    const snapshot = await this.#newest(key, known);
    if (snapshot !== undefined) return wholeJob(snapshot.job, snapshot.entries);
    const found = await this.#smallJobs.read(key);
    if (found === undefined) return undefined;
    const { commits, state, input, ...row } = found;
    if (commits !== null && state !== null && input !== null) return wholeJob({ ...row, state, input }, commits.flat());
    const job = await readJob(this.#slowly, key);
    return job === undefined ? undefined : await this.#readLarge(job);
  }

  /** The entries after a sequence, in order. Undefined when there is no such job. */
  async readHistory(key: JobKey, after: number, limit: number): Promise<Portion<PlainEntry> | undefined> {
    const standing = await this.standing(key);
    if (standing === undefined) return undefined;
    if (standing.sequence <= after) return { rows: [] };
    const snapshot = await this.#newest(key, standing);
    if (snapshot !== undefined) {
      const entries = plainEntries(snapshot.job.input, snapshot.entries);
      return { rows: [...entries.filter(({ sequence }) => sequence > after).take(limit)] };
    }
    const { rows, ...more } = await readEntries(this.#slowly, key, after, limit);
    const read = await this.#valuesAt(key, rows.map(valueIn));
    return { rows: rows.map((entry) => withValue(entry, (place) => readValue(entry, read(place)))), ...more };
  }

  /** Step runs in the order of their start. Undefined when there is no such job. */
  async readSteps(key: JobKey, search: RunSearch): Promise<Portion<StepRun> | undefined> {
    if ((await this.standing(key)) === undefined) return undefined;
    const { rows, ...more } = await readRuns(this.#slowly, key, search);
    const read = await this.#valuesAt(
      key,
      rows.flatMap(({ input, output }) => [input, output]),
    );
    return { rows: rows.map((run) => shownRun(run, read)), ...more };
  }

  /** What this node saw last of the job, if that is still all. */
  async #newest(key: JobKey, known: JobStanding | undefined): Promise<JobSnapshot | undefined> {
    if (this.#recall(key) === undefined) return undefined;
    const standing = this.#options.isAlone ? undefined : (known ?? (await this.#standings.read(key)));
    const snapshot = this.#recall(key);
    return this.#options.isAlone || snapshot?.job.sequence === standing?.sequence ? snapshot : undefined;
  }

  async #readLarge(job: Job): Promise<WholeJob> {
    const { entries, runs, earlierCounts } = await readNewestRuns(this.#slowly, job, maxShownStepRuns);
    const steps = runs.map((run) => shownRun(run, (place) => valueAt(place, job.input)));
    return { job, steps, output: outputOf(job, steps), entries, earlierRunCounts: earlierCounts };
  }

  async #valuesAt(
    key: JobKey,
    places: readonly (ValuePlace | undefined)[],
  ): Promise<(place: ValuePlace) => JsonValue | undefined> {
    const needsInput = places.some((place) => place !== undefined && "jobInput" in place);
    const input = needsInput ? await readJobInput(this.#slowly, key) : undefined;
    return (place) => valueAt(place, input);
  }

  #recall({ organizationId, jobId }: JobKey): JobSnapshot | undefined {
    const snapshot = this.#options.recent.get(jobId);
    return snapshot?.job.organizationId === organizationId ? snapshot : undefined;
  }
}

export function standingOf({ organizationId, jobId, sequence, state }: Job): JobStanding {
  return { organizationId, jobId, sequence, status: state.status, isWaiting: awaitedEventIds(state) !== null };
}

/** `entries` is the job's whole history. */
export function wholeJob(job: Job, entries: readonly HistoryEntry[]): WholeJob {
  const steps = foldSteps(job.input, entries);
  return { job, steps, output: outputOf(job, steps), entries, earlierRunCounts: new Map() };
}

function outputOf({ state }: Job, steps: readonly StepRun[]): JsonValue | undefined {
  return state.status === "SUCCEEDED" ? steps.at(-1)?.output : undefined;
}

function readValue({ sequence }: { readonly sequence: number }, value: JsonValue | undefined): JsonValue {
  if (value === undefined) throw new Error(`The value of the history entry ${sequence} is not in the store.`);
  return value;
}

/** The run with its values, or without both where one of them was not read. */
function shownRun(run: StepRun<ValuePlace>, read: (place: ValuePlace) => JsonValue | undefined): StepRun {
  const { input: inputPlace, output: outputPlace, ...facts } = run;
  const input = read(inputPlace);
  const output = outputPlace === undefined ? undefined : read(outputPlace);
  const isLeftOut = input === undefined || (outputPlace !== undefined && output === undefined);
  if (isLeftOut) return { ...facts, input: null, valuesLeftOut: true };
  return { ...facts, input, ...(output !== undefined && { output }) };
}

function valueAt(place: ValuePlace, jobInput: JsonObject | undefined): JsonValue | undefined {
  if ("value" in place) return place.value;
  return "jobInput" in place ? jobInput : undefined;
}

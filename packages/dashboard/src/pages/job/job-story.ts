import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import type { Schemas } from "../../document.ts";
import { levelOf, parentOf, pathsTo } from "../../graph/branch-path.ts";
import { type GraphEdge, wayKey } from "../../graph/graph.ts";
import type { ForkProgress } from "../../graph/step-look.ts";
import type { ShownStatus } from "../../parts/words/StatusBadge.tsx";
import { KeptEvents } from "./kept-events.ts";
import {
  endRun,
  keyOfRun,
  type Mutable,
  type OpenRun,
  type Span,
  type StepError,
  type StepRun,
  startedRun,
  tellOfStep,
} from "./step-run.ts";

export type JobStatus = Schemas["JobStatus"];

/** Everything that a job's history says, in the form in which the page shows it. */
export interface JobStory {
  readonly status: JobStatus;
  /** The runs in the order of their start. */
  readonly runs: readonly StepRun[];
  /** The spans of time in which the job was pending: after its submission, and after each time it was resumed. */
  readonly queued: readonly Span[];
  readonly error?: StepError;
  readonly taken: ReadonlySet<string>;
  /**
   * The run to look at first. Usually this is the latest run on the main line. While the step of that run has open branches, a run that
   * waits for events in a named branch comes first, if there is one.
   */
  readonly current: StepRun | undefined;
  /** The latest run on the main line. */
  readonly main: StepRun | undefined;
  /** The runs that wait for events, the one that has waited longest first. */
  readonly waits: readonly StepRun[];
  /** The runs of steps with branches, by their key. */
  readonly forks: ReadonlyMap<string, StepRun>;
  /** The progress of the `forks`, by the key of the run. */
  readonly progress: ReadonlyMap<string, ForkProgress>;
  readonly sequence: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

/** Makes the story from the history. `types` are the types of the steps, as far as they are known. */
export function tellStory(entries: readonly HistoryEntry[], types: ReadonlyMap<string, string> = new Map()): JobStory {
  const told = new Telling(types);
  for (const entry of entries) told.add(entry);
  return told.story();
}

/**
 * Returns the status to show. The status of a running job depends on what its steps do. Waiting for events comes first, since the job then needs an
 * action from outside.
 */
export function shownStatusOf({ status, runs, waits, main }: JobStory): ShownStatus {
  if (status !== "RUNNING") return status;
  if (waits.length > 0) return "WAITING";
  const open =
    main?.fork === undefined ? [main] : runs.filter(({ end, fork }) => end === undefined && fork === undefined);
  if (open.some((run) => run?.status === "running")) return "RUNNING";
  if (open.some((run) => run?.status === "retrying")) return "RETRYING";
  return open.some((run) => run?.status === "sleeping") ? "SLEEPING" : "RUNNING";
}

export function isFinished(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

/** Returns the run of the step that has this branch; undefined for the main line, and if the run is not known. */
export function forkOf({ forks }: Pick<JobStory, "forks">, path: string): StepRun | undefined {
  const level = levelOf(path);
  return level && forks.get(keyOfRun({ branch: parentOf(path), step: level.fork, visit: level.visit }));
}

/** Tells whether a branch is an item of a list, or inside of one. */
export function isOfItem(story: Pick<JobStory, "forks">, path: string): boolean {
  return pathsTo(path).some((one) => forkOf(story, one)?.fork?.hasItems);
}

export const taskType = "/service/task";

class Telling {
  readonly #types: ReadonlyMap<string, string>;
  readonly #runs: OpenRun[] = [];
  readonly #byKey = new Map<string, OpenRun>();
  /** The latest run of each branch. */
  readonly #latest = new Map<string, OpenRun>();
  readonly #waiting = new Set<OpenRun>();
  readonly #events = new KeptEvents(this.#waiting);
  readonly #forks = new Map<string, OpenRun>();
  readonly #queued: Mutable<Span>[] = [];
  readonly #taken = new Set<string>();
  readonly #story: Mutable<Pick<JobStory, "status" | "error" | "startedAt" | "finishedAt" | "sequence">> = {
    status: "PENDING",
    sequence: 0,
  };

  constructor(types: ReadonlyMap<string, string>) {
    this.#types = types;
  }

  add(entry: HistoryEntry): void {
    const at = Date.parse(entry.at);
    this.#story.sequence = entry.sequence;
    if (entry.type.startsWith("step.")) this.#leaveQueue(at);
    if (entry.type === "step.started") this.#enter(entry);
    const run = this.#byKey.get(keyOfRun(entry));
    if (run !== undefined) this.#tell(run, entry, at);
    else if (entry.type === "event.received") this.#events.receive(entry);
    this.#tellOfJob(entry, at);
  }

  story(): JobStory {
    this.#endBranches();
    const runs = this.#runs as readonly StepRun[];
    const main = this.#latest.get("");
    const waits = [...this.#waiting].filter(({ end }) => end === undefined);
    const own = waits.find(({ branch }) => !isOfItem({ forks: this.#forks }, branch));
    const current = main?.fork !== undefined && main.end === undefined ? (own ?? main) : main;
    const progress = this.#progress();
    const taken = new Set([...this.#taken, ...this.#ends()]);
    return { ...this.#story, runs, queued: this.#queued, taken, current, main, waits, forks: this.#forks, progress };
  }

  #enter(entry: HistoryEntry): void {
    const { step = "", branch = "" } = entry;
    const run = startedRun(entry, this.#types.get(step) === taskType);
    const before = this.#latest.get(branch);
    this.#taken.add(
      before === undefined && branch !== ""
        ? wayKey(levelOf(branch)?.fork ?? "", step, "branch")
        : wayKey(before?.name ?? "", step, wayFrom(before)),
    );
    this.#runs.push(run);
    this.#byKey.set(run.key, run);
    this.#latest.set(branch, run);
  }

  #tell(run: OpenRun, entry: HistoryEntry, at: number): void {
    tellOfStep(run, entry, at);
    if (run.status === "waiting") {
      this.#waiting.add(run);
      this.#events.beginWait(run);
    } else if (this.#waiting.delete(run) || entry.consumed !== undefined) this.#events.endWait(run, entry);
    if (run.fork !== undefined) this.#forks.set(run.key, run);
    // The entry names the next step only after a choice or a failure. Otherwise the next step is the one that is entered next.
    if (run.end !== undefined && entry.next !== undefined)
      this.#taken.add(wayKey(run.name, entry.next ?? "", wayFrom(run)));
  }

  /** Ends the open branches of a step that has ended. The history has an entry only for the end of the step. */
  #endBranches(): void {
    for (const run of this.#latest.values()) {
      if (run.end !== undefined || run.branch === "") continue;
      const ended = pathsTo(run.branch).map((path) => forkOf({ forks: this.#forks }, path)?.end);
      const at = ended.find((one) => one !== undefined);
      if (at !== undefined) endRun(run, at, "cancelled");
    }
  }

  #progress(): ReadonlyMap<string, ForkProgress> {
    const found = new Map<string, Mutable<ForkProgress>>();
    for (const { key, fork } of this.#forks.values())
      found.set(key, { all: fork?.branchCount ?? 0, open: 0, succeeded: 0, failed: 0, cancelled: 0 });
    for (const [path, run] of this.#latest) {
      const counts = found.get(forkOf({ forks: this.#forks }, path)?.key ?? "");
      if (counts === undefined) continue;
      const isOver = run.end !== undefined && run.leadsOn !== true;
      counts[isOver && isEnd(run.status) ? run.status : "open"] += 1;
    }
    return found;
  }

  /** Returns the transitions that were taken to the end of the job or of a branch. */
  #ends(): readonly string[] {
    return [...this.#latest].flatMap(([branch, { name, status, leadsOn }]) => {
      const isOver = branch !== "" || this.#story.status === "SUCCEEDED";
      return isOver && status === "succeeded" && leadsOn !== true ? [wayKey(name, "")] : [];
    });
  }

  #tellOfJob(entry: HistoryEntry, at: number): void {
    switch (entry.type) {
      case "job.submitted":
        this.#queued.push({ kind: "queued", start: at });
        return;
      case "job.started":
        this.#leaveQueue(at);
        this.#story.startedAt = entry.at;
        return;
      case "job.resumed":
        this.#story.status = "PENDING";
        delete this.#story.finishedAt;
        delete this.#story.error;
        this.#queued.push({ kind: "queued", start: at });
        return;
      case "job.succeeded":
        this.#finish("SUCCEEDED", entry, at);
        return;
      case "job.failed":
        if (entry.error !== undefined) this.#story.error = entry.error;
        this.#cancelOpen(at);
        this.#finish("FAILED", entry, at);
        return;
      case "job.cancelled":
        this.#cancelOpen(at);
        this.#finish("CANCELLED", entry, at);
        return;
      default:
        return;
    }
  }

  #cancelOpen(at: number): void {
    for (const run of this.#latest.values()) if (run.end === undefined) endRun(run, at, "cancelled");
    this.#waiting.clear();
    this.#events.release();
  }

  #leaveQueue(at: number): void {
    this.#story.status = "RUNNING";
    const last = this.#queued.at(-1);
    if (last !== undefined) last.end ??= at;
  }

  #finish(status: JobStatus, entry: HistoryEntry, at: number): void {
    this.#leaveQueue(at);
    this.#story.status = status;
    this.#story.finishedAt = entry.at;
  }
}

/** Returns the kind of transition that leads on from a run. */
function wayFrom(run: OpenRun | undefined): GraphEdge["kind"] {
  return run?.status === "failed" ? "failure" : "transition";
}

function isEnd(status: StepRun["status"]): status is "succeeded" | "failed" | "cancelled" {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}

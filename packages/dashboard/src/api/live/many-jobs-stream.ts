import { baseUrl } from "../../base-url.ts";
import type { Schemas } from "../../document.ts";
import { signedInFetch } from "../api.ts";
import type { Problem } from "../problem.ts";
import { type ServerSentEvent, ServerSentReader } from "./server-sent.ts";

export type HistoryEntry = Schemas["HistoryEntry"];

/** `<organizationId>/<jobId>`, as the service takes it. */
export type JobName = string;

/** The sequence of the last entry that the page has, for each job. */
export type Positions = ReadonlyMap<JobName, number>;

/** One thing that `ManyJobsStream` tells the page. */
export type StreamNews =
  | { readonly type: "entries"; readonly name: JobName; readonly entries: readonly HistoryEntry[] }
  | { readonly type: "unreadable"; readonly name: JobName; readonly problem: Problem }
  /** The service has just sent something on a stream with these jobs. */
  | { readonly type: "alive"; readonly names: readonly JobName[] }
  | { readonly type: "lost" };

/** A stream that is silent for longer than this is lost. The service sends a heartbeat every 5 s, so one late heartbeat means nothing. */
export const silenceMs = 12_000;
/** If nothing arrives on a new stream in this time, the page assumes that something between service and browser holds the stream back. */
export const firstSignMs = 3_000;
/** The service follows at most this many jobs on one stream. The pages of the other jobs ask by themselves. */
const maxJobs = 50;
/** The type of the event that reports a job which cannot be read. */
const unreadable = "job.unreadable";
const firstPauseMs = 250;
const longestPauseMs = 8_000;
/** The pause when all jobs have ended. Another user may resume one of them, and asking costs almost nothing. */
const endedPauseMs = 10_000;
/** The pause after a stream that was held back. The cause, such as a proxy, will probably still be there a moment later. */
const heldBackPauseMs = 60_000;

/** Follows many jobs by one stream, across interruptions, until it is stopped. */
export class ManyJobsStream {
  readonly #tell: (news: StreamNews) => void;
  readonly #stopped: AbortSignal;
  /** The jobs that are followed, each with the sequence of the last entry that came. */
  #sequences = new Map<JobName, number>();
  /** Aborted when it makes no sense to wait or read any longer. */
  #turn = new AbortController();
  /** The way in which the last reading ended, until the next one begins. */
  #outcome: Outcome | undefined;

  constructor(stopped: AbortSignal, tell: (news: StreamNews) => void) {
    this.#tell = tell;
    this.#stopped = stopped;
    stopped.addEventListener("abort", this.#next, { once: true });
    window.addEventListener("online", this.#next, { signal: stopped });
    window.addEventListener("offline", this.#next, { signal: stopped });
    void this.#run();
  }

  /**
   * Follows only these jobs. A job that was not followed before begins after its sequence in `jobs`. The other jobs continue, but go back to their
   * sequence in `again` if that is lower.
   */
  follow(jobs: Positions, again: Positions): void {
    const sequences = new Map<JobName, number>();
    for (const [name, after] of [...jobs].slice(0, maxJobs)) {
      const known = this.#sequences.get(name);
      sequences.set(name, known === undefined ? after : Math.min(known, again.get(name) ?? known));
    }
    const isSame =
      sequences.size === this.#sequences.size &&
      [...sequences].every(([name, sequence]) => this.#sequences.get(name) === sequence);
    this.#sequences = sequences;
    if (!isSame) this.#next();
  }

  /** After a user's action on a job, ends the pause, since the action may have resumed a job that had ended. */
  readonly lookAgain = (): void => {
    if (this.#outcome === "ended" || this.#outcome === "lost") this.#next();
  };

  readonly #next = (): void => this.#turn.abort();

  async #run(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!this.#stopped.aborted) {
      this.#turn = new AbortController();
      const { signal } = this.#turn;
      this.#outcome = undefined;
      const outcome = await this.#follow(signal);
      if (signal.aborted) continue;
      this.#outcome = outcome;
      if (outcome === "lost") this.#tell({ type: "lost" });
      await pause(outcome === "lost" || outcome === "read" ? pauseMs : pauses[outcome], signal);
      pauseMs = outcome === "lost" ? Math.min(pauseMs * 2, longestPauseMs) : firstPauseMs;
    }
  }

  async #follow(changed: AbortSignal): Promise<Outcome> {
    if (this.#sequences.size === 0) return "idle";
    return navigator.onLine ? await this.#readOnce(changed) : "lost";
  }

  /** Reads until the stream ends, the jobs change, or nothing arrives for too long. */
  async #readOnce(changed: AbortSignal): Promise<Outcome> {
    const names = [...this.#sequences.keys()];
    const silent = new AbortController();
    const openedAt = performance.now();
    let heardAt: number | undefined;
    let isPartUnreadable = false;
    try {
      let timer = setTimeout(() => silent.abort(), firstSignMs);
      const response = await this.#connect(AbortSignal.any([changed, silent.signal])).finally(() =>
        clearTimeout(timer),
      );
      if (response.status === 204) {
        this.#tell({ type: "alive", names });
        return "ended";
      }
      if (!response.ok) return response.status < 500 && response.status !== 429 ? "heldBack" : "lost";
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const events = new ServerSentReader();
      for (;;) {
        const firstLeftMs = firstSignMs - (performance.now() - openedAt);
        timer = setTimeout(() => silent.abort(), heardAt === undefined ? firstLeftMs : silenceMs);
        const { value, done = true } = (await reader?.read().finally(() => clearTimeout(timer))) ?? {};
        // The service ends a stream when all of its jobs have ended or cannot be read. With an unreadable job, the next stream may end at once, so a
        // longer pause is made.
        if (done) return isPartUnreadable ? "ended" : "read";
        heardAt = performance.now();
        const received = events.read(value ?? "");
        isPartUnreadable ||= received.some(({ type }) => type === unreadable);
        this.#receive(received);
        this.#tell({ type: "alive", names });
      }
    } catch {
      if (!silent.signal.aborted) return "lost";
      // If something arrived even after the first seconds, nothing holds the stream back, so the connection has probably broken unnoticed.
      const hasPassed = heardAt !== undefined && heardAt - openedAt > firstSignMs;
      return hasPassed ? "lost" : "heldBack";
    }
  }

  async #connect(signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams([...this.#sequences.keys()].map((name) => ["job", name]));
    const headers = { accept: "text/event-stream", "last-event-id": [...this.#sequences.values()].join(".") };
    return await signedInFetch(new Request(`${baseUrl}/stream?${query}`, { headers, signal, cache: "no-store" }));
  }

  /** If several entries of a job arrive together, passes them on in one message, since the pages are drawn again for each message. */
  #receive(events: readonly ServerSentEvent[]): void {
    const received = new Map<JobName, HistoryEntry[]>();
    for (const { type, data } of events) {
      const { organizationId, jobId, ...told } = JSON.parse(data) as Told;
      const name = `${organizationId}/${jobId}`;
      const entries = received.get(name) ?? [];
      received.set(name, entries);
      if (told.entry !== undefined) entries.push(told.entry);
      else if (type === unreadable) this.#tell({ type: "unreadable", name, problem: told.problem as Problem });
    }
    for (const [name, entries] of received) {
      // If a listener has just asked for earlier entries of this job, the sequence has gone back, and the received entries do not directly follow it.
      // They are passed on all the same, but the sequence stays as it is.
      for (const { sequence } of entries)
        if (this.#sequences.get(name) === sequence - 1) this.#sequences.set(name, sequence);
      this.#tell({ type: "entries", name, entries });
    }
  }
}

type Outcome = "read" | "ended" | "lost" | "heldBack" | "idle";

const pauses = { ended: endedPauseMs, heldBack: heldBackPauseMs, idle: 2 ** 31 - 1 } as const;

interface Told {
  readonly organizationId: string;
  readonly jobId: string;
  readonly entry?: HistoryEntry;
  readonly problem?: Problem;
}

async function pause(ms: number, ended: AbortSignal): Promise<void> {
  if (ended.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

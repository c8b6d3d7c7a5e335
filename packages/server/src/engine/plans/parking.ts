import { ServiceError } from "../../core/service-error.ts";
import type { JobKey, LeftOutJobs } from "../../store/jobs/jobs.ts";
import type { VersionKey } from "../../store/workflows/versions.ts";

export interface ParkingOptions {
  /** Reads the monotonic timer, in milliseconds. */
  readonly now?: () => number;
  /** Called each time something is parked, with the error that caused it. */
  readonly onParked?: (what: ParkedThing, error: unknown) => void;
  readonly onReleased?: (what: ParkedThing) => void;
}

export type ParkedThing = VersionKey | JobKey;

/**
 * Thrown for a version whose definition this node does not understand, or that is not in the store. The message may be shown to everybody who may
 * read the version.
 */
export class UnreadableVersionError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "UnreadableVersionError";
  }
}

/** Something that this node does not try for a while. */
export interface Parked {
  /** The reason, as part of a sentence; undefined for an internal error, which only the log may show. */
  readonly reason: string | undefined;
  readonly parkedForMs: number;
  readonly retryInMs: number;
}

/**
 * Parks what this node cannot continue: a version that it cannot compile, a job on which a fact from the engine failed, or a job whose call or task
 * it could not take over. Searches leave the parked versions and jobs out, so that they delay nobody else. Each is tried again after a pause, which
 * doubles every time until it is a minute long. They are parked only in this node's memory, because other nodes may run another release that can
 * continue them.
 */
export class Parking {
  readonly #versions: ParkingLot;
  readonly #jobs: ParkingLot;

  constructor({ now = () => performance.now(), onParked = () => {}, onReleased = () => {} }: ParkingOptions = {}) {
    this.#versions = new ParkingLot(now, onParked, onReleased);
    this.#jobs = new ParkingLot(now, onParked, onReleased);
  }

  parkVersion(version: VersionKey, error: unknown): void {
    this.#versions.park(version.versionId, version, error);
  }

  parkJob({ organizationId, jobId }: JobKey, error: unknown): void {
    this.#jobs.park(jobId, { organizationId, jobId }, error);
  }

  /** Undefined when the version is not parked, or when it is time to try it again. */
  findVersion(versionId: string): Parked | undefined {
    return this.#versions.find(versionId);
  }

  /** Undefined when the job is not parked, or when it is time to try it again. */
  findJob(jobId: string): Parked | undefined {
    return this.#jobs.find(jobId);
  }

  /** Like `findJob`, but also finds a job whose pause is over. Undefined once the job has gone on. */
  findTrial(jobId: string): Parked | undefined {
    return this.#jobs.findTrial(jobId);
  }

  /** Whether the job was parked and has not gone on since. Also true if its pause is over. */
  isOnTrial(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  releaseVersion(versionId: string): void {
    this.#versions.release(versionId);
  }

  releaseJob(jobId: string): void {
    this.#jobs.release(jobId);
  }

  leftOut(): LeftOutJobs {
    return { versionIds: this.#versions.ids(), jobIds: this.#jobs.ids() };
  }

  get versionCount(): number {
    return this.#versions.count;
  }

  get jobCount(): number {
    return this.#jobs.count;
  }
}

/** The error for a caller whose request needs a version that this node cannot compile. */
export function versionUnreadable({ reason, retryInMs }: Parked): ServiceError {
  const detail = `The node that answers cannot read this version of the workflow${reason === undefined ? "" : ` (${reason})`}. Nothing was changed. Send the request again: another node may be able to read the version. If every node answers this, the operator has to update the service to the release under which the version was registered.`;
  return new ServiceError("UnavailableError", detail, { retryAfterSeconds: secondsOf(retryInMs) });
}

/** The error for a caller whose request fails on a job that this node cannot continue. */
export function jobParked({ retryInMs }: Parked, cause: unknown): ServiceError {
  const detail =
    "The node that answers cannot continue this job because of an error, and has parked the job. Nothing was changed. Send the request again: another node may be able to continue the job. The operator finds the error in the log of the node.";
  return new ServiceError("UnavailableError", detail, { retryAfterSeconds: secondsOf(retryInMs), cause });
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

interface Place {
  readonly thing: ParkedThing;
  readonly reason: string | undefined;
  readonly since: number;
  readonly pauseMs: number;
  readonly until: number;
}

/** The parked things of one kind, in the order in which they were last parked. */
class ParkingLot {
  readonly #places = new Map<string, Place>();
  readonly #now: () => number;
  readonly #onParked: (thing: ParkedThing, error: unknown) => void;
  readonly #onReleased: (thing: ParkedThing) => void;

  constructor(
    now: () => number,
    onParked: (thing: ParkedThing, error: unknown) => void,
    onReleased: (thing: ParkedThing) => void,
  ) {
    this.#now = now;
    this.#onParked = onParked;
    this.#onReleased = onReleased;
  }

  park(id: string, thing: ParkedThing, error: unknown): void {
    const now = this.#now();
    const before = this.#places.get(id);
    // Several facts of one batch may fail for the same reason. They count as one failure.
    if (before !== undefined && now < before.until) return;
    const pauseMs = before === undefined ? firstPauseMs : Math.min(before.pauseMs * 2, maxPauseMs);
    const reason = error instanceof UnreadableVersionError ? error.message : undefined;
    this.#places.delete(id);
    this.#places.set(id, { thing, reason, since: before?.since ?? now, pauseMs, until: now + pauseMs });
    this.#forgetOld(now);
    this.#onParked(thing, error);
  }

  find(id: string): Parked | undefined {
    const parked = this.findTrial(id);
    return parked === undefined || parked.retryInMs === 0 ? undefined : parked;
  }

  findTrial(id: string): Parked | undefined {
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    const now = this.#now();
    return { reason: place.reason, parkedForMs: now - place.since, retryInMs: Math.max(0, place.until - now) };
  }

  has(id: string): boolean {
    // Every command asks this, and usually nothing is parked. Checking the size is cheaper than looking up an id.
    return this.#places.size > 0 && this.#places.has(id);
  }

  release(id: string): void {
    if (this.#places.size === 0) return;
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    this.#onReleased(place.thing);
  }

  ids(): string[] {
    const now = this.#now();
    this.#forgetOld(now);
    return [...this.#places].flatMap(([id, { until }]) => (now < until ? [id] : []));
  }

  get count(): number {
    this.#forgetOld(this.#now());
    return this.#places.size;
  }

  /**
   * Forgets things that nobody has tried again for a long time, because they probably continue on another node or have ended. Also forgets the oldest
   * things when there are more than `maxParked`.
   */
  #forgetOld(now: number): void {
    for (const [id, { until }] of this.#places) {
      if (this.#places.size <= maxParked && now < until + forgetAfterMs) return;
      this.#places.delete(id);
    }
  }
}

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
const forgetAfterMs = 600_000;
/**
 * The bound on parked versions, and also on parked jobs. Each search sends their ids to the store. Beyond the bound, the oldest are forgotten, so
 * they are tried more often.
 */
const maxParked = 1_000;

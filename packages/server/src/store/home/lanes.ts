import type pg from "pg";
import { ReadDeadlineError, sqlState } from "./database.ts";
import { FairQueue } from "./fair-queue.ts";
import { ReadTime } from "./read-time.ts";

/**
 * A way to the store. There are three lanes, so that commits, heartbeats and duties do not wait in one line with the requests of users. One is for
 * the engine. One is for requests, which look up credentials and change resources, and are short. One is for reads of lists, histories and metrics,
 * which may be long.
 */
export interface Lane {
  readonly pool: pg.Pool;
  /**
   * Returns the settings with which each transaction on a connection must begin. They are needed behind a connection pooler, which may give each
   * transaction another session.
   */
  readonly settingsOf?: SettingsOf;
  /** Runs `work`, which takes one connection of the pool, when its turn comes. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export type SettingsOf = (client: pg.PoolClient) => readonly string[];

export interface Lanes {
  readonly engine: Lane;
  readonly requests: Lane;
  readonly reads: ReadLane;
}

/** A lane with connections of its own. The pool gives them out in the order in which they are asked for. */
export function ownLane({ pool, settingsOf }: Pick<Lane, "pool" | "settingsOf">): Lane {
  return { pool, ...(settingsOf && { settingsOf }), run: (work) => work() };
}

interface SharedLanes {
  readonly engine: Lane;
  readonly requests: Lane;
  readonly reads: Lane;
  /** The time limit in milliseconds for a statement of the lane that has the session; undefined for no limit. */
  readonly limitMs: () => number | undefined;
}

/** The lanes of a store that has only one session. When the session becomes free, the engine gets it before requests, and requests before reads. */
export function sharedLanes(
  pool: pg.Pool,
  limits: { readonly requests: number; readonly reads: number },
  now: () => number = () => performance.now(),
): SharedLanes {
  const session = new SharedSession(now);
  const limitsMs = [undefined, limits.requests, limits.reads] as const;
  const lane = (priority: Priority): Lane => ({ pool, run: (work) => session.run(priority, work) });
  return { engine: lane(0), requests: lane(1), reads: lane(2), limitMs: () => limitsMs[session.holder] };
}

type Priority = 0 | 1 | 2;

/**
 * Gives the session to one lane at a time. After a commit, the engine waits for one turn of the event loop before it asks for the session again, so
 * the other lanes get the session in between.
 */
class SharedSession {
  readonly #waiting: readonly (() => void)[][] = [[], [], []];
  #isTaken = false;
  /** The time, by `#now`, when a lane first got the session in this turn of the event loop; undefined if none got it yet. */
  #turnBegunAt: number | undefined;
  readonly #now: () => number;
  /** The lane that has the session; the engine's lane when none has it. */
  holder: Priority = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  async run<Result>(priority: Priority, work: () => Promise<Result>): Promise<Result> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting[priority]?.push(resolve));
    this.#isTaken = true;
    this.holder = priority;
    this.#beginTurn();
    try {
      return await work();
    } finally {
      this.holder = 0;
      if (this.#isTurnLong()) setImmediate(() => this.#giveToNext());
      else this.#giveToNext();
    }
  }

  /** The session stays taken until the next waiting lane has it, so that no newcomer takes it first. */
  #giveToNext(): void {
    const next = this.#waiting.find((queue) => queue.length > 0)?.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  #beginTurn(): void {
    if (this.#turnBegunAt !== undefined) return;
    this.#turnBegunAt = this.#now();
    setImmediate(() => {
      this.#turnBegunAt = undefined;
    });
  }

  #isTurnLong(): boolean {
    return this.#turnBegunAt !== undefined && this.#now() - this.#turnBegunAt > maxTurnMs;
  }
}

/**
 * The store answers within the same turn of the event loop. So a duty with many transactions would stop all requests until its end. When a turn has
 * lasted this long, the session is given to its next user only in the next turn.
 */
const maxTurnMs = 10;

export interface ReadBounds {
  readonly maxRunning: number;
  /** A smaller bound for each organization leaves connections free for the other organizations while one has long reads. */
  readonly maxRunningPerOrganization: number;
  /**
   * The time limit of a read, for all of its statements together. No statement begins after it. A statement that began in time may itself take this
   * long before it is ended.
   */
  readonly deadlineMs: number;
}

/** The lane of users' reads. Organizations take turns, and a read that is too late is given up. */
export class ReadLane {
  readonly pool: pg.Pool;
  readonly #lane: Lane;
  readonly #deadlineMs: number;
  readonly #queue: FairQueue<WaitingRead>;
  readonly #now: () => number;
  readonly #time: ReadTime;

  constructor(lane: Lane, bounds: ReadBounds, now: () => number = () => performance.now()) {
    this.pool = lane.pool;
    this.#now = now;
    this.#time = new ReadTime(bounds.deadlineMs, now);
    this.#lane = lane;
    this.#deadlineMs = bounds.deadlineMs;
    const { maxRunning, maxRunningPerOrganization: maxRunningPerOwner } = bounds;
    const isOneAtATime = (organizationId: string) => this.#time.isOneAtATime(organizationId);
    this.#queue = new FairQueue({ maxRunning, maxRunningPerOwner, isOneAtATime });
  }

  /**
   * Makes the lane for one read, whose time limit begins now. `run` throws `ReadDeadlineError` for a statement that begins too late, or that the
   * server ended.
   */
  forRead(organizationId: string): Lane {
    const lateAt = this.#now() + this.#deadlineMs;
    return { ...this.#lane, run: (work) => this.#run(organizationId, lateAt, work) };
  }

  async #run<Result>(organizationId: string, lateAt: number, work: () => Promise<Result>): Promise<Result> {
    await this.#turn(organizationId, lateAt - this.#now());
    let begunAt: number | undefined;
    try {
      return await this.#lane.run(() => {
        // The lane may have a queue of its own. The time in that queue does not count as reading.
        begunAt = this.#now();
        if (begunAt > lateAt) throw new ReadDeadlineError(this.#deadlineMs);
        return work();
      });
    } catch (error) {
      throw isCancelled(error) ? new ReadDeadlineError(this.#deadlineMs, error) : error;
    } finally {
      // The time is measured before the pause below, because other work runs during the pause.
      const tookMs = begunAt === undefined ? 0 : this.#now() - begunAt;
      // The embedded store answers within the same turn of the event loop. Without this pause, a read of many statements would block all requests
      // until its end.
      await new Promise((resolve) => setImmediate(resolve));
      this.#end(organizationId, tookMs);
    }
  }

  #end(organizationId: string, tookMs: number): void {
    this.#queue.rest();
    const wake = () => {
      this.#queue.rested(organizationId);
      this.#beginNext();
    };
    const restMs = this.#time.spend(organizationId, tookMs);
    if (restMs === 0) wake();
    else {
      setTimeout(wake, restMs).unref();
      this.#beginNext();
    }
  }

  #turn(organizationId: string, leftMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (leftMs <= 0) {
        reject(new ReadDeadlineError(this.#deadlineMs));
        return;
      }
      const read: WaitingRead = { organizationId, isGivenUp: false, begin: resolve, timer: undefined };
      this.#time.arrive(organizationId);
      this.#queue.add(organizationId, read);
      this.#beginNext();
      if (!this.#queue.isWaiting(organizationId)) return;
      read.timer = setTimeout(() => {
        read.isGivenUp = true;
        reject(new ReadDeadlineError(this.#deadlineMs));
      }, leftMs);
    });
  }

  #beginNext(): void {
    for (let read = this.#queue.next(); read !== undefined; read = this.#queue.next()) {
      clearTimeout(read.timer);
      if (read.isGivenUp) this.#queue.done(read.organizationId);
      else {
        this.#time.begin(read.organizationId);
        read.begin();
      }
    }
  }
}

interface WaitingRead {
  readonly organizationId: string;
  readonly begin: () => void;
  isGivenUp: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Whether the error is `query_canceled`: the server ended the statement at its time limit. */
function isCancelled(error: unknown): boolean {
  return sqlState(error) === "57014";
}

import type { Timestamp } from "../../core/time.ts";
import type { Database } from "../../store/home/database.ts";
import { type DueVersion, findDueVersions } from "../../store/jobs/due-versions.ts";
import type { JobKey, LeftOutJobs } from "../../store/jobs/jobs.ts";
import {
  type DueJob,
  findDueJobs,
  findDueJobsInTurn,
  findNextWake,
  findTimedOutJobs,
} from "../../store/jobs/timers.ts";
import type { VersionKey } from "../../store/workflows/versions.ts";
import type { DatabaseClock } from "../node/clock.ts";
import type { Parking } from "../plans/parking.ts";
import type { Duty } from "./duty.ts";
import { JobTelling } from "./job-telling.ts";

export interface TimersOptions {
  readonly database: Database;
  readonly clock: Pick<DatabaseClock, "now">;
  readonly everyMs: number;
  /**
   * The maximum time of each part of a round: first it looks for versions with due jobs, then it tells jobs that their timers are due. What is not done
   * by then is left to the next round.
   */
  readonly maxRoundMs: number;
  readonly parking: Parking;
  /** Tells a job that its timer is due, and returns whether this changed the job. */
  readonly wake: (key: JobKey) => Promise<boolean>;
  /** The number of calls for which this node has room. A job for whose call there is no room stays due in the store. */
  readonly roomCount: () => number;
  /** The organizations with calls that wait on this node. Every other organization may always add a call, so that a backlog delays nobody else. */
  readonly crowdedOrganizations: () => readonly string[];
  /**
   * Returns a function that counts the calls of one round. Use this function once for each call, in order. It returns whether that call will begin
   * at once.
   */
  readonly beginsAtOnce: () => (organizationId: string) => boolean;
}

const maxDueJobs = 500;
const maxVersionsAtOnce = 500;
const minShare = 20;

/**
 * Wakes what is due: pending jobs, running jobs that continue in another commit, next attempts, ends of sleeps, timeouts of waits and of whole jobs.
 * The poll finds every timer. A node that sets a timer gives its own poll a hint, so that the poll comes at the right time. When two nodes find the
 * same job, the second node finds nothing due once it has locked the row.
 *
 * When fewer jobs are due than one round can take, the search finds all of them. Otherwise, and after a round that was cut short, the versions with
 * due jobs also take turns: each round continues after the version at which the last round stopped. The jobs of each organization are told
 * separately. So an organization gets its turn even if another organization has many or slow jobs, or if jobs are parked.
 */
export function timersDuty(options: TimersOptions): Duty {
  const { database, clock, everyMs, maxRoundMs, parking, wake } = options;
  let after: VersionKey | undefined;
  let wasCutShort = false;
  const telling = new JobTelling<JobKey>();
  return {
    name: "timers",
    everyMs,
    async runOnce() {
      const now = clock.now();
      const busy = telling.busy();
      const oldest = await findDueJobs(database, now, maxDueJobs);
      const isBacklog = wasCutShort || oldest.length === maxDueJobs;
      const round: Round = {
        now,
        leftOut: parking.leftOut(),
        room: options.roomCount(),
        crowded: options.crowdedOrganizations(),
      };
      const turn = isBacklog ? await takeTurn(database, round, after, maxRoundMs) : { due: [], last: undefined };
      after = turn.last;
      const chosen = choose([...turn.due, ...oldest], round, options.beginsAtOnce());
      const leftOut = { ...round.leftOut, organizationIds: [...busy] };
      const timedOut = await findTimedOutJobs(database, now, leftOut, maxDueJobs);
      const free = [...timedOut, ...chosen].filter(({ organizationId }) => !busy.has(organizationId));
      const told = await telling.tell(free, wake, performance.now() + maxRoundMs);
      wasCutShort = told.isCutShort || busy.size > 0;
      if (wasCutShort) return { againInMs: 0 };
      // When no job could be changed and every version had its turn, running again at once would change nothing.
      const isMore = isBacklog || timedOut.length === maxDueJobs;
      if (isMore && (told.isAnyChanged || after !== undefined)) return { againInMs: 0 };
      const next = await findNextWake(database, now);
      return next === null ? undefined : { againInMs: Math.min(everyMs, Math.max(0, next - clock.now())) };
    },
  };
}

/** The conditions of one round's search, which stay the same until the round ends. */
interface Round {
  readonly now: Timestamp;
  readonly leftOut: LeftOutJobs;
  readonly room: number;
  readonly crowded: readonly string[];
}

interface Turn {
  readonly due: readonly DueJob[];
  /** The version after which the next turn continues; undefined when every version had its turn. */
  readonly last: VersionKey | undefined;
}

/**
 * Looks for versions with due jobs, and then for these jobs. If the search for versions takes long, it ends early, and the next round continues where
 * the search ended. The jobs of the versions found so far are still looked for.
 */
async function takeTurn(
  database: Database,
  { now, leftOut, room, crowded }: Round,
  after: VersionKey | undefined,
  maxMs: number,
): Promise<Turn> {
  const leftOutVersions = { versionIds: leftOut.versionIds, fullOrganizationIds: room > 0 ? [] : crowded };
  const endMs = performance.now() + maxMs;
  const versions: DueVersion[] = [];
  let last = after;
  do {
    const found = await findDueVersions(database, now, leftOutVersions, last, maxVersionsAtOnce - versions.length);
    versions.push(...found.versions);
    last = found.last;
  } while (last !== undefined && versions.length < maxVersionsAtOnce && performance.now() < endMs);
  const share = Math.max(minShare, Math.ceil(maxDueJobs / Math.max(1, versions.length)));
  const due = await findDueJobsInTurn(database, now, versions, leftOut.jobIds, { share, limit: maxDueJobs });
  return { due, last };
}

/** Chooses the jobs that this round takes, up to its bound: jobs that are not parked, and for whose call there is room. */
function choose(
  candidates: readonly DueJob[],
  round: Round,
  beginsAtOnce: (organizationId: string) => boolean,
): DueJob[] {
  const [parkedVersions, passed] = [new Set(round.leftOut.versionIds), new Set(round.leftOut.jobIds)];
  const crowded = new Set(round.crowded);
  let { room } = round;
  const chosen: DueJob[] = [];
  for (const job of candidates) {
    if (chosen.length === maxDueJobs) break;
    if (parkedVersions.has(job.versionId) || passed.has(job.jobId)) continue;
    passed.add(job.jobId);
    if (!job.isWait && !beginsAtOnce(job.organizationId)) {
      if (room <= 0 && crowded.has(job.organizationId)) continue;
      room -= 1;
      crowded.add(job.organizationId);
    }
    chosen.push(job);
  }
  return chosen;
}

import type { UntimedFact } from "../../core/job/fact.ts";
import type { Database } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { findCrowdedJobs, findDueJobs, findNextWake } from "../../store/jobs/timers.ts";
import type { DatabaseClock } from "../clock.ts";
import type { Duty } from "./duty.ts";

export interface TimersOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly everyMs: number;
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<void>;
  /** How many more calls this node has room for: jobs beyond that stay for a node that has. */
  readonly roomCount: () => number;
  /** Organizations with calls that wait here. Their backlog must not hold up the others' jobs, nor a wait whose time is up. */
  readonly crowdedOrganizations: () => readonly string[];
}

const maxDueJobs = 500;

/**
 * Wakes what is due: pending jobs, next attempts, timeouts. Polling is the truth; a hint of the node that set a timer only makes the
 * poll come at the right moment. Two nodes may see the same job: the second finds nothing due under the row's lock.
 */
export function timersDuty(options: TimersOptions): Duty {
  const { database, clock, everyMs, report, roomCount, crowdedOrganizations } = options;
  return {
    name: "timers",
    everyMs,
    async runOnce() {
      const now = clock.now();
      const room = Math.min(maxDueJobs, roomCount());
      const crowd = crowdedOrganizations();
      const limit = crowd.length === 0 ? room : maxDueJobs;
      const due = limit === 0 ? [] : await findDueJobs(database, now, crowd, limit);
      const crowded = room === 0 || crowd.length === 0 ? [] : await findCrowdedJobs(database, now, crowd, room);
      await Promise.all([...due, ...crowded].map((key) => report(key, { type: "timer.due" })));
      if (limit > 0 && (due.length === limit || crowded.length === room)) return { againInMs: 0 };
      const next = await findNextWake(database, now);
      return next === null ? undefined : { againInMs: Math.min(everyMs, Math.max(0, next - clock.now())) };
    },
  };
}

import type { Config } from "../config.ts";
import type { UntimedFact } from "../core/job/fact.ts";
import type { Database } from "../store/home/database.ts";
import type { JobKey } from "../store/jobs/jobs.ts";
import type { Dispatcher } from "./calls/dispatcher.ts";
import type { Duty } from "./maintenance/duty.ts";
import { jobNoticesDuty } from "./maintenance/job-notices.ts";
import { lostTasksDuty } from "./maintenance/lost-tasks.ts";
import { takeoverDuty } from "./maintenance/takeover.ts";
import { timersDuty } from "./maintenance/timers.ts";
import type { DatabaseClock } from "./node/clock.ts";
import type { Node } from "./node/node.ts";
import type { Plans } from "./plans/plans.ts";

export interface JobDutiesOptions {
  readonly config: Config;
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly nodeId: string;
  readonly plans: Plans;
  readonly node: Node;
  readonly dispatcher: Dispatcher;
  /** Tells a job a fact, and returns whether this changed the job. */
  readonly tell: (key: JobKey, fact: UntimedFact) => Promise<boolean>;
  /** Tells a job a fact. Throws `ServiceError` when the job does not accept it. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** Receives the number of workers' leases that this node found expired. */
  readonly onLeasesLost: (count: number) => void;
}

export interface JobDuties {
  readonly timers: Duty;
  readonly takeover: Duty;
  readonly lostTasks: Duty;
  readonly jobNotices: Duty;
}

/**
 * The duties that move jobs when no request and no call does: when a job's time has come, when its node or worker is gone, or when there is a notice
 * for it.
 */
export function jobDuties(options: JobDutiesOptions): JobDuties {
  const { config, database, clock, nodeId, plans, node, dispatcher, tell, report } = options;
  const roomCount = () => dispatcher.roomCount();
  return {
    timers: timersDuty({
      database,
      clock,
      everyMs: config.pollMs,
      maxRoundMs: maxTimerRoundMs,
      parking: plans.parking,
      wake: (key) => tell(key, { type: "timer.due" }),
      roomCount,
      crowdedOrganizations: () => dispatcher.crowdedOrganizations(),
      beginsAtOnce: () => dispatcher.beginsAtOnce(),
    }),
    takeover: takeoverDuty({
      database,
      nodeId,
      leaseMs: config.leaseMs,
      everyMs: Math.max(config.heartbeatMs, config.leaseMs / 4),
      lookAround: () => node.lookAround(),
      plans,
      report: tell,
      owes: (call) => dispatcher.owes(call),
      roomCount,
    }),
    lostTasks: lostTasksDuty({
      database,
      nodeId,
      everyMs: config.pollMs,
      plans,
      report: tell,
      onLost: options.onLeasesLost,
      random: Math.random,
    }),
    jobNotices: jobNoticesDuty({
      database,
      nodeId,
      everyMs: config.pollMs,
      lateMs: lateNoticesMs,
      maxBytes: config.maxBatchBytes,
      maxRoundMs: maxNoticeRoundMs,
      report,
      random: Math.random,
    }),
  };
}

/** When the node that wrote a notice has not delivered it within this time, other nodes deliver it. */
const lateNoticesMs = 2_000;
const maxNoticeRoundMs = 100;
/**
 * The longest time for which one round of the timers looks for versions with due jobs, and also the longest time for which it then tells the jobs
 * that they are due. Jobs that become due during a round wait for its end. Most rounds take a few milliseconds.
 */
const maxTimerRoundMs = 30;

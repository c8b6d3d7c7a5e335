import { childFailed } from "../../core/job/child-job.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Database } from "../../store/home/database.ts";
import { deleteNotices, findNotices, type JobNotice } from "../../store/jobs/job-notices.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { Duty } from "./duty.ts";

export interface JobNoticesOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly everyMs: number;
  /** How long a notice is left to the node that wrote it. */
  readonly lateMs: number;
  /** Bounds the notices that are read at once. */
  readonly maxBytes: number;
  /** Tells a job a fact. Throws `ServiceError` where the job takes none. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** From 0 up to 1, for the jitter of the next attempt. */
  readonly random: () => number;
}

const maxNoticesAtOnce = 500;
/** A job that this node cannot go on with is left to others for so long. */
const restMs = 5_000;

/**
 * Delivers what jobs owe each other: to parents that a child has ended, to children that their parent has left them. Polling is the truth; the hint of the node that
 * wrote a notice only makes the poll come at once. A notice that is delivered twice changes nothing the second time: it names the call that it is about.
 */
export function jobNoticesDuty(options: JobNoticesOptions): Duty {
  const { database, everyMs, maxBytes, report, random } = options;
  const restingUntil = new Map<string, number>();
  const deliver = async (notice: JobNotice): Promise<JobNotice | undefined> => {
    try {
      await report(notice, factOf(notice, random));
      return notice;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // A child that was never made, or a parent that is no more, needs no notice.
      if (error.code === "NotFoundError") return notice;
      restingUntil.set(notice.jobId, performance.now() + restMs);
      return undefined;
    }
  };
  return {
    name: "job-notices",
    everyMs,
    async runOnce() {
      const now = performance.now();
      for (const [jobId, until] of restingUntil) if (until <= now) restingUntil.delete(jobId);
      const bounds = { limit: maxNoticesAtOnce, maxBytes };
      const notices = await findNotices(database, options, [...restingUntil.keys()], bounds);
      if (notices.length === 0) return undefined;
      const settled = await Promise.allSettled(notices.map(deliver));
      const delivered = settled.flatMap((one) => (one.status === "fulfilled" ? (one.value ?? []) : []));
      await deleteNotices(database, delivered);
      const broken = settled.find((one) => one.status === "rejected");
      if (broken !== undefined) throw broken.reason;
      return { againInMs: 0 };
    },
  };
}

function factOf({ branch, step, visit, epoch, outcome }: JobNotice, random: () => number): UntimedFact {
  if (outcome === null) return { type: "parent.left", epoch };
  const call = { by: "job", branch, step, visit, epoch } as const;
  if ("output" in outcome) return { type: "step.succeeded", ...call, output: outcome.output };
  const failure = { error: childFailed(step, outcome.error), kind: "ordinary" } as const;
  return { type: "step.failed", ...call, failure, random: random() };
}

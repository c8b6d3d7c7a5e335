import { childFailed } from "../../core/job/child-job.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Database } from "../../store/home/database.ts";
import { deleteNotices, findNotices, findNoticesInTurn, type JobNotice } from "../../store/jobs/job-notices.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { Duty } from "./duty.ts";
import { JobTelling } from "./job-telling.ts";

export interface JobNoticesOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly everyMs: number;
  /** How long a notice is left to the node that wrote it. */
  readonly lateMs: number;
  /** Bounds the notices that are read at once. */
  readonly maxBytes: number;
  /** After so long a round ends where it has told a job, and the next one looks for what came meanwhile. */
  readonly maxRoundMs: number;
  /** Tells a job a fact. Throws `ServiceError` where the job takes none. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** From 0 up to 1, for the jitter of the next attempt. */
  readonly random: () => number;
}

const maxNoticesAtOnce = 500;
/** Children of one job end together, and each commit writes the whole state of their parent: so many of its notices go into one. */
const maxToldAtOnce = 250;
const maxOrganizationsInTurn = 100;
const shareInTurn = 20;
/** A job that this node cannot go on with is left to others for so long. */
const restMs = 5_000;

/**
 * Delivers what jobs owe each other: to parents that a child has ended, to children that their parent has left them. Polling is the truth; the hint of the node that
 * wrote a notice only makes the poll come at once. A notice that is delivered twice changes nothing the second time: it names the call that it is about.
 *
 * Where one round does not take all notices there are, it takes some of each organization besides the oldest, and the jobs of each organization are told by themselves:
 * an organization that cancels a tree of a hundred thousand jobs keeps no other one's jobs from their children.
 */
export function jobNoticesDuty(options: JobNoticesOptions): Duty {
  const { database, everyMs, maxRoundMs } = options;
  const telling = new JobTelling<JobNotice>(maxToldAtOnce);
  const delivery = new Delivery(options);
  let after: string | undefined;
  let wasCutShort = false;
  return {
    name: "job-notices",
    everyMs,
    async runOnce() {
      // The order matters: what an organization that is not busy was told is deleted before its notices are looked for again.
      const busy = telling.busy();
      await delivery.forget(database);
      const search = { ...options, leftOutJobIds: delivery.restingJobIds(), limit: maxNoticesAtOnce };
      const oldest = await findNotices(database, search);
      const inTurn =
        wasCutShort || !oldest.isAll
          ? await findNoticesInTurn(database, { ...search, limit: shareInTurn }, after, maxOrganizationsInTurn)
          : [];
      after = lastOf(inTurn);
      const free = eachOnce([...inTurn, ...oldest.notices]).filter(({ organizationId }) => !busy.has(organizationId));
      if (free.length === 0 && busy.size === 0) {
        wasCutShort = false;
        return undefined;
      }
      const told = await telling.tell(free, (one) => delivery.deliver(one), performance.now() + maxRoundMs);
      await delivery.forget(database);
      delivery.throwFailure();
      wasCutShort = told.isCutShort || busy.size > 0;
      return { againInMs: 0 };
    },
  };
}

/** Tells jobs what they are owed, and deletes what was said. */
class Delivery {
  readonly #options: JobNoticesOptions;
  readonly #restingUntil = new Map<string, number>();
  #delivered: JobNotice[] = [];
  readonly #failures: unknown[] = [];

  constructor(options: JobNoticesOptions) {
    this.#options = options;
  }

  /** Answers whether the notice is over. */
  async deliver(notice: JobNotice): Promise<boolean> {
    try {
      await this.#options.report(notice, factOf(notice, this.#options.random));
    } catch (error) {
      // A child that was never made, or a parent that is no more, needs no notice.
      if (!(error instanceof ServiceError && error.code === "NotFoundError")) {
        if (error instanceof ServiceError) this.#restingUntil.set(notice.jobId, performance.now() + restMs);
        else this.#failures.push(error);
        return false;
      }
    }
    this.#delivered.push(notice);
    return true;
  }

  async forget(database: Database): Promise<void> {
    const delivered = this.#delivered;
    this.#delivered = [];
    if (delivered.length > 0) await deleteNotices(database, delivered);
  }

  /** A job that cannot be told keeps no other from being told: what went wrong is thrown once all had their turn. */
  throwFailure(): void {
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  restingJobIds(): readonly string[] {
    const now = performance.now();
    for (const [jobId, until] of this.#restingUntil) if (until <= now) this.#restingUntil.delete(jobId);
    return [...this.#restingUntil.keys()];
  }
}

/** Where the next turn goes on; undefined when every organization had its turn. */
function lastOf(inTurn: readonly JobNotice[]): string | undefined {
  const organizationIds = [...new Set(inTurn.map(({ organizationId }) => organizationId))].sort();
  return organizationIds.at(-1);
}

function eachOnce(notices: readonly JobNotice[]): JobNotice[] {
  const nameOf = ({ jobId, senderJobId, epoch }: JobNotice) => `${jobId} ${senderJobId} ${epoch}`;
  return [...new Map(notices.map((notice) => [nameOf(notice), notice])).values()];
}

function factOf({ branch, step, visit, epoch, outcome }: JobNotice, random: () => number): UntimedFact {
  if (outcome === null) return { type: "parent.left", epoch };
  const call = { by: "job", branch, step, visit, epoch } as const;
  if ("output" in outcome) return { type: "step.succeeded", ...call, output: outcome.output };
  const failure = { error: childFailed(step, outcome.error), kind: "ordinary" } as const;
  return { type: "step.failed", ...call, failure, random: random() };
}

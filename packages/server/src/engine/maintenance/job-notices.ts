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
  /** The time in milliseconds for which a notice is left to the node that wrote it. */
  readonly lateMs: number;
  /** The bound on the notices that are read together, in bytes. */
  readonly maxBytes: number;
  /** The time after which a round that has delivered a notice tells no more jobs. The next round looks for notices that came meanwhile. */
  readonly maxRoundMs: number;
  /** Tells a job a fact. Throws `ServiceError` when the job does not accept it. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** A random number from 0 up to 1 (exclusive), for the jitter of the next attempt. */
  readonly random: () => number;
}

const maxNoticesAtOnce = 500;
/**
 * The number of notices that are delivered at the same time. It is large, because the children of a job often end together, and each commit writes
 * the whole state of their parent.
 */
const maxToldAtOnce = 250;
const maxOrganizationsInTurn = 100;
const shareInTurn = 20;
/** When this node cannot continue a job, it leaves the job to other nodes for this time. */
const restMs = 5_000;

/**
 * Delivers the notices between jobs. A parent learns that its child has ended, and a child learns that its parent does not wait for it any more. The
 * poll finds every notice; the hint from the node that wrote it only makes the poll come at once. A notice that is delivered twice changes nothing
 * the second time, because it names its call.
 *
 * When there are too many notices for one round, organizations take turns: besides the oldest notices, the round takes a few notices of each
 * organization whose turn it is. The jobs of each organization are told separately. So an organization that cancels a tree of a hundred thousand jobs
 * does not delay the notices of the others.
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
      // In another order of these three steps, the search could find delivered notices of an organization that has just stopped being busy.
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

class Delivery {
  readonly #options: JobNoticesOptions;
  readonly #restingUntil = new Map<string, number>();
  #delivered: JobNotice[] = [];
  readonly #failures: unknown[] = [];

  constructor(options: JobNoticesOptions) {
    this.#options = options;
  }

  /** Returns whether the notice can be deleted. */
  async deliver(notice: JobNotice): Promise<boolean> {
    try {
      await this.#options.report(notice, factOf(notice, this.#options.random));
    } catch (error) {
      // When the child was never made, or the parent does not exist any more, nobody needs the notice.
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

  /** Throws the first error. Call it after all jobs had their turn, so that one failing job does not stop the others. */
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

/** The organization after which the next turn continues. Undefined if this turn found no notice: the next turn begins with the first organization. */
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

import type { UntimedFact } from "../../core/job/fact.ts";
import { type Database, shortLockTimeoutMs } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { everyPairJoined, partsOf } from "../../store/jobs/key-parts.ts";
import {
  findOrphans,
  findOwned,
  type OrphanedJob,
  removeDeadNode,
  type TakenJob,
  takeOverJobs,
} from "../../store/jobs/nodes.ts";
import { inHalves } from "../in-halves.ts";
import type { Neighbourhood } from "../node/node.ts";
import type { Plans } from "../plans/plans.ts";
import type { Duty } from "./duty.ts";

export interface TakeoverOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly leaseMs: number;
  readonly everyMs: number;
  readonly lookAround: () => Promise<Neighbourhood>;
  readonly plans: Plans;
  /** Tells a job a fact, and answers whether that changed it. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<boolean>;
  /** Whether the dispatcher knows of a call for this job. */
  readonly owes: (jobId: string) => boolean;
  readonly roomCount: () => number;
}

const maxJobsAtOnce = 500;

/** Takes over the jobs of nodes that are dead or have left, and makes their calls again. */
export function takeoverDuty(options: TakeoverOptions): Duty {
  const { database, everyMs, lookAround, plans, roomCount } = options;
  const untold = new UntoldDeaths();
  let after: string | undefined;
  return {
    name: "takeover",
    everyMs,
    async runOnce() {
      const { livingNodeIds, deadNodes } = await lookAround();
      const limit = Math.min(maxJobsAtOnce, roomCount());
      const leftOut = plans.parking.leftOut();
      const orphans = limit === 0 ? [] : await findOrphans(database, livingNodeIds, leftOut, limit);
      // A job with which this node cannot go on is left to a node that can.
      const readable = await plans.findReadable(database, orphans);
      const ours = orphans.filter(({ versionId }) => readable.has(versionId));
      for (const [deadNodeId, keys] of Map.groupBy(ours, (orphan) => orphan.nodeId)) {
        await takeOver(options, untold, deadNodeId, keys);
      }
      if (orphans.length === limit && ours.length > 0) return { againInMs: 0 };
      after = await takeBackForgotten(options, untold, after);
      for (const node of deadNodes) await removeDeadNode(database, node);
      return undefined;
    },
  };
}

/**
 * A job that this node owns by its row but whose call it does not know: a defect or a lost answer in between must not leave a job
 * standing while its node lives. Each round looks at the next ones of the jobs that the node owns, in the order of their ids, and answers where it
 * stopped: most of them are jobs whose calls go on, and however many these are they hide no other.
 */
async function takeBackForgotten(
  options: TakeoverOptions,
  untold: UntoldDeaths,
  after: string | undefined,
): Promise<string | undefined> {
  const { database, nodeId, leaseMs, plans } = options;
  const owned = await findOwned(database, { nodeId, ageMs: leaseMs, after }, plans.parking.leftOut(), maxJobsAtOnce);
  await takeOver(
    options,
    untold,
    nodeId,
    owned.filter((job) => !options.owes(job.jobId)),
  );
  return owned.length === maxJobsAtOnce ? owned.at(-1)?.jobId : undefined;
}

/** Takes jobs over together; one whose row the database cannot write is parked, and keeps no other from being taken. */
async function takeOver(
  options: TakeoverOptions,
  untold: UntoldDeaths,
  ownerId: string,
  jobs: readonly OrphanedJob[],
): Promise<void> {
  const { database, nodeId, plans, report } = options;
  const own = (part: readonly OrphanedJob[]) =>
    database.transaction((transaction) => takeOverJobs(transaction, nodeId, ownerId, part), {
      lockTimeoutMs: shortLockTimeoutMs,
    });
  const groups = Map.groupBy(jobs, (job) => database.groupOf(job.organizationId));
  for (const group of groups.values()) {
    // Each part is one statement: of several, those that landed before one that failed would not be known.
    for (const part of partsOf(group, everyPairJoined)) {
      const isNodeDead = ownerId !== nodeId;
      if (isNodeDead) untold.add(part);
      const taken = await inHalves(part, own, (job, error) => plans.parking.parkJob(job, error));
      const takenIds = new Set(taken.map(({ jobId }) => jobId));
      if (isNodeDead) for (const { jobId } of part) if (!takenIds.has(jobId)) untold.delete(jobId);
      await Promise.all(
        taken.map(async (job) => {
          if (await report(job, factOf(job, untold.has(job.jobId)))) untold.delete(job.jobId);
        }),
      );
    }
  }
}

/**
 * Jobs whose calls this node takes from a dead node and has not told so yet. When the takeover's answer is lost or the report fails, a later round
 * finds the job among this node's own, where the call would look like one that a living node forgot.
 */
class UntoldDeaths {
  readonly #jobIds = new Set<string>();

  add(jobs: readonly JobKey[]): void {
    for (const { jobId } of jobs) this.#jobIds.add(jobId);
    for (const oldest of this.#jobIds) {
      if (this.#jobIds.size <= maxUntoldDeaths) return;
      this.#jobIds.delete(oldest);
    }
  }

  has(jobId: string): boolean {
    return this.#jobIds.has(jobId);
  }

  delete(jobId: string): void {
    this.#jobIds.delete(jobId);
  }
}

/** Jobs that another node went on with, or that were cancelled, are never told: the oldest make room. */
const maxUntoldDeaths = 10_000;

/** A call that waited for its turn was not interrupted: it is innocent of its node's death, and any node may take it. */
function factOf({ leaseEpoch, hadBegun }: TakenJob, isNodeDead: boolean): UntimedFact {
  return hadBegun
    ? { type: "step.interrupted", leaseEpoch, isNodeDead }
    : { type: "call.handedBack", leaseEpoch, begun: false };
}

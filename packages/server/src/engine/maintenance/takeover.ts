import type { UntimedFact } from "../../core/job/fact.ts";
import {
  type Database,
  StatementGivenUpError,
  StoreUnavailableError,
  TransactionAbortedError,
} from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import {
  findOrphans,
  findOwned,
  type OrphanedJob,
  removeDeadNode,
  type TakenJob,
  takeOverJobs,
} from "../../store/jobs/nodes.ts";
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
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** Whether the dispatcher knows of a call for this job. */
  readonly owes: (jobId: string) => boolean;
  readonly roomCount: () => number;
}

const maxJobsAtOnce = 500;

/** Takes over the jobs of nodes that are dead or have left, and makes their calls again. */
export function takeoverDuty(options: TakeoverOptions): Duty {
  const { database, everyMs, lookAround, plans, roomCount } = options;
  return {
    name: "takeover",
    everyMs,
    async runOnce() {
      const { livingNodeIds, deadNodes } = await lookAround();
      const limit = Math.min(maxJobsAtOnce, roomCount());
      const leftOut = plans.parking.leftOut();
      const orphans = limit === 0 ? [] : await findOrphans(database, livingNodeIds, leftOut, limit);
      // What this node cannot go on with is left to one that can.
      const { plans: compiled } = await plans.load(database, orphans);
      const ours = orphans.filter(({ versionId }) => compiled.has(versionId));
      for (const [deadNodeId, keys] of Map.groupBy(ours, (orphan) => orphan.nodeId)) {
        await takeOver(options, deadNodeId, keys, ofDeadNode);
      }
      if (orphans.length === limit && ours.length > 0) return { againInMs: 0 };
      await takeBackForgotten(options);
      for (const node of deadNodes) await removeDeadNode(database, node);
      return undefined;
    },
  };
}

/**
 * A job that this node owns by its row but whose call it does not know: a defect or a lost answer in between must not leave a job
 * standing while its node lives.
 */
async function takeBackForgotten(options: TakeoverOptions): Promise<void> {
  const { database, nodeId, leaseMs, plans } = options;
  const owned = await findOwned(database, nodeId, leaseMs, plans.parking.leftOut(), maxJobsAtOnce);
  await takeOver(
    options,
    nodeId,
    owned.filter((job) => !options.owes(job.jobId)),
    ({ leaseEpoch }) => ({ type: "step.interrupted", leaseEpoch, isNodeDead: false }),
  );
}

/** A call that waited for its turn is innocent of its node's death, and any node may take it. */
function ofDeadNode({ leaseEpoch, hadBegun }: TakenJob): UntimedFact {
  return hadBegun
    ? { type: "step.interrupted", leaseEpoch, isNodeDead: true }
    : { type: "call.handedBack", leaseEpoch, begun: false };
}

async function takeOver(
  options: TakeoverOptions,
  deadNodeId: string,
  orphans: readonly OrphanedJob[],
  factOf: (job: TakenJob) => UntimedFact,
): Promise<void> {
  const { database, report } = options;
  const groups = Map.groupBy(orphans, (orphan) => database.groupOf(orphan.organizationId));
  for (const keys of groups.values()) {
    const owned = await own(options, deadNodeId, keys);
    await Promise.all(owned.map((job) => report(job, factOf(job))));
  }
}

/** Takes them over together; one whose row the database cannot write is parked, and keeps no other from being taken. */
async function own(
  options: TakeoverOptions,
  deadNodeId: string,
  orphans: readonly OrphanedJob[],
): Promise<readonly TakenJob[]> {
  const { database, nodeId, plans } = options;
  try {
    return await takeOverJobs(database, nodeId, deadNodeId, orphans);
  } catch (error) {
    const isAway = error instanceof StoreUnavailableError && !(error instanceof StatementGivenUpError);
    if (isAway || error instanceof TransactionAbortedError) throw error;
    const [first] = orphans;
    if (first !== undefined && orphans.length === 1) {
      plans.parking.parkJob(first, error);
      return [];
    }
    const middle = Math.ceil(orphans.length / 2);
    return [
      ...(await own(options, deadNodeId, orphans.slice(0, middle))),
      ...(await own(options, deadNodeId, orphans.slice(middle))),
    ];
  }
}

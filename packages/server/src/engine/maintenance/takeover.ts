import type { UntimedFact } from "../../core/job/fact.ts";
import type { Database } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { partsOf } from "../../store/jobs/key-parts.ts";
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
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<unknown>;
  /** Whether the dispatcher knows of a call for this job. */
  readonly owes: (jobId: string) => boolean;
  readonly roomCount: () => number;
}

const maxJobsAtOnce = 500;
/** How long the others wait for a job whose row another transaction holds; it is parked then. */
const lockTimeoutMs = 50;

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
      // A job with which this node cannot go on is left to a node that can.
      const readable = await plans.findReadable(database, orphans);
      const ours = orphans.filter(({ versionId }) => readable.has(versionId));
      for (const [deadNodeId, keys] of Map.groupBy(ours, (orphan) => orphan.nodeId)) {
        await takeOver(options, deadNodeId, keys);
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
  );
}

/** Takes jobs over together; one whose row the database cannot write is parked, and keeps no other from being taken. */
async function takeOver(options: TakeoverOptions, ownerId: string, jobs: readonly OrphanedJob[]): Promise<void> {
  const { database, nodeId, plans, report } = options;
  const own = (part: readonly OrphanedJob[]) =>
    database.transaction((transaction) => takeOverJobs(transaction, nodeId, ownerId, part), { lockTimeoutMs });
  const groups = Map.groupBy(jobs, (job) => database.groupOf(job.organizationId));
  for (const group of groups.values()) {
    // Each part is one statement: of several, those that landed before one that failed would not be known.
    for (const part of partsOf(group)) {
      const taken = await inHalves(part, own, (job, error) => plans.parking.parkJob(job, error));
      await Promise.all(taken.map((job) => report(job, factOf(job, ownerId !== nodeId))));
    }
  }
}

/** A call that waited for its turn was not interrupted: it is innocent of its node's death, and any node may take it. */
function factOf({ leaseEpoch, hadBegun }: TakenJob, isNodeDead: boolean): UntimedFact {
  return hadBegun
    ? { type: "step.interrupted", leaseEpoch, isNodeDead }
    : { type: "call.handedBack", leaseEpoch, begun: false };
}

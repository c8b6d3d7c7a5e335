import type { UntimedFact } from "../../core/job/fact.ts";
import type { Database } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import {
  findOrphans,
  findOwned,
  listNodes,
  type OrphanedJob,
  removeNode,
  takeOverJobs,
} from "../../store/jobs/nodes.ts";
import type { Duty } from "./duty.ts";

export interface TakeoverOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly leaseMs: number;
  readonly everyMs: number;
  /** True on a store that one process alone can open: whoever else once owned a job is gone. */
  readonly isAlone: boolean;
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<void>;
  /** Whether the dispatcher knows of a call for this job. */
  readonly owes: (jobId: string) => boolean;
  readonly roomCount: () => number;
}

const maxJobsAtOnce = 500;

/** Takes over the jobs of nodes whose heartbeat is past its time by the database's clock, and tries their calls again. */
export function takeoverDuty(options: TakeoverOptions): Duty {
  const { database, nodeId, leaseMs, everyMs, isAlone, roomCount } = options;
  return {
    name: "takeover",
    everyMs,
    async runOnce() {
      const nodes = await listNodes(database, leaseMs);
      const living = isAlone ? [nodeId] : [nodeId, ...nodes.filter((node) => node.isAlive).map((node) => node.nodeId)];
      const limit = Math.min(maxJobsAtOnce, roomCount());
      const orphans = limit === 0 ? [] : await findOrphans(database, living, limit);
      for (const [deadNodeId, keys] of Map.groupBy(orphans, (orphan) => orphan.nodeId)) {
        await takeOver(options, deadNodeId, keys);
      }
      if (orphans.length === limit && limit > 0) return { againInMs: 0 };
      await takeBackForgotten(options);
      const gone = nodes.filter((node) => !living.includes(node.nodeId));
      for (const node of gone) await removeNode(database, node.nodeId);
      return undefined;
    },
  };
}

/**
 * A job that this node owns by its row but whose call it does not know: a defect or a lost answer in between must not leave a job
 * standing while its node lives.
 */
async function takeBackForgotten(options: TakeoverOptions): Promise<void> {
  const owned = await findOwned(options.database, options.nodeId, options.leaseMs, maxJobsAtOnce);
  await takeOver(
    options,
    options.nodeId,
    owned.filter((job) => !options.owes(job.jobId)),
  );
}

async function takeOver(options: TakeoverOptions, deadNodeId: string, orphans: readonly OrphanedJob[]): Promise<void> {
  const { database, nodeId, report } = options;
  const groups = Map.groupBy(orphans, (orphan) => database.groupOf(orphan.organizationId));
  for (const keys of groups.values()) {
    const owned = await takeOverJobs(database, nodeId, deadNodeId, keys);
    await Promise.all(owned.map((job) => report(job, { type: "step.interrupted", leaseEpoch: job.leaseEpoch })));
  }
}

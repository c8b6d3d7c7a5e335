import { callNameOf } from "../../core/job/call.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import { type Database, shortLockTimeoutMs } from "../../store/home/database.ts";
import { everyPairJoined, partsOf } from "../../store/home/key-parts.ts";
import {
  type CallKey,
  type FoundCall,
  findCallsOfNode,
  findOrphanedCalls,
  type TakenCall,
  takeOverCalls,
} from "../../store/jobs/job-calls.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { removeDeadNode } from "../../store/jobs/nodes.ts";
import { inHalves } from "../in-halves.ts";
import type { Neighbourhood } from "../node/node.ts";
import type { Plans } from "../plans/plans.ts";
import type { Duty } from "./duty.ts";
import { Reports } from "./reports.ts";

export interface TakeoverOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly leaseMs: number;
  readonly everyMs: number;
  readonly lookAround: () => Promise<Neighbourhood>;
  readonly plans: Plans;
  /** Tells a job a fact, and returns whether this changed the job. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<boolean>;
  /** Whether the dispatcher knows of this call. */
  readonly owes: (call: CallKey) => boolean;
  readonly roomCount: () => number;
}

const maxCallsAtOnce = 500;

/**
 * Takes over the calls of nodes that are dead or have left, and tells their jobs, so that the calls are made again. The calls of an
 * organization stay with their node until the reports of earlier rounds to its jobs are committed.
 */
export function takeoverDuty(options: TakeoverOptions): Duty {
  const { database, everyMs, lookAround, plans, roomCount } = options;
  const memory: Memory = { untold: new UntoldDeaths(), reports: new Reports() };
  let after: FoundCall | undefined;
  return {
    name: "takeover",
    everyMs,
    async runOnce() {
      const { livingNodeIds, deadNodes } = await lookAround();
      const limit = Math.min(maxCallsAtOnce, roomCount());
      const leftOut = { ...plans.parking.leftOut(), organizationIds: memory.reports.busy() };
      const found = limit === 0 ? [] : await findOrphanedCalls(database, livingNodeIds, leftOut, limit);
      const orphans = await withoutNewNodes(found, lookAround);
      // When this node cannot continue a job, it leaves the job's call to a node that can.
      const readable = await plans.findReadable(database, orphans);
      const ours = orphans.filter(({ versionId }) => readable.has(versionId));
      for (const [deadNodeId, calls] of Map.groupBy(ours, (orphan) => orphan.nodeId)) {
        await takeOver(options, memory, deadNodeId, calls);
      }
      if (found.length === limit && ours.length > 0) return { againInMs: 0 };
      after = await takeBackForgotten(options, memory, after);
      for (const node of deadNodes) await removeDeadNode(database, node);
      return undefined;
    },
  };
}

/** Leaves out the calls of nodes that have started since the nodes were listed. Those calls are not orphans. */
async function withoutNewNodes(
  found: readonly FoundCall[],
  lookAround: TakeoverOptions["lookAround"],
): Promise<readonly FoundCall[]> {
  if (found.length === 0) return found;
  const { livingNodeIds } = await lookAround();
  return found.filter(({ nodeId }) => !livingNodeIds.includes(nodeId));
}

interface Memory {
  readonly untold: UntoldDeaths;
  readonly reports: Reports<TakenCall>;
}

/**
 * Takes back calls that this node holds according to the store, but that its dispatcher does not know. Otherwise, after a defect or a lost answer, a
 * job would make no progress as long as its node lives. Each round looks at the next calls that the node holds, in the order of their jobs, and returns
 * where it stopped. So a forgotten call is found even among many calls under way.
 */
async function takeBackForgotten(
  options: TakeoverOptions,
  memory: Memory,
  after: FoundCall | undefined,
): Promise<FoundCall | undefined> {
  const { database, nodeId, leaseMs, plans } = options;
  const search = { nodeId, ageMs: leaseMs, after };
  const leftOut = { ...plans.parking.leftOut(), organizationIds: memory.reports.busy() };
  const held = await findCallsOfNode(database, search, leftOut, maxCallsAtOnce);
  await takeOver(
    options,
    memory,
    nodeId,
    held.filter((call) => !options.owes(call)),
  );
  return held.length === maxCallsAtOnce ? held.at(-1) : undefined;
}

/** Takes calls over together. If the database cannot write the row of a call, the job of the call is parked, and the other calls are still taken. */
async function takeOver(
  options: TakeoverOptions,
  { untold, reports }: Memory,
  holderId: string,
  calls: readonly FoundCall[],
): Promise<void> {
  const { database, nodeId, plans, report } = options;
  const own = (part: readonly FoundCall[]) =>
    database.transaction((transaction) => takeOverCalls(transaction, nodeId, holderId, part), {
      lockTimeoutMs: shortLockTimeoutMs,
    });
  const groups = Map.groupBy(calls, (call) => database.groupOf(call.organizationId));
  for (const group of groups.values()) {
    for (const candidates of partsOf(group, everyPairJoined)) {
      const part = candidates.filter((call) => !reports.isBusy(call));
      if (part.length === 0) continue;
      const isNodeDead = holderId !== nodeId;
      if (isNodeDead) untold.add(part);
      const taken = await inHalves(part, own, (call, error) => plans.parking.parkJob(call, error));
      if (isNodeDead) untold.keep(part, taken);
      await reports.send(taken, async (call) => {
        if (await report(call, factOf(call, untold.has(call)))) untold.delete(call);
      });
    }
  }
}

/**
 * The calls that this node has taken from a dead node without having told their jobs yet. When the store's answer to the takeover is lost or the
 * report fails, a later round finds such a call among this node's own calls. Without this list, it would look like a call that a living node forgot.
 */
class UntoldDeaths {
  readonly #calls = new Set<string>();

  add(calls: readonly CallKey[]): void {
    for (const call of calls) this.#calls.add(textOf(call));
    for (const oldest of this.#calls) {
      if (this.#calls.size <= maxUntoldDeaths) return;
      this.#calls.delete(oldest);
    }
  }

  /** Forgets the `calls` that were not taken. */
  keep(calls: readonly CallKey[], taken: readonly CallKey[]): void {
    const kept = new Set(taken.map(textOf));
    for (const call of calls) if (!kept.has(textOf(call))) this.delete(call);
  }

  has(call: CallKey): boolean {
    return this.#calls.has(textOf(call));
  }

  delete(call: CallKey): void {
    this.#calls.delete(textOf(call));
  }
}

/** Names a call in a set. No two calls of a job have the same epoch. */
function textOf({ jobId, epoch }: CallKey): string {
  return `${jobId} ${epoch}`;
}

/**
 * The bound on the calls in `UntoldDeaths`; beyond it, the oldest calls are dropped. Without a bound, a call would stay in memory forever if its job
 * continued elsewhere or was cancelled.
 */
const maxUntoldDeaths = 10_000;

/**
 * Makes the fact for a call that was taken over. A call that still waited for its turn was not interrupted: it cannot have caused the death of its
 * node, and any node may make it.
 */
function factOf(call: TakenCall, isNodeDead: boolean): UntimedFact {
  return call.hadBegun
    ? { type: "step.interrupted", ...callNameOf(call), isNodeDead }
    : { type: "call.handedBack", ...callNameOf(call), begun: false };
}

import type { Database } from "../store/home/database.ts";
import { beat, listNodes, removeNode } from "../store/jobs/nodes.ts";
import type { DatabaseClock } from "./clock.ts";

/** A heartbeat may come late on a busy node: that alone is no outage. */
const leastReachMs = 2_500;

export interface NodeOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly nodeId: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

/** This process as one of the service's nodes: one heartbeat row, however many jobs it owns. */
export class Node {
  readonly #options: NodeOptions;
  #lastBeatMs = Number.NEGATIVE_INFINITY;
  #leaseTerm = 0;
  #livingCount = 1;

  constructor(options: NodeOptions) {
    this.#options = options;
  }

  /** Renews the heartbeat, sets the clock by the database's, and looks who else is there. */
  async runOnce(): Promise<void> {
    const { database, clock, nodeId, name, leaseMs } = this.#options;
    const before = clock.monotonicMs();
    const databaseNow = await beat(database, { nodeId, name });
    const after = clock.monotonicMs();
    clock.adjust(databaseNow, before, after);
    if (after - this.#lastBeatMs >= leaseMs) this.#leaseTerm += 1;
    // From before the statement: it may have waited, and the lease must never be thought longer than it is.
    this.#lastBeatMs = before;
    const nodes = await listNodes(database, leaseMs);
    this.#livingCount = 1 + nodes.filter((node) => node.isAlive && node.nodeId !== nodeId).length;
  }

  /** By the monotonic timer, which goes on while a process is stopped: when false, others may have taken this node's jobs. */
  isLeaseValid(): boolean {
    return this.#options.clock.monotonicMs() - this.#lastBeatMs < this.#options.leaseMs;
  }

  /** Changes when the lease had run out before it was renewed: jobs of an earlier term may have another owner by now. */
  leaseTerm(): number {
    return this.#leaseTerm;
  }

  /** Whether the store has answered of late. Sooner false than the lease: a load balancer should know within seconds. */
  isStoreInReach(): boolean {
    const { clock, heartbeatMs } = this.#options;
    return clock.monotonicMs() - this.#lastBeatMs < Math.max(3 * heartbeatMs, leastReachMs);
  }

  /** Whether jobs may change without this node knowing. */
  hasOthers(): boolean {
    return this.#livingCount > 1;
  }

  /** How many nodes are alive, this one included. */
  livingCount(): number {
    return this.#livingCount;
  }

  async leave(): Promise<void> {
    await removeNode(this.#options.database, this.#options.nodeId);
  }
}

import type { Database } from "../../store/home/database.ts";
import { beat, listNodes, type NodeRow, removeNode } from "../../store/jobs/nodes.ts";
import type { DatabaseClock, Moment } from "./clock.ts";
import { FailureDetector, longestGapMs } from "./failure-detector.ts";

/** The shortest silence after which the store counts as out of reach. It is this long because a heartbeat may be late on a busy node. */
const leastReachMs = 2_500;

export interface NodeOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly nodeId: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** True on a store that only one process can open, where no other node can be alive. */
  readonly isAlone: boolean;
}

export type StoreTrouble =
  /** The disk of the store is full. */
  | "store-full"
  /** The store has not answered this node recently. */
  | "store-unreachable"
  /**
   * By one of the machine's clocks, the last heartbeat is longer ago than a lease lasts, for example because the machine slept or its clock was set
   * forward.
   */
  | "lease-expired";

export interface Neighbourhood {
  /** The ids of the nodes that may hold calls, this node's id first. */
  readonly livingNodeIds: readonly string[];
  readonly deadNodes: readonly NodeRow[];
}

/** This process as one of the service's nodes. It has one heartbeat row, however many calls the node holds. */
export class Node {
  readonly #options: NodeOptions;
  readonly #detector: FailureDetector;
  #lastBeat: Moment = { monotonicMs: Number.NEGATIVE_INFINITY, machineMs: Number.NEGATIVE_INFINITY };
  #leaseTerm = 0;
  #livingCount = 1;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#detector = new FailureDetector(options);
  }

  /** Renews the heartbeat, sets the clock by the database's clock, and looks for the other nodes. */
  async runOnce(): Promise<void> {
    const { database, clock, nodeId, name, leaseMs } = this.#options;
    const before = clock.moment();
    const databaseNow = await beat(database, { nodeId, name }).catch((error: unknown) => {
      this.#detector.restart();
      throw error;
    });
    clock.adjust(databaseNow, before.monotonicMs, clock.moment().monotonicMs);
    if (clock.elapsedMs(this.#lastBeat) >= leaseMs) this.#leaseTerm += 1;
    // The lease is counted from the time before the statement. The statement may have waited, and the lease must never seem longer than it is.
    this.#lastBeat = before;
    await this.lookAround();
    if (database.isFull()) await database.lookForRoom();
  }

  /** Looks for the other nodes. Call it at least twice in a lease, because a node that nobody watches is not found dead. */
  async lookAround(): Promise<Neighbourhood> {
    const { database, clock, nodeId, leaseMs, isAlone } = this.#options;
    // When this node could not renew its own heartbeat although the store answers, perhaps no other node could either.
    if (clock.elapsedMs(this.#lastBeat) > longestGapMs(this.#options)) this.#detector.restart();
    const { nodes, deadNodeIds } = await this.#detector.look(() => listNodes(database, leaseMs));
    const others = nodes.filter((node) => node.nodeId !== nodeId);
    this.#livingCount = 1 + others.filter((node) => node.isAlive).length;
    const deadNodes = others.filter((node) => isAlone || deadNodeIds.has(node.nodeId));
    const living = others.filter((node) => !deadNodes.includes(node));
    return { livingNodeIds: [nodeId, ...living.map((node) => node.nodeId)], deadNodes };
  }

  /** False when other nodes may have taken over this node's calls. The time while the process was stopped or the machine slept counts too. */
  isLeaseValid(): boolean {
    return this.#options.clock.elapsedMs(this.#lastBeat) < this.#options.leaseMs;
  }

  /** Grows by one whenever the lease is renewed after it had run out. Another node may hold the calls of an earlier term by now. */
  leaseTerm(): number {
    return this.#leaseTerm;
  }

  /**
   * Returns what keeps this node from using its store; undefined when nothing does. It does not wait for the end of a long lease to notice an
   * outage, because a load balancer should know within seconds.
   */
  storeTrouble(): StoreTrouble | undefined {
    const { clock, heartbeatMs, database } = this.#options;
    if (database.isFull()) return "store-full";
    const silentMs = clock.moment().monotonicMs - this.#lastBeat.monotonicMs;
    if (silentMs >= Math.max(3 * heartbeatMs, leastReachMs)) return "store-unreachable";
    return this.isLeaseValid() ? undefined : "lease-expired";
  }

  /** Whether other nodes may change jobs without this node's knowledge. */
  hasOthers(): boolean {
    return this.#livingCount > 1;
  }

  /** The number of nodes that are alive, this one included. */
  livingCount(): number {
    return this.#livingCount;
  }

  async leave(): Promise<void> {
    await removeNode(this.#options.database, this.#options.nodeId);
  }
}

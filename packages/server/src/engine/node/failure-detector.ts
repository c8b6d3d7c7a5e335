import type { Timestamp } from "../../core/time.ts";
import type { DatabaseClock, Moment } from "./clock.ts";

export interface FailureDetectorOptions {
  readonly clock: DatabaseClock;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

/** A node must not judge the other nodes when it has not looked at them, or had no heartbeat of its own, for longer than this. */
export function longestGapMs({
  leaseMs,
  heartbeatMs,
}: Pick<FailureDetectorOptions, "leaseMs" | "heartbeatMs">): number {
  return Math.max(leaseMs / 2, 2 * heartbeatMs);
}

export interface Heartbeat {
  readonly nodeId: string;
  readonly heartbeatAt: Timestamp;
}

/**
 * Finds dead nodes by the rule that Kubernetes uses for leases. This node watches the heartbeats of the other nodes. A node whose heartbeat has not
 * changed for a whole lease is dead, if the store answered all that time. This node's own monotonic timer measures the time. The age of a heartbeat
 * is no evidence: during an outage of the store no node can renew its heartbeat, and all nodes would look dead when the store is back.
 */
export class FailureDetector {
  readonly #options: FailureDetectorOptions;
  readonly #seen = new Map<string, { readonly heartbeatAt: Timestamp; readonly sinceMs: number }>();
  #lastLook: Moment | undefined;

  constructor(options: FailureDetectorOptions) {
    this.#options = options;
  }

  /** Reads the heartbeats of all nodes. Returns them with the ids of the dead nodes. */
  async look<Row extends Heartbeat>(
    read: () => Promise<readonly Row[]>,
  ): Promise<{ readonly nodes: readonly Row[]; readonly deadNodeIds: ReadonlySet<string> }> {
    const askedAt = this.#options.clock.moment();
    const nodes = await read().catch((error: unknown) => {
      this.restart();
      throw error;
    });
    return { nodes, deadNodeIds: this.#judge(nodes, askedAt) };
  }

  /**
   * Begins to watch all nodes anew. Call it when the store did not answer, because then the other nodes may have been unable to renew their
   * heartbeats.
   */
  restart(): void {
    this.#seen.clear();
  }

  #judge(nodes: readonly Heartbeat[], askedAt: Moment): ReadonlySet<string> {
    const { clock, leaseMs } = this.#options;
    const lastLook = this.#lastLook;
    this.#lastLook = clock.moment();
    // This node did not watch for a while, because its process was stopped or the machine slept. The same may be true of the other nodes.
    if (lastLook !== undefined && clock.elapsedMs(lastLook) > longestGapMs(this.#options)) this.restart();
    const listed = new Set(nodes.map(({ nodeId }) => nodeId));
    for (const nodeId of this.#seen.keys()) if (!listed.has(nodeId)) this.#seen.delete(nodeId);
    const dead = new Set<string>();
    for (const { nodeId, heartbeatAt } of nodes) {
      const seen = this.#seen.get(nodeId);
      if (seen?.heartbeatAt !== heartbeatAt) {
        this.#seen.set(nodeId, { heartbeatAt, sinceMs: this.#lastLook.monotonicMs });
      } else if (askedAt.monotonicMs - seen.sinceMs >= leaseMs) dead.add(nodeId);
    }
    return dead;
  }
}

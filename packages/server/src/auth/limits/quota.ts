/** A quota counts requests with their cost, or the submits of jobs. */
export type Policy = "requests" | "submits";

/**
 * The subject of a quota: all callers of an organization together, one API token, or one user. A user has quotas for each organization, and others
 * for requests outside of organizations.
 */
export type Scope = "organization" | "token" | "user";

/** A change that a quota makes to the store's count. The quota is told the new total later. */
export interface Exchange {
  readonly quota: Quota;
  /** The amount to add to the store's count. A negative amount gives back what was set aside and not used. */
  readonly change: number;
}

/**
 * Tells how many requests of one kind one subject may still make in this minute, as far as one node knows. Each request is counted with its cost.
 * Several nodes share a limit through one count in the store. Each node adds to the count what it used *and what it sets aside* for the next moments.
 * To use what it set aside, a node does not ask the store. All nodes together never set aside more than the limit, however suddenly the load rises. A
 * small first share is free and is not reported to the others, so that a subject far from its limit costs no statement.
 *
 * This class is pure: it has no clock and no store. `RateLimits` asks the store.
 */
export class Quota {
  readonly scope: Scope;
  readonly policy: Policy;
  /** The name of the count in the store. */
  readonly key: string;
  /** The total cost of the requests that this node allowed in this minute. */
  used = 0;
  /** While `used` does not pass `mark`, nothing needs to be checked. */
  mark = 0;
  #limit: number;
  #nodeCount: number;
  /** `used` may rise to this value without a request to the store. */
  #allowance = 0;
  /** The part of the store's count that this node added. */
  #stored = 0;
  /** The part of the store's count that other nodes had added when it was last read. */
  #others = 0;
  /** The part of `#stored` that is being given back, as a change: zero or less. */
  #returning = 0;
  #usedWhenAsked = 0;
  /** The total cost of the requests that began to wait for the store since it was last asked. */
  #waitingCost = 0;
  /** The number of requests that were rejected since the store was last asked. */
  #rejectedCount = 0;

  constructor(scope: Scope, id: string, policy: Policy, limit: number, nodeCount: number) {
    this.scope = scope;
    this.policy = policy;
    this.key = `${scope}/${id}/${policy}`;
    this.#limit = limit;
    this.#nodeCount = nodeCount;
    this.#restart();
  }

  /** Infinity means that there is no limit. */
  get limit(): number {
    return this.#limit;
  }

  /** The remaining quota, as far as this node knows. Amounts that other nodes set aside count as used. */
  get remaining(): number {
    return Math.max(0, this.#limit - this.#others - this.used);
  }

  get stored(): number {
    return this.#stored;
  }

  /** Returns how much of the quota a request of this cost takes: at most the whole limit, since otherwise such a request could never pass. */
  takes(cost: number): number {
    return Math.min(cost, this.#limit);
  }

  /**
   * Decides on one more request; `ask` means that only the store can decide. Call `decide` when the request would bring `used` past `mark`. It does
   * not count the request, because a request belongs to several quotas and is counted in all of them or in none.
   */
  decide(cost = 1): "allow" | "ask" | "reject" {
    const wanted = this.used + this.takes(cost);
    if (wanted <= this.#allowance) return "allow";
    return wanted + this.#others > this.#limit ? "reject" : "ask";
  }

  /** Tells whether, as far as this node knows, one more request fits beside those that were allowed and those that wait. */
  hasRoomFor(cost: number): boolean {
    return this.used + this.#waitingCost + this.takes(cost) <= Math.max(this.#allowance, this.#limit - this.#others);
  }

  noteWaiting(cost = 1): void {
    this.#waitingCost += this.takes(cost);
  }

  noteRejected(): void {
    this.#rejectedCount += 1;
  }

  /** Moves `mark` to the end of the allowance, so that the requests up to there are not checked again. Call this when `mark` was reached. */
  passMark(): void {
    this.mark = this.#allowance;
  }

  /** Returns the change to send to the store; undefined when there is none. Without a limit, the nodes have nothing to share. */
  ask(): Exchange | undefined {
    if (!Number.isFinite(this.#limit)) return undefined;
    const wasAsked = this.used > this.#usedWhenAsked || this.#waitingCost > 0 || this.#rejectedCount > 0;
    const wanted = this.used + (wasAsked ? this.#setAside() : 0);
    const change = wanted - this.#stored;
    if (!wasAsked && change === 0) return undefined;
    // An amount that is being given back must not be used any more, so the allowance is lowered before the store answers. It is not lowered below the
    // free share, which a node may use without the store's count.
    this.#returning = Math.min(0, change);
    this.#allowance = Math.min(this.#allowance, Math.max(wanted, freeShare(this.#limit, this.#nodeCount)));
    this.mark = Math.min(this.mark, this.#allowance);
    this.#usedWhenAsked = this.used;
    this.#waitingCost = 0;
    this.#rejectedCount = 0;
    return { quota: this, change };
  }

  /** Returns the amount to give back before this node leaves; undefined when there is none. Until more is used, nothing is set aside again. */
  giveBack(): Exchange | undefined {
    this.#usedWhenAsked = this.used;
    return this.#stored === 0 || this.#stored === this.used
      ? undefined
      : { quota: this, change: this.used - this.#stored };
  }

  /** Takes in the store's count after `change` was added to it. The part beyond the limit was not granted, and is given back with the next change. */
  hear(change: number, total: number): void {
    const excess = Math.max(0, total - this.#limit);
    this.#stored += change;
    this.#returning = 0;
    this.#others = Math.max(0, total - this.#stored);
    this.#allowance = Math.max(this.#allowance, this.#stored - excess);
    this.#placeMark();
  }

  /** Lets this node decide by what it knows until the store answers again. */
  goBlind(): void {
    this.#allowance = Math.max(this.#allowance, this.#limit - this.#others);
    this.passMark();
  }

  adjust(limit: number, nodeCount: number): void {
    if (limit === this.#limit && nodeCount === this.#nodeCount) return;
    this.#limit = limit;
    this.#nodeCount = nodeCount;
    this.#restart();
  }

  /** Computes the allowance and the mark anew. If only one node is alive, it may use the whole limit without asking the store. */
  #restart(): void {
    const free = this.#nodeCount === 1 ? this.#limit - this.#others : freeShare(this.#limit, this.#nodeCount);
    this.#allowance = Math.min(this.#limit - this.#others, Math.max(this.#stored + this.#returning, free));
    if (this.#nodeCount === 1) this.passMark();
    else this.#placeMark();
  }

  /** At the mark, the store is asked for more. This is before the allowance ends, so that no request of an even stream has to wait for the store. */
  #placeMark(): void {
    this.mark = this.used + Math.floor((this.#allowance - this.used) * (3 / 4));
  }

  /**
   * Returns the amount to set aside beyond what is used. It is enough for the waiting requests, as far as there is room, and at least a small amount
   * for the next requests. This amount is small because the other nodes cannot use it, and it shrinks as the limit comes near.
   */
  #setAside(): number {
    const room = Math.max(0, this.#limit - this.#others - this.used);
    const little = Math.min(
      Math.ceil(this.#limit * setAsideShare(this.#nodeCount)),
      Math.ceil(room / (2 * this.#nodeCount)),
    );
    return Math.max(Math.min(this.#waitingCost, room), little);
  }
}

/**
 * Returns the part of the limit that each node may use without asking. For all nodes together, this is at most 2.5 % of the limit. While the store
 * answers, the nodes can exceed the limit by at most this amount.
 */
export function freeShare(limit: number, nodeCount: number): number {
  return Number.isFinite(limit) ? Math.floor(limit / (40 * nodeCount)) : limit;
}

/**
 * Returns the largest part of the limit that one node sets aside when no requests wait. All nodes together then set aside at most 5 % of the limit
 * (each rounds its part up), and give it back after one idle second.
 */
function setAsideShare(nodeCount: number): number {
  return 1 / (20 * nodeCount);
}

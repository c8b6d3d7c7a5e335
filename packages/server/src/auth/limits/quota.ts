/** Which of a caller's doings a quota counts. */
export type Policy = "requests" | "submits";

/** Whose doings: all callers of an organization together, one API token, or one user within one organization. */
export type Scope = "organization" | "token" | "user";

/** What a quota asks of the store, and later hears of it. */
export interface Exchange {
  readonly quota: Quota;
  /** To be added to the store's count. Negative: what was set aside and not used is given back. */
  readonly change: number;
}

/**
 * How many requests of one kind one subject may still make in this minute, each counted with its cost, as far as one node is concerned. Several nodes
 * share a limit through one count in the store, to which each adds what it used *and sets aside* for the next moments: what is set aside is this node's
 * to give away without asking, so the nodes together never allow more than the limit, however sudden the load and wherever it comes. A
 * small beginning is free and stays unknown to the others, so that a subject far from its limit costs no statement.
 *
 * Pure: no clock, no store. `RateLimits` does the asking.
 */
export class Quota {
  readonly scope: Scope;
  readonly policy: Policy;
  /** Its name in the store. */
  readonly key: string;
  /** The costs of the requests that this node allowed in this minute, together. */
  used = 0;
  /** While `used` does not pass it, nothing needs to be looked at. */
  mark = 0;
  #limit: number;
  #nodeCount: number;
  /** Up to here `used` may go without asking. */
  #allowance = 0;
  /** How much of the store's count is this node's. */
  #stored = 0;
  /** The rest of the store's count when it was last read: the other nodes'. */
  #others = 0;
  #usedWhenAsked = 0;
  /** The costs of requests that could not be decided without the store, since it was last asked. */
  #waitingCost = 0;
  /** Requests that were rejected since then. */
  #rejectedCount = 0;

  constructor(scope: Scope, id: string, policy: Policy, limit: number, nodeCount: number) {
    this.scope = scope;
    this.policy = policy;
    this.key = `${scope}/${id}/${policy}`;
    this.#limit = limit;
    this.#nodeCount = nodeCount;
    this.#restart();
  }

  /** Infinity where there is none. */
  get limit(): number {
    return this.#limit;
  }

  /** As far as this node knows. What other nodes set aside counts as used. */
  get remaining(): number {
    return Math.max(0, this.#limit - this.#others - this.used);
  }

  /** This node's part of the store's count. */
  get stored(): number {
    return this.#stored;
  }

  /** The part of the quota that a request of this cost takes: at most the whole limit, since more could not pass in any minute. */
  takes(cost: number): number {
    return Math.min(cost, this.#limit);
  }

  /**
   * Decides on one more request; `ask` when only the store can say. To be called when it would bring `used` past `mark`. Counts nothing: a
   * request falls under several quotas and counts in all or in none.
   */
  decide(cost = 1): "allow" | "ask" | "reject" {
    const wanted = this.used + this.takes(cost);
    if (wanted <= this.#allowance) return "allow";
    return wanted + this.#others > this.#limit ? "reject" : "ask";
  }

  /** A request waits for the store's word. */
  noteWaiting(cost = 1): void {
    this.#waitingCost += this.takes(cost);
  }

  noteRejected(): void {
    this.#rejectedCount += 1;
  }

  /** Whoever was told that `mark` is reached has seen to it. */
  passMark(): void {
    this.mark = this.#allowance;
  }

  /** What to tell and to ask the store, if there is anything. */
  ask(): Exchange | undefined {
    const wasAsked = this.used > this.#usedWhenAsked || this.#waitingCost > 0 || this.#rejectedCount > 0;
    const wanted = this.used + (wasAsked ? this.#setAside() : 0);
    const change = wanted - this.#stored;
    if (!wasAsked && change === 0) return undefined;
    // What is given back must not be used while that is on its way.
    this.#allowance = Math.min(this.#allowance, wanted);
    this.mark = Math.min(this.mark, this.#allowance);
    this.#usedWhenAsked = this.used;
    this.#waitingCost = 0;
    this.#rejectedCount = 0;
    return { quota: this, change };
  }

  /** What to give back before this node leaves; nothing if it owes nothing. */
  giveBack(): Exchange | undefined {
    return this.#stored === 0 || this.#stored === this.used
      ? undefined
      : { quota: this, change: this.used - this.#stored };
  }

  /** The store's count after `change` was added to it. What went beyond the limit was not granted, and is given back the next time. */
  hear(change: number, total: number): void {
    const excess = Math.max(0, total - this.#limit);
    this.#stored += change;
    this.#others = Math.max(0, total - this.#stored);
    this.#allowance = Math.max(this.#allowance, this.#stored - excess);
    this.#placeMark();
  }

  /** The store did not answer: until it does, this node goes by what it knows. */
  goBlind(): void {
    this.#allowance = Math.max(this.#allowance, this.#limit - this.#others);
    this.passMark();
  }

  /** The operator changed the limit, or a node came or went. */
  adjust(limit: number, nodeCount: number): void {
    if (limit === this.#limit && nodeCount === this.#nodeCount) return;
    this.#limit = limit;
    this.#nodeCount = nodeCount;
    this.#restart();
  }

  /** With one node alive, the whole limit is free to use. */
  #restart(): void {
    const free = this.#nodeCount === 1 ? this.#limit - this.#others : freeShare(this.#limit, this.#nodeCount);
    this.#allowance = Math.min(this.#limit - this.#others, Math.max(this.#stored, free));
    if (this.#nodeCount === 1) this.passMark();
    else this.#placeMark();
  }

  /** Before the end of the allowance, so that in an even stream of requests none has to wait for the store. */
  #placeMark(): void {
    this.mark = this.used + Math.floor((this.#allowance - this.used) * (3 / 4));
  }

  /**
   * What is asked for beyond what is used: those that wait, as far as there is room, or a little for those to come. A little, since what
   * lies here unused the other nodes cannot have; and ever less towards the end.
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

/** What each node gives away without a word: all nodes' together are 2.5 % of the limit, the most by which they can exceed it. */
export function freeShare(limit: number, nodeCount: number): number {
  return Number.isFinite(limit) ? Math.floor(limit / (40 * nodeCount)) : limit;
}

/** What all nodes together hold back unused is 5 % of the limit at most, until they are idle for a second and give it back. */
function setAsideShare(nodeCount: number): number {
  return 1 / (20 * nodeCount);
}

import type { Config, Maximum, MaximumName } from "../../config.ts";
import type { Timestamp } from "../../core/time.ts";
import { addUsage, deleteUsageBefore, readUsage } from "../../store/access/rate-usage.ts";
import type { Database } from "../../store/home/database.ts";
import type { Caller } from "../caller.ts";
import type { OwnLimits } from "./own-limits.ts";
import type { Exchange, Quota } from "./quota.ts";
import { type LimitBook, minuteMs, type Quotas, RateWindow } from "./rate-window.ts";

export interface RateLimitsOptions {
  readonly database: Database;
  /** The limits of single organizations. A duty of the rate limits keeps them up to date. */
  readonly ownLimits: OwnLimits;
  readonly config: Config;
  /** The database's time. */
  readonly now: () => Timestamp;
  /** Returns the number of nodes of the service that are alive, including this one. */
  readonly nodeCount: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** How one request counts. */
export interface CountedRequest {
  readonly isSubmit: boolean;
  /** A whole number, from 1; 0 for a child job, which counts only as a submit. */
  readonly cost: number;
}

/** A quota that has too little left for a request, and the time until the whole quota is free again. */
export class ExceededQuota {
  readonly quota: Quota;
  /** The cost of the request in this quota. It may be higher than the limit. */
  readonly cost: number;
  readonly retryAfterSeconds: number;

  constructor(quota: Quota, cost: number, retryAfterSeconds: number) {
    this.quota = quota;
    this.cost = cost;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * An `ExceededQuota` if a quota rejects the request. Otherwise, the request was counted, and this is the tightest of its quotas; undefined if none of
 * them has a limit.
 */
export type CountOutcome = Quota | ExceededQuota | undefined;

export interface Usage {
  readonly quota: Quota;
  readonly usedCount: number;
}

/**
 * Counts requests per minute, per organization and per credential, over all nodes. Usually that is a look-up and an increment in memory. When a
 * subject has used more than a small first share of a limit, its count is shared with the other nodes through the store, about once a second in one
 * statement. A request waits for the store only if the load of its subject has just risen suddenly, or if little of the limit is left.
 */
export class RateLimits {
  readonly #options: RateLimitsOptions;
  readonly #book: LimitBook;
  #nodeCount: number;
  #window: RateWindow;
  #exchanging: Promise<void> | undefined;
  #isHurried = false;
  /** Resolves when the next exchange is over. A request waits for this if only the store can decide about the request. */
  #nextExchange: PromiseWithResolvers<void> | undefined;
  #cleanedUntil: Timestamp = 0;

  constructor(options: RateLimitsOptions) {
    const { config } = options;
    this.#options = options;
    this.#book = {
      ofOrganization: (organizationId) => {
        const own = options.ownLimits.of(organizationId);
        return {
          requests: orNone(own?.requestsPerMinute ?? config.organizationRequestsPerMinute),
          submits: orNone(own?.submitsPerMinute ?? config.organizationSubmitsPerMinute),
        };
      },
      ofCredential: { requests: orNone(config.tokenRequestsPerMinute), submits: orNone(config.tokenSubmitsPerMinute) },
    };
    this.#nodeCount = options.nodeCount();
    this.#window = new RateWindow(options.now(), this.#nodeCount, this.#book);
  }

  /**
   * Counts one request in all quotas that it falls under, or in none when one of them does not allow it. A quota of requests counts the cost of the
   * request, and a quota of submits counts it as one. Returns a promise only when the store must be asked.
   */
  count(
    caller: Caller,
    organizationId: string | undefined,
    { isSubmit, cost }: CountedRequest,
  ): CountOutcome | Promise<CountOutcome> {
    const window = this.#windowNow();
    const own = window.credential(caller, organizationId);
    const all = organizationId === undefined ? own : window.organization(organizationId);
    const isOpen =
      isWithinMark(all.requests, cost) &&
      isWithinMark(own.requests, cost) &&
      (!isSubmit || (isWithinMark(all.submits, 1) && isWithinMark(own.submits, 1)));
    if (!isOpen) {
      const decision = this.#decide(window, all, own, { isSubmit, cost });
      if (decision instanceof ExceededQuota) return decision;
      if (decision === "wait") return this.#countAfterExchange(caller, organizationId, { isSubmit, cost });
    }
    let tightest = countIn(own.requests, cost, undefined);
    if (all !== own) tightest = countIn(all.requests, cost, tightest);
    if (!isSubmit) return tightest;
    tightest = countIn(own.submits, 1, tightest);
    return all === own ? tightest : countIn(all.submits, 1, tightest);
  }

  /** Counts a child job. Only the organization's quota of submits counts it, because nobody sends a request for it. */
  async countChild(organizationId: string): Promise<CountOutcome> {
    const window = this.#windowNow();
    const all = window.organization(organizationId);
    if (!isWithinMark(all.submits, 1)) {
      const decision = this.#decide(window, all, all, { isSubmit: true, cost: 0 });
      if (decision instanceof ExceededQuota) return decision;
      if (decision === "wait") {
        this.#nextExchange ??= Promise.withResolvers();
        await this.#nextExchange.promise;
        return await this.countChild(organizationId);
      }
    }
    return countIn(all.submits, 1, undefined);
  }

  /** Returns the number of seconds until the minute of the last request ends. It is rounded up, and is at least 1. */
  secondsLeft(): number {
    return Math.max(1, Math.ceil((this.#window.endsAt - this.#options.now()) / 1000));
  }

  /**
   * Returns the usage of the organization and the caller in this minute on all nodes. The free share that other nodes used without asking is not
   * included.
   */
  async readUsage(caller: Caller, organizationId: string): Promise<{ usages: readonly Usage[]; resetsAt: Timestamp }> {
    const window = this.#windowNow();
    const all = window.organization(organizationId);
    const own = window.credential(caller, organizationId);
    const quotas = [all.requests, all.submits, own.requests, own.submits];
    const keys = quotas.map(({ key }) => key);
    const totals = new Map(
      (await readUsage(this.#options.database, window.startsAt, keys)).map((row) => [row.subject, row.usedCount]),
    );
    const usages = quotas.map((quota) => {
      const others = Math.max(0, (totals.get(quota.key) ?? 0) - quota.stored);
      return { quota, usedCount: Math.min(quota.limit, quota.used + others) };
    });
    return { usages, resetsAt: window.endsAt };
  }

  /** Returns an organization's maximum, as far as this node knows it. */
  readMaximum(organizationId: string, name: MaximumName): Maximum {
    const { ownLimits, config } = this.#options;
    return ownLimits.maximumOf(config, organizationId, name);
  }

  duties() {
    return [
      { name: "rate-usage", everyMs: 1_000, runOnce: () => this.#share() },
      { name: "rate-limits", everyMs: 2_000, runOnce: () => this.refresh() },
    ];
  }

  /** Reads the limits that the operator changed. */
  async refresh(): Promise<undefined> {
    if (await this.#options.ownLimits.refresh()) this.#windowNow().adjust(this.#nodeCount);
  }

  /** Gives back what this node set aside, so that the other nodes can use it. Call this before the node leaves. */
  async leave(): Promise<void> {
    await this.#exchanging?.catch(this.#options.onFailure);
    const window = this.#windowNow();
    const owed = [...window.shared].map((quota) => quota.giveBack()).filter((exchange) => exchange !== undefined);
    await this.#alone(this.#tell(window, owed)).catch((error: unknown) => this.#options.onFailure(error));
  }

  #windowNow(): RateWindow {
    const { now, nodeCount } = this.#options;
    const at = now();
    if (nodeCount() !== this.#nodeCount) {
      this.#nodeCount = nodeCount();
      this.#window.adjust(this.#nodeCount);
    }
    if (!this.#window.holds(at)) this.#window = new RateWindow(at, this.#nodeCount, this.#book);
    return this.#window;
  }

  #decide(
    window: RateWindow,
    all: Quotas,
    own: Quotas,
    { isSubmit, cost: requestCost }: CountedRequest,
  ): ExceededQuota | "allow" | "wait" {
    const costOf = ({ policy }: Quota) => (policy === "submits" ? 1 : requestCost);
    const counted = isSubmit ? [all.requests, own.requests, all.submits, own.submits] : [all.requests, own.requests];
    const quotas = [...new Set(counted)].filter((quota) => costOf(quota) > 0);
    const reached = quotas.filter((quota) => !isWithinMark(quota, costOf(quota)));
    const decisions = reached.map((quota) => ({ quota, cost: costOf(quota), decision: quota.decide(costOf(quota)) }));
    for (const { quota } of decisions) if (window.hasOthers) window.shared.add(quota);
    const exceeded = decisions.find(({ decision }) => decision === "reject");
    if (exceeded !== undefined) {
      for (const { quota, decision } of decisions) if (decision === "reject") quota.noteRejected();
      return new ExceededQuota(exceeded.quota, exceeded.cost, this.secondsLeft());
    }
    const mustWait = decisions.some(({ decision }) => decision === "ask");
    if (mustWait) noteWaiting(window, quotas, costOf);
    for (const { quota } of decisions) quota.passMark();
    this.#hurry();
    return mustWait ? "wait" : "allow";
  }

  /**
   * Counts a request after the next exchange. If a quota rejects it then, the other quotas give back at once what they set aside for it, since other
   * nodes may need that.
   */
  async #countAfterExchange(
    caller: Caller,
    organizationId: string | undefined,
    request: CountedRequest,
  ): Promise<CountOutcome> {
    this.#nextExchange ??= Promise.withResolvers();
    await this.#nextExchange.promise;
    const outcome = await this.count(caller, organizationId, request);
    if (outcome instanceof ExceededQuota) this.#hurry();
    return outcome;
  }

  /** Makes the next exchange with the store at the end of this event-loop turn, or right after the exchange that is under way. */
  #hurry(): void {
    if (this.#isHurried) return;
    this.#isHurried = true;
    if (this.#exchanging === undefined) setImmediate(() => void this.#exchange().catch(this.#options.onFailure));
  }

  async #share(): Promise<undefined> {
    await this.#exchange();
    const window = this.#windowNow();
    if (this.#nodeCount === 1 || this.#cleanedUntil === window.startsAt) return;
    // A node whose clock is slightly behind may still write to the previous minute.
    await deleteUsageBefore(this.#options.database, window.startsAt - minuteMs);
    this.#cleanedUntil = window.startsAt;
  }

  #exchange(): Promise<void> {
    return this.#exchanging ?? this.#alone(this.#askAndHear());
  }

  /** Two exchanges never run at once: each quota must learn the result of one change before it asks for another. */
  #alone(exchange: Promise<void>): Promise<void> {
    this.#exchanging = exchange.finally(() => {
      this.#exchanging = undefined;
      if (!this.#isHurried) return;
      this.#isHurried = false;
      this.#hurry();
    });
    return this.#exchanging;
  }

  async #askAndHear(): Promise<void> {
    this.#isHurried = false;
    const waiting = this.#nextExchange;
    this.#nextExchange = undefined;
    const window = this.#windowNow();
    const asked = [...window.shared].map((quota) => quota.ask()).filter((exchange) => exchange !== undefined);
    try {
      await this.#tell(window, asked);
    } catch (error) {
      for (const { quota } of asked) quota.goBlind();
      throw error;
    } finally {
      waiting?.resolve();
    }
  }

  async #tell(window: RateWindow, exchanges: readonly Exchange[]): Promise<void> {
    const changes = exchanges.map(({ quota, change }) => ({ subject: quota.key, change }));
    const totals = await addUsage(this.#options.database, window.startsAt, changes);
    const totalOf = new Map(totals.map(({ subject, usedCount }) => [subject, usedCount]));
    for (const { quota, change } of exchanges) quota.hear(change, totalOf.get(quota.key) ?? 0);
  }
}

/**
 * Notes a waiting request in all of its quotas, also in those that would allow it now. In the next exchange, all of them then set aside what the
 * request needs. Otherwise, one quota would give its share back while the request waits for another quota. If one quota will have no room for the
 * request, the request is noted in none of them.
 */
function noteWaiting(window: RateWindow, quotas: readonly Quota[], costOf: (quota: Quota) => number): void {
  const counting = quotas.filter((quota) => Number.isFinite(quota.limit));
  if (!counting.every((quota) => quota.hasRoomFor(costOf(quota)))) return;
  for (const quota of counting) {
    quota.noteWaiting(costOf(quota));
    window.shared.add(quota);
  }
}

function isWithinMark(quota: Quota, cost: number): boolean {
  return quota.used + cost <= quota.mark;
}

/** Counts the cost in `quota`. Returns `quota` or `tightest`, whichever has less left. A quota without a limit is never returned. */
function countIn(quota: Quota, cost: number, tightest: Quota | undefined): Quota | undefined {
  quota.used += quota.takes(cost);
  if (quota.limit === Number.POSITIVE_INFINITY) return tightest;
  return tightest === undefined || quota.remaining < tightest.remaining ? quota : tightest;
}

function orNone(perMinute: number): number {
  return perMinute === 0 ? Number.POSITIVE_INFINITY : perMinute;
}

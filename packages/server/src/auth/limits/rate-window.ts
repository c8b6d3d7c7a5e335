import type { Timestamp } from "../../core/time.ts";
import type { Caller } from "../caller.ts";
import { type Policy, Quota, type Scope } from "./quota.ts";

export type PolicyLimits = Readonly<Record<Policy, number>>;

/** The quotas of one subject for one minute. */
export type Quotas = Readonly<Record<Policy, Quota>>;

export interface LimitBook {
  readonly ofOrganization: (organizationId: string) => PolicyLimits;
  readonly ofCredential: PolicyLimits;
}

export const minuteMs = 60_000;

/** The quotas of one minute by the database's clock. The next minute has a new window, so nothing has to be reset. */
export class RateWindow {
  readonly startsAt: Timestamp;
  readonly endsAt: Timestamp;
  /** The quotas that this node must share with the other nodes through the store. */
  readonly shared = new Set<Quota>();
  readonly #book: LimitBook;
  readonly #organizations = new Map<string, OrganizationQuotas>();
  /** The quotas of users for requests outside of any organization. */
  readonly #outside = new Map<string, Quotas>();
  #nodeCount: number;

  constructor(now: Timestamp, nodeCount: number, book: LimitBook) {
    this.startsAt = Math.floor(now / minuteMs) * minuteMs;
    this.endsAt = this.startsAt + minuteMs;
    this.#nodeCount = nodeCount;
    this.#book = book;
  }

  /**
   * Tells whether a time belongs to this window. After a failover the database may have another clock, so a time far before this window belongs to
   * another window.
   */
  holds(now: Timestamp): boolean {
    return now < this.endsAt && now >= this.startsAt - maxStepBackMs;
  }

  organization(organizationId: string): OrganizationQuotas {
    let found = this.#organizations.get(organizationId);
    if (found === undefined) {
      const limits = this.#book.ofOrganization(organizationId);
      found = { ...this.#quotas("organization", organizationId, limits), callers: new Map() };
      this.#organizations.set(organizationId, found);
    }
    return found;
  }

  /** An API token has one set of quotas wherever it is used; a user has one set in each organization, and one more outside of organizations. */
  credential({ principal, organizationId: home }: Caller, organizationId: string | undefined): Quotas {
    const place = home ?? organizationId;
    const callers = place === undefined ? this.#outside : this.organization(place).callers;
    let found = callers.get(principal.id);
    if (found === undefined) {
      const isToken = principal.type === "apiToken";
      const id = isToken || place === undefined ? principal.id : `${principal.id}/${place}`;
      found = this.#quotas(isToken ? "token" : "user", id, this.#book.ofCredential);
      callers.set(principal.id, found);
    }
    return found;
  }

  /** True if other nodes may have used a part of the quotas of this minute. */
  get hasOthers(): boolean {
    return this.#nodeCount > 1;
  }

  /**
   * Adjusts the quotas after the number of nodes or the limits of an organization changed. A node that has become the only one still asks the store
   * until the minute ends, because it may not know what the others had used.
   */
  adjust(nodeCount: number): void {
    this.#nodeCount = this.hasOthers ? Math.max(nodeCount, 2) : nodeCount;
    for (const [organizationId, { callers, ...own }] of this.#organizations) {
      this.#adjust(own, this.#book.ofOrganization(organizationId));
      for (const quotas of callers.values()) this.#adjust(quotas, this.#book.ofCredential);
    }
    for (const quotas of this.#outside.values()) this.#adjust(quotas, this.#book.ofCredential);
  }

  #adjust(quotas: Quotas, limits: PolicyLimits): void {
    for (const quota of [quotas.requests, quotas.submits]) {
      quota.adjust(limits[quota.policy], this.#nodeCount);
      // While this node was the only one, it did not report to the store what it allowed.
      if (this.hasOthers && quota.used >= quota.mark) this.shared.add(quota);
    }
  }

  #quotas(scope: Scope, id: string, limits: PolicyLimits): Quotas {
    return {
      requests: new Quota(scope, id, "requests", limits.requests, this.#nodeCount),
      submits: new Quota(scope, id, "submits", limits.submits, this.#nodeCount),
    };
  }
}

interface OrganizationQuotas extends Quotas {
  readonly callers: Map<string, Quotas>;
}

/**
 * A heartbeat may set the clock back, by far less than this. If that leads back over the start of the minute, the window stays: a second window for
 * the minute before would allow the whole limit once more.
 */
const maxStepBackMs = 1_000;

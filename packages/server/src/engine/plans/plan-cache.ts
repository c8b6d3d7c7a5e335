import type { Plan } from "../../core/plan/plan.ts";

export interface CachedPlan {
  readonly versionId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  /** The estimated size of the plan in memory. */
  readonly bytes: number;
}

/**
 * Keeps the most recently used plans, up to a total number of bytes. One organization may use half of this total. Beyond that, it displaces
 * only its own plans. A single plan is kept whatever its size.
 */
export class PlanCache {
  readonly #maxBytes: number;
  /** A Map keeps the order of insertion, so the first key is the one used longest ago. */
  readonly #plans = new Map<string, CachedPlan>();
  readonly #bytesByOrganization = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(versionId: string): Plan | undefined {
    const found = this.#plans.get(versionId);
    if (found === undefined) return undefined;
    this.#plans.delete(versionId);
    this.#plans.set(versionId, found);
    return found.plan;
  }

  keep(added: CachedPlan): void {
    const { versionId, organizationId } = added;
    const before = this.#plans.get(versionId);
    if (before !== undefined) this.#drop(before);
    this.#plans.set(versionId, added);
    this.#count(added, added.bytes);
    // First drops plans of the same organization, until it uses at most half of the total again.
    for (const one of this.#plans.values()) {
      if (this.bytesOf(organizationId) <= this.#maxBytes / 2) break;
      if (one !== added && one.organizationId === organizationId) this.#drop(one);
    }
    for (const one of this.#plans.values()) {
      if (one === added || this.#bytes <= this.#maxBytes) return;
      this.#drop(one);
    }
  }

  bytesOf(organizationId: string): number {
    return this.#bytesByOrganization.get(organizationId) ?? 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  #drop(plan: CachedPlan): void {
    this.#plans.delete(plan.versionId);
    this.#count(plan, -plan.bytes);
  }

  #count({ organizationId }: CachedPlan, bytes: number): void {
    this.#bytes += bytes;
    const ofOrganization = this.bytesOf(organizationId) + bytes;
    if (ofOrganization > 0) this.#bytesByOrganization.set(organizationId, ofOrganization);
    else this.#bytesByOrganization.delete(organizationId);
  }
}

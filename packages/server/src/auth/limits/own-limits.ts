import { type Config, type Maximum, type MaximumName, maximumOf } from "../../config.ts";
import type { Timestamp } from "../../core/time.ts";
import {
  type ChangedLimits,
  listChangedLimits,
  type OrganizationLimits,
} from "../../store/access/organization-limits.ts";
import type { Database } from "../../store/home/database.ts";

/** Commits do not become visible in the order of their times, so the rows from the ten seconds before the newest known row are read again. */
const overlapMs = 10_000;
const pageSize = 1_000;

/**
 * The limits that the operator set for single organizations. All of them are kept in memory: there are few of them, and a request that is counted
 * must not wait for the store.
 */
export class OwnLimits {
  readonly #database: Database;
  readonly #byOrganization = new Map<string, ChangedLimits>();
  #newestAt: Timestamp = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  of(organizationId: string): OrganizationLimits | undefined {
    return this.#byOrganization.get(organizationId);
  }

  /** Returns the maximum that the operator set for the organization, or else that of the configuration. */
  maximumOf(config: Config, organizationId: string, name: MaximumName): Maximum {
    return maximumOf(config, this.of(organizationId)?.maximums ?? {}, name);
  }

  /** Reads the changes since the last call, and returns whether there were any. */
  async refresh(): Promise<boolean> {
    let isChanged = false;
    let after = { updatedAt: Math.max(0, this.#newestAt - overlapMs), organizationId: firstId };
    for (;;) {
      const changed = await listChangedLimits(this.#database, after, pageSize);
      for (const limits of changed) {
        isChanged ||= limits.updatedAt !== this.#byOrganization.get(limits.organizationId)?.updatedAt;
        this.#byOrganization.set(limits.organizationId, limits);
      }
      const last = changed.at(-1);
      if (last !== undefined) this.#newestAt = Math.max(this.#newestAt, last.updatedAt);
      if (last === undefined || changed.length < pageSize) return isChanged;
      after = last;
    }
  }
}

const firstId = "00000000-0000-0000-0000-000000000000";

import { settings } from "../../config.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Database } from "../../store/home/database.ts";
import { readStoredBytes } from "../../store/jobs/stored-bytes.ts";
import type { Duty } from "./duty.ts";

export interface StoredBytesOptions {
  readonly database: Database;
  readonly maximumMbOf: (organizationId: string) => number;
}

const everyMs = 2_000;
const maxOrganizationsAtOnce = 200;
const bytesPerMb = 1_000_000;

/**
 * Knows which organizations have reached their maximum of stored bytes. A submit only looks this up in memory. A duty reads the sums of the
 * organizations that submitted recently or are full. So an organization can exceed its maximum by what it submits within a few seconds.
 */
export class StoredBytes {
  readonly #options: StoredBytesOptions;
  readonly #asked = new Set<string>();
  /** The maximums of the organizations that have reached them, by organization id. */
  readonly #full = new Map<string, number>();

  constructor(options: StoredBytesOptions) {
    this.#options = options;
  }

  /** The error for a request that would add to the store; undefined while there is room. */
  fullError(organizationId: string): ServiceError | undefined {
    this.#asked.add(organizationId);
    const maximumMb = this.#full.get(organizationId);
    return maximumMb === undefined ? undefined : storeFull(maximumMb);
  }

  duty(): Duty {
    return {
      name: "stored-bytes",
      everyMs,
      runOnce: async () => {
        const wanted = [...new Set([...this.#asked, ...this.#full.keys()])];
        this.#asked.clear();
        for (let first = 0; first < wanted.length; first += maxOrganizationsAtOnce) {
          await this.#look(wanted.slice(first, first + maxOrganizationsAtOnce));
        }
        return undefined;
      },
    };
  }

  async #look(organizationIds: readonly string[]): Promise<void> {
    const stored = await readStoredBytes(this.#options.database, organizationIds);
    for (const organizationId of organizationIds) {
      const maximumMb = this.#options.maximumMbOf(organizationId);
      if (isFull(stored.get(organizationId) ?? 0, maximumMb)) this.#full.set(organizationId, maximumMb);
      else this.#full.delete(organizationId);
    }
  }
}

export function isFull(storedBytes: number, maximumMb: number): boolean {
  return storedBytes >= maximumMb * bytesPerMb;
}

/** Rounds up, so that stored data is never shown as 0. */
export function megabytesOf(storedBytes: number): number {
  return Math.ceil(storedBytes / bytesPerMb);
}

export function storeFull(maximumMb: number): ServiceError {
  return new ServiceError(
    "ConflictError",
    `This organization stores ${maximumMb} MB or more, which is its maximum. Its running jobs continue, but new jobs and versions are rejected. The operator of the service can raise the maximum: \`stepwell org limits ID --max storedMb=NUMBER\` for this organization, or ${settings.maxStoredMb.variable} for all.`,
  );
}

import { settings } from "../../config.ts";
import { ServiceError } from "../../core/service-error.ts";

export interface WaitingPlacesOptions {
  /** The number of places on this node. */
  readonly maxCount: number;
  /** The largest number of places that one organization may have. */
  readonly maxCountOf: (organizationId: string) => number;
}

/**
 * The places for requests and streams that wait on this node. An organization gets another place while it has fewer places than its maximum, and
 * fewer than are still free. So an organization that is alone gets at most about half of the node's places. With more organizations each share gets
 * smaller, so a newcomer usually finds a place. A waiting request is never sent away to make room for another.
 */
export class WaitingPlaces {
  readonly #options: WaitingPlacesOptions;
  readonly #counts = new Map<string, number>();
  #count = 0;

  constructor(options: WaitingPlacesOptions) {
    this.#options = options;
  }

  /**
   * Takes a place and returns the function that gives it back. Throws `ServiceError`: RateLimitError at the organization's bound, UnavailableError at
   * the node's bound.
   */
  take(organizationId: string): () => void {
    const { maxCount, maxCountOf } = this.#options;
    const own = this.countOf(organizationId);
    const maximum = maxCountOf(organizationId);
    const free = maxCount - this.#count;
    if (free <= 0) throw nodeFull(maxCount);
    if (own >= maximum) throw tooManyOfOne(maximum);
    if (own >= free) throw shareTaken(own, free, maxCount);
    this.#change(organizationId, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#change(organizationId, -1);
      isTaken = false;
    };
  }

  countOf(organizationId: string): number {
    return this.#counts.get(organizationId) ?? 0;
  }

  get count(): number {
    return this.#count;
  }

  #change(organizationId: string, change: 1 | -1): void {
    this.#count += change;
    const own = this.countOf(organizationId) + change;
    if (own > 0) this.#counts.set(organizationId, own);
    else this.#counts.delete(organizationId);
  }
}

const retryAfterSeconds = 2;
const { variable } = settings.maxWaitingRequests;

function nodeFull(maxCount: number): ServiceError {
  const message = `${maxCount} requests and streams wait on this node already, which is its maximum (${variable}). Ask again in a moment, or poll.`;
  return new ServiceError("UnavailableError", message, { retryAfterSeconds });
}

function tooManyOfOne(maximum: number): ServiceError {
  const message = `${maximum} requests and streams of this organization wait on this node already, which is the organization's maximum on one node. Ask again when one of them has ended, or poll. The operator of the service can raise the maximum: \`stepwell org limits ID --max waitingRequests=NUMBER\` for this organization, or ${settings.maxWaitingRequestsPerOrganization.variable} for all.`;
  return new ServiceError("RateLimitError", message, { retryAfterSeconds });
}

function shareTaken(own: number, free: number, maxCount: number): ServiceError {
  const message = `${own} requests and streams of this organization wait on this node already, and the node keeps the last ${free} of its ${maxCount} places for organizations that have fewer. Ask again when one of them has ended, or poll. The operator of the service can give the node more places: ${variable}.`;
  return new ServiceError("RateLimitError", message, { retryAfterSeconds });
}

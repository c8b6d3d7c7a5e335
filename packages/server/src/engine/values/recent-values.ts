import type { JsonValue } from "../../core/json/json.ts";
import { sizeOfJson } from "../../core/json/json-size.ts";
import type { ValueKey } from "../../store/jobs/job-values.ts";

export interface RecentValue {
  readonly value: JsonValue;
  /** The length of the value in its row; undefined for the input of a job, which has no row of its own. */
  readonly bytes: number | undefined;
}

/**
 * The large values that this node read last. A value never changes once it is written. A job with branches needs the list of its items in
 * each of thousands of commits. Without this cache, each commit would read and parse the list again.
 */
export class RecentValues {
  readonly #values = new Map<string, RecentValue & { readonly size: number }>();
  #totalSize = 0;

  get(key: ValueKey): RecentValue | undefined {
    const name = nameOf(key);
    const known = this.#values.get(name);
    if (known === undefined) return undefined;
    // Moves the value to the end, so that the first keys of the Map are those that were asked for longest ago.
    this.#values.delete(name);
    this.#values.set(name, known);
    return known;
  }

  /** Adds a value that is committed already. */
  add(key: ValueKey, { value, bytes }: RecentValue): void {
    const name = nameOf(key);
    const size = sizeOfJson(value, maxSize);
    if (size < minSize || size > maxSize || this.#values.has(name)) return;
    this.#values.set(name, { value, bytes, size });
    this.#totalSize += size;
    for (const [oldest, { size: freed }] of this.#values) {
      if (this.#totalSize <= maxTotalSize) return;
      this.#values.delete(oldest);
      this.#totalSize -= freed;
    }
  }
}

/** The minimum size of a value that is kept (`sizeOfJson`). Reading a smaller value takes about as long as finding it here. */
const minSize = 4_000;
const maxSize = 2_000_000;
/** The bound on all values together: about ten megabytes of text, and a few times as much in memory. */
const maxTotalSize = 8_000_000;

function nameOf({ organizationId, jobId, valueNumber }: ValueKey): string {
  return `${organizationId} ${jobId} ${valueNumber}`;
}

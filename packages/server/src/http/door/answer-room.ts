import type { Config } from "../../config.ts";

/** The room for large answers that their clients have not read yet. One organization may take half of it. */
export class AnswerRoom {
  readonly #maxAll: number;
  readonly #sizes = new Map<string, number>();
  #all = 0;

  constructor({ maxUnreadAnswersMb }: Pick<Config, "maxUnreadAnswersMb">) {
    this.#maxAll = maxUnreadAnswersMb * 1_000_000;
  }

  /** Takes room for an answer of this many characters. Returns a function that frees it; undefined when there is no room. */
  take(organizationId: string, size: number): (() => void) | undefined {
    const own = this.#sizes.get(organizationId) ?? 0;
    if (this.#all + size > this.#maxAll || own + size > this.#maxAll / 2) return undefined;
    this.#all += size;
    this.#sizes.set(organizationId, own + size);
    return () => {
      this.#all -= size;
      const rest = (this.#sizes.get(organizationId) ?? 0) - size;
      if (rest > 0) this.#sizes.set(organizationId, rest);
      else this.#sizes.delete(organizationId);
    };
  }
}

import { hash } from "node:crypto";

/** The interval at which a device may ask whether it is authorized. */
export const pollSeconds = 2;

const minGapMs = pollSeconds * 1_000 - 500;
const maxRemembered = 10_000;

/** Remembers, on this node, when devices asked. A device can ask each of several nodes every `pollSeconds`, which does no harm. */
export class DevicePace {
  readonly #asked = new Map<string, number>();

  isTooFast(deviceCode: string): boolean {
    const key = hash("sha256", deviceCode);
    const now = performance.now();
    const before = this.#asked.get(key);
    this.#asked.delete(key);
    this.#asked.set(key, now);
    if (this.#asked.size > maxRemembered) {
      const [oldest] = this.#asked.keys();
      if (oldest !== undefined) this.#asked.delete(oldest);
    }
    return before !== undefined && now - before < minGapMs;
  }
}

import { expect, test } from "vitest";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";
import { FailureDetector } from "../../../src/engine/node/failure-detector.ts";

const leaseMs = 10_000;
const heartbeatMs = 1_000;

/** Another node's heartbeat, and a node that reads it once per heartbeat of its own. */
class Watch {
  heartbeatAt = Date.parse("2026-01-31T12:00:00Z");
  isStoreAway = false;
  #monotonicMs = 5_000;
  #machineMs = 1_000_000;
  readonly #detector = new FailureDetector({
    clock: new DatabaseClock(
      () => this.#monotonicMs,
      () => this.#machineMs,
    ),
    leaseMs,
    heartbeatMs,
  });

  /** Returns whether the other node is dead; undefined if the store does not answer. */
  async look(): Promise<boolean | undefined> {
    const read = async () => {
      if (this.isStoreAway) throw new Error("The store is away.");
      return [{ nodeId: "other", heartbeatAt: this.heartbeatAt }];
    };
    const found = await this.#detector.look(read).catch(() => undefined);
    return found?.deadNodeIds.has("other");
  }

  pass(ms: number): void {
    this.#monotonicMs += ms;
    this.#machineMs += ms;
  }

  /** Suspends the machine. Meanwhile, the monotonic timer does not run. */
  sleep(ms: number): void {
    this.#machineMs += ms;
  }

  /** Looks repeatedly. Returns the time until the other node was found dead; undefined if it never was. */
  async untilDead(atMostMs: number): Promise<number | undefined> {
    for (let passedMs = 0; passedMs <= atMostMs; passedMs += heartbeatMs) {
      if (await this.look()) return passedMs;
      this.pass(heartbeatMs);
    }
    return undefined;
  }
}

test("a node is dead when its heartbeat was seen unchanged for a whole lease, and not before", async () => {
  expect(await new Watch().untilDead(3 * leaseMs)).toBe(leaseMs);
});

test("a node that sends heartbeats is never dead, however old its heartbeat is by the database's clock", async () => {
  const watch = new Watch();
  for (let beat = 0; beat < 40; beat += 1) {
    watch.heartbeatAt += 1;
    expect(await watch.look()).toBe(false);
    watch.pass(heartbeatMs);
  }
});

test("a heartbeat still counts when the database's clock was set back, so that its time is earlier than before", async () => {
  const watch = new Watch();
  expect(await watch.untilDead(leaseMs - heartbeatMs)).toBeUndefined();
  watch.heartbeatAt -= 3_600_000;
  expect(await watch.untilDead(2 * leaseMs)).toBe(leaseMs);
});

test.each([500, 3_000, 60_000])(
  "the time of a store outage, here %d ms, does not count, and neither does the time before it",
  async (awayMs) => {
    const watch = new Watch();
    expect(await watch.untilDead(leaseMs - heartbeatMs)).toBeUndefined();

    watch.isStoreAway = true;
    expect(await watch.look()).toBeUndefined();
    watch.pass(awayMs);
    watch.isStoreAway = false;

    expect(await watch.untilDead(2 * leaseMs)).toBe(leaseMs);
  },
);

test.each([
  ["was stopped", (watch: Watch) => watch.pass(60_000)],
  ["slept with its machine", (watch: Watch) => watch.sleep(3_600_000)],
])("a node that %s has not observed others meanwhile, and starts its observation again", async (_what, happen) => {
  const watch = new Watch();
  expect(await watch.untilDead(leaseMs - heartbeatMs)).toBeUndefined();
  happen(watch);
  expect(await watch.untilDead(2 * leaseMs)).toBe(leaseMs);
});

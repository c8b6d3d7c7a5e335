import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeShare, Quota } from "../../src/auth/limits/quota.ts";

/** The store's count, as quotas use it. */
class Ledger {
  total = 0;

  exchange(quota: Quota): void {
    const asked = quota.ask();
    if (asked === undefined) return;
    this.total += asked.change;
    quota.hear(asked.change, this.total);
  }
}

function quotaOf(limit: number, nodeCount: number): Quota {
  return new Quota("organization", "o", "requests", limit, nodeCount);
}

/** Makes one request as `RateLimits` does, with as many exchanges with the store as it needs. Returns whether the request was allowed. */
function request(quota: Quota, ledger: Ledger): boolean {
  for (;;) {
    if (quota.used < quota.mark) break;
    const decision = quota.decide();
    if (decision === "reject") {
      quota.noteRejected();
      return false;
    }
    if (decision === "allow") {
      quota.passMark();
      break;
    }
    quota.noteWaiting();
    ledger.exchange(quota);
  }
  quota.used += 1;
  return true;
}

function usedTogether(quotas: readonly Quota[]): number {
  return quotas.reduce((sum, quota) => sum + quota.used, 0);
}

describe("on one node", () => {
  test("a node allows exactly the limit, and sends nothing to the store", () => {
    const quota = quotaOf(100, 1);
    const allowed = Array.from({ length: 150 }, () => {
      if (quota.used >= quota.mark) return quota.decide();
      quota.used += 1;
      return "allow";
    });
    expect(allowed).toEqual([...Array(100).fill("allow"), ...Array(50).fill("reject")]);
    expect(quota.remaining).toBe(0);
  });

  test("an expensive request passes if its cost fits, and a request that costs more than the whole limit uses all of it", () => {
    const quota = quotaOf(100, 1);
    quota.used = 85;
    expect([quota.decide(20), quota.decide(15)]).toEqual(["reject", "allow"]);
    const small = quotaOf(10, 1);
    expect([small.decide(20), small.takes(20)]).toEqual(["allow", 10]);
    small.used += small.takes(20);
    expect(small.decide()).toBe("reject");
  });

  test("a quota without a limit is never checked", () => {
    const quota = quotaOf(Number.POSITIVE_INFINITY, 3);
    quota.used = Number.MAX_SAFE_INTEGER - 1;
    expect(quota.used < quota.mark).toBe(true);
  });

  test.each([
    { name: "a raised limit lets in at once", limit: 200, decision: "allow", remaining: 100 },
    { name: "a lowered limit rejects at once", limit: 50, decision: "reject", remaining: 0 },
  ])("$name", ({ limit, decision, remaining }) => {
    const quota = quotaOf(100, 1);
    quota.used = 100;
    quota.adjust(limit, 1);
    expect([quota.used < quota.mark ? "allow" : quota.decide(), quota.remaining]).toEqual([decision, remaining]);
  });
});

describe("among several nodes", () => {
  test("a node far from the limit of a quota sends nothing to the store", () => {
    const quota = quotaOf(1_200, 3);
    for (let count = 0; count < 7; count += 1) {
      expect(quota.used < quota.mark).toBe(true);
      quota.used += 1;
    }
  });

  test("a node under a steady load asks the store before any request has to wait for it", () => {
    const quota = quotaOf(12_000, 3);
    const ledger = new Ledger();
    const decisions: string[] = [];
    for (let count = 0; count < 3_000; count += 1) {
      if (quota.used >= quota.mark) {
        decisions.push(quota.decide());
        quota.passMark();
        // Ten more requests arrive before the store answers.
        for (let under = 0; under < 10; under += 1) quota.used += 1;
        ledger.exchange(quota);
      }
      quota.used += 1;
    }
    expect(decisions.length).toBeGreaterThan(5);
    expect(new Set(decisions)).toEqual(new Set(["allow"]));
  });

  test("a sudden burst on one node is decided in two exchanges with the store", () => {
    const quota = quotaOf(600, 3);
    const ledger = new Ledger();
    let exchanges = 0;
    let [waiting, allowed, rejected] = [2_000, 0, 0];
    while (waiting > 0) {
      const asking = waiting;
      waiting = 0;
      for (let count = 0; count < asking; count += 1) {
        const decision = quota.used < quota.mark ? "allow" : quota.decide();
        if (decision === "ask") {
          quota.noteWaiting();
          waiting += 1;
        } else if (decision === "reject") rejected += 1;
        else {
          quota.passMark();
          quota.used += 1;
          allowed += 1;
        }
      }
      ledger.exchange(quota);
      exchanges += 1;
    }
    expect({ allowed, rejected }).toEqual({ allowed: 600, rejected: 1_400 });
    expect(exchanges).toBeLessThanOrEqual(3);
  });

  test("an idle node gives its share back, so that another node can use it", () => {
    const [idle, busy] = [quotaOf(1_000, 2), quotaOf(1_000, 2)];
    const ledger = new Ledger();
    for (let count = 0; count < 30; count += 1) request(idle, ledger);
    expect(idle.stored).toBeGreaterThan(idle.used);
    ledger.exchange(idle);
    ledger.exchange(idle);
    expect(idle.stored).toBe(30);
    expect(idle.ask()).toBeUndefined();

    while (request(busy, ledger));
    expect(idle.used + busy.used).toBe(1_000);
  });

  test("a node that leaves has reported everything that it allowed", () => {
    const [leaving, staying] = [quotaOf(1_000, 2), quotaOf(1_000, 2)];
    const ledger = new Ledger();
    for (let count = 0; count < 100; count += 1) request(leaving, ledger);
    ledger.total += leaving.giveBack()?.change ?? 0;
    expect(ledger.total).toBe(100);
    while (request(staying, ledger));
    expect(staying.used).toBe(900);
  });

  test("a node that cannot reach the store decides by its last data, and reports later what it allowed", () => {
    const [first, second] = [quotaOf(100, 2), quotaOf(100, 2)];
    const ledger = new Ledger();
    for (let count = 0; count < 20; count += 1) request(first, ledger);
    for (let count = 0; count < 30; count += 1) request(second, ledger);
    const known = second.remaining;
    second.ask();
    second.goBlind();
    let blind = 0;
    while (second.decide() === "allow") {
      second.used += 1;
      blind += 1;
    }
    expect(blind).toBe(known);
    ledger.exchange(second);
    while (request(first, ledger));
    expect(first.used + second.used).toBeLessThanOrEqual(100);
  });

  test("a node that was alone reports to a joining node what it has allowed", () => {
    const [old, joined] = [quotaOf(1_000, 1), quotaOf(1_000, 2)];
    const ledger = new Ledger();
    old.used = 700;
    old.adjust(1_000, 2);
    expect(old.used >= old.mark).toBe(true);
    ledger.exchange(old);
    while (request(joined, ledger));
    expect(joined.used + old.used).toBeLessThanOrEqual(1_025);
    expect(joined.used + old.used).toBeGreaterThanOrEqual(975);
  });
});

describe("under any load, and any order and delay of exchanges", () => {
  /** Each step is some requests on a node, or one half of an exchange, so that other steps can come between the halves. */
  const steps = (nodeCount: number) =>
    fc.array(
      fc.oneof(
        fc.record({
          node: fc.nat(nodeCount - 1),
          requests: fc.integer({ min: 1, max: 60 }),
          cost: fc.constantFrom(1, 1, 2, 20),
        }),
        fc.record({ node: fc.nat(nodeCount - 1), exchange: fc.constantFrom("begin" as const, "end" as const) }),
      ),
      { maxLength: 150, size: "max" },
    );
  const cases = fc
    .tuple(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 400 }))
    .chain(([nodeCount, limit]) => fc.tuple(fc.constant(nodeCount), fc.constant(limit), steps(nodeCount)));

  test("the nodes together never allow more than the limit plus the unreported share of each node", () => {
    fc.assert(
      fc.property(cases, ([nodeCount, limit, script]) => {
        const ledger = new Ledger();
        const nodes = Array.from({ length: nodeCount }, () => quotaOf(limit, nodeCount));
        const underWay = new Map<Quota, { change: number; total: number }>();
        const most = limit + nodeCount * freeShare(limit, nodeCount);
        for (const step of script) {
          const quota = nodes[step.node];
          if (quota === undefined) continue;
          if ("requests" in step) play(quota, step.requests, step.cost);
          else if (step.exchange === "begin" && !underWay.has(quota)) {
            const asked = quota.ask();
            if (asked === undefined) continue;
            ledger.total += asked.change;
            underWay.set(quota, { change: asked.change, total: ledger.total });
          } else if (step.exchange === "end") {
            const heard = underWay.get(quota);
            underWay.delete(quota);
            if (heard !== undefined) quota.hear(heard.change, heard.total);
          }
          expect(usedTogether(nodes)).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: tries(2_000) },
    );
  });

  test("the whole limit is used eventually while requests keep coming", () => {
    fc.assert(
      fc.property(cases, fc.nat(4), ([nodeCount, limit, script], greedy) => {
        const ledger = new Ledger();
        const nodes = Array.from({ length: nodeCount }, () => quotaOf(limit, nodeCount));
        for (const step of script) {
          const quota = nodes[step.node];
          if (quota === undefined) continue;
          if ("requests" in step) play(quota, step.requests, step.cost);
          else ledger.exchange(quota);
        }
        // An idle node needs several exchanges: first it sees that it is idle, and then it gives back what it has reserved.
        for (const quota of [...nodes, ...nodes, ...nodes]) ledger.exchange(quota);
        const asking = nodes[greedy % nodeCount];
        if (asking === undefined) throw new Error("No such node.");
        request(asking, ledger);
        ledger.exchange(asking);
        while (request(asking, ledger));
        expect(usedTogether(nodes)).toBeGreaterThanOrEqual(limit);
      }),
      { numRuns: tries(2_000) },
    );
  });

  /** Plays requests that arrive together. Those that cannot be decided yet keep waiting. */
  function play(quota: Quota, requests: number, cost: number): void {
    for (let count = 0; count < requests; count += 1) {
      const decision = quota.used + cost <= quota.mark ? "allow" : quota.decide(cost);
      if (decision === "ask") quota.noteWaiting(cost);
      else if (decision === "reject") quota.noteRejected();
      else {
        quota.passMark();
        quota.used += quota.takes(cost);
      }
    }
  }
});

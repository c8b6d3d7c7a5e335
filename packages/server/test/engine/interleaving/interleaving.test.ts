import { scope } from "@stepwell/testing/scope.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callNameOf, callsOf } from "../../../src/core/job/call.ts";
import type { CallEffect } from "../../../src/core/job/fact.ts";
import { planOfSketch, textOfSketch } from "../../core/interleaving/definitions.ts";
import { forkedSeeds, parentSeeds, type Seed, seeds } from "../../core/interleaving/property.ts";
import { essenceOfRow, FaultyRun, soundMachine } from "../../core/interleaving/runs.ts";
import { MortalNodes } from "../node/mortal-nodes.ts";

const numRuns = scope === "all" ? 200 : 9;

onEveryStore((home) => {
  let nodes: MortalNodes;
  beforeAll(async () => {
    nodes = await MortalNodes.over(home);
  });
  afterAll(() => nodes.close());

  async function endsAsInMemory({ sketch, input, hasRoom, moves }: Seed, isDeliveredAgain = true): Promise<void> {
    const run = new FaultyRun(planOfSketch(sketch), input, soundMachine, { hasRoomForCall: hasRoom });
    run.run(moves);
    run.settle();

    // Two of the nodes stay alive; others may die.
    const living = [nodes.node({ hasRoomForCall: hasRoom }), nodes.node()] as const;
    const [first] = living;
    const key = await nodes.submit(first, await nodes.register(textOfSketch(sketch)), input);
    for (const [index, { facts, fate, at }] of run.deliveries.entries()) {
      if (fate === "lost") {
        await nodes.deliver(nodes.node({ isDying: true }), key, facts, at);
        if (!isDeliveredAgain) continue;
      }
      const node = fate === "lands" ? (living[index % 2] ?? first) : nodes.node();
      await nodes.deliver(node, key, facts, at);
      if (fate === "twice") await nodes.deliver(nodes.node(), key, facts, at);
    }

    const { row, entries, calls, effects, notices } = await nodes.find(key);
    expect(JSON.parse(JSON.stringify(entries))).toEqual(JSON.parse(JSON.stringify(run.store.plainEntries)));
    expect(essenceOfRow(row)).toEqual(essenceOfRow(run.store.row));
    expect(calls.map(callNameOf).toSorted(byEpoch)).toEqual(callsOf(run.store.state).toSorted(byEpoch));
    // When the facts of one commit made several calls in one branch, only the last of them is owed.
    const made = [run.submitted, ...run.committed.map(({ change }) => change)].flatMap((change) => change.effects);
    const owed = new Set(effects.map(({ epoch }) => epoch));
    expect(effects.toSorted(byEpoch).map(withoutChildId)).toEqual(
      made.filter(({ epoch }) => owed.has(epoch)).map(withoutChildId),
    );
    const left = run.left.map(({ childId: _, ...call }) => call);
    expect(notices.map(({ jobId: _, ...call }) => call)).toEqual(left.toSorted(byEpoch));
    const childIds = new Map(effects.map(({ epoch, child }) => [epoch, child?.jobId]));
    for (const { epoch, jobId } of notices) expect(jobId).toBe(childIds.get(epoch));
  }

  test.each([
    ["any job", seeds],
    ["any job with branches", forkedSeeds],
    ["any job that begins others", parentSeeds],
  ])(
    "%s over nodes that die ends in the store with the same result as in memory",
    async (_, kind) => {
      await fc.assert(
        fc.asyncProperty(kind, (seed) => endsAsInMemory(seed)),
        { numRuns: kind === parentSeeds ? Math.ceil(numRuns / 3) : numRuns },
      );
    },
    1_800_000,
  );

  test("the check detects a fact that is lost with its node and not delivered again", async () => {
    const losing = fc.asyncProperty(seeds, (seed) => endsAsInMemory(seed, false));
    expect((await fc.check(losing, { numRuns, endOnFailure: true })).failed).toBe(true);
  }, 1_800_000);
});

/** Removes the id of a child, because it follows from the id of its parent, which is different in the store. */
function withoutChildId({ child, ...effect }: CallEffect): unknown {
  if (child === undefined) return effect;
  const { jobId: _, ...others } = child;
  return { ...effect, child: others };
}

function byEpoch(one: { readonly epoch: number }, other: { readonly epoch: number }): number {
  return one.epoch - other.epoch;
}

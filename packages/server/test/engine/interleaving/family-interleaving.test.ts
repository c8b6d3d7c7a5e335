import { scope } from "@stepwell/testing/scope.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isTerminal } from "../../../src/core/job/job-state.ts";
import { Family, familyStore } from "./family.ts";
import { expectLawful } from "./family-laws.ts";
import { chanceBy, type RandomFamily, randomFamilies } from "./random-families.ts";

const numRuns = scope === "all" ? 200 : 5;

onEveryStore((home) => {
  let store: Awaited<ReturnType<typeof familyStore>>;
  beforeAll(async () => {
    store = await familyStore(home);
  });
  afterAll(() => store.close());

  async function livesLawfully({ workflows, answers, acts, choices }: RandomFamily, note: (what: string) => void) {
    const family = await Family.found(store.database, chanceBy(choices), workflows, answers);
    await family.submit("root");
    for (const { afterMoves, type, place } of acts) {
      for (let count = 0; count < afterMoves; count += 1) await family.move();
      const keys = await family.keys();
      const key = keys[place % keys.length];
      if (key !== undefined) await family.tell(key, type);
    }
    await family.settle();
    const seen = await family.look();
    expectLawful(seen);
    for (const { entries, job } of seen.jobs) {
      note(`${job.parent?.depth ?? 0} ${job.state.status}`);
      for (const entry of entries) note("error" in entry ? entry.error.code : entry.type);
    }
    await endsWhenCancelled(family);
  }

  /** Cancels every job that has no waiting parent, and checks that this ends all jobs. */
  async function endsWhenCancelled(family: Family): Promise<void> {
    const { jobs } = await family.look();
    const isLed = ({ state }: (typeof jobs)[number]["job"]) =>
      "progress" in state && state.progress.awaitedBy !== undefined;
    const leading = jobs.filter(({ job }) => !(isTerminal(job.state.status) || isLed(job)));
    for (const { key } of leading) await family.tell(key, "cancel");
    await family.settle();
    const after = await family.look();
    expectLawful(after);
    expect(after.jobs.filter(({ job }) => !isTerminal(job.state.status))).toEqual([]);
    expect(await family.leftovers()).toBe(0);
  }

  test("any tree of jobs over nodes that die starts each child once, reports each end once, and leaves nothing running", async () => {
    const met = new Map<string, number>();
    const note = (what: string) => met.set(what, (met.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(randomFamilies, (family) => livesLawfully(family, note)),
      { numRuns },
    );
    const usual = ["SUCCEEDED", "FAILED", "CANCELLED"].flatMap((status) => [
      `0 ${status}`,
      `1 ${status}`,
      `2 ${status}`,
    ]);
    const things = ["ChildFailed", "ChildNotStarted", "Timeout"];
    for (const what of [...usual, ...things]) expect(met.get(what) ?? 0, what).toBeGreaterThan(0);
  }, 1_800_000);
});

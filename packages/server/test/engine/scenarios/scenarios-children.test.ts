import { onEveryStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";
import { childJob, noop } from "../../core/job/jobs.ts";
import { chanceOf, Family, familyStore, ways } from "../interleaving/family.ts";
import { expectLawful } from "../interleaving/family-laws.ts";
import { waysOf } from "../interleaving/ways.ts";
import { type FamilyAct, familyScenarios } from "./scenarios-children.ts";

onEveryStore((home) => {
  let store: Awaited<ReturnType<typeof familyStore>>;
  beforeAll(async () => {
    store = await familyStore(home);
  });
  afterAll(() => store.close());

  describe.each(Object.entries(familyScenarios))(
    "%s",
    (_name, { workflows, input = {}, answers = {}, acts = [], fullMinutes, jobs }) => {
      test.each(waysOf(ways))("%s", async (way) => {
        const family = await Family.found(store.database, chanceOf(way), workflows, answers, fullMinutes);
        const root = await family.submit(Object.keys(workflows)[0] ?? "", input);
        await family.settle();
        for (const act of acts) {
          await play(family, root, act);
          await family.settle();
        }

        expect(await family.jobs()).toEqual(jobs);
        expectLawful(await family.look());
        // Only the calls of running jobs are left.
        expect(await family.leftovers()).toBe(jobs.filter(([, status]) => status === "RUNNING").length);
      });
    },
  );

  test.each(waysOf(ways))("a job that is submitted again under its key starts no further children, %s", async (way) => {
    const workflows = { root: [childJob("begin", "leaf", null)], leaf: [noop("only", null)] };
    const family = await Family.found(store.database, chanceOf(way), workflows, {});
    const first = await family.submit("root", { n: 1 });
    const keys = await Promise.all([family.submit("root", { n: 1 }), family.submit("root", { n: 1 })]);
    await family.settle();
    keys.push(await family.submit("root", { n: 1 }));
    await family.settle();

    expect(keys).toEqual([first, first, first]);
    expect(await family.jobs()).toEqual([
      ["root", "SUCCEEDED", { n: 1 }],
      ["leaf", "SUCCEEDED", { n: 1 }],
    ]);
  });
});

async function play(family: Family, root: JobKey, act: FamilyAct): Promise<void> {
  if (typeof act === "string") return await family.tell(root, act);
  if ("deploys" in act) return await family.deploy(act.deploys, act.steps);
  if ("deletes" in act) return await family.deleteWorkflow(act.deletes);
  const job = (await family.look()).jobs.find(({ job: { workflowName } }) => workflowName === act.workflow);
  if (job === undefined) throw new Error(`There is no job of ${act.workflow}.`);
  await family.tell(job.key, act.act);
}

import { onEveryStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import { type PlainEntry, StepFolder } from "../../../src/core/job/history.ts";
import type { ShownValue } from "../../../src/core/json/json-text.ts";
import { FaultyRun, soundMachine } from "../../core/interleaving/runs.ts";
import { planOf, textOf } from "../../core/job/jobs.ts";
import { waysOf } from "../interleaving/ways.ts";
import { MortalNodes } from "../node/mortal-nodes.ts";
import { type Scenario, scenarioSchemas, scenarios } from "./scenarios.ts";

/** The ways of running a scenario. The job must do the same in each of them. */
const ways = ["by one node", "by another node after every commit", "with every outcome delivered twice"] as const;
type Way = (typeof ways)[number];

onEveryStore((home) => {
  let nodes: MortalNodes;
  beforeAll(async () => {
    nodes = await MortalNodes.over(home);
  });
  afterAll(() => nodes.close());

  async function play(scenario: Scenario, way: Way) {
    const { steps, input = {}, timeoutSeconds, hasNoRoom, happenings } = scenario;
    const more = timeoutSeconds === undefined ? {} : { timeoutSeconds };
    // This run in memory shows which call each outcome belongs to.
    const hasRoomForCall = hasNoRoom !== true;
    const run = new FaultyRun(planOf(steps, scenarioSchemas, more), input, soundMachine, { hasRoomForCall });
    for (const happening of happenings) run.commit([happening], "lands");
    let node = nodes.node({ hasRoomForCall });
    const key = await nodes.submit(node, await nodes.register(textOf(steps, scenarioSchemas, more)), input);
    const refused: string[] = [];
    for (const { facts, at } of run.deliveries) {
      if (way === "by another node after every commit") {
        await nodes.deliver(nodes.node({ isDying: true }), key, facts, at);
        node = nodes.node();
      }
      refused.push(...(await nodes.deliver(node, key, facts, at)));
      if (way === "with every outcome delivered twice" && facts.some(isOutcome)) {
        await nodes.deliver(node, key, facts, at);
      }
    }
    return { ...(await nodes.find(key)), refused };
  }

  describe.each(Object.entries(scenarios))("%s", (_name, scenario) => {
    test.each(waysOf(ways))("%s", async (way) => {
      const { row, entries, calls, refused } = await play(scenario, way);
      // A large value may be a `JsonText`, which becomes a plain value here.
      expect(JSON.parse(JSON.stringify(runsOf(entries)))).toEqual(scenario.runs);
      expect(row.state.status).toBe(scenario.status);
      expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
      expect(calls).toEqual([]);
      expect(refused).toEqual(scenario.refused ?? []);
      // Every cancel and every resume of the scenario was accepted.
      const steering = scenario.happenings.filter(({ type }) => type === "cancel" || type === "resume");
      expect(entries.filter(({ type }) => type === "job.cancelled" || type === "job.resumed")).toHaveLength(
        steering.length,
      );
    });
  });
});

function isOutcome({ type }: UntimedFact): boolean {
  return type === "step.succeeded" || type === "step.failed";
}

function runsOf(entries: readonly PlainEntry[]) {
  const folder = new StepFolder<ShownValue>();
  for (const entry of entries) folder.add(entry);
  return folder.runs.map(({ name, branch, status, attempts, output, error }) => [
    branch === undefined ? name : `${branch} ${name}`,
    status,
    attempts,
    output ?? error?.code,
  ]);
}

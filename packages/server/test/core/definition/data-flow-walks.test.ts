import { scope } from "@stepwell/testing/scope.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Steps } from "../../../src/core/definition/definition-parts.ts";
import { buildGraph } from "../../../src/core/definition/graph/step-graph.ts";
import { compilePlan } from "../../../src/core/plan/plan.ts";
import { checkValue } from "../../../src/core/schema/schema.ts";
import { parse } from "../job/sketches.ts";
import { chanceOf, objects, stepsOf, type Visit, walk, workflows } from "./walks.ts";

const numRuns = scope === "all" ? 400 : 75;

/** Every number decides one thing on a walk, such as the input of the job, whether a call fails, or what the call answers. */
const seed = fc.array(fc.nat(1_000), { minLength: 8, maxLength: 16 });
const withWalks = fc.tuple(workflows, fc.array(seed, { minLength: 15, maxLength: 15 }));

function walksOf(steps: Steps, seeds: readonly (readonly number[])[], walkOnce = walk): Visit[][] {
  const inputs = objects.filter((input) => checkValue(steps[0].inputSchema, input).length === 0);
  return seeds.flatMap((numbers) => {
    const chance = chanceOf(numbers);
    const input = inputs[chance(Math.max(1, inputs.length))];
    return input === undefined ? [] : [walkOnce(steps, input, chance)];
  });
}

function pointerOf({ step, isInputFit }: Visit): string {
  return `/steps/${step}/integrationDetails/${isInputFit ? "outputDefinition" : "inputDefinition"}`;
}

test("registration warns of all data that does not fit when a job runs", () => {
  let mismatchCount = 0;
  const property = fc.property(withWalks, ([workflow, seeds]) => {
    const { definition, warnings } = parse(workflow);
    fc.pre(definition !== undefined);
    if (definition === undefined) return;
    const warned = new Set(warnings.map(({ pointer }) => pointer));
    for (const visit of walksOf(definition.steps, seeds).flat()) {
      if (visit.isInputFit && visit.isOutputFit !== false) continue;
      mismatchCount++;
      expect(warned).toContain(pointerOf(visit));
    }
  });
  fc.assert(property, { numRuns });
  expect(mismatchCount).toBeGreaterThan(numRuns / 20);
}, 30_000);

test("a definition is rejected for its data only if at least one way into a step never works", () => {
  let refusalCount = 0;
  const property = fc.property(withWalks, ([workflow, seeds]) => {
    const { problems } = parse(workflow);
    const refused = problems.map(({ pointer }) => pointer);
    fc.pre(refused.length > 0 && refused.every((pointer) => pointer.endsWith("Definition")));
    const steps = stepsOf(workflow);
    const visits = walksOf(steps, seeds).flat();
    for (const [step, edges] of buildGraph(steps).incoming.entries()) {
      if (!refused.includes(`/steps/${step}/integrationDetails/inputDefinition`)) continue;
      refusalCount++;
      const working = edges.filter(({ from, kind }) =>
        visits.some(
          (visit) =>
            visit.step === step &&
            visit.isInputFit &&
            visit.from?.step === from &&
            visit.from.hasFailed === (kind === "failure"),
        ),
      );
      const doesEveryTransitionWork = edges.every((edge) => edge.kind === "failure" || working.includes(edge));
      expect(working.length === 0 || !doesEveryTransitionWork).toBe(true);
    }
  });
  fc.assert(property, { numRuns });
  expect(refusalCount).toBeGreaterThan(30);
}, 30_000);

test("a later step receives no value that the plan lets the state forget", () => {
  const property = fc.property(withWalks, ([workflow, seeds]) => {
    const { definition } = parse(workflow);
    fc.pre(definition !== undefined);
    if (definition === undefined) return;
    const plan = compilePlan(definition);
    const remembering = walksOf(definition.steps, seeds);
    const forgetting = walksOf(definition.steps, seeds, (steps, input, chance) =>
      walk(steps, input, chance, plan.steps),
    );
    expect(forgetting).toEqual(remembering);
  });
  fc.assert(property, { numRuns });
}, 30_000);

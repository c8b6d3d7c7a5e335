import { scope } from "@stepwell/testing/scope.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Definition } from "../../../src/core/definition/definition-parts.ts";
import type { HistoryEntry } from "../../../src/core/job/history.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { parse } from "../job/sketches.ts";
import { forkedWorkflows, mappedWorkflows, registered, run } from "./mapped-workflows.ts";
import { chanceOf } from "./walks.ts";

/** `npm test` tries the same few workflows in each run. The whole matrix tries more, and other ones each time. */
const numRuns = Number(process.env.STEPWELL_TEST_RUNS ?? (scope === "all" ? 200 : 40));

/** Every number decides one thing of a run, such as the input of the job, the next event, or the answer of a call. */
const seed = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 40 });
const runSeeds = fc.array(seed, { minLength: 12, maxLength: 12 });
const kinds: [name: string, workflows: fc.Arbitrary<JsonObject>][] = [
  ["", mappedWorkflows],
  [" with branches", forkedWorkflows],
];

type Failed = Extract<HistoryEntry, { type: "step.failed" }>;

/** Returns the place where the failure should have caused a warning. Undefined for a failure that no definition can show beforehand. */
function placeOf({ step: name, error }: Failed, { steps }: Definition): string | undefined {
  const index = steps.findIndex((step) => step.name === name);
  const step = steps[index];
  const side = { InputMismatch: "input", OutputMismatch: "output" } as const;
  if (error.code === "InputMismatch" || error.code === "OutputMismatch") {
    // If an expression gives the event ids of a wait, a payload is not checked when its event is sent.
    if (error.code === "OutputMismatch" && step?.work.kind === "wait" && step.work.openRule !== undefined)
      return undefined;
    const field = side[error.code];
    const isMade = step?.[field] !== undefined;
    return isMade ? `/steps/${index}/${field}` : `/steps/${index}/integrationDetails/${field}Definition`;
  }
  if (error.code !== "ExpressionFailed") return undefined;
  const [, part = "", pointer = ""] = /^In `(\w+)`(?: at (\S+))? of /.exec(error.message) ?? [];
  return part === "config" ? `/steps/${index}/integrationDetails/config` : `/steps/${index}/${part}${pointer}`;
}

test.each(kinds)(
  "the registration of a workflow%s warns of every expression that fails and of all data that does not fit when a job runs",
  (_, workflows) => {
    const counts = { failures: 0, clean: 0 };
    const property = fc.property(workflows, runSeeds, (workflow, seeds) => {
      const { definition, warnings } = parse(workflow);
      fc.pre(definition !== undefined);
      if (definition === undefined) return;
      if (warnings.length === 0) counts.clean++;
      for (const numbers of seeds) {
        const entries = run(definition, chanceOf(numbers)) ?? [];
        for (const entry of entries) {
          const place = entry.type === "step.failed" ? placeOf(entry, definition) : undefined;
          if (place === undefined) continue;
          counts.failures++;
          const isWarned = warnings.some(({ pointer }) => pointer.startsWith(place));
          expect(isWarned, `${place}: ${JSON.stringify(entry)} but ${JSON.stringify(warnings)}`).toBe(true);
        }
      }
    });
    fc.assert(property, { numRuns });
    expect(counts.failures).toBeGreaterThan(30);
    expect(counts.clean).toBeGreaterThan(5);
  },
  600_000,
);

test.each(kinds)(
  "a definition%s is rejected for an expression only if the step of that expression never succeeds",
  (_, workflows) => {
    let refusalCount = 0;
    const property = fc.property(workflows, runSeeds, (workflow, seeds) => {
      const { problems } = parse(workflow);
      // An unknown name of a step or event is always a problem, but not always a failure: a `has` with it is false. So these problems are left out.
      const places = problems.flatMap(({ pointer, detail }) => (detail.includes(" names no ") ? [] : pointer));
      const refused = new Set(
        (workflow.steps as { name: string }[])
          .filter((_, index) => places.some((place) => isCertain(workflow, place, index)))
          .map(({ name }) => name),
      );
      const definition = registered(workflow);
      fc.pre(refused.size > 0 && definition !== undefined);
      if (definition === undefined) return;
      refusalCount++;
      for (const numbers of seeds) {
        const succeeded = (run(definition, chanceOf(numbers)) ?? []).flatMap((entry) =>
          entry.type === "step.succeeded" && refused.has(entry.step) ? entry.step : [],
        );
        expect(succeeded, JSON.stringify(problems)).toEqual([]);
      }
    });
    fc.assert(property, { numRuns: Math.ceil(numRuns / 2) });
    expect(refusalCount).toBeGreaterThan(10);
  },
  600_000,
);

/**
 * Tells whether the problem is about an expression that every visit of the step evaluates completely. A part after `?`, `&&` or `||`,
 * or in a `map`, may never be evaluated.
 */
function isCertain(workflow: JsonObject, place: string, index: number): boolean {
  const step = (workflow.steps as JsonObject[])[index] ?? {};
  const config = ((step.integrationDetails as JsonObject).config ?? {}) as JsonObject;
  const parts: Record<string, JsonValue | undefined> = {
    input: step.input,
    output: step.output,
    ...Object.fromEntries(
      ["eventIds", "seconds", "until", "url", "headers", "query", "body", "items", "priority"].map((field) => [
        `integrationDetails/config/${field}`,
        config[field],
      ]),
    ),
    // The service itself makes a fork's result, so a problem of the output definition of a fork is certain, too.
    ...(config.branches !== undefined || config.step !== undefined
      ? { "integrationDetails/outputDefinition": null }
      : {}),
    "transitionToStep/choose/0": (step.transitionToStep as { choose?: JsonValue[] } | null)?.choose?.[0],
  };
  return Object.entries(parts).some(
    ([name, part]) =>
      place.startsWith(`/steps/${index}/${name}`) && !/[?]|&&|[|][|]|map[(]/.test(JSON.stringify(part ?? null)),
  );
}

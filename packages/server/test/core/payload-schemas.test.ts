import { limits } from "@stepwell/testing/catalog.ts";
import { expect, test } from "vitest";
import { parseDefinition } from "../../src/core/definition/definition.ts";
import { waitForEvents } from "../../src/engine/executors/wait-for-events.ts";

const executor = waitForEvents({ maxEventIdsPerStep: 100, maxNameLength: 256 });
const catalog = new Map([[executor.type, executor]]);

function problemsOf(payloadDefinitions: object): string[] {
  const text = JSON.stringify({
    workflowName: "w",
    steps: [
      {
        name: "approve",
        integrationDetails: {
          type: executor.type,
          config: { eventIds: ["approved"], payloadDefinitions },
          inputDefinition: { $ref: "#/definitions/any" },
          outputDefinition: { $ref: "#/definitions/any" },
        },
        transitionToStep: null,
      },
    ],
    definitions: { any: {}, approval: { type: "object" } },
  });
  const parsed = parseDefinition(text, catalog, limits);
  return "problems" in parsed ? parsed.problems.map(({ pointer, detail }) => `${pointer} ${detail}`) : [];
}

const config = "/steps/0/integrationDetails/config/payloadDefinitions";

test.each([
  [{ approved: { $ref: "#/definitions/approval" } }, undefined],
  [{ approved: { $ref: "#/definitions/aproval" } }, `${config}/approved/$ref there is no definition`],
  [{ other: { $ref: "#/definitions/approval" } }, `${config}/other is for an event that this step does not wait for`],
  [{ approved: { type: "object" } }, `${config}/approved`],
  [{ approved: "approval" }, `${config}/approved`],
])("payloadDefinitions %j of a wait step are checked at registration", (payloadDefinitions, expected) => {
  const problems = problemsOf(payloadDefinitions);
  if (expected === undefined) expect(problems).toEqual([]);
  else expect(problems[0]).toContain(expected);
});

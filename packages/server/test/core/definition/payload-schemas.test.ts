import { limits } from "@stepwell/testing/catalog.ts";
import { expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import { waitForEvents } from "../../../src/engine/executors/wait-for-events.ts";

const executor = waitForEvents({ maxEventIdsPerStep: 100, maxNameLength: 256 });
const catalog = new Map([[executor.type, executor]]);

function problemsOf(payloadDefinitions: object, eventIds = ["approved"]): string[] {
  const text = JSON.stringify({
    workflowName: "w",
    steps: [
      {
        name: "approve",
        integrationDetails: {
          type: executor.type,
          config: { eventIds, payloadDefinitions },
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

test("payloads can be defined only for ids that are literal, since ids from expressions are known only when a job runs", () => {
  const open = "paid-${ input.id }";
  const approval = { $ref: "#/definitions/approval" };
  expect(problemsOf({ approved: approval }, ["approved", open])).toEqual([]);
  expect(problemsOf({ [open]: approval }, ["approved", open])).toEqual([
    `${config}/${open} is for an id that an expression gives, which is known only when a job runs; only an id without an expression can have a definition`,
  ]);
});

test("a payload definition for an id with an escaped `$${` works, also beside an id from an expression", () => {
  const approval = { $ref: "#/definitions/approval" };
  const eventIds = ["worth $${5}", "paid-${ input.id }"];
  expect(problemsOf({ "worth ${5}": approval }, eventIds)).toEqual([]);
  expect(problemsOf({ "worth $${5}": approval }, eventIds)).toHaveLength(1);
});

import { costlyDefinitions } from "@stepwell/testing/costly/definitions.ts";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { type DefinitionCheckOptions, DefinitionChecks } from "../../../src/engine/plans/definition-checks.ts";
import { definitionLimits } from "../../../src/engine/plans/definition-limits.ts";

const config = readConfig({ STEPWELL_CLOUD_FUNCTION_ENDPOINT: "http://localhost:9" });
const large = JSON.stringify(costlyDefinitions().get("twenty thousand schemas"));

function checks(options: Partial<DefinitionCheckOptions> = {}): { checks: DefinitionChecks; failures: unknown[] } {
  const failures: unknown[] = [];
  const made = new DefinitionChecks({ config, onFailure: (error) => failures.push(error), ...options });
  onTestFinished(() => made.close());
  return { checks: made, failures };
}

test("the checking thread finds the same problems as the parser", async () => {
  const text = '{"workflowName":"","steps":[{"name":"a"}],"definitions":{"x":{"typ":1}}}';
  const parsed = parseDefinition(text, executorCatalog(config), definitionLimits(config));
  const found = await checks().checks.check("one", { text });
  expect(found).toEqual({ problems: "problems" in parsed && parsed.problems, warnings: parsed.warnings });
  expect(found.problems.length).toBe(3);
});

test("organizations take turns: many definitions of one organization delay those of another by only one", async () => {
  const ends: string[] = [];
  const one = checks().checks;
  const check = (organizationId: string, text: string) =>
    one.check(organizationId, { text }).then(() => ends.push(organizationId));
  await Promise.all([...Array.from({ length: 5 }, () => check("busy", large)), check("quiet", straightDefinition)]);
  expect(ends).toEqual(["busy", "busy", "quiet", "busy", "busy", "busy"]);
});

test("an organization with ten simultaneous checks of definitions is told to wait, and others are not", async () => {
  const one = checks().checks;
  const ten = Array.from({ length: 10 }, () => one.check("busy", { text: straightDefinition }));
  await expect(one.check("busy", { text: straightDefinition })).rejects.toMatchObject({ code: "RateLimitError" });
  await one.check("quiet", { text: straightDefinition });
  await Promise.all(ten);
  await one.check("busy", { text: straightDefinition });
});

test("a check that does not end in time answers 503, and does not judge the definition", async () => {
  const refused = checks({ deadlineMs: 1 }).checks.check("one", { text: straightDefinition });
  await expect(refused).rejects.toMatchObject({ code: "UnavailableError", retryAfterSeconds: 2 });
});

test("a checking thread that runs out of memory answers 503 and is replaced", async () => {
  // The limit is enough for only one of the definitions: the thread with the small one takes 10 MB, with the larger one more than 24 MB.
  const { checks: one, failures } = checks({ maxMemoryMb: 17 });
  const larger = JSON.stringify(costlyDefinitions().get("five hundred steps with nine thousand properties"));
  await expect(one.check("one", { text: larger })).rejects.toMatchObject({ code: "UnavailableError" });
  expect(failures).toMatchObject([{ code: "ERR_WORKER_OUT_OF_MEMORY" }]);
  expect(await one.check("one", { text: straightDefinition })).toEqual({ problems: [], warnings: [] });
});

test("waiting checks are answered when the node stops, and no new ones are accepted", async () => {
  const one = checks().checks;
  const waiting = ["a", "b", "c"].map((name) => one.check(name, { text: large }));
  const answers = Promise.allSettled(waiting);
  await one.close();
  expect((await answers).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await expect(one.check("a", { text: straightDefinition })).rejects.toMatchObject({ code: "UnavailableError" });
});

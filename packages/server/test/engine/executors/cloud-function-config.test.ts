import { limits } from "@stepwell/testing/catalog.ts";
import { definitionOf } from "@stepwell/testing/definitions.ts";
import { accountId, configOf, settings } from "@stepwell/testing/functions/calls.ts";
import { functionStep } from "@stepwell/testing/functions/function-server.ts";
import { expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { compilePlan } from "../../../src/core/plan/plan.ts";
import type { Problem } from "../../../src/core/problem.ts";
import { checkValue, parseSchema } from "../../../src/core/schema/schema.ts";
import { cloudFunction } from "../../../src/engine/executors/cloud-function/cloud-function.ts";
import type { CloudFunctionSettings } from "../../../src/engine/executors/cloud-function/cloud-function-settings.ts";
import { targetOf } from "../../../src/engine/executors/cloud-function/cloud-function-target.ts";
import { executorMap } from "../../../src/engine/executors/executor.ts";

const allowed = { allowFunctionEndpoints: true, allowFunctionRoles: true };
const ownRole = `arn:aws:iam::${accountId}:role/path/invoke`;

function problemsOf(config: JsonObject, own: Partial<CloudFunctionSettings> = allowed): readonly Problem[] {
  const { configSchema, checkConfig } = cloudFunction({ ...settings, ...own });
  const parsed = parseSchema(configSchema);
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  const problems = checkValue(parsed.schema, config);
  return problems.length > 0 ? problems : (checkConfig?.(config) ?? []);
}

test.each([
  [configOf("reserve")],
  [configOf("Reserve_stock-2", { region: "us-gov-west-1", qualifier: "$LATEST" })],
  [configOf("reserve", { qualifier: "live", roleArn: ownRole })],
  [configOf("reserve", { endpoint: "http://localhost:3002" })],
  [configOf("reserve", { timeoutMs: 31_536_000_000 })],
  [configOf("reserve", { endpoint: "https://[::1]:3002/base" })],
])("%j is a valid config", (config) => {
  expect(problemsOf(config)).toEqual([]);
});

test.each([
  ["/region", { region: "eu_west_1" }],
  ["/region", { region: "eu-west-1.evil.example" }],
  ["/accountId", { accountId: "12345" }],
  ["/functionName", { functionName: "" }],
  ["/functionName", { functionName: "../other" }],
  ["/functionName", { functionName: "f".repeat(141) }],
  ["/qualifier", { qualifier: "a b" }],
  ["/roleArn", { roleArn: "invoke" }],
  ["/roleArn", { roleArn: "arn:aws:iam::999999999999:role/invoke" }],
  ["/endpoint", { endpoint: "file:///etc/passwd" }],
  ["/endpoint", { endpoint: "http://user:password@localhost" }],
  ["/endpoint", { endpoint: "http://localhost:99999" }],
  ["/payload", { payload: {} }],
  ["/timeoutMs", { timeoutMs: 0 }],
  ["/timeoutMs", { timeoutMs: 1.5 }],
  ["/timeoutMs", { timeoutMs: "5000" }],
  ["/timeoutMs", { timeoutMs: 31_536_000_001 }],
])("a config is refused at %s for %j", (pointer, wrong) => {
  expect(problemsOf({ ...configOf("reserve"), ...wrong }).map((problem) => problem.pointer)).toEqual([pointer]);
});

test.each([
  ["/endpoint", "STEPWELL_ALLOW_FUNCTION_ENDPOINTS", { endpoint: "http://localhost:3002" }],
  ["/roleArn", "STEPWELL_ALLOW_FUNCTION_ROLES", { roleArn: ownRole }],
])("%s requires the operator's permission, %s", (pointer, variable, config) => {
  expect(problemsOf({ ...configOf("reserve"), ...config }, {})).toEqual([
    { pointer, detail: expect.stringContaining(variable) },
  ]);
});

test.each([
  ["https://lambda.eu-west-1.amazonaws.com", "service"],
  ["https://lambda-fips.us-east-1.api.aws", "service"],
  ["https://lambda.cn-north-1.amazonaws.com.cn", "service"],
  ["https://vpce-0a1b-2c3d.lambda.eu-west-1.vpce.amazonaws.com", "service"],
  ["http://lambda.eu-west-1.amazonaws.com", "placeholder"],
  ["https://lambda.eu-west-1.amazonaws.com.example.org", "placeholder"],
  ["https://abc.execute-api.eu-west-1.amazonaws.com", "placeholder"],
  ["https://vpce-0a1b.vpce-svc-0a1b.eu-west-1.vpce.amazonaws.com", "placeholder"],
  ["http://localhost:3002", "placeholder"],
])("a call to %s is made with credentials of the kind %s", (endpoint, identity) => {
  const target = targetOf(configOf("reserve"), "organization", {
    ...settings,
    cloudFunctionEndpoint: new URL(endpoint),
  });
  expect(target.access.identity.type).toBe(identity);
  expect(target.functionName).toBe(identity === "service" ? target.arn : "reserve");
});

test("`timeoutMs` of the config is the timeout of each attempt", () => {
  const { definition } = parsed(configOf("reserve", { timeoutMs: 2_500 }));
  if (definition === undefined) throw new Error("The definition was refused.");
  expect(compilePlan(definition).firstStep.work).toMatchObject({ timeoutMs: 2_500 });
});

test("a step with both `timeoutMs` and `timeoutSeconds` is rejected, with a pointer", () => {
  const { problems } = parsed(configOf("reserve", { timeoutMs: 2_500 }), { timeoutSeconds: 2.5 });
  expect(problems).toMatchObject([
    { pointer: "/steps/0/timeoutSeconds", detail: expect.stringContaining("one of the two") },
  ]);
});

const executors = executorMap([cloudFunction(settings)]);

function parsed(config: JsonObject, more: object = {}) {
  const step = functionStep("reserve", "reserve", null, more) as { integrationDetails: object };
  const details = { ...step.integrationDetails, config };
  const found = parseDefinition(definitionOf({ ...step, integrationDetails: details }), executors, limits);
  return { definition: undefined, problems: [], ...found };
}

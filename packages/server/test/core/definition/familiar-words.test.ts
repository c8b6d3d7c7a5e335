import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { describe, expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import { executorWords } from "../../../src/core/definition/familiar/familiar-words.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, noop, parse, workflow } from "../job/sketches.ts";

const any = ["any", "any"] as const;

/** Returns the only problem of a definition that is valid except for one thing. */
function problemOf(definition: JsonObject) {
  const { problems } = parse(definition);
  expect(problems).toHaveLength(1);
  return problems[0];
}

describe("a word from another workflow system gets a message with our word", () => {
  test.each([
    ["id", "`id` is `workflowName` here"],
    ["StartAt", "`StartAt` is the first of `steps` here"],
    ["schemas", "`schemas` is `definitions` here"],
    ["stepss", "did you mean `steps`?"],
    ["colour", "is not a field of a definition"],
  ])("in a definition: %s", (field, words) => {
    const problem = problemOf({ ...workflow([noop("a", any, null)]), [field]: 1 });
    expect(problem).toEqual({ pointer: `/${field}`, detail: expect.stringContaining(words) });
    expect(problem?.detail.endsWith(words)).toBe(true);
  });

  test.each([
    ["retries", "`retries` is `retry.maxAttempts` (the first attempt counts too) here"],
    ["max_retries", "`max_retries` is `retry.maxAttempts` (the first attempt counts too) here"],
    ["backoff", "`backoff` is `retry.backoffRate` here"],
    ["Next", "`Next` is `transitionToStep` here"],
    ["goto", "`goto` is `transitionToStep` here"],
    ["End", "`End` is `transitionToStep: null` here"],
    ["Choices", "`Choices` is `transitionToStep.choose` here"],
    ["Catch", "`Catch` is `onFailure` here"],
    ["on-error", "`on-error` is `onFailure` here"],
    ["timeout", "`timeout` is `timeoutSeconds` here"],
    ["parameters", "`parameters` is `input` here"],
    ["inputs", "`inputs` is `input` here"],
    ["args", "`args` is `input` here"],
    ["id", "`id` is `name` here"],
    ["type", "`type` is `integrationDetails.type` here"],
    ["needs", "`needs` is `transitionToStep` of the previous step here"],
    ["Branches", "`Branches` is `integrationDetails.config.branches` here"],
    ["MaxConcurrency", "`MaxConcurrency` is `integrationDetails.config.concurrency` here"],
    ["ItemsPath", "`ItemsPath` is `integrationDetails.config.items` here"],
    ["ItemProcessor", "`ItemProcessor` is `integrationDetails.config.step` here"],
    ["taskQueue", "`taskQueue` is `integrationDetails.config.queue` here"],
    ["joinOn", "`joinOn` is `transitionToStep: null` at the end of each branch here"],
    ["onFailures", "did you mean `onFailure`?"],
  ])("in a step: %s", (field, words) => {
    const problem = problemOf(workflow([call("a", any, null, { [field]: 1 })]));
    expect(problem).toEqual({ pointer: `/steps/0/${field}`, detail: `is not a field of a step; ${words}` });
  });

  test.each([
    ["attempts", "`attempts` is `maxAttempts` here"],
    ["retries", "`retries` is `maxAttempts` (the first attempt counts too) here"],
    ["delay", "`delay` is `initialIntervalSeconds` here"],
    ["multiplier", "`multiplier` is `backoffRate` here"],
    ["maxDelay", "`maxDelay` is `maxIntervalSeconds` here"],
  ])("in `retry`: %s", (field, words) => {
    const problem = problemOf(workflow([call("a", any, null, { retry: { [field]: 1 } })]));
    expect(problem).toEqual({ pointer: `/steps/0/retry/${field}`, detail: `is not a field of \`retry\`; ${words}` });
  });

  test.each([
    ["retry", "`retry` is a field of the step here"],
    ["with", "`with` is `config` here"],
    ["inputSchema", "`inputSchema` is `inputDefinition` here"],
    ["queue", "`queue` is a field of `config` here"],
  ])("in `integrationDetails`: %s", (field, words) => {
    const step = noop("a", any, null);
    const integrationDetails = { ...(step.integrationDetails as JsonObject), [field]: {} };
    expect(problemOf(workflow([{ ...step, integrationDetails }]))?.detail).toContain(words);
  });

  test.each([
    ["lambda", "`lambda` is `/service/cloud/function` here"],
    ["arn:aws:states:::lambda:invoke", "is `/service/cloud/function` here"],
    ["/service/lambda", "`/service/lambda` is `/service/cloud/function` here"],
    ["NoOp", "`NoOp` is `/service/noop` here"],
    ["waitForSignal", "`waitForSignal` is `/service/waitForEventIds` here"],
    ["Choice", "`Choice` is `transitionToStep.choose` of the previous step here"],
    ["Parallel", "`Parallel` is `/service/parallel` here"],
    ["FORK_JOIN", "`FORK_JOIN` is `/service/parallel` here"],
    ["race", '`race` is `/service/parallel` with `"until": "any"` here'],
    ["JOIN", "`JOIN` is `transitionToStep: null` at the end of each branch here"],
    ["Map", "`Map` is `/service/forEach` here"],
    ["FORK_JOIN_DYNAMIC", "`FORK_JOIN_DYNAMIC` is `/service/forEach` here"],
    ["DO_WHILE", "`DO_WHILE` is a loop by `transitionToStep.choose` here"],
    ["SIMPLE", "`SIMPLE` is `/service/task` here"],
    ["executeActivity", "`executeActivity` is `/service/task` here"],
    ["executeChild", "`executeChild` is `/service/job` here"],
    ["SUB_WORKFLOW", "`SUB_WORKFLOW` is `/service/job` here"],
    ["DYNAMIC", "`DYNAMIC` is `/service/task` with an expression as its `queue` here"],
    ["/service/noops", "did you mean `/service/noop`?"],
  ])("as a type: %s", (type, words) => {
    const step = noop("a", any, null);
    const integrationDetails = { ...(step.integrationDetails as JsonObject), type };
    expect(problemOf(workflow([{ ...step, integrationDetails }]))?.detail).toContain(words);
  });

  test("a type or field that this service does not have is never suggested", () => {
    const type = "dynamicFork";
    expect(executorWords(type)).toBe("/service/forEach");
    const without = new Map([...catalog].filter(([known]) => known !== "/service/forEach"));
    const step = noop("a", any, null);
    const definition = workflow([
      { ...step, integrationDetails: { ...(step.integrationDetails as JsonObject), type } },
    ]);
    const parsed = parseDefinition(JSON.stringify(definition), without, limits);
    expect("problems" in parsed && parsed.problems[0]?.detail).toMatch(
      /there is no type `dynamicFork`.*\/service\/noop/,
    );
    expect("problems" in parsed && parsed.problems[0]?.detail).not.toContain("forEach");
  });
});

test.each<[type: string, config: JsonObject, field: string, words: string]>([
  [
    "/service/forEach",
    { items: [], step: "a", maxConcurrency: 1 },
    "maxConcurrency",
    "`maxConcurrency` is `concurrency` here",
  ],
  ["/service/forEach", { ItemsPath: "$.a", step: "a" }, "ItemsPath", "`ItemsPath` is `items` here"],
  ["/service/parallel", { forkTasks: [] }, "forkTasks", "`forkTasks` is `branches` here"],
  ["/service/task", { taskQueue: "q" }, "taskQueue", "`taskQueue` is `queue` here"],
  ["/service/job", { stateMachineArn: "w" }, "stateMachineArn", "`stateMachineArn` is `workflow` here"],
  [
    "/service/task",
    { queue: "q", heartbeatTimeout: 1 },
    "heartbeatTimeout",
    "`heartbeatTimeout` is `heartbeatSeconds` here",
  ],
  ["/service/task", { queue: "q", retries: 1 }, "retries", "`retries` is `retry` of the step here"],
  ["/service/http", { endpoint: "https://example.com/" }, "endpoint", "`endpoint` is `url` here"],
  ["/service/http", { url: "https://example.com/", metod: "GET" }, "metod", "did you mean `method`?"],
  ["/service/http", { url: "https://example.com/", queue: "q" }, "queue", "is not a property that is allowed here"],
])("in the config of a %s: %j", (type, config, field, words) => {
  const step = noop("a", any, null);
  const details = step.integrationDetails as JsonObject;
  const { problems } = parse(workflow([{ ...step, integrationDetails: { ...details, type, config } }]));
  const at = problems.find(({ pointer }) => pointer === `/steps/0/integrationDetails/config/${field}`);
  expect(at?.detail.endsWith(words), at?.detail).toBe(true);
});

describe("a document in another workflow language gets one problem, which names that language and its words for ours", () => {
  test.each<[string, JsonObject, string, readonly string[]]>([
    [
      "Amazon States Language",
      {
        Comment: "c",
        StartAt: "A",
        States: { A: { Type: "Task", Next: "B", Retry: [], Catch: [] }, B: { Type: "Succeed" } },
      },
      "/States",
      [
        "`States` is `steps`",
        "`Next` is `transitionToStep`",
        "`Catch` is `onFailure`",
        "`Choice` is `transitionToStep.choose`",
        "`Map` is a step of type `/service/forEach`",
      ],
    ],
    [
      "Conductor",
      {
        name: "x",
        version: 1,
        tasks: [{ name: "a", taskReferenceName: "a_ref", type: "SIMPLE", inputParameters: {} }],
      },
      "/tasks",
      ["`taskReferenceName` is `name`", "`inputParameters` is `input`"],
    ],
    ["Serverless Workflow", { document: { dsl: "1.0.0" }, do: [{ a: { call: "http" } }] }, "/do", ["`do` is `steps`"]],
    [
      "GitHub Actions",
      { on: "push", jobs: { build: { "runs-on": "ubuntu", steps: [{ run: "make" }] } } },
      "/jobs",
      ["`uses` is `integrationDetails.type`"],
    ],
  ])("%s", (name, document, pointer, words) => {
    const problem = problemOf(document);
    expect(problem).toEqual({ pointer, detail: expect.stringContaining(name) });
    for (const word of words) expect(problem?.detail).toContain(word);
  });

  test.each([
    ["with `steps`", { ...workflow([noop("a", any, null)]), States: {} }],
    ["with tasks of an unknown language", { tasks: [{ name: "a" }] }],
    ["that is empty", {}],
  ])("a document %s is judged by its fields", (_, document) => {
    expect(
      parse(document)
        .problems.map(({ detail }) => detail)
        .join(),
    ).not.toContain("has a different language");
  });
});

test.each([
  ["# built by hand\non: push\njobs:\n  build: {}\n", true],
  ["---\ndocument:\n  dsl: 1.0.0\n", true],
  ["workflowName:\n  orders", true],
  ["{name: orders}", false],
  ["orders", false],
])("a text that is not JSON is recognized as YAML if it looks like it: %j", (text, isYaml) => {
  const [problem] = parse(text).problems;
  expect(problem?.detail).toContain("is not JSON");
  expect(problem?.detail.endsWith("; this looks like YAML, and a definition is JSON")).toBe(isYaml);
});

test("a thousand empty lines do not look like YAML", () => {
  const [problem] = parse("\n".repeat(1_000)).problems;
  expect(problem?.detail).toContain("is not JSON");
  expect(problem?.detail).not.toContain("YAML");
});

test("a template that contains an expression of another language is used as it is, with a warning", () => {
  const input = {
    "sku.$": "$.order.sku",
    lines: ["$.lines[0]", "{{ steps.reserve.sku }}"],
    mail: "Dear {{ name }}, it costs $5",
    own: "${ input.sku }",
  };
  const { warnings } = parse(workflow([noop("a", any, null, { input })], { any: {} }));
  const told = warnings.filter(({ detail }) => / is used (as it is written|unchanged)/.test(detail));
  expect(told.map(({ pointer }) => pointer)).toEqual(
    ["sku.$", "lines/0", "lines/1"].map((at) => `/steps/0/input/${at}`),
  );
  expect(told[0]?.detail).toContain("leave out the `.$`");
  expect(told[2]?.detail).toBe(
    "`{{ steps.reserve.sku }}` is used as it is written; an expression is written as in `${ input.name }`",
  );
});

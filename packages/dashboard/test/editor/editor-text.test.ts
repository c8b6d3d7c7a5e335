import { CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { catalog } from "@stepwell/testing/catalog.ts";
import { listedExecutors } from "@stepwell/testing/executors.ts";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../src/api/executors.ts";
import { completeDefinition } from "../../src/pages/editor/completion.ts";
import { configSnippet } from "../../src/pages/editor/config-words.ts";
import { placeOf } from "../../src/pages/editor/json-tree.ts";

function stateOf(text: string): EditorState {
  const state = EditorState.create({ doc: text, extensions: [json()] });
  ensureSyntaxTree(state, text.length, 5_000);
  return state;
}

const definition = `{
  "workflowName": "orders",
  "steps": [
    {
      "name": "first",
      "integrationDetails": {
        "type": "/service/waitForEventIds",
        "config": { "eventIds": ["approved"] },
        "inputDefinition": { "$ref": "#/definitions/order" },
        "outputDefinition": { "$ref": "#/definitions/order" }
      },
      "transitionToStep": "second"
    },
    { "name": "second", "transitionToStep": null }
  ],
  "definitions": { "order": { "type": "object", "properties": { "a/b": {}, "type": {} } } }
}`;

describe("a JSON pointer", () => {
  const state = stateOf(definition);
  const at = (pointer: string) => {
    const { from, to } = placeOf(state, pointer);
    return state.sliceDoc(from, to);
  };

  test.each([
    ["/steps/0/transitionToStep", '"transitionToStep": "second"'],
    ["/steps/0/integrationDetails/config/eventIds/0", '"approved"'],
    ["/definitions/order/properties/a~1b", '"a/b": {}'],
    ["/steps/0/integrationDetails", '"integrationDetails"'],
    ["/steps/1", '{ "name": "second", "transitionToStep": null }'],
    ["/steps/0", "{"],
    ["/steps/1/name/more", '"name": "second"'],
    ["/steps/0/integrationDetails/config/missing", '"config": { "eventIds": ["approved"] }'],
    ["/steps/7", '"steps"'],
    ["", "{"],
  ])("%j leads to %j", (pointer, text) => {
    expect(at(pointer)).toBe(text);
  });

  test("leads to a place that can be copied, also where that is the name of something long", () => {
    expect({ ...placeOf(state, "/steps/0/integrationDetails") }).toEqual({
      from: expect.any(Number),
      to: expect.any(Number),
    });
  });

  test.each(["", "   ", "{", '{"a": ', "]", '{"a": [1, 2'])("leads to some place in the text %j", (text) => {
    const broken = stateOf(text);
    const { from, to } = placeOf(broken, "/steps/0/name");
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeLessThanOrEqual(text.length);
  });
});

/** What is offered where the bar stands. */
function offered(
  text: string,
  explicit = true,
  executors: readonly Executor[] = listedExecutors,
): string[] | undefined {
  const position = text.indexOf("|");
  const state = stateOf(text.replace("|", ""));
  const found = completeDefinition(() => executors)(
    new CompletionContext(state, position, explicit),
  ) as CompletionResult | null;
  return found?.options.map(({ label }) => label);
}

describe("the editor offers", () => {
  test("the names of a definition's parts that are not there yet", () => {
    expect(offered('{"steps": [], "|"}')).toEqual(["workflowName", "definitions"]);
    expect(offered('{"steps": [], |}')).toEqual(["workflowName", "definitions"]);
    expect(offered('{"|"}')).toEqual(["workflowName", "steps", "definitions"]);
  });

  test("a name that is being changed again", () => {
    expect(offered('{"st|eps": [], "definitions": {}}')).toEqual(["workflowName", "steps"]);
  });

  test("the parts of a step, of its details, and of its executor's config", () => {
    expect(offered('{"steps": [{"name": "a", "|"}]}')).toContain("transitionToStep");
    expect(offered('{"steps": [{"integrationDetails": {"|"}}]}')).toEqual([
      "type",
      "config",
      "inputDefinition",
      "outputDefinition",
    ]);
    const withType = (type: string) => `{"steps": [{"integrationDetails": {"type": "${type}", "config": {"|"}}}]}`;
    expect(offered(withType("/service/waitForEventIds"))).toContain("eventIds");
    expect(offered(withType("/service/cloud/function"))).toContain("functionName");
    expect(offered(withType("/service/noop"))).toBeUndefined();
    expect(offered('{"steps": [{"retry": {"|"}}]}')).toContain("maxAttempts");
  });

  test("of a config what the executor's schema says: fields that the operator allows, values, and what is within", () => {
    const config = (type: string, text: string) =>
      `{"steps": [{"integrationDetails": {"type": "${type}", "config": ${text}}}]}`;
    expect(offered(config("/service/cloud/function", '{"region": "eu-west-1", "|"}'))).toEqual([
      "accountId",
      "functionName",
      "qualifier",
      "timeoutMs",
    ]);
    const wait = "/service/waitForEventIds";
    expect(offered(config(wait, '{"match": "|"}'))).toEqual(["all", "any"]);
    expect(offered(config(wait, '{"payloadDefinitions": {"approved": {"|"}}}'))).toEqual(["$ref"]);
    expect(offered(config(wait, '{"eventIds": ["|"]}'))).toBeUndefined();
    expect(offered(config("/service/nothing", '{"|"}'))).toBeUndefined();
  });

  test("every executor of the service, and every word that is no executor's where the service has not answered", () => {
    const text = '{"steps": [{"integrationDetails": {"type": "|"}}]}';
    expect(offered(text)).toEqual([...catalog.keys()]);
    expect(offered(text, true, [])).toBeUndefined();
    expect(offered('{"steps": [|]}', true, [])).toBeUndefined();
    expect(offered('{"steps": [{"integrationDetails": {"|"}}]}', true, [])).toContain("type");
  });

  test("steps and definitions by name", () => {
    const steps = (step: string) => `{"steps": [{"name": "a"}, {"name": "b", ${step}}]}`;
    expect(offered(steps('"transitionToStep": "|"'))).toEqual(["a", "b", "null"]);
    expect(offered(steps('"transitionToStep": |'))).toEqual(["a", "b", "null"]);
    expect(offered(steps('"onFailure": "|"'))).toEqual(["a", "b"]);
    const details =
      '{"steps": [{"integrationDetails": {"inputDefinition": {"$ref": "|"}}}], "definitions": {"order": {}}}';
    expect(offered(details)).toEqual(["#/definitions/order"]);
  });

  test("the words of schemas, and no words where names are the writer's own", () => {
    const schema = (text: string) => `{"definitions": {"order": ${text}}}`;
    expect(offered(schema('{"type": "|"}'))).toContain("integer");
    expect(offered(schema('{"|"}'))).toContain("properties");
    expect(offered(schema('{"properties": {"|"}}'))).toBeUndefined();
    expect(offered(schema('{"properties": {"type": {"|"}}}'))).toContain("enum");
    expect(offered(schema('{"properties": {"a": {}, "b": {}}, "required": ["|"]}'))).toEqual(["a", "b"]);
    expect(offered(schema('{"items": {"format": "|"}}'))).toContain("date-time");
    expect(offered(schema('{"additionalProperties": |}'))).toEqual(["true", "false"]);
  });

  test("whole steps in the list of steps", () => {
    const steps = listedExecutors.map(({ title }) => `Step: ${title}`);
    expect(offered('{"steps": [|]}')).toEqual(steps);
    expect(offered('{"steps": [{"name": "a"}, |]}')).toEqual(steps);
  });

  test("nothing while nobody asks and nothing is typed, and nothing where it knows nothing", () => {
    expect(offered('{"steps": [|]}', false)).toBeUndefined();
    expect(offered('{"workflowName": "|"}')).toBeUndefined();
    expect(offered("|")).toBeUndefined();
  });
});

test.each(listedExecutors)(
  "the snippet of a step with $type gives its config every field that it needs, each place apart",
  (executor) => {
    const places: string[] = [];
    const snippet = configSnippet(executor, (text) => {
      places.push(text);
      return text;
    });
    const { required = [] } = executor.configSchema as { required?: string[] };
    const config: object = snippet === "" ? {} : JSON.parse(snippet);
    expect(Object.keys(config)).toEqual(required);
    expect(places).toHaveLength(required.length);
  },
);

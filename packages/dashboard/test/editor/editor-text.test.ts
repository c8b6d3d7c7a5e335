import { CompletionContext } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { describe, expect, test } from "vitest";
import { completeDefinition } from "../../src/pages/editor/completion.ts";
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
function offered(text: string, explicit = true): string[] | undefined {
  const position = text.indexOf("|");
  const state = stateOf(text.replace("|", ""));
  const found = completeDefinition(new CompletionContext(state, position, explicit));
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

  test("executors, steps and definitions by name", () => {
    expect(offered('{"steps": [{"integrationDetails": {"type": "|"}}]}')).toContain("/service/waitForEventIds");
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
    expect(offered('{"steps": [|]}')).toHaveLength(3);
    expect(offered('{"steps": [{"name": "a"}, |]}')).toHaveLength(3);
  });

  test("nothing while nobody asks and nothing is typed, and nothing where it knows nothing", () => {
    expect(offered('{"steps": [|]}', false)).toBeUndefined();
    expect(offered('{"workflowName": "|"}')).toBeUndefined();
    expect(offered("|")).toBeUndefined();
  });
});

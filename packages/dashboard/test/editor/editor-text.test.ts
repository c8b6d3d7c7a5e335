import { CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { EditorState, type Transaction, type TransactionSpec } from "@codemirror/state";
import { catalog } from "@stepwell/testing/catalog.ts";
import {
  annotations,
  assertions,
  formatNames,
  namedRoots,
  neverRetried,
  rootNames,
} from "@stepwell/testing/definition-words.ts";
import { listedExecutors } from "@stepwell/testing/executors.ts";
import { listedFunctions } from "@stepwell/testing/expression-functions.ts";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../src/api/executors.ts";
import { completeDefinition } from "../../src/pages/editor/completion.ts";
import { configSnippet } from "../../src/pages/editor/config-words.ts";
import { meaningAt } from "../../src/pages/editor/expression-hover.ts";
import { placeOf, placeOfRemark } from "../../src/pages/editor/json-tree.ts";
import { texts } from "../../src/texts/texts.ts";

function stateOf(text: string): EditorState {
  return EditorState.create({ doc: text, extensions: [json()] });
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
  ])("%j selects %j", (pointer, text) => {
    expect(at(pointer)).toBe(text);
  });

  test("selects text that can be copied, even if it is the name of a long value", () => {
    expect({ ...placeOf(state, "/steps/0/integrationDetails") }).toEqual({
      from: expect.any(Number),
      to: expect.any(Number),
    });
  });

  test.each(["", "   ", "{", '{"a": ', "]", '{"a": [1, 2'])("selects some place in the text %j", (text) => {
    const broken = stateOf(text);
    const { from, to } = placeOf(broken, "/steps/0/name");
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeLessThanOrEqual(text.length);
  });
});

describe("a remark is marked", () => {
  const marked = (text: string, pointer: string, line: number, column: number) => {
    const state = stateOf(text);
    const { from, to } = placeOfRemark(state, { pointer, line, column });
    return { before: state.sliceDoc(0, from), marked: state.sliceDoc(from, to) };
  };

  test.each([
    ["a mistake of syntax, at its own character", '{\n  "a": nil\n}', 2, 8, '{\n  "a": ', "n"],
    ["a text that ends too early, at its end", '{\n  "a": ', 2, 8, '{\n  "a": ', ""],
    ["a place behind the end of a line, at that end", '{\r\n"a"\r\n', 2, 9, '{\n"a"', ""],
    ["a line behind the last one, in the last one", "{", 7, 1, "", "{"],
  ])("at the right place: %s", (_, text, line, column, before, shown) => {
    expect(marked(text, "", line, column)).toEqual({ before, marked: shown });
  });

  test("at the field or the object that its pointer names", () => {
    expect(marked(definition, "/steps/0/transitionToStep", 12, 7).marked).toBe('"transitionToStep": "second"');
    expect(marked(definition, "/steps/0/integrationDetails", 6, 7).marked).toBe('"integrationDetails"');
    expect(marked(definition, "/steps/1/integrationDetails", 14, 5).marked).toMatch(/^\{ "name": "second".*\}$/);
  });

  test("at its line and column as long as the editor has not parsed the text", () => {
    const state = EditorState.create({ doc: definition });
    const place = placeOfRemark(state, { pointer: "/steps/1/name", line: 14, column: 7 });
    expect(state.sliceDoc(place.from)).toMatch(/^"name": "second"/);
  });

  test("inside of a string, from the error to the end of the string, if the place is known", () => {
    const column = '        "type": "/service/wait'.length + 1;
    expect(marked(definition, "/steps/0/integrationDetails/type", 7, column).marked).toBe("ForEventIds");
  });
});

/** Returns the words that completion offers at the position of the `|`. */
function offered(
  text: string,
  explicit = true,
  executors: readonly Executor[] = listedExecutors,
): string[] | undefined {
  const position = text.indexOf("|");
  const state = stateOf(text.replace("|", ""));
  const found = completeDefinition(() => ({ executors, functions: listedFunctions }))(
    new CompletionContext(state, position, explicit),
  ) as CompletionResult | null;
  return found?.options.map(({ label }) => label);
}

describe("the editor offers", () => {
  test("the names of a definition's parts that are not used yet", () => {
    expect(offered('{"steps": [], "|"}')).toEqual(["workflowName", "description", "timeoutSeconds", "definitions"]);
    expect(offered('{"steps": [], |}')).toEqual(["workflowName", "description", "timeoutSeconds", "definitions"]);
    const all = ["workflowName", "description", "timeoutSeconds", "steps", "definitions"];
    expect(offered('{"|"}')).toEqual(all);
  });

  test("words at the end of a long text, which the editor has only partly parsed", () => {
    const long = Array.from({ length: 200 }, (_, index) => `{"name": "step-${index}", "transitionToStep": null}`);
    expect(offered(`{"steps": [${long.join(",\n")}], "|"}`)).toContain("definitions");
    const choice = '{"name": "last", "transitionToStep": {"choose": [{"if": "inp|"}]}}';
    expect(offered(`{"steps": [${[...long, choice].join(",\n")}]}`, false)).toContain("input");
  });

  test("a name that is being edited", () => {
    expect(offered('{"st|eps": [], "definitions": {}}')).toEqual([
      "workflowName",
      "description",
      "timeoutSeconds",
      "steps",
    ]);
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

  test("for a config, the fields, values and inner fields of the executor's schema that the operator allows", () => {
    const config = (type: string, text: string) =>
      `{"steps": [{"integrationDetails": {"type": "${type}", "config": ${text}}}]}`;
    expect(offered(config("/service/cloud/function", '{"region": "eu-west-1", "|"}'))).toEqual([
      "accountId",
      "functionName",
      "qualifier",
      "timeoutMs",
    ]);
    const http = "/service/http";
    expect(offered(config(http, '{"url": "https://example.com/", "|"}'))).toEqual([
      "method",
      "headers",
      "query",
      "body",
      "successStatus",
      "maxBytes",
    ]);
    expect(offered(config(http, '{"method": "|"}'))).toContain("POST");
    expect(offered(config(http, '{"successStatus": ["|"]}'))).toEqual(["2xx", "3xx", "4xx", "5xx"]);
    const wait = "/service/waitForEventIds";
    expect(offered(config(wait, '{"match": "|"}'))).toEqual(["all", "any"]);
    expect(offered(config(wait, '{"payloadDefinitions": {"approved": {"|"}}}'))).toEqual(["$ref"]);
    expect(offered(config(wait, '{"eventIds": ["|"]}'))).toBeUndefined();
    expect(offered(config("/service/nothing", '{"|"}'))).toBeUndefined();
  });

  test("the type of every executor of the service, and neither types nor whole steps if the service has not answered", () => {
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
    expect(offered(steps('"transitionToStep": {"|"}'))).toEqual(["choose", "else"]);
    expect(offered(steps('"transitionToStep": {"choose": [{"|"}]}'))).toEqual(["if", "then"]);
    expect(offered(steps('"transitionToStep": {"choose": [{"then": "|"}], "else": null}'))).toEqual(["a", "b", "null"]);
    expect(offered(steps('"transitionToStep": {"else": "|"}'))).toEqual(["a", "b", "null"]);
    expect(offered(steps('"onFailure": "|"'))).toEqual(["a", "b"]);
    expect(offered(steps('"onFailure": [{"|"}]'))).toEqual(["on", "then"]);
    expect(offered(steps('"onFailure": [{"then": "|"}]'))).toEqual(["a", "b"]);
    const handled = offered(steps('"onFailure": [{"on": ["|"]}]')) ?? [];
    expect(handled).toEqual(expect.arrayContaining(["Timeout", "ExpressionFailed"]));
    const retried = offered(steps('"retry": {"on": ["|"]}'));
    expect(retried).toEqual(handled.filter((error) => !neverRetried.has(error)));
    const details =
      '{"steps": [{"integrationDetails": {"inputDefinition": {"$ref": "|"}}}], "definitions": {"order": {}}}';
    expect(offered(details)).toEqual(["#/definitions/order"]);
  });

  test("the keywords of schemas, and nothing where the author chooses the names", () => {
    const schema = (text: string) => `{"definitions": {"order": ${text}}}`;
    expect(offered(schema('{"type": "|"}'))).toContain("integer");
    expect(offered(schema('{"|"}'))).toContain("properties");
    expect(offered(schema('{"properties": {"|"}}'))).toBeUndefined();
    expect(offered(schema('{"properties": {"type": {"|"}}}'))).toContain("enum");
    expect(offered(schema('{"properties": {"a": {}, "b": {}}, "required": ["|"]}'))).toEqual(["a", "b"]);
    expect(offered(schema('{"items": {"format": "|"}}'))).toContain("date-time");
    expect(offered(schema('{"additionalProperties": |}'))).toEqual(["true", "false"]);
  });

  test("every format, every keyword that is checked, and no keyword that the service does not know", () => {
    const { schema, formats } = texts.vocabulary;
    expect(Object.keys(formats).toSorted()).toEqual(formatNames().toSorted());
    const offeredWords: readonly string[] = Object.keys(schema);
    expect(assertions.filter((word) => !offeredWords.includes(word))).toEqual([]);
    const known: readonly string[] = [...assertions, ...annotations];
    expect(offeredWords.filter((word) => !known.includes(word))).toEqual([]);
  });

  test("whole steps in the list of steps", () => {
    const steps = listedExecutors.map(({ title }) => `Step: ${title}`);
    expect(offered('{"steps": [|]}')).toEqual(steps);
    expect(offered('{"steps": [{"name": "a"}, |]}')).toEqual(steps);
  });

  test.each(listedExecutors)("a step with $type that is valid JSON after insertion", (executor) => {
    const state = stateOf('{"steps": []}');
    const at = '{"steps": ['.length;
    const source = completeDefinition(() => ({ executors: [executor], functions: [] }));
    const found = source(new CompletionContext(state, at, true)) as CompletionResult | null;
    const [option] = found?.options ?? [];
    const texts: string[] = [];
    const view = { state, dispatch: ({ newDoc }: Transaction) => texts.push(newDoc.toString()) };
    if (option !== undefined && typeof option.apply === "function") option.apply(view as never, option, at, at);
    const [step] = (JSON.parse(texts[0] ?? "") as { steps: object[] }).steps;
    expect(step).toMatchObject({ integrationDetails: { type: executor.type } });
    expect(Object.hasOwn(step ?? {}, "input")).toBe(executor.needsInput);
    if (executor.needsInput) expect(step).toMatchObject({ input: { name: "${ input.name }" } });
  });

  test("nothing before the user types or asks for completion, and nothing where it knows no word", () => {
    expect(offered('{"steps": [|]}', false)).toBeUndefined();
    expect(offered('{"workflowName": "|"}')).toBeUndefined();
    expect(offered("|")).toBeUndefined();
  });
});

/** Two steps, the second of which has this value in the named field. */
const withExpression = (field: string, value: string) => `{
  "steps": [
    {
      "name": "reserve-stock",
      "integrationDetails": {
        "type": "/service/waitForEventIds",
        "config": { "eventIds": ["approved", "it-came"], "payloadDefinitions": { "approved": { "$ref": "#/definitions/decision" } } },
        "inputDefinition": { "$ref": "#/definitions/order" },
        "outputDefinition": { "$ref": "#/definitions/order" }
      }
    },
    {
      "name": "ship",
      "integrationDetails": { "outputDefinition": { "$ref": "#/definitions/decision" } },
      ${JSON.stringify(field)}: ${value}
    }
  ],
  "definitions": {
    "order": {
      "allOf": [{ "properties": { "sku": { "description": "What is ordered" } } }],
      "properties": { "lines": { "items": { "$ref": "#/definitions/line" } }, "parent": { "$ref": "#/definitions/order" } }
    },
    "line": { "properties": { "count": {} } },
    "decision": { "properties": { "isGood": {} } }
  }
}`;
const inInput = (expression: string, isExplicit = true) =>
  offered(withExpression("input", `{ "a": [${JSON.stringify(expression)}] }`), isExplicit);
const names = (found: string[] | undefined) =>
  found?.filter((label) => !listedFunctions.some(({ name }) => name === label));
const called = (forms: string) =>
  listedFunctions.filter((one) => one.forms !== forms && !one.name.includes(".")).map(({ name }) => name);

const loop = (items: string, step: string, inputDefinition: object = {}) => ({
  integrationDetails: { type: "/service/forEach", config: { items, step }, inputDefinition },
});

test("the editor offers the steps that can be the first of a branch or body", () => {
  const withConfig = (type: string, config: string) =>
    offered(
      `{"steps": [{"name": "fork", "integrationDetails": {"type": "${type}", "config": ${config}}}, {"name": "a"}, {"name": "b"}]}`,
    );
  expect(withConfig("/service/forEach", '{"step": "|"}')).toEqual(["a", "b"]);
  expect(withConfig("/service/parallel", '{"branches": {"left": "|"}}')).toEqual(["a", "b"]);
  expect(withConfig("/service/parallel", '{"until": "|"}')).toEqual(["all", "any"]);
});

describe("in an expression the editor offers", () => {
  test("every name that the service can read at this place, and every function", () => {
    const roots = ["input", "steps", "events", "error", "job", "now"];
    const functions = listedFunctions.filter(({ forms }) => forms !== "method").map(({ name }) => name);
    expect(inInput("for ${ |")).toEqual([...roots, ...functions]);
    expect(names(inInput("${ input.a } and ${ i|"))).toEqual(roots);
    expect(names(offered(withExpression("output", '"${ | }"')))).toEqual([...roots, "result"]);
    const choice = offered(withExpression("transitionToStep", '{"choose": [{"if": "|"}]}'));
    const inBodies = new Set(["item", "index", "forks"]);
    const elsewhere = [...rootNames, ...Object.keys(namedRoots)].filter((root) => !inBodies.has(root));
    expect(names(choice)?.toSorted()).toEqual(elsewhere.toSorted());
  });

  test("in the body of a forEach, its item with the properties from the schemas, and the outer forEach steps by name", () => {
    const inBody = (expression: string) => {
      const orders = { type: "array", items: { $ref: "#/definitions/order" } };
      const input = { properties: { orders } };
      const body = [
        { name: "each-order", ...loop("${ input.orders }", "lines", input), transitionToStep: null },
        { name: "lines", ...loop("${ item.lines }", "line"), transitionToStep: "told" },
        { name: "line", input: expression, transitionToStep: null },
        { name: "told", transitionToStep: null },
      ];
      const order = { properties: { id: {}, lines: { items: { properties: { sku: {} } } } } };
      return offered(JSON.stringify({ steps: body, definitions: { order } }));
    };
    expect(names(inBody("${ | }"))).toEqual(expect.arrayContaining(["item", "index", "forks"]));
    expect(names(inBody("${ item.| }"))).toEqual(["sku"]);
    expect(inBody("${ forks['|'] }")).toEqual(["each-order", "lines"]);
    expect(names(inBody("${ forks['each-order'].| }"))).toEqual(["item", "index"]);
    expect(names(inBody("${ forks['each-order'].item.| }"))).toEqual(["id", "lines"]);
  });

  test("steps and events by name, and their properties", () => {
    expect(inInput("${ steps.| }")).toEqual(["reserve-stock", "ship"]);
    expect(inInput("${ steps['| }")).toEqual(["reserve-stock", "ship"]);
    expect(inInput('${ steps["|"] }')).toEqual(["reserve-stock", "ship"]);
    expect(inInput("${ events.| }")).toEqual(["approved", "it-came"]);
    expect(inInput("${ steps['reserve-stock'].| }")).toEqual([...namedRoots.steps.parts]);
    expect(inInput("${ events['it-came'].| }")).toEqual([...namedRoots.events.parts]);
    expect(names(inInput("${ error.| }"))).toEqual(["code", "type", "message", "step", "cause"]);
    expect(names(inInput("${ job.| }"))).toEqual(["jobId", "submittedAt", "workflowName", "versionNumber"]);
  });

  test("properties from the schemas, and the functions of a value", () => {
    expect(names(inInput("${ input.| }"))).toEqual(["lines", "parent", "sku"]);
    expect(names(inInput("${ steps['reserve-stock'].output.parent.| }"))).toEqual(["lines", "parent", "sku"]);
    expect(inInput("${ input.lines[0].| }")).toEqual(["count", ...called("function")]);
    expect(names(inInput("${ events.approved.payload.| }"))).toEqual(["isGood"]);
    expect(names(offered(withExpression("transitionToStep", '{"choose": [{"if": "!output.|"}]}')))).toEqual(["isGood"]);
    expect(inInput("${ size(input.lines).| }")).toEqual(called("function"));
    expect(inInput("${ base64.| }")).toEqual(["encode", "decode"]);
  });

  test.each([
    ["${ input.| }", "gift-note", "${ input['gift-note'] }"],
    ["${ input.| }", "it's", "${ input['it\\'s'] }"],
    ["${ input.| }", '"new"', "${ input['\\\"new\\\"'] }"],
    ["${ steps['|'] }", 'say "it\'s"', "${ steps['say \\\"it\\'s\\\"'] }"],
  ])("in %s the name %s, in a form that the expression can read", (expression, name, expected) => {
    const inputDefinition = { properties: { "gift-note": {}, "it's": {}, '"new"': {} } };
    const steps = [{ name: 'say "it\'s"', integrationDetails: { inputDefinition } }, { input: expression }];
    const text = JSON.stringify({ steps });
    const at = text.indexOf("|");
    const state = stateOf(text.replace("|", ""));
    const found = completeDefinition(() => ({ executors: [], functions: [] }))(
      new CompletionContext(state, at, true),
    ) as CompletionResult | null;
    const option = found?.options.find(({ label }) => label === name);
    let after = "";
    const view = { state, dispatch: (change: TransactionSpec) => (after = state.update(change).newDoc.toString()) };
    if (typeof option?.apply === "function") option.apply(view as never, option, found?.from ?? 0, at);
    else view.dispatch({ changes: { from: found?.from ?? 0, to: at, insert: option?.apply ?? "" } });
    expect((JSON.parse(after) as { steps: { input?: string }[] }).steps[1]?.input).toBe(expected);
  });

  test("nothing in plain text, after the closing brace, in a literal `${`, and outside of expressions", () => {
    for (const text of ['${ "|" }', "${ 'a.| }", "${ input.sku } |", "${ {'a': 1}.a } |", "$${ |", "input.|"]) {
      expect(inInput(text)).toBeUndefined();
    }
    expect(inInput("${ input.sku == |", false)).toBeUndefined();
    expect(offered(withExpression("name", '"${ |"'))).toBeUndefined();
    const config = (text: string) =>
      offered(`{"steps": [{"integrationDetails": {"type": "/service/waitForEventIds", "config": ${text}}}]}`);
    expect(names(config('{"eventIds": ["${ e|"]}'))).toContain("events");
    expect(config('{"match": "${ e|"}')).not.toContain("events");
  });

  test("the meaning of a function or a name under the pointer", () => {
    const offer = { executors: listedExecutors, functions: listedFunctions };
    const meaning = (expression: string) => {
      const text = withExpression("input", JSON.stringify(expression));
      return meaningAt(stateOf(text.replace("|", "")), text.indexOf("|"), offer)?.text;
    };
    expect(meaning("${ spl|it(input.sku, '-') }")).toMatch(/^split\(text, separator\)\n\nThe parts.*\n\nExample: /);
    expect(meaning("${ input.sku.up|per() }")).toMatch(/^upper\(text\)/);
    expect(meaning("${ base64.en|code(input.sku) }")).toMatch(/^base64\.encode\(text\)/);
    expect(meaning("${ in|put.upper }")).toBe(texts.vocabulary.expressionRoots.input);
    for (const other of ["${ input.up|per }", "${ 'in|put' }", "in|put", "${ nothi|ng() }"]) {
      expect(meaning(other)).toBeUndefined();
    }
  });
});

test.each(listedExecutors)(
  "the snippet of a step with $type has every required field of its config, each with its own placeholder",
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

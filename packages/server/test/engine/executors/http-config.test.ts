import { defaultSettings, failureOf } from "@stepwell/testing/functions/http-calls.ts";
import { RawServer } from "@stepwell/testing/functions/raw-server.ts";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import type { Problem } from "../../../src/core/problem.ts";
import { checkValue, parseSchema } from "../../../src/core/schema/schema.ts";
import { http } from "../../../src/engine/executors/http/http.ts";

const url = "https://api.example.com/orders";

/** The problems that registration finds in a config. */
function problemsOf(config: JsonObject): readonly Problem[] {
  const { configSchema, checkConfig } = http(defaultSettings);
  const parsed = parseSchema(configSchema);
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  const problems = checkValue(parsed.schema, config);
  return problems.length > 0 ? problems : (checkConfig?.(config) ?? []);
}

test.each<[JsonObject]>([
  [{ url }],
  [{ url: "http://8.8.8.8:8080/a?b=c#d", method: "HEAD" }],
  [{ url: `https://api.example.com/\${ input.id }`, method: "DELETE" }],
  [{ url: `\${ input.base }/orders`, query: { id: `\${ input.id }`, n: 3, all: true, none: null, tags: ["a", "b"] } }],
  [
    {
      url,
      method: "POST",
      headers: { "X-Api-Key": "k", Accept: "text/csv", "X-N": 1 },
      body: { order: `\${ input }` },
    },
  ],
  [{ url, method: "PUT", body: null, successStatus: [200, 404, "3xx"], maxBytes: 1 }],
  [{ url, method: "PATCH", body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } }],
  [{ url, headers: { "x-note": `\${ input.note }\r\n` } }],
])("%j is a valid config", (config) => {
  expect(problemsOf(config)).toEqual([]);
});

test.each<[string, JsonObject, string]>([
  ["/url", { url: "ftp://example.com/" }, "must begin with http:// or https://"],
  ["/url", { url: "api.example.com/orders" }, "is not an address; give one such as https://"],
  ["/url", { url: "https://" }, "is not an address"],
  ["/url", { url: "https://a:b@example.com/" }, "must not contain a user or a password"],
  ["/url", { url: "https://example.com/a b" }, "contains a space"],
  ["/url", { url: "https://example.com:25/" }, "port 25"],
  ["/url", { url: "http://127.1/" }, "STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES"],
  ["/url", { url: "http://localhost:3000/" }, "STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES"],
  ["/url", { url: "http://[::ffff:169.254.169.254]/latest" }, "STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES"],
  ["/method", { url, method: "TRACE" }, ""],
  ["/method", { url, method: "CONNECT" }, ""],
  ["/body", { url, body: { a: 1 } }, "cannot be sent with GET"],
  ["/headers/a b", { url, headers: { "a b": "c" } }, "is not the name of a header"],
  ["/headers/", { url, headers: { "": "c" } }, "is not the name of a header"],
  ["/headers/a:b\r\nc", { url, headers: { "a:b\r\nc": "d" } }, "is not the name of a header"],
  ["/headers/x", { url, headers: { x: "a\r\nEvil: 1" } }, "contains a line break"],
  ["/headers/x", { url, headers: { x: "grün€" } }, "another character that no header can have"],
  ["/headers/Host", { url, headers: { Host: "internal" } }, "is a header that a step cannot set"],
  ["/headers/content-Length", { url, headers: { "content-Length": 3 } }, "is a header that a step cannot set"],
  [
    "/headers/Transfer-Encoding",
    { url, headers: { "Transfer-Encoding": "chunked" } },
    "is a header that a step cannot set",
  ],
  ["/headers/x-a", { url, headers: { "x-a": "1", "X-A": "2" } }, "occurs twice"],
  ["/headers/x", { url, headers: { x: ["a"] } }, ""],
  ["/query/q", { url, query: { q: { a: 1 } } }, ""],
  ["/successStatus", { url, successStatus: [] }, ""],
  ["/successStatus/0", { url, successStatus: [100] }, ""],
  ["/successStatus/0", { url, successStatus: ["200-299"] }, ""],
  ["/maxBytes", { url, maxBytes: defaultSettings.maxOutputBytes + 1 }, ""],
  ["/retries", { url, retries: 3 }, ""],
])("at %s a config is rejected: %j", (pointer, config, detail) => {
  expect(problemsOf(config)).toContainEqual({ pointer, detail: expect.stringContaining(detail) });
});

test.each<[pointer: string, given: string, config: JsonObject, detail: string]>([
  ["/headers", "null", { headers: null }, "must be an object"],
  ["/headers", "a text", { headers: "x" }, "must be an object"],
  ["/headers", "a list", { headers: ["a: b"] }, "must be an object"],
  ["/headers", "101 headers", { headers: manyOf(101) }, "has more than 100 headers"],
  ["/headers", "200,000 headers", { headers: manyOf(200_000) }, "has more than 100 headers"],
  ["/query", "null", { query: null }, "must be an object"],
  ["/query", "a number", { query: 5 }, "must be an object"],
  ["/query", "1,001 values", { query: manyOf(1_001) }, "has more than 1000 values"],
  ["/query", "a list of 1,001 values", { query: { id: new Array(1_001).fill(0) } }, "has more than 1000 values"],
])("the value of %s that one expression gives is rejected if it is %s", async (pointer, _given, more, detail) => {
  const { error } = await failureOf({ url, ...more });
  expect(error).toMatchObject({ type: "InvalidRequest", message: expect.stringContaining(`${pointer} ${detail}`) });
});

test("an expression for all headers, or the whole query, is checked when its value is known, however long it is", () => {
  const expression = `\${ input.${"h".repeat(2_000)} }`;
  const { checkConfig } = http(defaultSettings);
  expect(checkConfig?.({ url, headers: expression, query: expression })).toEqual([]);
});

test("a message about a header with a long name is short", async () => {
  const { error } = await failureOf({ url, headers: { [`${"x".repeat(100_000)}:`]: "1" } });
  expect(error.message.length).toBeLessThan(500);
});

function manyOf(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, "v"]));
}

test.each<[string, JsonValue, string]>([
  ["/url", 7, "must be a text"],
  ["/url", "orders", "is not an address"],
  ["/url", "file:///etc/passwd", "must begin with http:// or https://"],
  ["/url", "gopher://example.com/", "must begin with http:// or https://"],
  ["/url", "https://example.com/\r\nEvil: 1", "contains a space or a control character"],
  ["/url", "https://user@example.com/", "must not contain a user"],
  ["/headers", "x\r\nEvil: 1", "contains a line break"],
  ["/headers", "x\nEvil: 1", "contains a line break"],
  ["/headers", "x\0", "another character"],
  ["/headers", "x\u007f", "another character"],
  ["/headers", "Größe €", "another character"],
  ["/headers", { a: 1 }, "must be a text, a number, true, false or null"],
  ["/query", { a: 1 }, "must be a text, a number, true or false, a list of these, or null"],
  ["/query", [["a"]], "must be a text, a number, true or false, a list of these, or null"],
])("a value that an expression gives at %s is checked before anything is sent: %j", expectRejected);

test.each<[string, string, string]>([
  ["an address", "/url", `https://example.com/${"a".repeat(8_192)}`],
  ["a header", "/headers", "a".repeat(8_193)],
])("%s that an expression gives is rejected before anything is sent if it is too long", async (_, pointer, value) => {
  await expectRejected(pointer, value, "is longer than 8192 characters");
});

async function expectRejected(pointer: string, value: JsonValue, detail: string): Promise<void> {
  await using listener = await RawServer.start(() => {});
  const config: JsonObject = { url: listener.url };
  if (pointer === "/url") config.url = value;
  else config[pointer.slice(1)] = { "x-value": value };
  const { kind, error } = await failureOf(config);
  expect({ kind, code: error.code, type: error.type }).toEqual({
    kind: "permanent",
    code: "ExecutorError",
    type: "InvalidRequest",
  });
  expect(error.message).toMatch(new RegExp(`^In the step's config ${pointer}`));
  expect(error.message).toContain(detail);
  expect(error.message).not.toContain("Evil");
  expect(listener.connections).toEqual([]);
}

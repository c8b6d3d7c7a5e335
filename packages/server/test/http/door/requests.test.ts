import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { exchange, open, readAll, requestText, statusOf } from "@stepwell/testing/raw.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

/** Faults that a request can have whatever its operation is. */
onOneStore((home) => {
  const service = useService(home, { STEPWELL_HEADERS_TIMEOUT_MS: "1000", STEPWELL_REQUEST_TIMEOUT_MS: "1500" });
  let shared: Promise<TestOrganization> | undefined;
  const organization = () => {
    shared ??= service.newOrganization();
    return shared;
  };

  /** Registers a workflow with a POST whose bytes are sent exactly as given. */
  async function post(lines: readonly string[], body: string | Buffer = '{"name":"w"}'): Promise<string> {
    const { organizationId, owner } = await organization();
    const text = body.toString("latin1");
    const head = requestText(`POST /organizations/${organizationId}/workflows`, [
      `Authorization: Bearer ${owner.token}`,
      "Connection: close",
      ...lines,
      ...(lines.some((line) => /^(content-length|transfer-encoding):/i.test(line))
        ? []
        : [`Content-Length: ${Buffer.from(text, "latin1").length}`]),
    ]);
    return await exchange(service.port, head, Buffer.from(text, "latin1"));
  }

  const json = "Content-Type: application/json";

  async function get(lines: readonly string[], path?: string): Promise<string> {
    const { organizationId } = await organization();
    return await exchange(
      service.port,
      requestText(`GET ${path ?? `/organizations/${organizationId}`}`, ["Connection: close", ...lines]),
    );
  }

  /** Returns a text with one character for each UTF-8 byte. `post` sends each character as one byte. */
  const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

  test.each([
    ["no Authorization", []],
    ["another scheme", ["Authorization: Basic dXNlcjpwYXNz"]],
    ["an empty Bearer", ["Authorization: Bearer "]],
    ["a token with a space", ["Authorization: Bearer stw_a b"]],
    ["a token that is not ASCII", ["Authorization: Bearer stw_ä"]],
    ["a token of another form", ["Authorization: Bearer abc"]],
  ])("%s is 401 with WWW-Authenticate", async (_name, lines) => {
    const answer = await get(lines);
    expect(statusOf(answer)).toBe(401);
    expect(answer).toMatch(/www-authenticate: Bearer/i);
    expect(answer).toContain('"code":"AuthenticationError"');
  });

  test("two Authorization headers are 401, even if the first is valid", async () => {
    const { owner } = await organization();
    const answer = await get([`Authorization: Bearer ${owner.token}`, "Authorization: Bearer other"]);
    expect(statusOf(answer)).toBe(401);
  });

  test("a token in the query string does not count as a token", async () => {
    const { organizationId, owner } = await organization();
    const answer = await get([], `/organizations/${organizationId}?access_token=${owner.token}`);
    expect(statusOf(answer)).toBe(401);
  });

  test("64 KiB of headers are 431", async () => {
    expect(statusOf(await get([`X-Large: ${"x".repeat(65_536)}`]))).toBe(431);
  });

  test("2,000 headers are 431", async () => {
    expect(statusOf(await get(Array.from({ length: 2_000 }, (_, index) => `X-${index}: value`)))).toBe(431);
  });

  test.each([
    ["no body", [], ""],
    ["an empty body", [json], ""],
    ["JSON that ends too early", [json], '{"a":1'],
    ["null as the body", [json], "null"],
    ["an array as the body", [json], "[]"],
    ["a string as the body", [json], '"x"'],
    ["a number as the body", [json], "1"],
    ["a byte order mark", [json], utf8('\ufeff{"name":"w"}')],
    ["a byte that is not UTF-8", [json], '{"name":"w\xff"}'],
    ["a depth of 65", [json], `{"name":${"[".repeat(65)}${"]".repeat(65)}}`],
    ["a depth of 5,000", [json], `{"name":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
    ["a depth of 400,000", [json], `{"name":${"[".repeat(400_000)}${"]".repeat(400_000)}}`],
    ["the key __proto__", [json], '{"name":"w","__proto__":{"admin":true}}'],
    ["constructor.prototype", [json], '{"name":"w","constructor":{"prototype":{"admin":true}}}'],
    ["an unknown field", [json], '{"name":"w","organizationId":"x"}'],
    ["a field with another case", [json], '{"Name":"w"}'],
    ["NUL in a value", [json], '{"name":"a\\u0000b"}'],
    ["half of a surrogate pair", [json], '{"name":"\\ud800"}'],
  ])("%s is 400 and nothing is stored", async (_name, lines, body) => {
    const answer = await post(lines, body);
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain('"code":"ValidationError"');
    const { api } = await organization();
    const { body: list } = await api.call("ListWorkflows");
    expect(list).toEqual({ workflows: [] });
    expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
  });

  test.each([
    ["text/plain", "Content-Type: text/plain"],
    ["a form", "Content-Type: application/x-www-form-urlencoded"],
    ["an invalid media type", "Content-Type: nonsense"],
    ["UTF-16", "Content-Type: application/json; charset=utf-16"],
    ["no media type", "X-Nothing: 1"],
  ])("%s is 415", async (_name, line) => {
    const answer = await post([line]);
    expect(statusOf(answer)).toBe(415);
    expect(answer).toContain('"code":"UnsupportedMediaTypeError"');
  });

  test.each(["Content-Type: application/json; charset=utf-8", 'Content-Type: application/json;charset="UTF-8"'])(
    "a stated UTF-8 charset is accepted: %s",
    async (line) => {
      const fresh = await service.newOrganization();
      const answer = await exchange(
        service.port,
        requestText(
          `POST /organizations/${fresh.organizationId}/workflows`,
          [`Authorization: Bearer ${fresh.owner.token}`, "Connection: close", line],
          '{"name":"w"}',
        ),
      );
      expect(statusOf(answer)).toBe(201);
    },
  );

  test("the last value of a repeated key wins", async () => {
    const fresh = await service.newOrganization();
    const { body } = await fresh.api.call("RegisterWorkflow", { body: '{"name":"first","name":"last"}' });
    expect(body.name).toBe("last");
  });

  test("a body over 1 MiB is 413, also when it comes in chunks without a length", async () => {
    const large = `{"name":"${"x".repeat(1_048_576)}"}`;
    expect(statusOf(await post([json], large))).toBe(413);
    const chunk = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    expect(statusOf(await post([json, "Transfer-Encoding: chunked"], chunk))).toBe(413);
  });

  test("a Content-Length that is too short is 400", async () => {
    const answer = await post([json, "Content-Length: 5"]);
    expect(statusOf(answer)).toBe(400);
  });

  test("Content-Length together with Transfer-Encoding is 400 and the connection ends", async () => {
    const answer = await post([json, "Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n");
    expect(statusOf(answer)).toBe(400);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test("a compressed body is 415 and is not inflated", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const answer = await post([json, "Content-Encoding: gzip"], bomb);
    expect(statusOf(answer)).toBe(415);
  });

  test("two Host headers are 400, however they are spelt", async () => {
    const { owner } = await organization();
    const answer = await get([`Authorization: Bearer ${owner.token}`, "hoST: elsewhere.example"]);
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain("more than one Host header");
  });

  test("a request without a Host header is 400, except in HTTP/1.0", async () => {
    const answer = await exchange(service.port, "GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n");
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain("no Host header");
    expect(statusOf(await exchange(service.port, "GET /health/live HTTP/1.0\r\n\r\n"))).toBe(200);
  });

  test("an unsupported Expect header is 417, and the answer says what to do", async () => {
    const answer = await get(["Expect: a miracle"], "/health/live");
    expect(statusOf(answer)).toBe(417);
    expect(answer).toContain("Leave the header out");
  });

  test("a method override is ignored", async () => {
    const { organizationId, owner } = await organization();
    const lines = [`Authorization: Bearer ${owner.token}`, "X-HTTP-Method-Override: DELETE"];
    expect(statusOf(await get(lines))).toBe(200);
    expect(statusOf(await get(lines, `/organizations/${organizationId}?_method=DELETE`))).toBe(400);
  });

  test.each(["TRACE", "PUT", "PROPFIND", "QUERY"])("%s on a path without it is 405 with Allow", async (method) => {
    const { organizationId } = await organization();
    const answer = await exchange(
      service.port,
      requestText(`${method} /organizations/${organizationId}`, ["Connection: close"]),
    );
    expect(statusOf(answer)).toBe(405);
    expect(answer).toMatch(/allow: DELETE, GET, HEAD, OPTIONS, PATCH\r/i);
    expect(answer).toMatch(/x-amzn-errortype: MethodNotAllowedError/i);
  });

  test("OPTIONS is answered with the methods of the path, and gives pages of other origins no access", async () => {
    const { organizationId } = await organization();
    const ask = async (path: string, lines: readonly string[] = []) =>
      await exchange(service.port, requestText(`OPTIONS ${path}`, ["Connection: close", ...lines]));
    const answer = await ask(`/organizations/${organizationId}/jobs`);
    expect(statusOf(answer)).toBe(204);
    expect(answer).toMatch(/allow: GET, HEAD, OPTIONS, POST\r/i);
    expect(statusOf(await ask("/nothing"))).toBe(404);
    const preflight = ["Origin: https://example.org", "Access-Control-Request-Method: POST"];
    const refused = await ask(`/organizations/${organizationId}/jobs`, preflight);
    expect(statusOf(refused)).toBe(405);
    expect(refused).not.toMatch(/access-control/i);
  });

  test.each([
    ["/organizations/..%2f..%2fetc", 404],
    ["/organizations/%00", 404],
    ["/organizations//jobs", 404],
    ["//organizations", 404],
    ["/organizations/%c0%af", 400],
    ["/organizations/%zz", 400],
    ["/organizations/%", 400],
    ["/nothing", 404],
    ["/ORGANIZATIONS", 404],
  ])("the path %s is %i", async (path, status) => {
    const { owner } = await organization();
    const answer = await get([`Authorization: Bearer ${owner.token}`], path);
    expect(statusOf(answer)).toBe(status);
    expect(answer).toContain("application/problem+json");
  });

  test("pipelined requests are all answered", async () => {
    const one = requestText("GET /health/live", []);
    const last = requestText("GET /health/live", ["Connection: close"]);
    const answer = await exchange(service.port, one.repeat(999), last);
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(1_000);
  });

  test("headers and bodies that arrive too slowly are cut off", async () => {
    const slowHeaders = await open(service.port);
    slowHeaders.write("GET /health/live HTTP/1.1\r\nHost:");
    const { organizationId, owner } = await organization();
    const slowBody = await open(service.port);
    slowBody.write(
      requestText(`POST /organizations/${organizationId}/workflows`, [
        `Authorization: Bearer ${owner.token}`,
        json,
        "Content-Length: 100",
      ]),
    );
    const drip = setInterval(() => slowBody.write("1"), 200);
    const [first, second] = await Promise.all([readAll(slowHeaders, 5_000), readAll(slowBody, 5_000)]);
    clearInterval(drip);
    expect(statusOf(first)).toBe(408);
    expect(statusOf(second)).toBe(408);
  });

  test("a query parameter that is unknown, repeated, or of the wrong type is 400", async () => {
    const { api, organizationId, owner } = await organization();
    for (const query of [
      "pageSize=1&pageSize=2",
      "pageSize[]=1",
      "pageSize=abc",
      "pageSize=1e2",
      "pageSize=0x10",
      "unknown=1",
    ]) {
      const path = `/organizations/${organizationId}/workflows?${query}`;
      expect(statusOf(await get([`Authorization: Bearer ${owner.token}`], path)), query).toBe(400);
    }
    await api.refused("GetOrganization", "ValidationError", { query: { unknown: 1 } });
    await api.refused("ListWorkflows", "ValidationError", { query: { name: "a\0b" } });
  });

  test("an answer forbids caching and sniffing of its type, and its caller finds the request in the log by its id", async () => {
    const { api } = await organization();
    const { headers } = await api.call("GetOrganization");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("a page of another origin gets no access", async () => {
    const answer = await get(["Origin: https://example.org"]);
    expect(answer).not.toMatch(/access-control/i);
  });

  test("the service still works after all these requests", async () => {
    await delay(10);
    await service.client(undefined).call("GetReadiness");
  });
});

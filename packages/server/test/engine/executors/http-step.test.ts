import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { gzipSync } from "node:zlib";
import { requestOf } from "@stepwell/testing/functions/calls.ts";
import { callHttp, failureOf, localSettings, outputOf } from "@stepwell/testing/functions/http-calls.ts";
import { RawServer } from "@stepwell/testing/functions/raw-server.ts";
import { type Script, ScriptedServer } from "@stepwell/testing/functions/scripted-server.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { http } from "../../../src/engine/executors/http/http.ts";
import { AddressRule } from "../../../src/engine/outbound/address-rule.ts";
import { Agents } from "../../../src/engine/outbound/agents.ts";
import { apiCertificate } from "./api-certificate.ts";

function saying(status: number, headers: Record<string, string | string[]>, body?: string | Uint8Array): Script {
  return (response) => response.writeHead(status, headers).end(body);
}

describe("a request", () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await ScriptedServer.start((response) => response.end());
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function sent(config: JsonObject, call: Parameters<typeof callHttp>[1] = {}) {
    await outputOf({ url: server.endpoint.href, ...config }, call);
    const request = server.requests.at(-1);
    if (request === undefined) throw new Error("Nothing was sent.");
    return request;
  }

  test("is a GET without a body, and its headers name the caller and the idempotency key", async () => {
    const { method, path, body, headers } = await sent({ url: `${server.endpoint}orders?open=true#top` });
    expect({ method, path, body }).toEqual({ method: "GET", path: "/orders?open=true", body: "" });
    expect(headers).toEqual({
      host: server.endpoint.host,
      connection: "keep-alive",
      "user-agent": expect.stringMatching(/^stepwell\/\d+\.\d+\.\d+$/),
      "accept-encoding": "identity",
      "idempotency-key": "019aa0e7-0000-7000-8000-0000000000b1:reserve-stock:1",
    });
  });

  test.each(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])("has the method %s", async (method) => {
    expect(await sent({ method })).toMatchObject({ method, body: "" });
  });

  test.each<[JsonValue, string, string]>([
    [{ a: [1, "ä"] }, '{"a":[1,"ä"]}', "application/json"],
    [[], "[]", "application/json"],
    [3, "3", "application/json"],
    [false, "false", "application/json"],
    [null, "null", "application/json"],
    ["a=b", "a=b", "text/plain;charset=utf-8"],
    ["", "", "text/plain;charset=utf-8"],
  ])("has %j as its body", async (body, text, contentType) => {
    const request = await sent({ method: "POST", body });
    expect([request.body, request.headers["content-type"]]).toEqual([text, contentType]);
  });

  test("has the content type, the agent and the key of the config instead of its own, each once", async () => {
    const given = {
      "Content-Type": "application/x-www-form-urlencoded",
      "USER-AGENT": "shop",
      "Idempotency-key": "o-7",
    };
    const { headers, rawHeaders } = await sent({ method: "POST", body: "a=b", headers: given });
    expect(headers).toMatchObject({
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "shop",
      "idempotency-key": "o-7",
    });
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  test("has headers for numbers, booleans and Latin letters, and none for null", async () => {
    const { rawHeaders } = await sent({ headers: { "X-N": 1.5, "X-B": true, "X-L": "Größe", "X-0": null } });
    const pairs = rawHeaders.join("\n");
    expect(pairs).toContain("x-n\n1.5\nx-b\ntrue\nx-l\nGröße");
    expect(pairs).not.toContain("x-0");
  });

  test("has none of the service's own headers that the config sets to null", async () => {
    const headers = { "Idempotency-Key": null, "user-agent": null };
    const { rawHeaders } = await sent({ headers });
    expect(rawHeaders.join("\n")).not.toMatch(/^(idempotency-key|user-agent)$/im);
  });

  test("has the encoded query values after those of the url", async () => {
    const query = { "a&b": "ä=1&c", list: [1, true, "x"], none: null, n: 0 };
    const { path } = await sent({ url: `${server.endpoint}?first=1`, query });
    expect([...new URL(path, server.endpoint).searchParams]).toEqual([
      ["first", "1"],
      ["a&b", "ä=1&c"],
      ["list", "1"],
      ["list", "true"],
      ["list", "x"],
      ["n", "0"],
    ]);
  });

  test("keeps the url's own query unchanged, since a signature may depend on it", async () => {
    const { path } = await sent({ url: `${server.endpoint}?flag&at=a%20b%2Fc,d&sign=%2b`, query: { n: "ä b" } });
    expect(path).toBe("/?flag&at=a%20b%2Fc,d&sign=%2b&n=%C3%A4+b");
  });

  test("has a key in ASCII for a step with any name, the same for each attempt", async () => {
    for (const attempt of [1, 2]) {
      const { headers } = await sent({}, { attempt, idempotencyKey: "job:Größe 42 🙂:1" });
      expect(headers["idempotency-key"]).toBe("job:Gr%C3%B6%C3%9Fe%2042%20%F0%9F%99%82:1");
    }
  });
});

describe("an answer", () => {
  async function bodyOf(headers: Record<string, string>, body?: string | Uint8Array): Promise<JsonValue | undefined> {
    await using server = await ScriptedServer.start(saying(200, headers, body));
    return (await outputOf({ url: server.endpoint.href })).body;
  }

  test("is the output: status, headers in lower case, and body", async () => {
    const headers = {
      "Content-Type": "application/json",
      "Set-Cookie": ["a=1", "b=2"],
      "X-Many": ["1", "2"],
      Date: "now",
    };
    await using server = await ScriptedServer.start(saying(201, headers, '{"id":7}'));
    expect(await outputOf({ url: server.endpoint.href })).toEqual({
      status: 201,
      headers: {
        "content-type": "application/json",
        "set-cookie": ["a=1", "b=2"],
        "x-many": "1, 2",
        date: "now",
        connection: "keep-alive",
        "keep-alive": "timeout=5",
        "transfer-encoding": "chunked",
      },
      body: { id: 7 },
    });
  });

  test.each<[string, string | Uint8Array, JsonValue]>([
    ["application/json", "[1,null]", [1, null]],
    ["application/json; charset=UTF-8", '\ufeff"ä"', "ä"],
    ["application/problem+json", "{}", {}],
    ["application/json;charset=iso-8859-1", Buffer.from([0x22, 0xe4, 0x22]), "ä"],
    ["text/plain", "Größe 🙂", "Größe 🙂"],
    ["text/html; charset=windows-1252", Buffer.from([0x80, 0xe4]), "€ä"],
    ["text/csv", "a,b\r\n", "a,b\r\n"],
    ["application/soap+xml", "<a/>", "<a/>"],
    ["application/xml", "<a/>", "<a/>"],
    ["application/x-ndjson", "1\n2\n", "1\n2\n"],
    ["application/octet-stream", "abc", { base64: "YWJj" }],
    ["image/png", Buffer.from([0, 255]), { base64: "AP8=" }],
    ["nonsense", "abc", "abc"],
    ["nonsense", Buffer.from([0xff]), { base64: "/w==" }],
  ])("an answer of %s with the body %j gives %j", async (contentType, body, expected) => {
    expect(await bodyOf({ "content-type": contentType }, body)).toEqual(expected);
  });

  test("a body without a content type is text if it is UTF-8, and base64 otherwise", async () => {
    expect(await bodyOf({}, "ok")).toBe("ok");
    expect(await bodyOf({}, Buffer.from([0xff]))).toEqual({ base64: "/w==" });
  });

  test("an answer without a body gives null, whatever its type", async () => {
    expect(await bodyOf({ "content-type": "application/json" })).toBeNull();
    await using server = await ScriptedServer.start(
      saying(200, { "content-type": "text/plain", "content-length": "9" }),
    );
    expect(await outputOf({ url: server.endpoint.href, method: "HEAD" })).toMatchObject({
      body: null,
      headers: { "content-length": "9" },
    });
  });

  test("can have headers with the names of inherited members of objects", async () => {
    await using server = await RawServer.saying(
      "HTTP/1.1 200 OK\r\nconstructor: a\r\ntoString: b\r\nContent-Length: 0\r\n\r\n",
    );
    const { headers } = await outputOf({ url: server.url });
    expect(JSON.stringify(headers)).toBe('{"constructor":"a","tostring":"b","content-length":"0"}');
  });

  test("never has the header __proto__", async () => {
    const evil = "__proto__: evil\r\n".repeat(2);
    await using server = await RawServer.saying(`HTTP/1.1 200 OK\r\n${evil}Content-Length: 0\r\n\r\n`);
    // If the platform forbids this name completely, as in some runs of the tests, no such call succeeds.
    const result = await callHttp({ url: server.url }).catch(({ code }: { code: string }) => code);
    if (result !== "ERR_PROTO_ACCESS") expect(result).toMatchObject({ type: "succeeded" });
    expect(JSON.stringify(result)).not.toMatch(/__proto__|evil/);
  });

  test("an answer that is compressed without a request for it is decompressed", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect(await bodyOf(headers, gzipSync('{"a":1}'))).toEqual({ a: 1 });
  });
});

describe("a status", () => {
  test.each([
    [408, "ordinary"],
    [425, "ordinary"],
    [429, "transient"],
    [500, "ordinary"],
    [502, "ordinary"],
    [503, "transient"],
    [504, "ordinary"],
    [400, "permanent"],
    [401, "permanent"],
    [404, "permanent"],
    [409, "permanent"],
    [422, "permanent"],
    [501, "permanent"],
    [304, "permanent"],
  ])(
    "a status of %i fails the step, kind %s, with its number as the type and the beginning of the answer",
    async (status, kind) => {
      const body = status === 304 ? "" : `{"error":"${"so ".repeat(400)}"}`;
      await using server = await ScriptedServer.start(saying(status, { "content-type": "application/json" }, body));
      const failure = await failureOf({ url: `${server.endpoint}orders?token=secret`, headers: { "X-Key": "secret" } });
      expect(failure).toEqual({
        type: "failed",
        kind,
        error: { code: "ExecutorError", type: `HttpStatus${status}`, message: expect.any(String) },
      });
      const shown = body === "" ? "" : `: ${body.slice(0, 500)}…`;
      expect(failure.error.message).toBe(`GET ${server.endpoint}orders answered with status ${status}${shown}`);
    },
  );

  test.each<[JsonValue[], number, boolean]>([
    [[404], 404, true],
    [[404], 200, false],
    [["2xx", 404], 204, true],
    [["4xx"], 429, true],
    [["3xx"], 302, true],
    [["5xx"], 404, false],
  ])("is compared with successStatus: %j and %i", async (successStatus, status, isSuccess) => {
    await using server = await ScriptedServer.start(saying(status, { location: "/elsewhere" }));
    const result = await callHttp({ url: server.endpoint.href, successStatus });
    expect(result.type === "succeeded" ? result.output : "failed").toMatchObject(isSuccess ? { status } : {});
    expect(result.type).toBe(isSuccess ? "succeeded" : "failed");
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["7", 7_000],
    ["0", 0],
    [` 12 `, 12_000],
    ["99999999999999999999", 1e23],
    [
      new Date(Date.now() + 3_600_000).toUTCString(),
      expect.toSatisfy((ms: number) => ms > 3_590_000 && ms <= 3_600_000),
    ],
    [new Date(Date.now() - 60_000).toUTCString(), undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["2030-01-01T00:00:00Z", undefined],
  ])("a status of 503 with Retry-After %j causes a wait", async (retryAfter, expected) => {
    await using server = await ScriptedServer.start(saying(503, { "retry-after": retryAfter }));
    expect((await failureOf({ url: server.endpoint.href })).retryAfterMs).toEqual(expected);
  });
});

describe("a redirect", () => {
  test.each([
    ["GET", 301],
    ["GET", 302],
    ["GET", 303],
    ["GET", 307],
    ["HEAD", 308],
  ])(
    "a redirect of a %s with %i is followed, with all headers while the origin is the same",
    async (method, status) => {
      await using server = await ScriptedServer.start((response, { path }) => {
        if (path === "/new?a=b") response.end("there");
        else response.writeHead(status, { location: "new?a=b" }).end("elsewhere");
      });
      const headers = { Authorization: "Bearer secret", Cookie: "a=b", "X-Api-Key": "secret" };
      expect(await outputOf({ url: `${server.endpoint}old?k=v`, method, headers })).toMatchObject({ status: 200 });
      expect(server.requests.map(({ method, path }) => [method, path])).toEqual([
        [method, "/old?k=v"],
        [method, "/new?a=b"],
      ]);
      expect(server.requests[1]?.headers).toEqual(server.requests[0]?.headers);
    },
  );

  test("a redirect to another origin keeps `Accept` of the config's headers, and drops those with credentials", async () => {
    await using other = await ScriptedServer.start((response) => response.end("there"));
    await using server = await ScriptedServer.start(saying(302, { location: other.endpoint.href }));
    const headers = { Authorization: "Bearer secret", Cookie: "a=b", "X-Api-Key": "secret", Accept: "text/html" };
    await outputOf({ url: server.endpoint.href, headers });
    expect(other.requests[0]?.headers).toEqual({
      host: other.endpoint.host,
      connection: "keep-alive",
      accept: "text/html",
      "accept-encoding": "identity",
      "user-agent": expect.any(String),
    });
  });

  test("a redirect of a POST with 303 is followed by a GET without the body, and one with another status is the answer", async () => {
    await using server = await ScriptedServer.start((response, { path }) => {
      if (path === "/done") response.end("done");
      else response.writeHead(path === "/see-other" ? 303 : 307, { location: "/done" }).end();
    });
    const post = { method: "POST", body: { a: 1 } };
    expect(await outputOf({ url: `${server.endpoint}see-other`, ...post })).toMatchObject({ body: "done" });
    const { method, body, headers } = server.requests[1] ?? {};
    expect([method, body, headers?.["content-type"], headers?.["content-length"]]).toEqual([
      "GET",
      "",
      undefined,
      undefined,
    ]);
    const { kind, error } = await failureOf({ url: `${server.endpoint}moved`, ...post });
    expect([kind, error.type, server.requests.length]).toEqual(["permanent", "HttpStatus307", 3]);
  });
});

describe("over TLS", () => {
  async function withTlsServer(use: (url: string, names: (string | false | null)[]) => Promise<void>): Promise<void> {
    const names: (string | false | null)[] = [];
    const server = createTlsServer(apiCertificate, ({ url, headers }, response) => {
      if (url === "/down") response.writeHead(302, { location: "http://127.0.0.1:8080/" });
      response.end(headers.host);
    });
    server.on("secureConnection", (socket) => names.push(socket.servername));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      await use(`https://api.test:${(server.address() as AddressInfo).port}/`, names);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  const resolve = async () => ["127.0.0.1"];

  test("a server is called by its name and must prove this name with its certificate, although its address was looked up before", async () => {
    await withTlsServer(async (url, names) => {
      const before = getCACertificates("default");
      setDefaultCACertificates([...before, apiCertificate.cert]);
      try {
        expect(await outputOf({ url }, { resolve })).toMatchObject({ body: new URL(url).host });
        expect(names).toEqual(["api.test"]);
        const down = await failureOf({ url: `${url}down` }, { resolve });
        expect(down).toMatchObject({ kind: "permanent", error: { type: "RedirectRefused" } });
        expect(down.error.message).toContain("is not encrypted, although the redirecting address is");
        const { error } = await failureOf({ url: url.replace("api.test", "other.test") }, { resolve });
        expect(error).toMatchObject({ type: "CertificateRejected" });
        expect(error.message).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
      } finally {
        setDefaultCACertificates(before);
      }
    });
  });

  test("a server with an untrusted certificate is not called", async () => {
    await withTlsServer(async (url) => {
      const { kind, error } = await failureOf({ url }, { resolve });
      expect([kind, error.type]).toEqual(["ordinary", "CertificateRejected"]);
      expect(error.message).toContain("its TLS certificate is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)");
    });
  });

  test("a server without TLS is not called", async () => {
    await using server = await RawServer.saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const { kind, error } = await failureOf({ url: server.url.replace("http", "https") });
    expect([kind, error.type]).toEqual(["transient", "ConnectionFailed"]);
  });
});

describe("connections", () => {
  test("serve later calls of the same organization, and of no other", async () => {
    const ports: (number | undefined)[] = [];
    await using server = await ScriptedServer.start((response) => {
      ports.push(response.socket?.remotePort);
      response.end();
    });
    const executor = http(localSettings);
    const signal = new AbortController().signal;
    try {
      for (const organizationId of ["a", "a", "a", "a", "a", "b"]) {
        await executor.call(requestOf({ organizationId, config: { url: server.endpoint.href } }), signal);
      }
    } finally {
      executor.close?.();
    }
    expect(new Set(ports.slice(0, 5)).size).toBeLessThan(5);
    expect(ports.indexOf(ports[5])).toBe(5);
  });

  test("stay open for the calls of more than two hundred organizations that begin at the same moment", async () => {
    await using server = await ScriptedServer.start((response) => response.end());
    const executor = http(localSettings);
    const signal = new AbortController().signal;
    const organizationIds = Array.from({ length: 300 }, (_, index) => String(index));
    const config = { url: server.endpoint.href, method: "POST" };
    const outcomes = await Promise.all(
      organizationIds.map((organizationId) => executor.call(requestOf({ organizationId, config }), signal)),
    ).finally(() => executor.close?.());
    expect(new Set(outcomes.map(({ type }) => type))).toEqual(new Set(["succeeded"]));
  });

  test("are kept for two hundred organizations at most, and are closed when the executor is closed", async () => {
    const agents = new Agents(new AddressRule([]));
    const first = await agents.of("0");
    for (let index = 1; index <= 200; index++) await agents.of(String(index));
    expect(agents.size).toBe(200);
    await expect.poll(() => first.closed).toBe(true);
    const last = await agents.of("200");
    agents.close();
    expect([agents.size, last.destroyed]).toEqual([0, true]);
  });
});

import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { requestOf } from "@stepwell/testing/functions/calls.ts";
import { failureOf, localSettings, outputOf } from "@stepwell/testing/functions/http-calls.ts";
import { type RawConnection, RawServer } from "@stepwell/testing/functions/raw-server.ts";
import { expect, test } from "vitest";
import { http } from "../../../src/engine/executors/http/http.ts";

// These tests use a server that misbehaves. Each call must end in time, with little memory, and with a failure that says what happened.

const json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const plain = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

type Talk = (connection: RawConnection) => unknown;

const say =
  (text: string | Buffer): Talk =>
  ({ socket }) =>
    socket.write(text);
const sayAndClose =
  (text: string | Buffer): Talk =>
  ({ socket }) =>
    socket.end(text);

/** Writes the same data again and again, as fast as the other side reads it, until the connection ends. */
function endlessly(begin: string, piece: string | Buffer): Talk {
  return ({ socket }) => {
    socket.write(begin);
    const write = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", write);
    write();
  };
}

function redirectTo(location: string): Talk {
  return say(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
}

const ways: readonly (readonly [string, Talk, { kind: string; type?: string; code?: string; message: string }])[] = [
  [
    "closes without an answer",
    ({ socket }) => socket.end(),
    { kind: "transient", type: "ConnectionBroken", message: "the connection broke" },
  ],
  [
    "resets the connection",
    ({ socket }) => socket.resetAndDestroy(),
    { kind: "transient", type: "ConnectionBroken", message: "(ECONNRESET)" },
  ],
  [
    "closes in the middle of the headers",
    sayAndClose("HTTP/1.1 200 OK\r\nContent-Ty"),
    { kind: "transient", type: "ConnectionBroken", message: "the connection broke" },
  ],
  [
    "closes in the middle of the body",
    sayAndClose(`${json}Content-Length: 9\r\n\r\n{"a":`),
    { kind: "transient", type: "ConnectionBroken", message: "the connection broke" },
  ],
  [
    "closes in the middle of a chunk",
    sayAndClose(`${json}Transfer-Encoding: chunked\r\n\r\n9\r\n{"a":`),
    { kind: "transient", type: "ConnectionBroken", message: "the connection broke" },
  ],
  [
    "sends a body without an end",
    endlessly(`${plain}\r\n`, Buffer.alloc(65_536, "a")),
    { kind: "permanent", code: "OutputTooLarge", message: "a body larger than 1048576 bytes" },
  ],
  [
    "sends chunks without an end",
    endlessly(`${plain}Transfer-Encoding: chunked\r\n\r\n`, "1\r\na\r\n".repeat(1_000)),
    { kind: "permanent", code: "OutputTooLarge", message: "a body larger than 1048576 bytes" },
  ],
  [
    "announces more than the limit",
    say(`${plain}Content-Length: 1048577\r\n\r\n${"a".repeat(1_048_577)}`),
    { kind: "permanent", code: "OutputTooLarge", message: "a body larger than 1048576 bytes" },
  ],
  [
    "sends headers without an end",
    endlessly("HTTP/1.1 200 OK\r\n", "X-A: b\r\n".repeat(1_000)),
    { kind: "ordinary", type: "InvalidAnswer", message: "(UND_ERR_HEADERS_OVERFLOW)" },
  ],
  [
    "sends one huge header",
    endlessly("HTTP/1.1 200 OK\r\nX-A: ", "b".repeat(10_000)),
    { kind: "ordinary", type: "InvalidAnswer", message: "(UND_ERR_HEADERS_OVERFLOW)" },
  ],
  [
    "sends trailers without an end",
    endlessly(`${plain}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n`, "X-A: b\r\n".repeat(1_000)),
    { kind: "ordinary", type: "InvalidAnswer", message: "(UND_ERR_HEADERS_OVERFLOW)" },
  ],
  [
    "sends interim answers without an end",
    endlessly("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(100)),
    { kind: "ordinary", type: "InvalidAnswer", message: "sends interim answers, but no final answer" },
  ],
  [
    "speaks HTTP/0.9",
    sayAndClose("<html>hello</html>"),
    { kind: "ordinary", type: "InvalidAnswer", message: "something that is not valid HTTP" },
  ],
  [
    "speaks SSH",
    say("SSH-2.0-OpenSSH_9.6\r\n"),
    { kind: "ordinary", type: "InvalidAnswer", message: "something that is not valid HTTP" },
  ],
  [
    "sends two lengths",
    say(`${plain}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
    { kind: "ordinary", type: "InvalidAnswer", message: "something that is not valid HTTP" },
  ],
  [
    "sends a length and chunks",
    say(`${plain}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`),
    { kind: "ordinary", type: "InvalidAnswer", message: "something that is not valid HTTP" },
  ],
  [
    "sends a length that is no number",
    say(`${plain}Content-Length: -1\r\n\r\na`),
    { kind: "ordinary", type: "InvalidAnswer", message: "something that is not valid HTTP" },
  ],
  [
    "sends a header with NUL",
    say(`${plain}X-A: a\0b\r\nContent-Length: 0\r\n\r\n`),
    { kind: "ordinary", type: "InvalidAnswer", message: "something that is not valid HTTP" },
  ],
  [
    "sends a bomb of zeros in gzip",
    sayAndClose(
      Buffer.concat([Buffer.from(`${plain}Content-Encoding: gzip\r\n\r\n`), gzipSync(Buffer.alloc(256 * 1024 * 1024))]),
    ),
    { kind: "permanent", code: "OutputTooLarge", message: "a body larger than 1048576 bytes" },
  ],
  [
    "calls something gzip that is not",
    say(`${json}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`),
    { kind: "permanent", type: "UnreadableBody", message: "cannot be unpacked from gzip" },
  ],
  [
    "uses an encoding that was not requested",
    say(`${json}Content-Encoding: compress, gzip\r\nContent-Length: 2\r\n\r\n{}`),
    { kind: "permanent", type: "UnreadableBody", message: "has a compression that the service cannot unpack" },
  ],
  [
    "calls something JSON that is not",
    say(`${json}Content-Length: 5\r\n\r\n<html`),
    { kind: "permanent", type: "UnreadableBody", message: "cannot be read as JSON" },
  ],
  [
    "sends JSON that the store cannot hold",
    say(`${json}Content-Length: 8\r\n\r\n"\\u0000"`),
    { kind: "permanent", type: "UnreadableBody", message: "cannot be read as JSON" },
  ],
  [
    "sends too deeply nested JSON",
    say(`${json}Content-Length: 1000000\r\n\r\n${"[".repeat(1_000_000)}`),
    { kind: "permanent", type: "UnreadableBody", message: "cannot be read as JSON" },
  ],
  [
    "calls something UTF-8 that is not",
    say(Buffer.concat([Buffer.from(`${plain}Content-Length: 2\r\n\r\n`), Buffer.from([0xc3, 0x28])])),
    { kind: "permanent", type: "UnreadableBody", message: "is not a text in utf-8" },
  ],
  [
    "names a charset that does not exist",
    say("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=klingon\r\nContent-Length: 1\r\n\r\na"),
    { kind: "permanent", type: "UnreadableBody", message: "is not a text in klingon" },
  ],
  [
    "sends text with NUL",
    say(`${plain}Content-Length: 3\r\n\r\na\0b`),
    { kind: "permanent", type: "UnreadableBody", message: "NUL" },
  ],
  [
    "redirects to itself",
    redirectTo("/again"),
    { kind: "permanent", type: "TooManyRedirects", message: "redirected more than 5 times" },
  ],
  [
    "redirects with a body without an end",
    endlessly("HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n", "a".repeat(10_000)),
    { kind: "permanent", type: "TooManyRedirects", message: "redirected more than 5 times" },
  ],
  [
    "redirects to the metadata of a cloud",
    redirectTo("http://169.254.169.254/latest/meta-data/"),
    { kind: "permanent", type: "RedirectRefused", message: "steps may not call" },
  ],
  [
    "redirects to the metadata by an odd number",
    redirectTo("http://2852039166/latest/meta-data/"),
    { kind: "permanent", type: "RedirectRefused", message: "steps may not call" },
  ],
  [
    "redirects to a private address of IPv6",
    redirectTo("//[::ffff:10.0.0.1]/"),
    { kind: "permanent", type: "RedirectRefused", message: "steps may not call" },
  ],
  [
    "redirects to a name with a private address",
    redirectTo("http://inside.test/"),
    { kind: "permanent", type: "AddressRefused", message: "steps may not call" },
  ],
  [
    "redirects to a port of mail",
    redirectTo("http://127.0.0.1:25/"),
    { kind: "permanent", type: "RedirectRefused", message: "names port 25" },
  ],
  [
    "redirects to a file",
    redirectTo("file:///etc/passwd"),
    { kind: "permanent", type: "RedirectRefused", message: "must begin with http" },
  ],
  [
    "redirects to an address with a password",
    redirectTo("http://a:b@127.0.0.1:8080/"),
    { kind: "permanent", type: "RedirectRefused", message: "must not contain a user" },
  ],
  [
    "redirects to nonsense",
    redirectTo("http://[/"),
    { kind: "permanent", type: "RedirectRefused", message: "something that is not an address" },
  ],
  [
    "redirects without a Location",
    say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
    { kind: "permanent", type: "HttpStatus302", message: "answered with status 302" },
  ],
  [
    "switches to another protocol",
    say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
    { kind: "transient", type: "ConnectionBroken", message: "the connection broke" },
  ],
  [
    "fails with a body without an end",
    endlessly("HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\n", "no ".repeat(10_000)),
    { kind: "ordinary", type: "HttpStatus500", message: "answered with status 500: no no" },
  ],
  [
    "fails and breaks the connection",
    sayAndClose("HTTP/1.1 503 Oops\r\nContent-Length: 9\r\n\r\nno"),
    { kind: "transient", type: "HttpStatus503", message: "answered with status 503" },
  ],
];

test("the list of misbehaving servers has more than twenty entries", () => {
  expect(new Set(ways.map(([name]) => name)).size).toBeGreaterThan(20);
});

test.each(ways)(
  "a server that %s fails the step with a clear message",
  async (_, talk, { message, kind, code, type }) => {
    await using server = await RawServer.start(onceOnEach(talk));
    const resolve = async () => ["10.0.0.1"];
    const failure = await failureOf(
      { url: `${server.url}a?k=secret` },
      { resolve, signal: AbortSignal.timeout(10_000) },
    );
    expect({ kind: failure.kind, code: failure.error.code, type: failure.error.type }).toEqual({
      kind,
      code: code ?? "ExecutorError",
      type,
    });
    expect(failure.error.message).toContain(message);
    expect(failure.error.message).not.toContain("secret");
    await server.ended();
  },
);

test.each<[string, Talk]>([
  ["never answers", () => {}],
  ["sends a status line without an end", endlessly("HTTP/1.1 200 ", "OK".repeat(10_000))],
  ["sends its headers byte by byte", dripping("HTTP/1.1 200 OK\r\nX-A: ")],
  ["sends its body byte by byte", dripping(`${plain}\r\n`)],
  ["sends a part of what it announced", say(`${plain}Content-Length: 9\r\n\r\nabc`)],
])("a call to a server that %s is aborted at the attempt's timeout", async (_, talk) => {
  await using server = await RawServer.start(onceOnEach(talk));
  const failure = await failureOf({ url: server.url }, { signal: AbortSignal.timeout(300), timeoutMs: 300 });
  expect(failure).toMatchObject({ kind: "ordinary", error: { code: "Timeout" } });
  await server.ended();
});

test("a server that refuses connections fails the step, which is retried because nothing was sent", async () => {
  const server = await RawServer.start(() => {});
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const { kind, error } = await failureOf({ url, method: "POST" });
  expect({ kind, type: error.type }).toEqual({ kind: "transient", type: "ConnectionFailed" });
  expect(error.message).toContain("(ECONNREFUSED)");
});

test.each(["ENOTFOUND", "ESERVFAIL", "ETIMEOUT"])("a name that does not resolve (%s) is retried", async (code) => {
  const resolve = async () => {
    throw Object.assign(new Error("no"), { code });
  };
  const { kind, error } = await failureOf({ url: "http://api.test/a", method: "POST" }, { resolve });
  expect({ kind, type: error.type }).toEqual({ kind: "transient", type: "NameNotResolved" });
  expect(error.message).toBe(`POST http://api.test/a cannot be reached: its name does not resolve (${code}).`);
});

test.each([
  ["POST", "ordinary"],
  ["PATCH", "ordinary"],
  ["PUT", "transient"],
  ["DELETE", "transient"],
])("a %s may have been carried out if its connection breaks: its failure is %s", async (method, expected) => {
  await using server = await RawServer.start(({ socket }) => socket.destroy());
  const { kind, error } = await failureOf({ url: server.url, method });
  expect({ kind, type: error.type }).toEqual({ kind: expected, type: "ConnectionBroken" });
});

test("a body after an answer that must not have a body is ignored, both for this answer and for the next", async () => {
  await using server = await RawServer.start(({ socket }) => {
    socket.write("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  });
  const executor = http(localSettings);
  try {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const request = requestOf({ attempt, config: { url: server.url, method: "POST" } });
      const result = await executor.call(request, AbortSignal.timeout(5_000));
      expect(result).toMatchObject({ type: "succeeded", output: { status: 204, body: null } });
    }
  } finally {
    executor.close?.();
  }
});

test("a kept connection that breaks during a later POST does not send it twice", async () => {
  const posts: string[] = [];
  const isUsed = new WeakSet<RawConnection>();
  await using server = await RawServer.start((connection) => {
    posts.push(connection.received().split("\r\n\r\n").at(-1) ?? "");
    if (isUsed.has(connection)) connection.socket.destroy();
    else connection.socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    isUsed.add(connection);
  });
  const executor = http(localSettings);
  const sent: string[] = [];
  try {
    for (;;) {
      const body = `post ${sent.length}`;
      sent.push(body);
      const request = requestOf({ config: { url: server.url, method: "POST", body } });
      const result = await executor.call(request, AbortSignal.timeout(5_000));
      if (result.type === "succeeded") continue;
      expect(result).toMatchObject({ kind: "ordinary", error: { type: "ConnectionBroken" } });
      break;
    }
  } finally {
    executor.close?.();
  }
  expect(posts).toEqual(sent);
  expect(server.connections.length).toBeLessThan(sent.length);
});

test.each(["/again", "http://[/", "http://169.254.169.254/"])(
  "a connection whose redirect to %s has an endless body is closed, even while the executor stays in use",
  async (location) => {
    const talk = endlessly(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\n\r\n`, "a".repeat(10_000));
    await using server = await RawServer.start(onceOnEach(talk));
    const executor = http(localSettings);
    try {
      const result = await executor.call(requestOf({ config: { url: server.url } }), new AbortController().signal);
      expect(result).toMatchObject({ type: "failed", kind: "permanent" });
      await server.ended();
    } finally {
      executor.close?.();
    }
  },
);

test("a message about a long address, or a long charset name, is short", async () => {
  const charset = "x".repeat(20_000);
  await using server = await RawServer.saying(
    `HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=${charset}\r\nContent-Length: 1\r\n\r\na`,
  );
  const { error } = await failureOf({ url: `${server.url}${"a".repeat(8_000)}` });
  expect(error.type).toBe("UnreadableBody");
  expect(error.message.length).toBeLessThan(500);
});

test("a step with a lower byte limit gets no more bytes than that", async () => {
  await using server = await RawServer.saying(`${plain}Content-Length: 4\r\n\r\nabcd`);
  const { error } = await failureOf({ url: server.url, maxBytes: 3 });
  expect(error).toMatchObject({ code: "OutputTooLarge", message: expect.stringContaining("larger than 3 bytes") });
  expect(await outputOf({ url: server.url, maxBytes: 4 })).toMatchObject({ body: "abcd" });
});

test("an answer whose characters need more bytes in JSON than an output may have is too large", async () => {
  const { maxOutputBytes } = localSettings;
  const length = Math.ceil(maxOutputBytes / 6);
  await using server = await RawServer.saying(`${plain}Content-Length: ${length}\r\n\r\n${"\x01".repeat(length)}`);
  const { error } = await failureOf({ url: server.url });
  expect(error).toMatchObject({ code: "OutputTooLarge", message: expect.stringContaining("makes an output larger") });
});

test("an aborted call ends at once, with its connection", async () => {
  await using server = await RawServer.start(() => abort.abort());
  const abort = new AbortController();
  const { error } = await failureOf({ url: server.url }, { signal: abort.signal });
  expect(error.message).toContain("was given up before it answered");
  await server.ended();
});

/** Answers the first data on each connection. A later request may come in two pieces; it is answered when an empty line ends it. */
function onceOnEach(talk: Talk): (connection: RawConnection) => void {
  const begun = new WeakSet<RawConnection>();
  return (connection) => {
    if (begun.has(connection) && !connection.received().endsWith("\r\n\r\n")) return;
    begun.add(connection);
    talk(connection);
  };
}

function dripping(begin: string): Talk {
  return async ({ socket }) => {
    for (const byte of begin) {
      socket.write(byte);
      await delay(1);
    }
    while (!socket.destroyed) {
      socket.write("a");
      await delay(5);
    }
  };
}

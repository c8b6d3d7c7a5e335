import { expect, test } from "vitest";
import { StepwellError } from "../src/error.ts";
import { retryingFetch } from "../src/retrying-fetch.ts";
import { ScriptedServer } from "./scripted-server.ts";

/** With a clock that does not run: how long it would have slept is what counts. */
function fetching(maxAttempts = 5) {
  const sleptMs: number[] = [];
  const send = retryingFetch({
    maxAttempts,
    fetch,
    sleep: async (ms) => {
      sleptMs.push(ms);
    },
  });
  return { send, sleptMs };
}

function post(url: string, headers: Record<string, string> = {}): Request {
  return new Request(url, { method: "POST", body: '{"a":1}', headers });
}

const busy = { status: 503, headers: { "retry-after": "1" } };

test("a POST is repeated with the same body under one key of its own until it is answered", async () => {
  const server = await ScriptedServer.start(busy, "drop", { status: 201, body: { jobId: "j" } });
  const { send } = fetching();

  const answers = [
    await send(post(`${server.baseUrl}/organizations/o/jobs`)),
    await send(post(`${server.baseUrl}/organizations/o/jobs`)),
  ];

  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(server.received.map(({ body }) => body)).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }]);
  const [first, second, third, other] = server.received.map(({ key }) => key);
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect([second, third]).toEqual([first, first]);
  expect(other).not.toBe(first);
});

test("a key that the caller brings is kept", async () => {
  const server = await ScriptedServer.start(busy, { status: 201 });
  await fetching().send(post(`${server.baseUrl}/organizations/o/jobs`, { "Idempotency-Key": "mine" }));
  expect(server.received.map(({ key }) => key)).toEqual(["mine", "mine"]);
});

test.each(["GET", "PUT", "PATCH", "DELETE"])("a %s is repeated, and carries no key", async (method) => {
  const server = await ScriptedServer.start(busy, { status: 200 });
  await fetching().send(new Request(`${server.baseUrl}/x`, { method }));
  expect(server.received.map((request) => [request.method, request.key])).toEqual([
    [method, undefined],
    [method, undefined],
  ]);
});

test("a service below a path of its own gets its keys as well", async () => {
  const server = await ScriptedServer.start(busy, { status: 201 });
  await fetching().send(post(`${server.baseUrl}/flow/organizations/o/workflows/w/versions`));
  expect(server.received.map(({ key }) => typeof key)).toEqual(["string", "string"]);
});

test.each([
  "/organizations/o/api-tokens",
  "/organizations/o/api-tokens/t/rotate",
  "/organizations/o/invitations",
  "/organizations/o/workflows/w/versions/validate",
  "/account/tokens",
])("a POST that takes no key is sent once, without one: %s", async (path) => {
  const server = await ScriptedServer.start(busy);
  const { send, sleptMs } = fetching();
  expect((await send(post(server.baseUrl + path))).status).toBe(503);
  expect(server.received.map(({ key }) => key)).toEqual([undefined]);
  expect(sleptMs).toEqual([]);
});

test("it waits as long as Retry-After says, else longer each time", async () => {
  const after = (seconds: string) => ({ "retry-after": seconds });
  const server = await ScriptedServer.start(
    { status: 503, headers: after("3") },
    { status: 429, headers: after("0") },
    { status: 504 },
    "drop",
    { status: 429, headers: after("59") },
    { status: 200 },
  );
  const { send, sleptMs } = fetching(6);
  expect((await send(new Request(server.baseUrl))).status).toBe(200);
  expect(sleptMs).toEqual([3_000, 0, 800, 1_600, 59_000]);
});

test("however long Retry-After is, it waits for no more than a minute", async () => {
  const server = await ScriptedServer.start({ status: 503, headers: { "retry-after": "86400" } }, { status: 200 });
  const { send, sleptMs } = fetching();
  await send(new Request(server.baseUrl));
  expect(sleptMs).toEqual([60_000]);
});

test.each([200, 201, 400, 401, 403, 404, 409, 413, 500])("an answer %i is final", async (status) => {
  const server = await ScriptedServer.start({ status, headers: { "retry-after": "1" } });
  expect((await fetching().send(post(server.baseUrl))).status).toBe(status);
  expect(server.received).toHaveLength(1);
});

test("after the last attempt the caller gets what the service answered last", async () => {
  const server = await ScriptedServer.start(busy, { status: 429, headers: { "retry-after": "2" } });
  const { send, sleptMs } = fetching(3);
  expect((await send(new Request(server.baseUrl))).status).toBe(429);
  expect(server.received).toHaveLength(3);
  expect(sleptMs).toEqual([1_000, 2_000]);
});

test("a service that cannot be reached is told apart from one that refuses, with its address", async () => {
  const server = await ScriptedServer.start({ status: 200 });
  await server.stop();
  const { send, sleptMs } = fetching(3);
  const error = await send(new Request(`${server.baseUrl}/organizations`)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StepwellError);
  expect(error).toMatchObject({ code: "UnavailableError", status: 0, cause: expect.any(TypeError) });
  expect(String(error)).toContain(server.baseUrl);
  expect(sleptMs).toEqual([200, 400]);
});

test("what the caller gives up is not tried again", async () => {
  const server = await ScriptedServer.start("drop");
  const { send, sleptMs } = fetching();
  const request = new Request(server.baseUrl, { signal: AbortSignal.abort() });
  await expect(send(request)).rejects.toBeInstanceOf(Error);
  expect(server.received).toEqual([]);
  expect(sleptMs).toEqual([]);
});

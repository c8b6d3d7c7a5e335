import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { StepwellError } from "../src/error.ts";
import { operationTable } from "../src/generated/operations.ts";
import type { AnyInput } from "../src/operation.ts";
import { type CallOptions, type ClientOptions, Transport } from "../src/transport.ts";
import { ScriptedServer } from "./scripted-server.ts";

/** A transport that leaves out its pauses, and has a fixed random number. The tests look at how long it would have paused. */
function transportTo(baseUrl: string, options: Partial<ClientOptions> = {}, chance = 1) {
  const pausedMs: number[] = [];
  const pause = async (ms: number) => void pausedMs.push(ms);
  const transport = new Transport({ baseUrl, token: "stw_1", ...options }, { pause, random: () => chance });
  const send = (name: keyof typeof operationTable, input: AnyInput = {}, options: CallOptions = {}) =>
    transport.send(operationTable[name], { path: somewhere, ...input }, options);
  const open = async (name: keyof typeof operationTable, options: CallOptions) =>
    (await transport.open(operationTable[name], { path: somewhere }, options)).response;
  return { send, open, pausedMs };
}

const somewhere = Object.fromEntries(
  ["organizationId", "workflowId", "tag", "jobId", "tokenId", "userId", "queue", "taskId", "role"].map((name) => [
    name,
    name,
  ]),
);
const body = { a: 1 };
const busy = { status: 503, headers: { "retry-after": "1" } };
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

test("a write is repeated with the same body under one new key until it is answered", async () => {
  const server = await ScriptedServer.start(busy, "drop", { status: 201, body: { jobId: "j" } });
  const { send } = transportTo(server.baseUrl);

  const answers = [await send("SubmitJob", { body }), await send("SubmitJob", { body })];

  expect(answers.map(({ response }) => response.status)).toEqual([201, 201]);
  expect(server.received.map(({ body }) => body)).toEqual([body, body, body, body]);
  const [first, second, third, other] = server.received.map(({ key }) => key);
  expect(first).toEqual(uuid);
  expect([second, third]).toEqual([first, first]);
  expect(other).not.toBe(first);
});

test("an answer that is cut off does not count, so the request is repeated", async () => {
  const server = await ScriptedServer.start(
    { status: 201, body: '{"jobId":', headers: { "content-length": "100" }, cut: "broken" },
    { status: 201, body: { jobId: "j" } },
  );
  const { send } = transportTo(server.baseUrl);
  expect((await send("SubmitJob", { body })).body).toEqual({ jobId: "j" });
  expect(server.received[1]).toEqual(server.received[0]);
});

test("an idempotency key that the caller gives is kept", async () => {
  const server = await ScriptedServer.start(busy, { status: 201 });
  await transportTo(server.baseUrl).send("SubmitJob", { body }, { idempotencyKey: "mine" });
  expect(server.received.map(({ key }) => key)).toEqual(["mine", "mine"]);
});

test("a read is repeated, and has no idempotency key", async () => {
  const server = await ScriptedServer.start(busy, { status: 200 });
  await transportTo(server.baseUrl).send("GetJob");
  expect(server.received).toMatchObject([
    { key: undefined, invocationId: undefined },
    { key: undefined, invocationId: undefined },
  ]);
});

test.each([
  "CreateApiToken",
  "RotateApiToken",
  "CreateInvitation",
  "SetWorkflowVersionTag",
  "DeleteTag",
  "UpdateRole",
] as const)(
  "a write without an idempotency key is repeated under one invocation id, with the number of each attempt: %s",
  async (name) => {
    const server = await ScriptedServer.start("drop", busy, { status: 200 });
    await transportTo(server.baseUrl).send(name, { body });
    const [first] = server.received;
    expect(first).toMatchObject({ key: undefined, invocationId: uuid });
    expect(server.received).toMatchObject(
      [1, 2, 3].map((attempt) => ({
        key: undefined,
        invocationId: first?.invocationId,
        attempt: `attempt=${attempt}; max=5`,
      })),
    );
  },
);

test("a request that is sent only once has no key, because nothing repeats it", async () => {
  const server = await ScriptedServer.start(busy);
  const { send } = transportTo(server.baseUrl, { maxAttempts: 1 });
  expect((await send("SubmitJob", { body })).response.status).toBe(503);
  await send("CreateApiToken", { body });
  expect(server.received).toMatchObject(Array(2).fill({ key: undefined, invocationId: undefined, attempt: undefined }));
});

test("a retry waits for Retry-After, or else longer each time", async () => {
  const after = (seconds: string) => ({ "retry-after": seconds });
  const server = await ScriptedServer.start(
    { status: 503, headers: after("3") },
    { status: 429, headers: after("0") },
    { status: 504 },
    "drop",
    { status: 429, headers: after("59") },
    { status: 200 },
  );
  for (const [chance, pauses] of [
    [0, [3_000, 0, 400, 800, 59_000]],
    [1, [3_300, 0, 800, 1_600, 64_900]],
  ] as const) {
    server.received.length = 0;
    const { send, pausedMs } = transportTo(server.baseUrl, { maxAttempts: 6 }, chance);
    expect((await send("GetJob")).response.status).toBe(200);
    expect(pausedMs.map(Math.round)).toEqual(pauses);
  }
});

test("Retry-After can be a date", async () => {
  const date = new Date(Date.now() + 30_000).toUTCString();
  const server = await ScriptedServer.start({ status: 503, headers: { "retry-after": date } }, { status: 200 });
  const { send, pausedMs } = transportTo(server.baseUrl, {}, 0);
  await send("GetJob");
  expect(pausedMs[0]).toBeGreaterThan(15_000);
  expect(pausedMs[0]).toBeLessThanOrEqual(30_000);
});

test("a call ends without a retry if Retry-After is longer than a minute", async () => {
  const server = await ScriptedServer.start({ status: 429, headers: { "retry-after": "61" } });
  const { send, pausedMs } = transportTo(server.baseUrl);
  expect((await send("GetJob")).response.status).toBe(429);
  expect(pausedMs).toEqual([]);
  expect(server.received).toHaveLength(1);
});

test.each([200, 201, 400, 401, 403, 404, 409, 413, 500])("an answer %i is final", async (status) => {
  const server = await ScriptedServer.start({ status, headers: { "retry-after": "1" } });
  expect((await transportTo(server.baseUrl).send("SubmitJob", { body })).response.status).toBe(status);
  expect(server.received).toHaveLength(1);
});

test("the caller gets the service's last answer after the last attempt", async () => {
  const server = await ScriptedServer.start(busy, { status: 429, headers: { "retry-after": "2" } });
  const { send, pausedMs } = transportTo(server.baseUrl, { maxAttempts: 3 }, 0);
  expect((await send("GetJob")).response.status).toBe(429);
  expect(server.received).toHaveLength(3);
  expect(pausedMs).toEqual([1_000, 2_000]);
});

test("a service that cannot be reached is a different error from an error answer, and the error has the address", async () => {
  const server = await ScriptedServer.start({ status: 200 });
  await server.stop();
  const { send, pausedMs } = transportTo(server.baseUrl, { maxAttempts: 3 });
  const error = await send("GetJob").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StepwellError);
  expect(error).toMatchObject({ code: "UnavailableError", status: 0, cause: expect.any(TypeError) });
  expect(String(error)).toContain(server.baseUrl);
  expect(pausedMs).toEqual([200, 400]);
});

test("an attempt without an answer is aborted after its timeout, plus the time for which the service may hold the answer, and repeated", async () => {
  const server = await ScriptedServer.start("hold", { status: 200, body: { jobId: "j" } });
  const { send } = transportTo(server.baseUrl, { attemptTimeoutMs: 250, maxAttempts: 50 });
  expect((await send("GetJob")).body).toEqual({ jobId: "j" });

  server.received.length = 0;
  const giveUp = new AbortController();
  const held = send("GetJob", { query: { waitSeconds: 600 } }, { signal: giveUp.signal });
  await expect.poll(() => server.received).toHaveLength(1);
  await expect(Promise.race([held, send("WhoAmI")])).resolves.toMatchObject({ response: { status: 200 } });
  const urls = server.received.map(({ url }) => url);
  expect(urls[0]).toBe("/organizations/organizationId/jobs/jobId?waitSeconds=600");
  // On a busy machine, even this answer can take longer than the timeout, and then it is asked for again.
  expect(new Set(urls.slice(1))).toEqual(new Set(["/whoami"]));
  giveUp.abort(new Error("enough"));
  await expect(held).rejects.toThrow("enough");
});

test("a call with all of its attempts takes no longer than its timeout, and its error says why the last attempt failed", async () => {
  const server = await ScriptedServer.start("drop", "hold");
  const { send } = transportTo(server.baseUrl);
  await expect(send("GetJob", {}, { timeoutMs: 500 })).rejects.toMatchObject({
    code: "TimeoutError",
    status: 0,
    detail: expect.stringContaining("500"),
    cause: { code: "UnavailableError", detail: expect.stringContaining("cannot be reached") },
  });
  expect(server.received).toHaveLength(2);
});

test("a call whose signal is aborted already is not sent, and a call that is aborted later is not retried", async () => {
  const server = await ScriptedServer.start("hold");
  const { send, pausedMs } = transportTo(server.baseUrl);
  await expect(send("GetJob", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
  expect(server.received).toEqual([]);
  const giveUp = new AbortController();
  const call = send("GetJob", {}, { signal: giveUp.signal });
  await expect.poll(() => server.received).toHaveLength(1);
  giveUp.abort();
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
  expect(server.received).toHaveLength(1);
  expect(pausedMs).toEqual([]);
});

test("one abort signal can end hundreds of calls without a leak warning of Node.js", async () => {
  const warnings: unknown[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on("warning", warn);
  const server = await ScriptedServer.start("hold");
  const { send } = transportTo(server.baseUrl);
  const giveUp = new AbortController();
  const calls = Array.from({ length: 30 }, () => send("GetJob", {}, { signal: giveUp.signal }));
  await expect.poll(() => server.received).toHaveLength(30);
  giveUp.abort(new Error("enough"));
  for (const call of calls) await expect(call).rejects.toThrow("enough");
  process.off("warning", warn);
  expect(warnings).toEqual([]);
});

test("an abort signal that lives long forgets each call, also when the answer of the call is read as it arrives", async () => {
  const text = { status: 200, body: "a long text" };
  const server = await ScriptedServer.start(busy, "drop", { status: 404 }, text, { ...text, cut: "open" });
  const { send, open } = transportTo(server.baseUrl);
  const { signal } = new AbortController();
  expect((await open("ExportAudit", { signal })).status).toBe(404);
  expect(await (await open("ExportAudit", { signal })).text()).toBe("a long text");
  await (await open("ExportAudit", { signal })).body?.cancel();
  await send("GetJob", {}, { signal, timeoutMs: 30 }).catch(() => {});
  await expect.poll(() => getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort signal ends the reading of an answer that has begun to arrive", async () => {
  const server = await ScriptedServer.start({ status: 200, body: "a long text", cut: "open" });
  const giveUp = new AbortController();
  const response = await transportTo(server.baseUrl).open("ExportAudit", { signal: giveUp.signal });
  const text = response.text();
  giveUp.abort(new Error("enough"));
  await expect(text).rejects.toThrow("enough");
});

test.each(["SubmitJob", "PollTasks"] as const)(
  "a request that waits long is aborted at once, also after a garbage collection: %s",
  async (name) => {
    const server = await ScriptedServer.start("hold");
    const { send } = transportTo(server.baseUrl);
    const giveUp = new AbortController();
    const ended = expect(send(name, { body }, { signal: giveUp.signal })).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => server.received).toHaveLength(1);
    await collectGarbage();
    giveUp.abort();
    await ended;
  },
);

test.each(["", ".", ".."])(
  "a value that would lead to another operation is rejected before anything is sent: %j",
  async (tag) => {
    const server = await ScriptedServer.start({ status: 204 });
    const { send } = transportTo(server.baseUrl);
    await expect(send("DeleteTag", { path: { ...somewhere, tag } })).rejects.toMatchObject({
      code: "ValidationError",
      status: 400,
      pointers: ["/tag"],
      detail: expect.stringMatching(/^The path is not valid: \/tag must be a string that is valid in the path /),
    });
    expect(server.received).toEqual([]);
  },
);

test("values of paths and queries arrive unchanged, and a list becomes one parameter for each value", async () => {
  const server = await ScriptedServer.start({ status: 200 });
  const { send } = transportTo(`${server.baseUrl}/flow/`);
  await send("GetTaggedWorkflowVersion", { path: { ...somewhere, tag: "a/b?$LIVE" } });
  await send("WatchJobs", { query: { job: ["o/1", "o/2"], left: undefined, isWaiting: true } });
  expect(server.received.map(({ url }) => url)).toEqual([
    "/flow/organizations/organizationId/workflows/workflowId/tags/a%2Fb%3F%24LIVE",
    "/flow/stream?job=o%2F1&job=o%2F2&isWaiting=true",
  ]);
});

test("a token that is renewed is read again for each attempt", async () => {
  const server = await ScriptedServer.start(busy, { status: 200 });
  const tokens = ["old", "new"];
  await transportTo(server.baseUrl, { token: async () => tokens.shift() ?? "" }).send("WhoAmI");
  expect(server.received.map(({ authorization }) => authorization)).toEqual(["Bearer old", "Bearer new"]);
});

test("an invalid address is reported at once", () => {
  expect(() => new Transport({ baseUrl: "localhost:8080", token: "" })).toThrow("http://");
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let round = 0; round < 5; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

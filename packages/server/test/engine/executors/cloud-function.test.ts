import { accountId, type Call, callOnce, configOf, requestOf, settings } from "@stepwell/testing/functions/calls.ts";
import {
  answer,
  awsError,
  functionError,
  type Script,
  ScriptedServer,
} from "@stepwell/testing/functions/scripted-server.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloudFunction } from "../../../src/engine/executors/cloud-function/cloud-function.ts";
import type { CloudFunctionSettings } from "../../../src/engine/executors/cloud-function/cloud-function-settings.ts";
import { type OfflineServer, startOfflineServer } from "../lambda/offline-server.ts";

// These tests call the functions of `functions.mjs`, which run in serverless-offline's Lambda server.

let offline: OfflineServer;
beforeAll(async () => {
  offline = await startOfflineServer();
});
afterAll(() => offline.stop());

function callFunction(functionName: string, call: Call = {}, own: Partial<CloudFunctionSettings> = {}) {
  return callOnce({ cloudFunctionEndpoint: offline.endpoint, ...own }, { config: configOf(functionName), ...call });
}

test("a function receives the step's input, and its answer is the step's output", async () => {
  const result = await callFunction("echo", { input: { sku: "Größe 42 🙂", counts: [1, 2.5, null] } });
  expect(result).toMatchObject({
    type: "succeeded",
    output: { event: { sku: "Größe 42 🙂", counts: [1, 2.5, null] } },
  });
});

test("the client context contains the job and the attempt of a call, and all attempts have the same idempotency key", async () => {
  const contexts = [];
  for (const attempt of [1, 2]) {
    const result = await callFunction("echo", { attempt });
    contexts.push(result.type === "succeeded" && (result.output as { clientContext: unknown }).clientContext);
  }
  const custom = {
    jobId: "019aa0e7-0000-7000-8000-0000000000b1",
    organizationId: "019aa0e7-0000-7000-8000-00000000000a",
    stepName: "reserve-stock",
    idempotencyKey: "019aa0e7-0000-7000-8000-0000000000b1:reserve-stock:1",
  };
  expect(contexts).toEqual([{ custom: { ...custom, attempt: 1 } }, { custom: { ...custom, attempt: 2 } }]);
});

test("a step whose name does not fit into a client context fails for good with a clear message", async () => {
  const stepName = "\u0001".repeat(256);
  const result = await callFunction("echo", { stepName, idempotencyKey: `job:${stepName}:1` });
  expect(result).toMatchObject({ kind: "permanent", error: { message: expect.stringContaining("name is too long") } });
});

test("a function with an empty answer has null as its output", async () => {
  expect(await callFunction("nothing")).toEqual({ type: "succeeded", output: null });
});

test("a function is called with its qualifier", async () => {
  expect(await callFunction("nothing", { config: configOf("nothing", { qualifier: "live" }) })).toMatchObject({
    type: "succeeded",
  });
});

test.each([
  ["throws", "out of stock"],
  ["rejects", "the card was declined"],
])("a function that %s fails the step with its own message and no stack", async (functionName, message) => {
  expect(await callFunction(functionName)).toEqual({
    type: "failed",
    kind: "ordinary",
    error: { code: "ExecutorError", type: "Error", message },
  });
});

test("a function that does not exist is named in the error", async () => {
  const result = await callFunction("reserv");
  expect(result).toMatchObject({ kind: "ordinary", error: { type: "ResourceNotFoundException" } });
  expect(result).toHaveProperty("error.message", expect.stringContaining(`eu-west-1:${accountId}:function:reserv.`));
});

test("a function that exceeds its own timeout fails with Timeout", async () => {
  expect(await callFunction("runsOut")).toMatchObject({ kind: "ordinary", error: { code: "Timeout" } });
});

test("the abort signal ends a call at the attempt's timeout", async () => {
  const result = await callFunction("lasts", { input: { milliseconds: 5_000 }, signal: AbortSignal.timeout(50) });
  expect(result).toMatchObject({ kind: "ordinary", error: { code: "Timeout" } });
});

test("a call ends a little after its timeout even without an abort signal", async () => {
  const result = await callFunction("lasts", { input: { milliseconds: 5_000 }, timeoutMs: 20 });
  expect(result).toMatchObject({
    kind: "ordinary",
    error: { code: "Timeout", message: "The function did not answer within 0.02 s." },
  });
});

test("a call may have the longest timeout that the platform's timers accept", async () => {
  const result = await callFunction("lasts", { input: { milliseconds: 20 }, timeoutMs: 2 ** 31 - 1 });
  expect(result).toMatchObject({ type: "succeeded" });
});

test("an answer of the maximum size is accepted, and a larger one fails for good", async () => {
  const maxOutputBytes = 1024 * 1024;
  const envelope = '{"text":""}'.length;
  const call = (bytes: number) => callFunction("answersLarge", { input: { bytes } }, { maxOutputBytes });
  expect(await call(maxOutputBytes - envelope)).toMatchObject({ type: "succeeded" });
  expect(await call(maxOutputBytes - envelope + 1)).toMatchObject({
    kind: "permanent",
    error: { code: "OutputTooLarge", message: expect.stringContaining("larger than 1048576 bytes") },
  });
});

test("an answer that is not JSON fails for good", async () => {
  expect(await callFunction("answersBrokenJson")).toMatchObject({
    kind: "permanent",
    error: { code: "ExecutorError", message: expect.stringContaining("cannot be read as JSON") },
  });
});

// Most of the tests below use a scripted server, because no emulator gives such answers.

async function callScripted(script: Script, own: Partial<CloudFunctionSettings> = {}, call: Call = {}) {
  await using server = await ScriptedServer.start(script);
  return await callOnce({ cloudFunctionEndpoint: server.endpoint, ...own }, call);
}

test.each([
  ["a NUL", '"a\\u0000b"'],
  ["half a surrogate pair", '"\\ud800"'],
  ["a number that JavaScript would change", "9007199254740993"],
  ["deeper nesting than allowed", `${"[".repeat(65)}${"]".repeat(65)}`],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
])("an answer with %s is rejected, like an input with the same content", async (_, body) => {
  expect(await callScripted(answer(body))).toMatchObject({ kind: "permanent", error: { code: "ExecutorError" } });
});

test("a function's error keeps the name of its class", async () => {
  const error = { errorType: "PaymentError", errorMessage: "the card was declined", trace: ["PaymentError: …"] };
  expect(await callScripted(functionError(error))).toEqual({
    type: "failed",
    kind: "ordinary",
    error: { code: "ExecutorError", type: "PaymentError", message: "the card was declined" },
  });
});

test("a function's error message is shortened, and unstorable characters are removed", async () => {
  const error = { errorType: "E".repeat(300), errorMessage: `a\0b\ud800${"c".repeat(2_000)}` };
  const result = await callScripted(functionError(error));
  expect(result).toHaveProperty("error.type", `${"E".repeat(256)}…`);
  expect(result).toHaveProperty("error.message", `ab\ufffd${"c".repeat(996)}…`);
});

test.each([
  ["no object", "null"],
  ["no JSON", "Runtime exited"],
  ["an object without a message", { code: 1 }],
])("a function's error that is %s still says where to look", async (_, error) => {
  expect(await callScripted(functionError(error))).toMatchObject({
    kind: "ordinary",
    error: { code: "ExecutorError", message: "The function failed without a message. Look at its log." },
  });
});

test.each([
  [{ errorType: "Sandbox.Timedout", errorMessage: "RequestId: 1 Error: Task timed out after 3.00 seconds" }],
  [{ errorMessage: "2026-01-01T00:00:00.000Z 1 Task timed out after 3.00 seconds" }],
])("an error of Lambda for a function's exceeded timeout is a Timeout: %j", async (error) => {
  expect(await callScripted(functionError(error))).toMatchObject({ kind: "ordinary", error: { code: "Timeout" } });
});

test("a large error of a function keeps its type and message, even if the limit of outputs is small", async () => {
  const error = { errorType: "E", errorMessage: "m", trace: ["x".repeat(100_000)] };
  const result = await callScripted(functionError(error), { maxOutputBytes: 1024 });
  expect(result).toMatchObject({ error: { code: "ExecutorError", type: "E", message: "m" } });
});

test.each([
  [429, "TooManyRequestsException", "transient"],
  [409, "ResourceConflictException", "transient"],
  [500, "ServiceException", "transient"],
  [502, "EC2ThrottledException", "transient"],
  [503, "ServiceUnavailable", "transient"],
  [400, "InvalidParameterValueException", "ordinary"],
  [403, "AccessDeniedException", "ordinary"],
  [413, "RequestTooLargeException", "permanent"],
])("AWS's error %i %s counts as %s", async (status, type, kind) => {
  const result = await callScripted(awsError(status, type, "the reason"));
  expect(result).toMatchObject({ type: "failed", kind, error: { code: "ExecutorError", type } });
});

test("a failure that comes as HTML, as from a proxy, is reported by its status", async () => {
  const result = await callScripted((response) => response.writeHead(502).end("<html>Bad gateway</html>"));
  expect(result).toMatchObject({ kind: "transient", error: { message: expect.stringContaining("status 502") } });
});

test("AWS's message about a wrong signature is not passed on, since it contains the session token", async () => {
  const refuse = awsError(403, "InvalidSignatureException", "should have been 'x-amz-security-token:SECRET'");
  const result = await callScripted(refuse);
  expect(result).toMatchObject({ kind: "ordinary", error: { type: "InvalidSignatureException" } });
  expect(JSON.stringify(result)).not.toContain("SECRET");
});

test("a connection that breaks before or during the answer is a transient failure", async () => {
  const before = await callScripted((response) => response.destroy());
  const within = await callScripted((response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write('{"half":', () => response.destroy());
  });
  for (const result of [before, within]) {
    expect(result).toMatchObject({ kind: "transient", error: { message: expect.stringContaining("ECONNRESET") } });
  }
});

test("a connection that is refused is a transient failure and names the endpoint", async () => {
  const server = await ScriptedServer.start(answer("null"));
  const { endpoint } = server;
  await server[Symbol.asyncDispose]();
  expect(await callOnce({ cloudFunctionEndpoint: endpoint })).toMatchObject({
    kind: "transient",
    error: { message: expect.stringContaining(`${endpoint.origin} (ECONNREFUSED)`) },
  });
});

test("an endpoint whose name does not resolve is a transient failure", async () => {
  expect(await callOnce({ cloudFunctionEndpoint: new URL("http://lambda.invalid") })).toMatchObject({
    kind: "transient",
    error: { message: expect.stringMatching(/lambda\.invalid \((ENOTFOUND|EAI_AGAIN)\)/) },
  });
});

test("an endless answer is not read beyond its limit", async () => {
  const endless: Script = (response) => {
    // Node.js 26 reports a lost connection only by an error, which comes before the response counts as destroyed.
    const write = (error?: Error | null) =>
      void (!error && !response.destroyed && response.write("x".repeat(65_536), write));
    response.writeHead(200);
    write();
  };
  expect(await callScripted(endless)).toMatchObject({ kind: "permanent", error: { code: "OutputTooLarge" } });
});

test("the abort signal ends a call whose answer arrives very slowly", async () => {
  const drip: Script = (response) => void response.writeHead(200).write("[");
  const result = await callScripted(drip, {}, { signal: AbortSignal.timeout(50) });
  expect(result).toMatchObject({ error: { code: "Timeout" } });
});

test("200 calls run side by side", async () => {
  const waiting: (() => void)[] = [];
  const answerWhenAllAreHere: Script = (response) => {
    waiting.push(() => response.end("1"));
    if (waiting.length === 200) for (const finish of waiting) finish();
  };
  await using server = await ScriptedServer.start(answerWhenAllAreHere);
  const executor = cloudFunction({ ...settings, cloudFunctionEndpoint: server.endpoint });
  const calls = Array.from({ length: 200 }, () =>
    executor.call(requestOf({ timeoutMs: 30_000 }), new AbortController().signal),
  );
  const results = await Promise.all(calls);
  executor.close?.();
  expect(results.every((result) => result.type === "succeeded")).toBe(true);
});

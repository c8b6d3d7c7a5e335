import { expect, onTestFinished, test } from "vitest";
import { createClient, Worker } from "../src/index.ts";
import { type Scripted, ScriptedServer } from "./scripted-server.ts";

const conflict: Scripted = {
  status: 409,
  body: { status: 409, code: "ConflictError", detail: "The task is not yours any more." },
};

const oneTask: Scripted = { status: 200, body: { tasks: [{ taskId: "t", input: { n: 1 }, heartbeatSeconds: 60 }] } };
const answered: Scripted = { status: 200, body: { taskId: "t" } };
const unknown: Scripted = {
  status: 401,
  body: { status: 401, code: "AuthenticationError", detail: "The token is not valid." },
};

/** A worker that gets one task, and after it the answers of `script`. It does one thing at a time, so the order of its requests is known. */
async function workerOf(...script: Scripted[]) {
  const server = await ScriptedServer.start(oneTask, ...script, "hold");
  const errors: unknown[] = [];
  const client = createClient({ baseUrl: server.baseUrl, token: "stw_1" });
  const worker = new Worker({
    client,
    organizationId: "o",
    queue: "q",
    concurrency: 1,
    work: ({ input }) => input,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => worker.stop(0));
  await expect.poll(() => server.received.length).toBe(script.length + 2);
  return { errors, answers: server.received.slice(1, -1) };
}

test("a worker answers a task without an idempotency key, because the task's id identifies a repetition", async () => {
  const { errors, answers } = await workerOf(answered);
  expect(answers).toMatchObject([
    {
      url: "/organizations/o/tasks/t/complete",
      authorization: "Bearer stw_1",
      key: undefined,
      body: { output: { n: 1 } },
    },
  ]);
  expect(errors).toEqual([]);
});

test("an unacknowledged answer is sent again, and a conflict then is no error", async () => {
  const { errors, answers } = await workerOf("drop", conflict);
  expect(answers[1]).toEqual(answers[0]);
  expect(errors).toMatchObject([{ status: 0 }]);
});

test("an answer that is rejected because the service is busy is sent again, and a conflict then means that the task is lost", async () => {
  const { errors } = await workerOf(
    { status: 429, body: { status: 429, code: "RateLimitError", detail: "Later." } },
    conflict,
  );
  expect(errors).toMatchObject([{ status: 429 }, { status: 409 }]);
});

test("an answer that comes too late is an error of the task", async () => {
  const { errors } = await workerOf(conflict);
  expect(errors).toMatchObject([{ status: 409 }]);
});

test("an abort signal stops a worker that waits for tasks, and a signal that is already aborted lets it take none", async () => {
  const server = await ScriptedServer.start("hold");
  const client = createClient({ baseUrl: server.baseUrl, token: "stw_1" });
  const stop = new AbortController();
  const options = { client, organizationId: "o", queue: "q", work: () => null, signal: stop.signal };
  const worker = new Worker(options);
  await expect.poll(() => server.received.length).toBe(1);
  stop.abort();
  await worker.ended;
  await new Worker(options).ended;
  expect(server.received).toHaveLength(1);
});

test("a worker that stops has ended only when the task under way is over", async () => {
  const server = await ScriptedServer.start(oneTask, "hold", answered);
  const client = createClient({ baseUrl: server.baseUrl, token: "stw_1" });
  const finish = Promise.withResolvers<object>();
  const worker = new Worker({ client, organizationId: "o", queue: "q", work: () => finish.promise });
  const runningAtEnd = worker.ended.then(() => worker.runningCount);
  await expect.poll(() => server.received.length).toBe(2);
  const stopped = worker.stop();
  finish.resolve({ done: true });
  expect(await runningAtEnd).toBe(0);
  expect(server.received[2]).toMatchObject({
    url: "/organizations/o/tasks/t/complete",
    body: { output: { done: true } },
  });
  await stopped;
});

test("a worker that is no longer accepted says so at once, and has ended when the task under way is over", async () => {
  const server = await ScriptedServer.start(oneTask, unknown, answered);
  const client = createClient({ baseUrl: server.baseUrl, token: "stw_1" });
  const rejected = Promise.withResolvers<unknown>();
  const options = { client, organizationId: "o", queue: "q", work: () => rejected.promise.then(() => null) };
  const worker = new Worker({ ...options, onError: rejected.resolve });
  const ended = worker.ended.catch((error: unknown) => ({ error, runningCount: worker.runningCount }));
  expect(await ended).toMatchObject({ error: { status: 401 }, runningCount: 0 });
  expect(server.received[2]).toMatchObject({ url: "/organizations/o/tasks/t/complete" });
});

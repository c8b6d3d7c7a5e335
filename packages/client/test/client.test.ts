import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, expectTypeOf, test } from "vitest";
import {
  type components,
  createClient,
  type Item,
  isConflict,
  isInvalid,
  isNotAllowed,
  isNotFound,
  isTimeout,
  isUnreachable,
  type Job,
  StepwellClient,
  StepwellError,
} from "../src/index.ts";
import { type Scripted, ScriptedServer } from "./scripted-server.ts";

async function clientOf(...script: Scripted[]) {
  const server = await ScriptedServer.start(...script);
  return { server, client: createClient({ baseUrl: `${server.baseUrl}/`, token: "stw_1" }) };
}

function ok(body: unknown): Scripted {
  return { status: 200, body };
}

const job = { organizationId: "o", jobId: "j" };
const kinds = [isInvalid, isNotAllowed, isNotFound, isConflict, isUnreachable, isTimeout];
const version = { workflowId: "w", versionId: "v", versionNumber: 1 };
const made = { ...version, created: true };

test("every request carries the token, and has the path from the API document", async () => {
  const { server, client } = await clientOf(ok({ jobId: "j", status: "RUNNING" }));
  expect(await client.getJob("o", "j")).toMatchObject({ status: "RUNNING" });
  expect(server.received).toMatchObject([
    { method: "GET", url: "/organizations/o/jobs/j", authorization: "Bearer stw_1", key: undefined },
  ]);
});

test("a submission that is answered 503 is repeated under one key, and under the caller's own key if there is one", async () => {
  const busy = { status: 503, headers: { "retry-after": "0" } };
  const { server, client } = await clientOf(busy, { status: 201, body: { jobId: "j" } });
  expect(await client.submitJob("o", { workflowId: "w" })).toMatchObject({ jobId: "j" });
  expect(server.received).toHaveLength(2);
  expect(server.received[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
  expect(server.received[1]).toEqual(server.received[0]);

  await client.submitJob("o", { workflowId: "w" }, { idempotencyKey: "mine", waitSeconds: 5 });
  expect(server.received[2]).toMatchObject({ key: "mine", url: "/organizations/o/jobs?waitSeconds=5" });
});

test("a creation of a token is repeated under one invocation id, so that a lost answer leaves one token", async () => {
  const created = { tokenId: "t", token: "stw_2" };
  const { server, client } = await clientOf("drop", { status: 201, body: created });
  const body = { name: "t", permissions: ["job:read" as const] };
  expect(await client.call("CreateApiToken", { path: { organizationId: "o" }, body })).toEqual(created);
  const [first, second] = server.received;
  expect(first?.invocationId).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toEqual({ ...first, attempt: "attempt=2; max=5" });
});

test("an error that the service answers is thrown, with all of its problems", async () => {
  const problem = {
    type: "urn:stepwell:error:ValidationError",
    title: "The request is not valid",
    status: 400,
    detail: "The body is not valid.",
    code: "ValidationError",
    requestId: "r",
    errors: [
      { pointer: "/workflowId", detail: "must be a UUID" },
      { pointer: "", detail: "is wrong as a whole" },
    ],
  };
  const { client } = await clientOf({
    status: 400,
    headers: { "content-type": "application/problem+json" },
    body: problem,
  });
  const error = await client.submitJob("o", { workflowId: "w" }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StepwellError);
  expect(error).toMatchObject({
    name: "ValidationError",
    code: "ValidationError",
    status: 400,
    requestId: "r",
    title: "The request is not valid",
    detail: "The body is not valid.",
    type: "urn:stepwell:error:ValidationError",
    errors: problem.errors,
    pointers: ["/workflowId", ""],
    message: "The body is not valid.\n  /workflowId: must be a UUID\n  (whole): is wrong as a whole",
  });
});

test("if the detail of an error contains its only problem, the message does not repeat the problem", async () => {
  const detail = "The body is not valid: /workflowId must be a UUID.";
  const errors = [{ pointer: "/workflowId", detail: "must be a UUID" }];
  const problem = { title: "The request is not valid", status: 400, code: "ValidationError", detail, errors };
  const { client } = await clientOf({
    status: 400,
    headers: { "content-type": "application/problem+json" },
    body: problem,
  });
  await expect(client.submitJob("o", { workflowId: "w" })).rejects.toMatchObject({ message: detail, errors });
});

test("an answer that does not come from Stepwell is thrown as an unexpected answer", async () => {
  const { client } = await clientOf({ status: 418, body: "<h1>I am a proxy</h1>" });
  await expect(client.getJob("o", "j")).rejects.toMatchObject({ code: "UnhandledError", status: 418 });
});

test.each([
  ["<h1>Sign in to the Wi-Fi</h1>", "with a text that is not JSON."],
  ["", "with nothing."],
  ["null", "with JSON that is not an answer of Stepwell."],
  ["[]", "with JSON that is not an answer of Stepwell."],
  ['"jobId"', "with JSON that is not an answer of Stepwell."],
  ['{"status":"ok"}', "with JSON that is not an answer of Stepwell."],
])(
  "a success status with another body than Stepwell's is an error, because something else answers at this address: %s",
  async (body, what) => {
    const { client } = await clientOf({ status: 200, body });
    const foreign = { code: "UnhandledError", status: 200, detail: expect.stringContaining(what) };
    await expect(client.getJob("o", "j")).rejects.toMatchObject(foreign);
    await expect(client.listJobs("o").toArray()).rejects.toMatchObject(foreign);
  },
);

test.each([
  { code: 7, detail: "a number" },
  { code: "Broken", detail: ["a list"] },
  { code: "Broken", detail: "with errors that are none", errors: {} },
])("an error answer in another format keeps its status: %j", async (body) => {
  const { client } = await clientOf({ status: 409, body });
  await expect(client.getJob("o", "j")).rejects.toMatchObject({ code: "UnhandledError", status: 409, errors: [] });
});

test.each([
  [400, [isInvalid]],
  [401, [isNotAllowed]],
  [403, [isNotAllowed]],
  [404, [isNotFound]],
  [409, [isConflict]],
  [412, [isConflict]],
  [429, []],
  [500, []],
  [502, [isUnreachable]],
  [503, [isUnreachable]],
  [504, [isUnreachable]],
])("an error with the status %i has the right kind", async (status, names) => {
  const { server, client } = await clientOf({ status, headers: { "retry-after": "7" } });
  const error = await client.call("GetJob", { path: job }, { maxAttempts: 1 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status, retryAfterSeconds: 7 });
  expect(kinds.filter((isKind) => isKind(error))).toEqual(names);
  expect(kinds.filter((isKind) => isKind(new Error("another")))).toEqual([]);
  expect(server.received).toHaveLength(1);
});

test("a missing answer and a timeout are different errors", async () => {
  const { client } = await clientOf("drop", "hold");
  const none = await client.call("GetJob", { path: job }, { maxAttempts: 1 }).catch((thrown: unknown) => thrown);
  expect(kinds.filter((isKind) => isKind(none))).toEqual([isUnreachable]);
  const late = await client.call("GetJob", { path: job }, { timeoutMs: 20 }).catch((thrown: unknown) => thrown);
  expect(kinds.filter((isKind) => isKind(late))).toEqual([isTimeout]);
});

test("an operation accepts exactly the documented input, and returns the documented output", async () => {
  const { server, client } = await clientOf(ok({ jobId: "j", status: "RUNNING" }), { status: 204 }, ok({ jobs: [] }));
  expectTypeOf(await client.call("GetJob", { path: job, query: { waitSeconds: 1 } })).toEqualTypeOf<Job>();
  expectTypeOf(
    await client.call("DeleteWorkflow", { path: { organizationId: "o", workflowId: "w" } }),
  ).toEqualTypeOf<undefined>();
  const { jobs } = await client.call("ListJobs", { path: { organizationId: "o" }, query: { status: "FAILED" } });
  expectTypeOf(jobs).toEqualTypeOf<components["schemas"]["ListedJob"][]>();
  expectTypeOf<Item<"ListJobs">>().toEqualTypeOf<components["schemas"]["ListedJob"]>();
  expect(server.received.map(({ method, url }) => [method, url])).toEqual([
    ["GET", "/organizations/o/jobs/j?waitSeconds=1"],
    ["DELETE", "/organizations/o/workflows/w"],
    ["GET", "/organizations/o/jobs?status=FAILED"],
  ]);
  const wrong = [
    // @ts-expect-error This operation opens a stream.
    () => client.call("WatchJob", { path: job }),
    // @ts-expect-error There is no such operation.
    () => client.call("GetJobs", { path: job }),
    // @ts-expect-error The job is missing.
    () => client.call("GetJob", { path: { organizationId: "o" } }),
    // @ts-expect-error There is no such filter.
    () => client.call("ListJobs", { path: { organizationId: "o" }, query: { state: "FAILED" } }),
    // @ts-expect-error The body is missing.
    () => client.call("SubmitJob", { path: { organizationId: "o" } }),
    // @ts-expect-error This operation takes no body.
    () => client.call("GetJob", { path: job, body: {} }),
    // @ts-expect-error This operation does not return pages.
    () => client.list("GetJob", { path: job }),
  ];
  expect(wrong).toHaveLength(7);
});

test("an answer is available with its status and headers", async () => {
  const { client } = await clientOf({ status: 201, headers: { "idempotency-replayed": "true" }, body: { jobId: "j" } });
  const input = { path: { organizationId: "o" }, body: { workflowId: "w" } };
  const { status, headers, body } = await client.request("SubmitJob", input);
  expect([status, headers.get("Idempotency-Replayed"), body]).toEqual([201, "true", { jobId: "j" }]);
});

test("a call by path returns data or the problem, and throws neither", async () => {
  const problem = { status: 404, code: "NotFoundError", detail: "There is none." };
  const text = { status: 200, body: ": hello\n\n" };
  const { server, client } = await clientOf(ok({ jobId: "j" }), { status: 404, body: problem }, text);
  const params = { path: job, query: { waitSeconds: 3 } };
  const found = await client.api.GET("/organizations/{organizationId}/jobs/{jobId}", { params });
  expectTypeOf(found.data).toEqualTypeOf<Job | undefined>();
  expect(found).toMatchObject({ data: { jobId: "j" }, response: { ok: true, status: 200 } });
  expectTypeOf(found.response).toEqualTypeOf<Response>();
  const body = { workflowId: "w" };
  const missing = await client.api.POST("/organizations/{organizationId}/jobs", { params: { path: job }, body });
  expect(missing).toMatchObject({ error: problem, response: { ok: false, status: 404 } });
  expect(server.received).toMatchObject([
    { url: "/organizations/o/jobs/j?waitSeconds=3" },
    { body, key: expect.any(String) },
  ]);
  const stream = await client.api.GET("/organizations/{organizationId}/jobs/{jobId}/stream", {
    params: { path: job, header: { "Last-Event-ID": "1" } },
    parseAs: "stream",
  });
  expect([await new Response(stream.data).text(), server.received[2]?.lastEventId]).toEqual([": hello\n\n", "1"]);
  // @ts-expect-error This path has no DELETE.
  const wrong = () => client.api.DELETE("/organizations/{organizationId}/jobs", { params });
  expect(wrong).toBeTypeOf("function");
});

test("a list requests a page only when it is needed, and each iteration begins again", async () => {
  const pages = [
    ok({ workflows: [{ name: "a" }, { name: "b" }], nextPageToken: "2" }),
    ok({ workflows: [{ name: "c" }] }),
  ];
  const { server, client } = await clientOf(...pages, ...pages, ...pages);
  const list = client.listWorkflows("o");
  const names: string[] = [];
  for await (const { name } of list) {
    names.push(name);
    if (name === "b") expect(server.received).toHaveLength(1);
  }
  expect(names).toEqual(["a", "b", "c"]);
  const [whole, part] = [await list.toArray(), await list.toArray(2)];
  expect([whole, part].map((items) => items.map(({ name }) => name))).toEqual([
    ["a", "b", "c"],
    ["a", "b"],
  ]);
  expect(server.received.map(({ url }) => url.replace("/organizations/o/workflows", ""))).toEqual([
    "?pageSize=100",
    "?pageSize=100&pageToken=2",
    "?pageSize=100",
    "?pageSize=100&pageToken=2",
    "?pageSize=100",
  ]);
});

test.each([{ workflows: 7 }, { workflows: [null] }, { workflows: {} }])(
  "an answer without a list of objects does not come from Stepwell: %j",
  async (body) => {
    const { client } = await clientOf(ok(body));
    await expect(client.listWorkflows("o").toArray()).rejects.toMatchObject({
      code: "UnhandledError",
      detail: expect.stringContaining("JSON that is not an answer of Stepwell"),
    });
  },
);

test("a list ends with an error when a page names itself as the next one, because it would never end", async () => {
  const page = ok({ workflows: [], nextPageToken: "2" });
  const { server, client } = await clientOf(page, page, page);
  await expect(client.listWorkflows("o").toArray()).rejects.toMatchObject({
    detail: expect.stringContaining("a page that names itself as the next one"),
  });
  expect(server.received).toHaveLength(2);
});

test("a list keeps its filters on every page, and can be read page by page", async () => {
  const { server, client } = await clientOf(ok({ jobs: [{}], totalCount: 2, nextPageToken: "x" }), ok({ jobs: [{}] }));
  const totals: unknown[] = [];
  const list = client.listJobs("o", { status: "FAILED", pageSize: 1, includeTotal: true });
  for await (const { totalCount } of list.pages()) totals.push(totalCount);
  expect(totals).toEqual([2, undefined]);
  expect(server.received.map(({ url }) => url.split("?")[1])).toEqual([
    "status=FAILED&pageSize=1&includeTotal=true",
    "status=FAILED&pageSize=1&includeTotal=true&pageToken=x",
  ]);
});

test("waiting for a job repeats its request until the job has ended, and the service holds each request", async () => {
  const { server, client } = await clientOf(
    ok({ jobId: "j", status: "PENDING" }),
    ok({ jobId: "j", status: "RUNNING" }),
    ok({ jobId: "j", status: "FAILED" }),
  );
  expect(await client.waitForJob("o", "j")).toMatchObject({ status: "FAILED" });
  expect(server.received.map(({ url }) => url)).toEqual(Array(3).fill("/organizations/o/jobs/j?waitSeconds=30"));
});

test("a caller that aborts the wait for a job gets an error, and no more requests are sent", async () => {
  const { server, client } = await clientOf(ok({ jobId: "j", status: "RUNNING" }));
  const giveUp = new AbortController();
  const waiting = client.waitForJob("o", "j", giveUp.signal);
  await expect.poll(() => server.received.length).toBeGreaterThan(1);
  giveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  // A request that was sent before the abort can arrive after it. This call gives such a request the time to arrive.
  await client.getJob("o", "j");
  const asked = server.received.length;
  await client.getJob("o", "j");
  expect(server.received).toHaveLength(asked + 1);
});

test("a caller that aborts the wait gets the error at once, also while the service still holds the answer", async () => {
  const { server, client } = await clientOf("hold");
  const giveUp = new AbortController();
  const waiting = client.waitForJob("o", "j", giveUp.signal);
  await expect.poll(() => server.received.length).toBe(1);
  giveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("waiting for a job survives an outage, and ends if the outage lasts too long or the service rejects the request", async () => {
  const busy = { status: 503, headers: { "retry-after": "0" } };
  const outage = ["drop" as const, ...Array<Scripted>(7).fill(busy)];
  const { client } = await clientOf(...outage, ok({ jobId: "j", status: "SUCCEEDED" }), { status: 404 });
  expect(await client.waitForJob("o", "j")).toMatchObject({ status: "SUCCEEDED" });
  await expect(client.waitForJob("o", "j")).rejects.toMatchObject({ status: 404 });
  const { client: cutOff } = await clientOf("drop");
  await expect(cutOff.waitForJob("o", "j", { maxOutageMs: 1 })).rejects.toMatchObject({ status: 0 });
});

test("waiting for a job ends after the given time", async () => {
  const { client } = await clientOf(ok({ jobId: "j", status: "RUNNING" }), "hold");
  await expect(client.waitForJob("o", "j", { timeoutMs: 30 })).rejects.toMatchObject({ code: "TimeoutError" });
});

test("submitting and waiting takes one request for a short job, and more requests for a long one", async () => {
  const whole = { jobId: "j", steps: [] };
  const { server, client } = await clientOf(
    { status: 201, body: { ...whole, status: "SUCCEEDED" } },
    "drop",
    { status: 201, body: { ...whole, status: "RUNNING" } },
    ok({ ...whole, status: "RUNNING" }),
    ok({ ...whole, status: "CANCELLED" }),
  );
  expect(await client.submitAndWait("o", { workflowId: "w" })).toMatchObject({ status: "SUCCEEDED" });
  expect(server.received).toHaveLength(1);
  expect(await client.submitAndWait("o", { workflowId: "w" })).toMatchObject({ status: "CANCELLED" });
  const [, first, second, ...asked] = server.received;
  expect(first).toMatchObject({ key: expect.any(String), url: "/organizations/o/jobs?waitSeconds=30" });
  expect(second).toEqual(first);
  expect(asked.map(({ url }) => url)).toEqual(Array(2).fill("/organizations/o/jobs/j?waitSeconds=30"));
});

test("watching a job continues after the last entry if the stream broke, ended early or fell silent", async () => {
  const stream = (...entries: readonly (readonly [number, string])[]) => ({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: `: hello\n\n${entries.map(([sequence, type]) => `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify({ sequence, type })}\n\n`).join("")}`,
  });
  const { server, client } = await clientOf(
    { ...stream([1, "job.submitted"]), cut: "broken" },
    "drop",
    stream([2, "job.started"]),
    { ...stream([3, "job.failed"], [4, "job.resumed"]), cut: "open" },
    { status: 503, headers: { "retry-after": "0" } },
    stream([5, "step.succeeded"], [6, "job.succeeded"]),
  );
  const seen: number[] = [];
  for await (const { sequence } of client.watchJob("o", "j", { maxSilenceMs: 1_000 })) seen.push(sequence);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(server.received.map(({ lastEventId }) => lastEventId)).toEqual(["0", "1", "1", "2", "4", "4"]);
});

test("a program that watches a job is notified once of each outage, before the watch continues", async () => {
  const streamed = (...sequences: readonly number[]) => ({
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: sequences.map((sequence) => `data: ${JSON.stringify({ sequence, type: "step.started" })}\n\n`).join(""),
  });
  const last = { ...streamed(), body: 'data: {"sequence":3,"type":"job.succeeded"}\n\n' };
  const { client } = await clientOf({ ...streamed(1), cut: "broken" }, "drop", streamed(2), last);
  const told: string[] = [];
  const seen: (number | string)[] = [];
  const watched = client.watchJob("o", "j", { onOutage: ({ detail }) => told.push(detail) });
  for await (const { sequence } of watched) seen.push(sequence);
  expect([seen, told]).toEqual([
    [1, 2, 3],
    ["The connection was lost during the stream.", "The stream ended before the job did."],
  ]);
});

test.each([
  [{ status: 200, body: "<h1>Welcome</h1>" }, "something that is not a stream of events"],
  [{ status: 200, body: { status: "ok" } }, "something that is not a stream of events"],
  [
    { status: 200, headers: { "content-type": "text/event-stream" }, body: "data: tick\n\n", cut: "open" as const },
    "a stream that is not the history of a job",
  ],
])("watching a job ends at once at an address without this stream: %j", async (answer, what) => {
  const { server, client } = await clientOf(answer);
  await expect(client.watchJob("o", "j").next()).rejects.toMatchObject({
    status: 200,
    detail: expect.stringContaining(what),
  });
  expect(server.received).toHaveLength(1);
});

test("a stream that never sends anything is an outage, which ends the watch if it lasts too long", async () => {
  const { server, client } = await clientOf({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: "",
  });
  const watched = client.watchJob("o", "j", { maxOutageMs: 400 });
  await expect(watched.next()).rejects.toMatchObject({ status: 0, detail: "The stream ended before the job did." });
  expect(server.received.length).toBeGreaterThan(1);
});

test("watching an ended job gives no more entries, and an error answer ends the watch", async () => {
  const { server, client } = await clientOf({ status: 204 }, { status: 403 });
  const entries = [];
  for await (const entry of client.watchJob("o", "j", { after: 9 })) entries.push(entry);
  expect([entries, server.received[0]?.lastEventId]).toEqual([[], "9"]);
  await expect(client.watchJob("o", "j").next()).rejects.toMatchObject({ status: 403 });
});

test("a caller that stops watching closes the connection, and an abort signal ends the watch at once", async () => {
  const open = { status: 200, headers: { "content-type": "text/event-stream" }, cut: "open" } as const;
  const entry = `id: 1\ndata: ${JSON.stringify({ sequence: 1, type: "job.submitted" })}\n\n`;
  const { server, client } = await clientOf({ ...open, body: entry }, { ...open, body: ":\n\n" });
  for await (const { type } of client.watchJob("o", "j")) {
    expect([type, server.openConnections()]).toEqual(["job.submitted", 1]);
    break;
  }
  await expect.poll(() => server.openConnections()).toBe(0);
  const giveUp = new AbortController();
  const next = client.watchJob("o", "j", { signal: giveUp.signal }).next();
  await expect.poll(() => server.received.length).toBe(2);
  giveUp.abort(new Error("enough"));
  await expect(next).rejects.toThrow("enough");
});

test("a deployment uses the workflow that the definition names, adds a version and moves the tag", async () => {
  const definition = { workflowName: "orders", steps: [] };
  const { server, client } = await clientOf(
    ok({ workflows: [{ workflowId: "w" }] }),
    { status: 201, body: made },
    ok({ ...version, tag: "$LIVE", success: true }),
  );
  expect(await client.deploy("o", definition)).toEqual({ ...made, tag: "$LIVE", isTagMoved: true });
  const [find, register, tag] = server.received;
  expect(find?.url).toBe("/organizations/o/workflows?name=orders");
  expect(register).toMatchObject({ method: "POST", url: "/organizations/o/workflows/w/versions?ifChanged=true" });
  expect(register?.body).toEqual({ definition: JSON.stringify(definition) });
  expect(tag).toMatchObject({ method: "PUT", body: { versionId: "v" } });
  expect(decodeURIComponent(tag?.url ?? "")).toBe("/organizations/o/workflows/w/tags/$LIVE");
});

test.each([
  ["stays where it is when it points there", ok({ ...version, tags: ["$LIVE"] }), false],
  ["is moved when it points elsewhere", ok({ ...version, versionId: "earlier" }), true],
  ["is made when there is none", { status: 404, body: { code: "NotFoundError", detail: "There is none." } }, true],
])("a deployment that changes nothing makes no version, and the tag %s", async (_tag, tagged, isTagMoved) => {
  const unchanged = { ...version, created: false };
  const { server, client } = await clientOf(
    ok({ workflows: [{ workflowId: "w" }] }),
    ok(unchanged),
    tagged,
    ok({ ...unchanged, tag: "$LIVE" }),
  );
  expect(await client.deploy("o", { workflowName: "orders" })).toEqual({ ...unchanged, tag: "$LIVE", isTagMoved });
  expect(server.received.map(({ method }) => method)).toEqual(["GET", "POST", "GET", ...(isTagMoved ? ["PUT"] : [])]);
});

test("a deployment whose tag cannot be read fails, and moves no tag", async () => {
  const forbidden = { status: 403, body: { code: "AuthorizationError", detail: "You need workflow:version:read." } };
  const { server, client } = await clientOf(
    ok({ workflows: [{ workflowId: "w" }] }),
    ok({ ...version, created: false }),
    forbidden,
  );
  await expect(client.deploy("o", { workflowName: "orders" })).rejects.toThrow("workflow:version:read");
  expect(server.received).toHaveLength(3);
});

test("a deployment of an unknown workflow registers it first", async () => {
  const { server, client } = await clientOf(
    ok({ workflows: [] }),
    { status: 201, body: { workflowId: "w" } },
    { status: 201, body: made },
    ok({ ...version, tag: "beta", success: true }),
  );
  await client.deploy("o", '{"workflowName":"orders"}', "beta");
  expect(server.received[1]).toMatchObject({
    method: "POST",
    url: "/organizations/o/workflows",
    body: { name: "orders" },
  });
  expect(server.received[3]?.url).toBe("/organizations/o/workflows/w/tags/beta");
});

test.each([1, 255])(
  "a deployment under a key of %i characters sends a valid key of its own for each creation, the same at each repetition, and no key for the tag",
  async (length) => {
    const idempotencyKey = "k".repeat(length);
    const answers = [
      ok({ workflows: [] }),
      { status: 201, body: { workflowId: "w" } },
      { status: 201, body: made },
      ok({ ...version, tag: "$LIVE", success: true }),
    ];
    const { server, client } = await clientOf(...answers, ...answers);
    const deploy = () => client.deploy("o", { workflowName: "orders" }, "$LIVE", { idempotencyKey });
    await deploy();
    const [find, register, registerVersion, tag] = server.received.splice(0);
    expect([find?.key, tag?.key]).toEqual([undefined, undefined]);
    expect(register?.key).toMatch(/^[!-~]{1,255}$/);
    expect(registerVersion?.key).toMatch(/^[!-~]{1,255}$/);
    expect(registerVersion?.key).not.toBe(register?.key);
    await deploy();
    expect(server.received.map(({ key }) => key)).toEqual([undefined, register?.key, registerVersion?.key, undefined]);
    await client.deploy("o", { workflowName: "orders" }, "$LIVE", { idempotencyKey: "other" });
    expect(server.received.at(-2)?.key).not.toBe(registerVersion?.key);
  },
);

test("a deployment under an empty key sends the empty key, which the service refuses", async () => {
  const refused = { status: 400, body: { code: "ValidationError", detail: "Idempotency-Key must be visible." } };
  const { server, client } = await clientOf(ok({ workflows: [{ workflowId: "w" }] }), refused);
  await expect(client.deploy("o", { workflowName: "orders" }, "$LIVE", { idempotencyKey: "" })).rejects.toThrow(
    "Idempotency-Key",
  );
  expect(server.received[1]?.key).toBe("");
});

test("a deployment with all of its requests takes no longer than its timeout", async () => {
  const answers = [ok({ workflows: [{ workflowId: "w" }] }), { status: 201, body: made }, ok({ ...version, tag: "t" })];
  const { baseUrl } = await ScriptedServer.start(...answers);
  // Each of the three requests takes less than the timeout, and all three together take more.
  const slowFetch: typeof fetch = async (...request) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return await fetch(...request);
  };
  const client = createClient({ baseUrl, token: "stw_1", fetch: slowFetch });
  const error = await client.deploy("o", { workflowName: "orders" }, "t", { timeoutMs: 500 }).catch((one) => one);
  expect(isTimeout(error)).toBe(true);
});

test.each([
  ["{", /^The definition is not JSON/],
  ["{}", /^The definition has no workflowName/],
])("an invalid definition is rejected before anything is sent: %s", async (definition, message) => {
  const { server, client } = await clientOf(ok({}));
  await expect(client.deploy("o", definition)).rejects.toThrow(message);
  expect(server.received).toEqual([]);
});

test("docs/client.md names every method", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/client.md"), "utf8");
  const methods = Object.getOwnPropertyNames(StepwellClient.prototype).filter((name) => name !== "constructor");
  expect(methods.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  expect(methods.length).toBeGreaterThan(30);
});

import { expect, test } from "vitest";
import { createClient, StepwellError } from "../src/index.ts";
import { type Scripted, ScriptedServer } from "./scripted-server.ts";

async function clientOf(...script: Scripted[]) {
  const server = await ScriptedServer.start(...script);
  return { server, client: createClient({ baseUrl: `${server.baseUrl}/`, token: "stw_1" }) };
}

function ok(body: unknown): Scripted {
  return { status: 200, body };
}

const version = { workflowId: "w", versionId: "v", versionNumber: 1 };
const made = { ...version, created: true };

test("every request carries the token, and goes to the path of the document", async () => {
  const { server, client } = await clientOf(ok({ jobId: "j", status: "RUNNING" }));
  expect(await client.getJob("o", "j")).toMatchObject({ status: "RUNNING" });
  expect(server.received).toMatchObject([
    { method: "GET", url: "/organizations/o/jobs/j", authorization: "Bearer stw_1", key: undefined },
  ]);
});

test("a submit that is answered 503 is repeated under one key, and under the caller's own if there is one", async () => {
  const busy = { status: 503, headers: { "retry-after": "0" } };
  const { server, client } = await clientOf(busy, { status: 201, body: { jobId: "j" } });
  expect(await client.submitJob("o", { workflowId: "w" })).toMatchObject({ jobId: "j" });
  expect(server.received).toHaveLength(2);
  expect(server.received[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
  expect(server.received[1]).toEqual(server.received[0]);

  await client.submitJob("o", { workflowId: "w" }, { idempotencyKey: "mine", waitSeconds: 5 });
  expect(server.received[2]).toMatchObject({ key: "mine", url: "/organizations/o/jobs?waitSeconds=5" });
});

test("a token is created with one request, whatever happens to its answer", async () => {
  const { server, client } = await clientOf("drop");
  const creating = client.api.POST("/organizations/{organizationId}/api-tokens", {
    params: { path: { organizationId: "o" } },
    body: { name: "t", permissions: ["job:read"] },
  });
  await expect(creating).rejects.toMatchObject({ code: "UnavailableError", status: 0 });
  expect(server.received).toMatchObject([{ key: undefined }]);
});

test("what the service refuses is thrown, with all that is wrong", async () => {
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
    errors: problem.errors,
    message: "The body is not valid.\n  /workflowId: must be a UUID\n  (whole): is wrong as a whole",
  });
});

test("an answer that is not the service's is thrown as one that nobody expects", async () => {
  const { client } = await clientOf({ status: 418, body: "<h1>I am a proxy</h1>" });
  await expect(client.getJob("o", "j")).rejects.toMatchObject({ code: "UnhandledError", status: 418 });
});

test("waiting for a job asks again until the job has ended, and each question waits at the service", async () => {
  const { server, client } = await clientOf(
    ok({ status: "PENDING" }),
    ok({ status: "RUNNING" }),
    ok({ status: "FAILED" }),
  );
  expect(await client.waitForJob("o", "j")).toMatchObject({ status: "FAILED" });
  expect(server.received.map(({ url }) => url)).toEqual(Array(3).fill("/organizations/o/jobs/j?waitSeconds=30"));
});

test("who gives up waiting for a job is told so, and asks no more", async () => {
  const { server, client } = await clientOf(ok({ status: "RUNNING" }));
  const giveUp = new AbortController();
  const waiting = client.waitForJob("o", "j", giveUp.signal);
  await expect.poll(() => server.received.length).toBeGreaterThan(1);
  giveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  // What was under way may still come in.
  await client.getJob("o", "j");
  const asked = server.received.length;
  await client.getJob("o", "j");
  expect(server.received).toHaveLength(asked + 1);
});

test("who gives up waiting is told so at once, also while the service still holds its answer", async () => {
  const { server, client } = await clientOf("hold");
  const giveUp = new AbortController();
  const waiting = client.waitForJob("o", "j", giveUp.signal);
  await expect.poll(() => server.received.length).toBe(1);
  giveUp.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("a deployment takes the workflow that the definition names, adds a version and moves the tag", async () => {
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
    ok(unchanged),
  );
  expect(await client.deploy("o", { workflowName: "orders" })).toEqual({ ...unchanged, tag: "$LIVE", isTagMoved });
  expect(server.received.map(({ method }) => method)).toEqual(["GET", "POST", "GET", ...(isTagMoved ? ["PUT"] : [])]);
});

test("a deployment whose tag cannot be read fails, and moves nothing", async () => {
  const forbidden = { status: 403, body: { code: "AuthorizationError", detail: "You need workflow:version:read." } };
  const { server, client } = await clientOf(
    ok({ workflows: [{ workflowId: "w" }] }),
    ok({ ...version, created: false }),
    forbidden,
  );
  await expect(client.deploy("o", { workflowName: "orders" })).rejects.toThrow("workflow:version:read");
  expect(server.received).toHaveLength(3);
});

test("a deployment of a workflow that is not there registers it first", async () => {
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

test.each([
  ["{", /^The definition is not JSON/],
  ["{}", /^The definition has no workflowName/],
])("a definition that cannot be one is refused before anything is sent: %s", async (definition, message) => {
  const { server, client } = await clientOf(ok({}));
  await expect(client.deploy("o", definition)).rejects.toThrow(message);
  expect(server.received).toEqual([]);
});

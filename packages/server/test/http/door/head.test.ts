import { randomUUID } from "node:crypto";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test, vi } from "vitest";
import { issueSignInLink, signInLinkUrl } from "../../../src/auth/passwords/sign-in-link.ts";
import { buildWorld, rows, unknownId, type World } from "../authorization/authorization-rows.ts";

/** Headers that depend on how the answer is transferred, or that differ for each request. */
const ofOneRequest = new Set([
  "connection",
  "date",
  "keep-alive",
  "ratelimit",
  "transfer-encoding",
  "x-amzn-requestid",
  "x-request-id",
]);

const waitOptions = { timeout: 10_000 };

onOneStore((home) => {
  const service = useService(home);
  let world: World;

  beforeAll(async () => {
    world = await buildWorld(service);
  }, 60_000);

  /** Sends a request and does not read the body, since the body of a stream never ends. */
  async function ask(method: "GET" | "HEAD", path: string, token = world.organization.owner.token) {
    const leaving = new AbortController();
    const { status, headers } = await fetch(service.baseUrl + path, {
      method,
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      signal: leaving.signal,
      redirect: "manual",
    });
    leaving.abort();
    const kept = [...headers].filter(([name]) => !ofOneRequest.has(name));
    return { status, headers: Object.fromEntries(kept) };
  }

  async function pathsOfReads(): Promise<string[]> {
    const { operations } = await world.organization.api.document();
    return operations
      .filter(({ method }) => method === "GET")
      .map(({ operationId, path }) => {
        const { params = {}, query = {} } = rows[operationId]?.call(world.ids) ?? {};
        const named: Record<string, string> = { ...world.ids, ...params };
        const asked = new URLSearchParams(
          Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]),
        );
        return `${path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(named[name] ?? unknownId))}?${asked}`;
      });
  }

  test("each read operation answers HEAD as it answers GET, with the same headers and no body", async () => {
    const paths = await pathsOfReads();
    expect(paths.length).toBeGreaterThan(40);
    let withLength = 0;
    for (const path of paths) {
      // An answer can change between the two requests, as when the last use of a token is recorded.
      const looked = await vi.waitFor(async () => {
        const got = await ask("GET", path);
        const headers = await ask("HEAD", path);
        expect(headers, path).toEqual(got);
        return headers;
      }, waitOptions);
      if (looked.headers["content-length"] !== undefined) withLength += 1;
    }
    // Only streams have no known length.
    expect(withLength).toBeGreaterThan(paths.length - 5);
  });

  test.each(["/", "/app", "/openapi.json", "/health/ready", "/oidc/device", "/oidc/.well-known/openid-configuration"])(
    "HEAD %s is answered like GET",
    async (path) => {
      const { "set-cookie": _, ...got } = (await ask("GET", path, "")).headers;
      const looked = await ask("HEAD", path, "");
      const { "set-cookie": __, ...headers } = looked.headers;
      expect([looked.status, headers]).toEqual([200, got]);
    },
  );

  test("HEAD is rejected for every caller for whom GET is rejected", async () => {
    const path = `/organizations/${world.ids.organizationId}/jobs/${world.ids.jobId}`;
    const { token } = await storeToken(service, world.ids.organizationId, { permissions: ["metrics:read"] });
    const stranger = await service.newUser();
    expect((await ask("HEAD", path, "")).status).toBe(401);
    expect((await ask("HEAD", path, token)).status).toBe(403);
    expect((await ask("HEAD", path, stranger.token)).status).toBe(404);
    expect((await ask("HEAD", `${path}?unknown=1`)).status).toBe(400);
  });

  test("HEAD counts against the rate limit like GET", async () => {
    const narrow = new TestService(home, { STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "5" });
    await narrow.start();
    try {
      const { organizationId } = await narrow.newOrganization();
      const { token } = await storeToken(narrow, organizationId, { permissions: ["job:list"] });
      const statuses: number[] = [];
      for (let count = 0; count < 8; count += 1) {
        const headers = { authorization: `Bearer ${token}` };
        const url = `${narrow.baseUrl}/organizations/${organizationId}/jobs`;
        statuses.push((await fetch(url, { method: "HEAD", headers })).status);
      }
      expect(statuses).toContain(429);
    } finally {
      await narrow.stop();
    }
  });

  test("HEAD on a stream takes no waiting place", async () => {
    const narrow = new TestService(home, { STEPWELL_MAX_WAITING_REQUESTS: "1" });
    await narrow.start();
    try {
      const { api, organizationId, owner } = await narrow.newOrganization();
      const { workflowId } = await deploy(api, waitingDefinition);
      const { jobId } = await submitAndWait(api, workflowId);
      const url = `${narrow.baseUrl}/organizations/${organizationId}/jobs/${jobId}/stream`;
      const headers = { authorization: `Bearer ${owner.token}` };
      for (let count = 0; count < 10; count += 1) {
        const looked = await fetch(url, { method: "HEAD", headers });
        expect([looked.status, looked.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
      }
      const watching = await fetch(url, { headers });
      expect(watching.status).toBe(200);
      await watching.body?.cancel();
    } finally {
      await narrow.stop();
    }
  });

  test("HEAD needs no Idempotency-Key, and adds no row to the audit trail, like GET", async () => {
    const { organizationId, owner } = world.organization;
    const headers = { authorization: `Bearer ${owner.token}`, "idempotency-key": randomUUID() };
    const url = `${service.baseUrl}/organizations/${organizationId}`;
    const [got, looked] = await Promise.all([fetch(url, { headers }), fetch(url, { method: "HEAD", headers })]);
    expect(looked.status).toBe(got.status);
  });

  test("HEAD does not use up a link that works only once", async () => {
    const { userId } = await newPerson(service);
    const { database, engine } = service.running;
    const link = signInLinkUrl(service.baseUrl, await issueSignInLink(database, userId, engine.now()));
    const looked = await fetch(link, { method: "HEAD", redirect: "manual" });
    expect([looked.status, looked.headers.get("allow")]).toEqual([405, "GET, OPTIONS"]);
    expect((await fetch(link, { redirect: "manual" })).status).toBe(303);
  });
});

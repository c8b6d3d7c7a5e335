import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { open, readAll, requestText, statusOf } from "@stepwell/testing/raw.ts";
import { TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inOneMinute } from "@stepwell/testing/time/minute.ts";
import { describe, expect, test } from "vitest";
import { createToken } from "../../../src/auth/credentials/token-form.ts";
import { OwnLimits } from "../../../src/auth/limits/own-limits.ts";
import { ExceededQuota, RateLimits } from "../../../src/auth/limits/rate-limits.ts";
import { readConfig } from "../../../src/config.ts";
import { setOrganizationLimits } from "../../../src/store/access/organization-limits.ts";

interface RateLimitsBody {
  readonly rateLimits: readonly { readonly scope: string; readonly policy: string; readonly usedCount: number }[];
  readonly resetsAt: string;
}

async function callTimes(api: Client, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await api.call("GetOrganization");
}

async function newToken(api: Client, ...permissions: string[]): Promise<Client> {
  const { body } = await api.call<{ token: string }>("CreateApiToken", { body: { name: "t", permissions } });
  return api.as(body.token);
}

onOneStore((home) => {
  describe("with low limits", () => {
    const service = useService(home, {
      STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: "100",
      STEPWELL_ORGANIZATION_SUBMITS_PER_MINUTE: "8",
      STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "60",
      STEPWELL_TOKEN_SUBMITS_PER_MINUTE: "5",
    });

    test("a caller over its limit gets 429 until the minute ends, and others of its organization are served", async () => {
      await inOneMinute(service, async () => {
        const { api } = await service.newOrganization();
        const token = await newToken(api, "organization:read");
        await callTimes(api, 55);

        const { headers, body } = await api.refused("GetOrganization", "RateLimitError");
        const seconds = Number(headers.get("retry-after"));
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(60);
        expect(headers.get("ratelimit-policy")).toBe('"requests";q=60;w=60');
        expect(headers.get("ratelimit")).toBe(`"requests";r=0;t=${seconds}`);
        expect(body.detail).toMatch(
          /^You have used 60 of 60 requests in this minute\..*STEPWELL_TOKEN_REQUESTS_PER_MINUTE\.$/,
        );
        await callTimes(token, 5);
      });
    });

    test("an organization over its limit gets 429 for every caller, another one is served, and rejected requests do not count", async () => {
      await inOneMinute(service, async () => {
        const { api } = await service.newOrganization();
        const token = await newToken(api, "organization:read");
        await callTimes(api, 55);
        for (let count = 0; count < 5; count += 1) await api.refused("GetOrganization", "RateLimitError");

        await callTimes(token, 40);
        const { headers, body } = await token.refused("GetOrganization", "RateLimitError");
        expect(headers.get("ratelimit-policy")).toBe('"requests";q=100;w=60');
        expect(body.detail).toMatch(/^All callers of this organization together have used 100 of 100 requests/);
        expect(body.detail).toContain("stepwell org limits");
        await (await service.newOrganization()).api.call("GetOrganization");
      });
    });

    test("submissions have a limit of their own and also count as requests", async () => {
      await inOneMinute(service, async () => {
        const { api } = await service.newOrganization();
        const { workflowId } = await deploy(api, straightDefinition);
        const submit = { body: { workflowId } };
        const first = await api.call("SubmitJob", submit);
        expect(first.headers.get("ratelimit-policy")).toBe('"submits";q=5;w=60');
        expect(first.headers.get("ratelimit")).toMatch(/^"submits";r=4;t=\d+$/);
        for (let count = 0; count < 4; count += 1) await api.call("SubmitJob", submit);

        const refused = await api.refused("SubmitJob", "RateLimitError", submit);
        expect(refused.body.detail).toMatch(/^You have submitted 5 jobs.*STEPWELL_TOKEN_SUBMITS_PER_MINUTE\.$/);
        // The limit is 60 requests, of which 41 are used: 30 by the deployment (two changes at 5 each, one version at 20), 10 by five submits, and 1 by
        // this request.
        const { headers } = await api.call("GetOrganization");
        expect(headers.get("ratelimit")).toMatch(/^"requests";r=19;t=\d+$/);
      });
    });

    test("a caller sees the limits, and the used part of each", async () => {
      await inOneMinute(service, async () => {
        const { api } = await service.newOrganization();
        const { workflowId } = await deploy(api, straightDefinition);
        const token = await newToken(api, "job:submit", "organization:read");
        for (let count = 0; count < 3; count += 1) await token.call("SubmitJob", { body: { workflowId } });

        const { body } = await token.call<RateLimitsBody>("GetRateLimits");
        expect(body.rateLimits).toEqual([
          { scope: "organization", policy: "requests", limitPerMinute: 100, usedCount: 42 },
          { scope: "organization", policy: "submits", limitPerMinute: 8, usedCount: 3 },
          { scope: "token", policy: "requests", limitPerMinute: 60, usedCount: 7 },
          { scope: "token", policy: "submits", limitPerMinute: 5, usedCount: 3 },
        ]);
        expect(Date.parse(body.resetsAt) % 60_000).toBe(0);
        expect(Date.parse(body.resetsAt)).toBeGreaterThan(service.running.engine.now());
      });
    });

    test("an expensive request counts for more than a cheap one, and is rejected while a cheap one still passes", async () => {
      await inOneMinute(service, async () => {
        const { api } = await service.newOrganization();
        const { workflowId } = await deploy(api, straightDefinition);
        const validate = { params: { workflowId }, body: { definition: straightDefinition } };
        const { headers } = await api.call("ValidateWorkflowVersion", validate);
        expect(headers.get("ratelimit")).toMatch(/^"requests";r=10;t=/);

        const refused = await api.refused("ValidateWorkflowVersion", "RateLimitError", validate);
        expect(refused.body.detail).toMatch(
          /^You have used 50 of 60 requests in this minute, and this one counts as 20\./,
        );
        expect(refused.headers.get("ratelimit")).toMatch(/^"requests";r=10;t=/);
        await callTimes(api, 10);
        await api.refused("GetOrganization", "RateLimitError");
      });
    });

    test("a request without an organization counts only for the caller", async () => {
      await inOneMinute(service, async () => {
        const { api, owner } = await service.newOrganization();
        const token = await newToken(api, "organization:read");
        for (let count = 0; count < 60; count += 1) await token.call("ListOrganizations");
        await token.refused("ListOrganizations", "RateLimitError");
        await token.refused("GetOrganization", "RateLimitError");
        const { headers } = await owner.client.call("ListOrganizations");
        expect(headers.get("ratelimit")).toMatch(/^"requests";r=54;t=\d+$/);
        const { body } = await api.call<RateLimitsBody>("GetRateLimits");
        expect(body.rateLimits[0]).toMatchObject({ scope: "organization", policy: "requests", usedCount: 6 });
      });
    });

    test("a rejected request is answered before its body has arrived, and creates nothing", async () => {
      await inOneMinute(service, async () => {
        const { api, owner, organizationId } = await service.newOrganization();
        await callTimes(api, 60);
        const socket = await open(service.port);
        const lines = [
          `Authorization: Bearer ${owner.token}`,
          "Content-Type: application/json",
          "Content-Length: 1000",
        ];
        socket.write(requestText(`POST /organizations/${organizationId}/workflows`, lines));
        expect(statusOf(await readAll(socket, 500))).toBe(429);
      });
    });

    test("the operator gives one organization its own limits, which apply while the service runs", async () => {
      const [changed, other] = [await service.newOrganization(), await service.newOrganization()];
      const limitOf = async ({ api }: typeof changed) => {
        const { headers } = await api.callAny("GetOrganization", {});
        return headers.get("ratelimit-policy");
      };
      const set = async (requestsPerMinute: number | null) => {
        const { organizationId } = changed;
        const limits = { organizationId, requestsPerMinute, submitsPerMinute: null, maximums: {} };
        await setOrganizationLimits(service.running.database, limits);
      };
      const polling = { interval: 400, timeout: 10_000 };

      await set(24);
      await expect.poll(() => limitOf(changed), polling).toBe('"requests";q=24;w=60');
      expect(await limitOf(other)).toBe('"requests";q=60;w=60');
      await set(null);
      await expect.poll(() => limitOf(changed), polling).toBe('"requests";q=60;w=60');
    });

    test("a new minute begins with full limits", async () => {
      const { database } = service.running;
      let now = Date.parse("2026-01-31T12:00:30.000Z");
      const config = { ...readConfig({}), organizationRequestsPerMinute: 3 };
      const onFailure = (error: unknown) => expect(error).toBeUndefined();
      const limits = new RateLimits({
        database,
        ownLimits: new OwnLimits(database),
        config,
        now: () => now,
        nodeCount: () => 1,
        onFailure,
      });
      const caller = {
        principal: { type: "user", id: "u", name: "u" },
        organizationId: undefined,
        permissions: new Set([]),
      } as const;
      const allowed = () => !(limits.count(caller, "o", { isSubmit: false, cost: 1 }) instanceof ExceededQuota);

      expect([1, 2, 3, 4].map(allowed)).toEqual([true, true, true, false]);
      expect(limits.secondsLeft()).toBe(30);
      now += 29_999;
      expect([allowed(), limits.secondsLeft()]).toEqual([false, 1]);
      now += 1;
      expect([1, 2, 3, 4].map(allowed)).toEqual([true, true, true, false]);
      expect(limits.secondsLeft()).toBe(60);
      // A heartbeat corrects the node's clock. This must not begin a new minute.
      now -= 5;
      expect(allowed()).toBe(false);
      // The service now uses another database with another clock.
      now -= 3_600_000;
      expect(allowed()).toBe(true);
    });
  });

  describe("without limits", () => {
    const service = useService(home, {
      STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: "0",
      STEPWELL_ORGANIZATION_SUBMITS_PER_MINUTE: "0",
      STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "0",
      STEPWELL_TOKEN_SUBMITS_PER_MINUTE: "0",
      STEPWELL_MAX_REFUSALS_PER_MINUTE: "20",
    });

    test("no header mentions a limit", async () => {
      const { api } = await service.newOrganization();
      const { headers } = await api.call("GetOrganization");
      expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([null, null]);
      const { body } = await api.call<RateLimitsBody>("GetRateLimits");
      expect(body.rateLimits.map((limit) => "limitPerMinute" in limit)).toEqual([false, false, false, false]);
    });

    test("a caller who asks for too many organizations of others is rejected, and other callers are not", async () => {
      await inOneMinute(service, async () => {
        const [stranger, owner] = [await service.newUser(), await service.newOrganization()];
        const [there, here] = [stranger.client.bind({ organizationId: owner.organizationId }), owner.api];
        for (let count = 0; count < 20; count += 1) await there.refused("GetOrganization", "NotFoundError");
        const { body, headers } = await there.refused("GetOrganization", "RateLimitError");
        expect(body.detail).toContain("STEPWELL_MAX_REFUSALS_PER_MINUTE");
        expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
        await here.call("GetOrganization");
      });
    });

    test("a stream of many jobs does not bypass the limit on look-ups in organizations of others", async () => {
      await inOneMinute(service, async () => {
        const { client, token } = await service.newUser();
        const jobs = Array.from({ length: 20 }, () => `job=${randomUUID()}/${randomUUID()}`);
        const headers = { authorization: `Bearer ${token}` };
        const stream = await fetch(`${service.baseUrl}/stream?${jobs.join("&")}`, { headers });
        expect(stream.status).toBe(200);
        expect((await stream.text()).match(/job\.unreadable/g)).toHaveLength(20);
        await client.refused("WhoAmI", "RateLimitError");
      });
    });

    test("an address that tries too many tokens is rejected, and a token in use still passes from the same address", async () => {
      await inOneMinute(service, async () => {
        const { api, organizationId } = await service.newOrganization();
        await api.call("GetOrganization");
        const guess = () => api.as(createToken("organization", organizationId).token).callAny("GetOrganization", {});
        const statuses: number[] = [];
        for (let count = 0; count < 25; count += 1) statuses.push((await guess()).status);

        const firstSentAway = statuses.indexOf(429);
        expect(firstSentAway).toBeGreaterThan(0);
        expect(statuses.slice(firstSentAway)).toEqual(statuses.slice(firstSentAway).map(() => 429));
        await api.call("GetOrganization");
      });
    });
  });

  test("Prometheus counts the requests that rate limits rejected, by kind of caller and of limit", async () => {
    const port = await findFreePort();
    const service = new TestService(home, {
      STEPWELL_METRICS_PORT: String(port),
      STEPWELL_TOKEN_SUBMITS_PER_MINUTE: "1",
      STEPWELL_MAX_REFUSALS_PER_MINUTE: "1",
    });
    await service.start();
    try {
      const { api, organizationId } = await service.newOrganization();
      const { workflowId } = await deploy(api, straightDefinition);
      let status = 0;
      while (status !== 429) ({ status } = await api.callAny("SubmitJob", { body: { workflowId } }));
      const guessing = api.as(createToken("organization", organizationId).token);
      status = 0;
      while (status !== 429) ({ status } = await guessing.callAny("GetOrganization", {}));
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(text).toContain('stepwell_rate_limited_total{scope="user",policy="submits"} 1');
      expect(text).toContain('stepwell_rate_limited_total{scope="door",policy="refusals"} 1');
      expect(text).toMatch(/stepwell_http_request_seconds_count\{operation="SubmitJob",status="429"\} 1/);
    } finally {
      await service.stop();
    }
  });
});

import { Browser } from "@stepwell/testing/browser.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inOneMinute } from "@stepwell/testing/time/minute.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";
import { createToken } from "../../../src/auth/credentials/token-form.ts";
import { readConfig } from "../../../src/config.ts";
import { loggedPath } from "../../../src/http/door/logged-path.ts";

test.each([
  ["without a proxy, whatever the client says", "", "192.0.2.7", "127.0.0.1"],
  ["behind a trusted proxy, as that proxy says", "127.0.0.0/8", "192.0.2.7", "192.0.2.7"],
  ["behind a trusted proxy, and not as the client told the proxy", "127.0.0.0/8", "10.9.9.9, 192.0.2.7", "192.0.2.7"],
  ["behind two trusted proxies, as the outer one says", "127.0.0.1, 10.0.0.0/8", "192.0.2.7, 10.1.1.1", "192.0.2.7"],
  ["from a client that is no trusted proxy, as it connects", "10.0.0.0/8", "192.0.2.7", "127.0.0.1"],
])("the client's address is taken %s", async (_case, trusted, forwardedFor, expected) => {
  const service = new TestService(postgresHome, { STEPWELL_TRUSTED_PROXIES: trusted });
  await service.start();
  try {
    const { api } = await service.newOrganization();
    const headers = { "x-forwarded-for": forwardedFor };
    await api.call("RegisterWorkflow", { body: { name: "w" }, headers });
    const { body } = await api.call<{ entries: { address: string }[] }>("ListAudit", {
      query: { action: "RegisterWorkflow" },
    });
    expect(body.entries.map(({ address }) => address.replace("::ffff:", "").replace("::1", "127.0.0.1"))).toEqual([
      expected,
    ]);
  } finally {
    await service.stop();
  }
});

inWholeMatrix(() => {
  test("only the address that starts too many sign-ins is slowed down", async () => {
    const service = new TestService(postgresHome, { STEPWELL_TRUSTED_PROXIES: "127.0.0.0/8, ::1" });
    await service.start();
    try {
      const begin = async (address: string) => {
        const body = new URLSearchParams({ client_id: "stepwell-cli", scope: "openid" });
        const headers = { "x-forwarded-for": address };
        return await fetch(`${service.baseUrl}/oidc/device/auth`, { method: "POST", body, headers });
      };
      let flooding = "192.0.2.1";
      await inOneMinute(service, async () => {
        flooding = `192.0.2.${Number(flooding.split(".").at(-1)) + 1}`;
        const statuses: number[] = [];
        for (let round = 0; round < 31; round += 1) {
          const answers = await Promise.all(Array.from({ length: 20 }, () => begin(flooding)));
          statuses.push(...answers.map(({ status }) => status));
        }
        expect(statuses.filter((status) => status === 200)).toHaveLength(600);
        expect(statuses.filter((status) => status === 429)).toHaveLength(20);
        const refused = await begin(flooding);
        expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(await refused.json()).toMatchObject({ error: "temporarily_unavailable" });
        expect((await begin("198.51.100.1")).status).toBe(200);
      });
    } finally {
      await service.stop();
    }
  }, 60_000);
});

test("the record of a browser that never signed in is deleted after an hour", async () => {
  const service = new TestService(postgresHome);
  await service.start();
  try {
    const lives = async () => {
      const text =
        "SELECT extract(epoch FROM expires_at - now())::integer AS life FROM oidc_record WHERE kind = 'Session'";
      const statement = { name: "session_lives", scope: "global", planned: "each-time", text } as const;
      const rows = await service.running.database.query<{ life: number }>(statement, []);
      return rows.map(({ life }) => life);
    };
    const browser = new Browser();
    await browser.open(`${service.baseUrl}/oidc/device`);
    expect(await lives()).toEqual([expect.closeTo(3_600, -2)]);
    await signIn(service.baseUrl, await newPerson(service), browser);
    expect(await lives()).toEqual([expect.closeTo(14 * 24 * 3_600, -2)]);
  } finally {
    await service.stop();
  }
});

test("a network that tries many tokens is rejected, however many addresses it has", async () => {
  const settings = { STEPWELL_TRUSTED_PROXIES: "127.0.0.0/8, ::1", STEPWELL_MAX_REFUSALS_PER_MINUTE: "20" };
  const service = new TestService(postgresHome, settings);
  await service.start();
  try {
    let network = 0;
    await inOneMinute(service, async () => {
      network += 1;
      const guess = async (address: string) => {
        const { token } = createToken("user", service.running.engine.newId());
        return (await service.client(token).callAny("WhoAmI", { headers: { "x-forwarded-for": address } })).status;
      };
      const statuses: number[] = [];
      for (let host = 1; host <= 30; host += 1)
        statuses.push(await guess(`2001:db8:0:${network}::${host.toString(16)}`));
      expect(statuses).toEqual(statuses.map((_status, index) => (index < 20 ? 401 : 429)));
      expect(await guess(`2001:db8:1:${network}::1`)).toBe(401);
    });
  } finally {
    await service.stop();
  }
}, 30_000);

test("trusted proxies must be addresses", () => {
  for (const wrong of ["proxy.internal", "10.0.0.0/33", "10.0.0.1/8/8", "fd00::/129", "10.0.0.1/x"]) {
    expect(() => readConfig({ STEPWELL_TRUSTED_PROXIES: wrong })).toThrow("STEPWELL_TRUSTED_PROXIES");
  }
  expect(readConfig({ STEPWELL_TRUSTED_PROXIES: "10.0.0.1, fd00::/8" }).trustedProxies).toEqual([
    "10.0.0.1",
    "fd00::/8",
  ]);
});

test("the log contains no query string, and no path of a link", () => {
  expect(loggedPath({ url: "/jobs/1?pageToken=x", routeOptions: { url: "/jobs/:jobId", schema: {} } })).toBe("/jobs/1");
  const page = { url: "/invitations/:code", schema: { hide: true } };
  expect(loggedPath({ url: "/invitations/sti_secret", routeOptions: page })).toBe("/invitations/:code");
});

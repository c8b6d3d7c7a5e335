import { Browser } from "@stepwell/testing/browser.ts";
import { Client } from "@stepwell/testing/client.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { Splitter } from "@stepwell/testing/proxies/splitter.ts";
import { useService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

describe("behind a proxy that speaks https", () => {
  const service = useService(postgresHome, { STEPWELL_BASE_URL: "https://stepwell.example" });
  const local = () => `http://localhost:${service.port}/oidc`;

  test("every address is the public one, whatever address a request names", async () => {
    const headers = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" };
    const response = await fetch(`${local()}/.well-known/openid-configuration`, { headers });
    const metadata = (await response.json()) as Record<string, unknown>;
    expect(metadata.issuer).toBe("https://stepwell.example/oidc");
    expect(metadata.token_endpoint).toBe("https://stepwell.example/oidc/token");
    expect(JSON.stringify(metadata)).not.toContain("evil");
    expect(response.headers.get("strict-transport-security")).toMatch(/max-age=\d+/);
  });

  test("cookies are sent over https only, and scripts and other sites cannot read them", async () => {
    const url = new URL(`${local()}/auth`);
    const parameters = {
      client_id: "stepwell-dashboard",
      response_type: "code",
      scope: "openid",
      redirect_uri: "https://stepwell.example/signed-in",
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      state: "s",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const response = await fetch(url, { redirect: "manual" });
    expect(response.headers.get("location")).toMatch(/^\/oidc\/sign-in\//);
    const cookies = response.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__(?:Secure|Host)-stepwell-/);
      for (const attribute of [/; secure/i, /; httponly/i, /; samesite=(?:lax|strict)/i])
        expect(cookie).toMatch(attribute);
      if (cookie.startsWith("__Host-")) expect(cookie).toMatch(/; path=\/;/);
      expect(cookie).not.toMatch(/domain=/i);
    }
  });
});

describe("under a path of its own", async () => {
  const splitter = await Splitter.listen();
  const cluster = useCluster(1, {
    STEPWELL_BASE_URL: `${splitter.url}/flow`,
    STEPWELL_DASHBOARD_REDIRECT_URIS: "http://localhost:5173/signed-in",
    STEPWELL_CORS_ORIGINS: "http://localhost:5173",
  });
  beforeAll(() => splitter.between([cluster.node(0).port]));
  afterAll(() => splitter.stop());

  test("a standard client can sign a user in", async () => {
    const baseUrl = `${splitter.url}/flow`;
    const { idToken, tokens, browser } = await signIn(baseUrl, await newPerson(cluster.node(0)));
    expect(tokens.claims()?.iss).toBe(`${baseUrl}/oidc`);
    await new Client(baseUrl, idToken).call("GetAccount");
    const after = await browser.submit(await browser.open(`${baseUrl}/oidc/session/end`), { logout: "yes" });
    expect(after.text).toContain("You are signed out");
  });

  test("a dashboard under development can call the API from its own origin, and no other page can", async () => {
    const url = `${splitter.url}/flow/oidc/token`;
    const ask = async (origin: string) => {
      const body = new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: "x",
        client_id: "stepwell-dashboard",
      });
      return await fetch(url, { method: "POST", body, headers: { origin } });
    };
    const own = await ask("http://localhost:5173");
    expect(own.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
    expect(await own.json()).toMatchObject({ error: "invalid_grant" });
    const foreign = await ask("https://evil.example");
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
    expect(await foreign.json()).toMatchObject({ error: "invalid_request" });
  });
});

describe("guesses of device codes", () => {
  const service = useService(postgresHome);

  test.each([
    ["POST", "/device"],
    ["GET", "/device/none"],
    ["GET", "/device/auth"],
    ["GET", "/DEVICE/none"],
  ])("%s %s without the page's session has to begin again", async (method, path) => {
    const body = method === "POST" ? new URLSearchParams({ user_code: "BCDF-GHJK", xsrf: "x" }) : null;
    for (const cookie of ["", "stepwell-session=", "other=x"]) {
      const response = await fetch(`${service.baseUrl}/oidc${path}`, { method, body, headers: { cookie } });
      expect(response.status, cookie).toBe(400);
      expect(await response.json()).toMatchObject({ error: "session_not_found" });
    }
    const made = { cookie: "stepwell-session=made-up" };
    expect((await fetch(`${service.baseUrl}/oidc${path}`, { method, body, headers: made })).status).toBeLessThan(500);
  });

  inWholeMatrix(() => {
    test("are soon slowed down, and then even a right code does not count", async () => {
      const body = new URLSearchParams({ client_id: "stepwell-cli", scope: "openid" });
      const response = await fetch(`${service.baseUrl}/oidc/device/auth`, { method: "POST", body });
      const { user_code: code } = (await response.json()) as { user_code: string };
      const browser = new Browser();
      let form = await browser.open(`${service.baseUrl}/oidc/device`);
      let count = 0;
      for (let page = form; page.status === 200 && count < 150; count += 1) {
        form = page;
        page = await browser.submit(page, { user_code: "BCDF-BCDF" });
      }
      // An address may fail a hundred times in an hour before it has to wait.
      expect(count).toBe(101);
      const refused = await browser.submit(form, { user_code: code });
      expect(refused.status).toBe(429);
      expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    }, 60_000);
  });
});

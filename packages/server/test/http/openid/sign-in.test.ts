import { Browser } from "@stepwell/testing/browser.ts";
import { giveSecondFactor, newPerson, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { beginSignIn, discover, isArrival, signedIn, signIn, typePassword } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";

interface SessionList {
  readonly sessions: readonly { readonly sessionId: string; readonly isCurrent: boolean; readonly userAgent: string }[];
  readonly nextPageToken?: string;
}

onOneStore((home) => {
  const service = useService(home);

  async function pageOfSignIn(browser = new Browser(), parameters: Record<string, string> = {}) {
    const begun = await beginSignIn(await discover(service.baseUrl), service.baseUrl, parameters);
    return { ...begun, browser, page: await browser.open(begun.url, isArrival) };
  }

  async function accessOf(idToken: string): Promise<number> {
    return (await service.client(idToken).callAny("GetAccount", {})).status;
  }

  test("a standard client signs a user in, and the id token is the Bearer value", async () => {
    const person = await newPerson(service);
    const { idToken, tokens } = await signIn(service.baseUrl, person);
    const claims = tokens.claims();
    expect(claims).toMatchObject({ sub: person.userId, iss: `${service.baseUrl}/oidc`, aud: "stepwell-dashboard" });
    expect((claims?.exp ?? 0) - (claims?.iat ?? 0)).toBe(3_600);
    const { body } = await service.client(idToken).call("GetAccount");
    expect(body).toMatchObject({ userId: person.userId, email: person.email });
    const list = await service.client(idToken).call<SessionList>("ListSessions");
    expect(list.body.sessions).toMatchObject([{ sessionId: claims?.sid, isCurrent: true, signedInBy: "password" }]);
    const { body: caller } = await service.client(idToken).call("WhoAmI");
    expect(caller).toMatchObject({ type: "user", id: person.userId, sessionId: claims?.sid });
  });

  test("a program that knows only the published keys can verify an id token", async () => {
    const { idToken } = await signIn(service.baseUrl, await newPerson(service));
    const keys = createRemoteJWKSet(new URL(`${service.baseUrl}/oidc/jwks`));
    const expected = { issuer: `${service.baseUrl}/oidc`, audience: "stepwell-dashboard", algorithms: ["RS256"] };
    expect((await jwtVerify(idToken, keys, expected)).payload.sid).toBeDefined();
    const published = (await (await fetch(`${service.baseUrl}/oidc/jwks`)).json()) as { keys: object[] };
    expect(published.keys.map((key) => Object.keys(key).sort())).toEqual([["alg", "e", "kid", "kty", "n", "use"]]);
  });

  test("a signed-in user creates an organization with the id token, and works in it", async () => {
    const { idToken } = await signIn(service.baseUrl, await newPerson(service));
    const client = service.client(idToken);
    const { body } = await client.call<{ organizationId: string }>("CreateOrganization", {
      body: { name: `n ${Math.random()}`, displayName: "n" },
    });
    await client.bind({ organizationId: body.organizationId }).call("ListJobs");
  });

  test("the sign-in page needs no script, loads nothing, and has a policy that allows nothing else", async () => {
    const { page } = await pageOfSignIn();
    expect(page.status).toBe(200);
    const policy = page.headers.get("content-security-policy");
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' http:\S+; frame-ancestors 'none'/,
    );
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("referrer-policy")).toBe("same-origin");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.text).not.toMatch(/<script|<link|<img|\bsrc=|url\(|@import|\bon\w+=/);
    for (const name of ["email", "password"]) {
      expect(page.text).toContain(`<label for="${name}">`);
      expect(page.text).toMatch(new RegExp(`id="${name}" name="${name}"[^>]* autocomplete="`));
    }
  });

  test("a wrong password and an unknown address lead to the same page, which keeps the typed address, escaped", async () => {
    const person = await newPerson(service);
    const { browser, page } = await pageOfSignIn();
    const wrong = await browser.submit(page, { email: person.email, password: "not the password" }, isArrival);
    const nobody = await browser.submit(
      page,
      { email: person.email.replace("Person", "Nobody"), password: "x" },
      isArrival,
    );
    expect([wrong.status, nobody.status]).toEqual([401, 401]);
    expect(wrong.text).toContain('role="alert"');
    expect(nobody.text.replaceAll("Nobody", "Person")).toBe(wrong.text);
    const script = await browser.submit(page, { email: `"><script>alert(1)</script>`, password: "x" }, isArrival);
    expect(script.text).not.toContain("<script");
    expect(script.text).toContain("&quot;&gt;&lt;script&gt;");
    const after = await browser.submit(script, { email: person.email, password: rightPassword }, isArrival);
    expect(after.url.pathname).toBe("/signed-in");
  });

  test("a user with a second factor is asked for it, and the page for it contains no password", async () => {
    const person = await newPerson(service);
    const factor = await giveSecondFactor(service, person);
    const { browser, page, finish } = await pageOfSignIn();
    const second = await typePassword(browser, page, person);
    expect(second.status).toBe(200);
    expect(second.text).not.toContain(rightPassword);
    const wrong = await browser.submit(second, { code: "abc" }, isArrival);
    expect(wrong.status).toBe(401);
    const arrival = await browser.submit(wrong, { code: factor.recoveryCodes[0] ?? "" }, isArrival);
    expect(await accessOf(signedIn(browser, await finish(arrival.url)).idToken)).toBe(200);
  });

  test("after too many wrong passwords the page shows the time to wait, but a known browser can still sign in", async () => {
    const person = await newPerson(service);
    const known = (await signIn(service.baseUrl, person)).browser;
    const { browser, page } = await pageOfSignIn();
    let blocked = page;
    for (let left = 20; left > 0 && blocked.status !== 429; left -= 1) {
      blocked = await typePassword(browser, page, person, "wrong one");
    }
    expect(blocked.status).toBe(429);
    expect(blocked.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(blocked.text).toContain("Too many attempts");
    expect(blocked.text).toMatch(/Try again in (?:1 second|(?:[2-9]|\d\d+) seconds)\./);
    const again = await pageOfSignIn(known, { prompt: "login" });
    expect((await typePassword(known, again.page, person)).url.pathname).toBe("/signed-in");
  });

  test("a browser that is signed in returns without a password, in the same session", async () => {
    const person = await newPerson(service);
    const first = await signIn(service.baseUrl, person);
    const silent = await pageOfSignIn(first.browser, { prompt: "none" });
    const tokens = await silent.finish(silent.page.url);
    expect(tokens.claims()?.sid).toBe(first.tokens.claims()?.sid);
    const stranger = await pageOfSignIn(new Browser(), { prompt: "none" });
    expect(stranger.page.url.searchParams.get("error")).toBe("login_required");
  });

  test("a client that asks for the consent page signs in without it, because the service's own clients need no consent", async () => {
    const person = await newPerson(service);
    const first = await signIn(service.baseUrl, person);
    const again = await pageOfSignIn(first.browser, { prompt: "consent" });
    expect((await again.finish(again.page.url)).claims()?.sid).toBe(first.tokens.claims()?.sid);
    const { browser, page, finish } = await pageOfSignIn(new Browser(), { prompt: "login consent" });
    const arrival = await typePassword(browser, page, person);
    expect(await accessOf(signedIn(browser, await finish(arrival.url)).idToken)).toBe(200);
  });

  test("each sign-in is a session of its own, with new cookies", async () => {
    const person = await newPerson(service);
    const first = await signIn(service.baseUrl, person);
    const thief = first.browser.clone();
    const again = await pageOfSignIn(first.browser, { prompt: "login" });
    const arrival = await typePassword(first.browser, again.page, person);
    const second = await again.finish(arrival.url);
    expect(second.claims()?.sid).not.toBe(first.tokens.claims()?.sid);
    const stolen = await pageOfSignIn(thief, { prompt: "none" });
    expect(stolen.page.url.searchParams.get("error")).toBe("login_required");
  });

  test("an ended session gives no access by its id token, its refresh token or its browser's cookie", async () => {
    const person = await newPerson(service);
    const one = await signIn(service.baseUrl, person, new Browser("One"));
    const other = await signIn(service.baseUrl, person, new Browser("Other"));
    const client = service.client(one.idToken);
    const { sessions } = (await client.call<SessionList>("ListSessions")).body;
    expect(sessions.map(({ userAgent, isCurrent }) => [userAgent, isCurrent])).toEqual([
      ["Other", false],
      ["One", true],
    ]);
    const params = { sessionId: sessions[0]?.sessionId ?? "" };
    expect((await client.call("EndSession", { params })).status).toBe(204);
    await client.refused("EndSession", "NotFoundError", { params });
    expect(await accessOf(other.idToken)).toBe(401);
    const refresh = await refreshWith(other.refreshToken);
    expect([refresh.status, refresh.body.error]).toEqual([400, "invalid_grant"]);
    const silent = await pageOfSignIn(other.browser, { prompt: "none" });
    expect(silent.page.url.searchParams.get("error")).toBe("login_required");
    const again = await signIn(service.baseUrl, person, other.browser);
    expect(await accessOf(again.idToken)).toBe(200);
    await client.call("EndSession", { params: { sessionId: String(again.tokens.claims()?.sid) } });
    expect(await accessOf(one.idToken)).toBe(200);
    expect((await client.call<SessionList>("ListSessions")).body.sessions).toHaveLength(1);
  });

  test("a user cannot end another user's session, which is answered like an unknown one", async () => {
    const victim = await signIn(service.baseUrl, await newPerson(service));
    const { idToken } = await signIn(service.baseUrl, await newPerson(service));
    const client = service.client(idToken);
    const sessionId = String(victim.tokens.claims()?.sid);
    const foreign = await client.refused("EndSession", "NotFoundError", { params: { sessionId } });
    const unknown = await client.refused("EndSession", "NotFoundError", { params: { sessionId: crypto.randomUUID() } });
    expect({ ...foreign.body, requestId: "" }).toEqual({ ...unknown.body, requestId: "" });
    expect(await accessOf(victim.idToken)).toBe(200);
  });

  test("sessions are listed in pages", async () => {
    const person = await newPerson(service);
    const [, , last] = [
      await signIn(service.baseUrl, person),
      await signIn(service.baseUrl, person),
      await signIn(service.baseUrl, person),
    ];
    const client = service.client(last.idToken);
    const first = (await client.call<SessionList>("ListSessions", { query: { pageSize: 2 } })).body;
    expect(first.sessions).toHaveLength(2);
    const pageToken = first.nextPageToken ?? "";
    const rest = (await client.call<SessionList>("ListSessions", { query: { pageSize: 2, pageToken } })).body;
    expect(rest.sessions).toHaveLength(1);
    expect(rest.nextPageToken).toBeUndefined();
  });

  test("a session ends if it was unused for too long or is too old", async () => {
    const person = await newPerson(service);
    for (const column of ["last_seen_at", "expires_at"]) {
      const { idToken, refreshToken, tokens } = await signIn(service.baseUrl, person);
      await service.running.database.query(
        {
          name: `age_${column}`,
          scope: "global",
          planned: "each-time",
          text: `UPDATE user_session SET ${column} = ${column} - interval '15 days' WHERE session_id = $1`,
        },
        [tokens.claims()?.sid],
      );
      expect(await accessOf(idToken)).toBe(401);
      expect((await refreshWith(refreshToken)).body.error).toBe("invalid_grant");
    }
  });

  test("signing out ends the session and its tokens, and returns to the page that asked", async () => {
    const { browser, idToken, refreshToken } = await signIn(service.baseUrl, await newPerson(service));
    const url = new URL(`${service.baseUrl}/oidc/session/end`);
    url.searchParams.set("id_token_hint", idToken);
    url.searchParams.set("post_logout_redirect_uri", `${service.baseUrl}/`);
    url.searchParams.set("state", "s1");
    const page = await browser.open(url);
    expect(page.text).toContain("Sign out?");
    expect(await accessOf(idToken)).toBe(200);
    const after = await browser.submit(page, { logout: "yes" }, isArrival);
    expect(after.url.href).toBe(`${service.baseUrl}/?state=s1`);
    expect(await accessOf(idToken)).toBe(401);
    expect((await refreshWith(refreshToken)).body.error).toBe("invalid_grant");
    const silent = await pageOfSignIn(browser, { prompt: "none" });
    expect(silent.page.url.searchParams.get("error")).toBe("login_required");
  });

  test("signing out without a return address ends on a page", async () => {
    const { browser } = await signIn(service.baseUrl, await newPerson(service));
    const page = await browser.open(`${service.baseUrl}/oidc/session/end`);
    const after = await browser.submit(page, { logout: "yes" });
    expect(after.text).toContain("You are signed out");
  });

  test("a refresh token renews the id token, in the same session", async () => {
    const { refreshToken, tokens } = await signIn(service.baseUrl, await newPerson(service));
    const { status, body } = await refreshWith(refreshToken);
    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(refreshToken);
    expect(await accessOf(body.id_token ?? "")).toBe(200);
    const payload = JSON.parse(Buffer.from((body.id_token ?? "").split(".")[1] ?? "", "base64url").toString());
    expect(payload.sid).toBe(tokens.claims()?.sid);
  });

  test("unknown refresh tokens, those of another client and invalid texts are rejected", async () => {
    const { refreshToken, idToken } = await signIn(service.baseUrl, await newPerson(service));
    for (const [token, client] of [
      ["unknown", "stepwell-dashboard"],
      [refreshToken, "stepwell-cli"],
      [idToken, "stepwell-dashboard"],
      ["", "stepwell-dashboard"],
      ["x".repeat(10_000), "stepwell-dashboard"],
      ["\0", "stepwell-dashboard"],
    ] as const) {
      expect((await refreshWith(token, client)).status).toBe(400);
    }
    expect((await refreshWith(refreshToken, "nobody")).status).toBe(401);
    // The session still works after all these requests.
    expect((await refreshWith(refreshToken)).status).toBe(200);
    expect((await refreshWith("x".repeat(20_000))).status).toBe(413);
  });

  test("revoking the refresh token ends the session", async () => {
    const { refreshToken, idToken } = await signIn(service.baseUrl, await newPerson(service));
    const body = new URLSearchParams({ token: refreshToken, client_id: "stepwell-dashboard" });
    const response = await fetch(`${service.baseUrl}/oidc/token/revocation`, { method: "POST", body });
    expect(response.status).toBe(200);
    expect(await accessOf(idToken)).toBe(401);
  });

  test("a command line is signed in from a browser, and gets its tokens once", async () => {
    const person = await newPerson(service);
    const ask = async (path: string, fields: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: "stepwell-cli", ...fields });
      return (await (await fetch(`${service.baseUrl}/oidc${path}`, { method: "POST", body })).json()) as Record<
        string,
        string
      >;
    };
    const device = await ask("/device/auth", { scope: "openid" });
    const browser = new Browser();
    const entry = await browser.open(device.verification_uri_complete ?? "");
    const confirmation = await browser.submit(entry, { user_code: device.user_code ?? "" });
    const login = await browser.submit(confirmation, { confirm: "yes" });
    expect((await typePassword(browser, login, person)).text).toContain("The device is signed in");
    const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: device.device_code ?? "" };
    const tokens = await ask("/token", grant);
    expect(await accessOf(tokens.id_token ?? "")).toBe(200);
    const renewed = await ask("/token", { grant_type: "refresh_token", refresh_token: tokens.refresh_token ?? "" });
    expect(await accessOf(renewed.id_token ?? "")).toBe(200);
    expect((await ask("/token", grant)).error).toMatch(/^(?:slow_down|invalid_grant)$/);
  });

  test("a cancelled sign-in is reported to the client", async () => {
    const { browser, page } = await pageOfSignIn();
    const arrival = await browser.submit(page, { cancel: "yes" }, isArrival);
    expect(arrival.url.searchParams.get("error")).toBe("access_denied");
    const late = await browser.submit(page, { cancel: "yes" }, isArrival);
    expect(late.status).toBe(400);
    expect(late.text).toContain("Begin again");
  });

  test.each([
    ["an address that is not registered", { redirect_uri: "https://evil.example/" }, "not registered"],
    ["a client that nobody knows", { client_id: "somebody" }, "does not know the program that sent you here"],
  ])("a request with %s ends on a page with the reason, and redirects nowhere", async (_name, parameters, said) => {
    const { page } = await pageOfSignIn(new Browser(), parameters);
    expect(page.status).toBe(400);
    expect(page.url.origin).toBe(new URL(service.baseUrl).origin);
    expect(page.text).toContain(said);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("a request without PKCE, or with the plain method, is refused", async () => {
    for (const parameters of [{ code_challenge: "" }, { code_challenge_method: "plain" }]) {
      const { page } = await pageOfSignIn(new Browser(), parameters);
      expect(page.url.searchParams.get("error")).toBe("invalid_request");
    }
  });

  test("a code works once, and only with its verifier; its second use ends the session", async () => {
    const person = await newPerson(service);
    const { browser, page, finish } = await pageOfSignIn();
    const arrival = await typePassword(browser, page, person);
    const { id_token: idToken } = await finish(arrival.url);
    expect(await accessOf(idToken)).toBe(200);
    await expect(finish(arrival.url)).rejects.toMatchObject({ error: "invalid_grant" });
    expect(await accessOf(idToken)).toBe(401);
  });

  test("a form from another site is rejected, and so is one without the browser's cookie", async () => {
    const person = await newPerson(service);
    const { browser, page } = await pageOfSignIn();
    const fields = { email: person.email, password: rightPassword };
    const foreign = await browser.submit(page, fields, isArrival, { origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
    const opaque = await browser.submit(page, fields, isArrival, { origin: "null" });
    expect(opaque.status).toBe(403);
    expect((await new Browser().submit(page, fields, isArrival)).status).toBe(400);
  });

  test("a password of a megabyte, or with a NUL, is rejected before any check", async () => {
    const person = await newPerson(service);
    const { browser, page } = await pageOfSignIn();
    expect((await typePassword(browser, page, person, "x".repeat(1_000_000))).status).toBe(400);
    expect((await typePassword(browser, page, person, "a\0b")).status).toBe(401);
    expect((await typePassword(browser, page, { ...person, email: "a\0b" })).status).toBe(401);
  });

  test("the store contains no readable token, code or key", async () => {
    const person = await newPerson(service);
    const { refreshToken, tokens } = await signIn(service.baseUrl, person);
    await refreshWith(refreshToken);
    const rows: object[] = [];
    for (const table of ["oidc_record", "refresh_exchange", "signing_key", "user_session", "account_activity"]) {
      const text = `SELECT ${table}::text AS row FROM ${table}`;
      rows.push(
        ...(await service.running.database.query<object>(
          { name: table, scope: "global", planned: "each-time", text },
          [],
        )),
      );
    }
    const dump = JSON.stringify(rows);
    const asHex = (text: string) => Buffer.from(text).toString("hex");
    for (const secret of [refreshToken, tokens.access_token, "PRIVATE", rightPassword]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(asHex(secret));
    }
  });

  test("sign-ins and their ends are recorded in the account's activity", async () => {
    const person = await newPerson(service);
    const { browser } = await signIn(service.baseUrl, person);
    await browser.submit(await browser.open(`${service.baseUrl}/oidc/session/end`), { logout: "yes" });
    const { idToken } = await signIn(service.baseUrl, person);
    const { body } = await service
      .client(idToken)
      .call<{ activities: { action: string; details: object }[] }>("ListAccountActivity");
    expect(body.activities.map(({ action }) => action)).toEqual(["signed-in", "signed-out", "signed-in"]);
    expect(body.activities[0]?.details).toMatchObject({ by: "password" });
  });

  test("another user can sign in from the same browser, which signs the first one out", async () => {
    const first = await signIn(service.baseUrl, await newPerson(service));
    const person = await newPerson(service);
    const { browser, page, finish } = await pageOfSignIn(first.browser, { prompt: "login" });
    const between = await typePassword(browser, page, person);
    const arrival = await browser.submit(between, { xsrf: hiddenIn(between.text, "xsrf") }, isArrival);
    const tokens = await finish(arrival.url);
    expect(tokens.claims()?.sub).toBe(person.userId);
    expect(await accessOf(first.idToken)).toBe(401);
    expect(await accessOf(tokens.id_token)).toBe(200);
  });

  test("a path that does not exist gives browsers a page and programs JSON", async () => {
    const page = await new Browser().open(`${service.baseUrl}/oidc/nothing`);
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    const answer = await fetch(`${service.baseUrl}/oidc/nothing`, { headers: { accept: "application/json" } });
    expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ error: "not_found" })]);
  });

  async function refreshWith(refreshToken: string, clientId = "stepwell-dashboard") {
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId });
    const response = await fetch(`${service.baseUrl}/oidc/token`, { method: "POST", body });
    const answer = (await response.json()) as { error?: string; id_token?: string; refresh_token?: string };
    return { status: response.status, body: answer };
  }
});

function hiddenIn(text: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";
}

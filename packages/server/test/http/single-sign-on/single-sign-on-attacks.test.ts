import { Browser } from "@stepwell/testing/browser.ts";
import { linkTo, useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { isArrival } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

function isWayBack(url: URL): boolean {
  return url.pathname.startsWith("/oidc/callback/");
}

function withParameter(url: URL, name: string, value: string): URL {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed;
}

onOneStore((home) => {
  const world = useSingleSignOn(home);

  /** Signs in up to the moment before the browser returns from the provider. `change` alters the address of the provider on the way. */
  async function awaySignedIn(change: (url: URL) => URL = (url) => url) {
    const { login } = await world.newPersonAt("acme");
    const { browser, page } = await world.begin();
    const out = await browser.open(linkTo(page, "acme"), (url) => url.origin === world.acme.issuer);
    const there = await browser.open(change(out.url));
    const { url } = await browser.submit(there, { login }, isWayBack);
    return { browser, page, wayBack: url };
  }

  test("each request to the provider has PKCE by SHA-256, and a new state and nonce", async () => {
    const outs = await Promise.all(
      [1, 2].map(async () => {
        const { browser, page } = await world.begin();
        return (await browser.open(linkTo(page, "acme"), (url) => url.origin === world.acme.issuer)).url;
      }),
    );
    for (const name of ["state", "nonce", "code_challenge"]) {
      const [one, other] = outs.map(({ searchParams }) => searchParams.get(name));
      expect(one).toMatch(/^[\w.-]{40,}$/);
      expect(one).not.toBe(other);
    }
    expect(outs[0]?.searchParams.get("code_challenge_method")).toBe("S256");
    expect(outs[0]?.searchParams.get("response_type")).toBe("code");
  });

  test("cookies reveal nothing about a sign-in, and the browser sends them to that sign-in alone", async () => {
    const { browser, page } = await world.begin();
    const response = await fetch(linkTo(page, "acme"), {
      headers: { cookie: browser.cookieHeader(linkTo(page, "acme")) },
      redirect: "manual",
    });
    const journey = response.headers.getSetCookie().find((line) => line.startsWith("stepwell-journey="));
    expect(journey).toMatch(/; path=\/oidc\/sign-in\/[\w-]+;/i);
    expect(journey).toMatch(/; samesite=lax/i);
    expect(journey).toMatch(/; httponly/i);
    const { searchParams } = new URL(response.headers.get("location") ?? "");
    expect(journey).not.toContain(searchParams.get("nonce"));
  });

  test("a browser that returns with another state is not signed in", async () => {
    const { browser, wayBack } = await awaySignedIn();
    const state = wayBack.searchParams.get("state") ?? "";
    const changed = await browser.open(withParameter(wayBack, "state", `${state}x`), isArrival);
    expect([changed.status, isArrival(changed.url)]).toEqual([403, false]);
    const none = await browser.open(withParameter(wayBack, "state", ""), isArrival);
    expect(none.status).toBe(400);
  });

  test("after a return with the wrong state, the return with the right state is rejected, too", async () => {
    const { browser, wayBack } = await awaySignedIn();
    const state = wayBack.searchParams.get("state") ?? "";
    await browser.open(withParameter(wayBack, "state", `${state}x`), isArrival);
    expect((await browser.open(wayBack, isArrival)).status).toBe(400);
  });

  test("the address with which a provider sends the browser back works only once", async () => {
    const { browser, wayBack } = await awaySignedIn();
    const thief = browser.clone();
    expect(isArrival((await browser.open(wayBack, isArrival)).url)).toBe(true);
    expect((await browser.open(wayBack, isArrival)).status).toBe(400);
    // The attempt fails even with all cookies that the browser had before, since the code was exchanged and the sign-in has ended.
    expect(isArrival((await thief.open(wayBack, isArrival)).url)).toBe(false);
  });

  test("a link that an attacker's browser was about to follow signs no user in", async () => {
    const { wayBack } = await awaySignedIn();
    expect((await new Browser().open(wayBack, isArrival)).status).toBe(400);
    const victim = await awaySignedIn();
    expect((await victim.browser.open(wayBack, isArrival)).status).toBe(400);
    const code = wayBack.searchParams.get("code") ?? "";
    const mixed = await victim.browser.open(withParameter(victim.wayBack, "code", code), isArrival);
    expect([mixed.status, isArrival(mixed.url)]).toEqual([403, false]);
  });

  const detours: readonly (readonly [string, string])[] = [
    ["nonce", "another-nonce-that-was-not-asked-for"],
    ["code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
    ["state", "another.state"],
  ];

  test.for(detours)("a request that was changed on its way (%s) ends in no sign-in", async ([name, value]) => {
    const { browser, wayBack } = await awaySignedIn((url) => withParameter(url, name, value));
    const end = await browser.open(wayBack, isArrival);
    expect(end.status).toBeGreaterThanOrEqual(400);
    expect(isArrival(end.url)).toBe(false);
  });

  test("an answer of one provider is not accepted for another", async () => {
    const { browser, wayBack } = await awaySignedIn();
    const other = new URL(wayBack);
    other.pathname = "/oidc/callback/globex";
    expect((await browser.open(other, isArrival)).status).toBe(400);
    const otherIssuer = await awaySignedIn();
    const mixedUp = await otherIssuer.browser.open(
      withParameter(otherIssuer.wayBack, "iss", world.globex.issuer),
      isArrival,
    );
    expect([mixedUp.status, isArrival(mixedUp.url)]).toEqual([403, false]);
    // Acme announces that its answers contain its name (RFC 9207), so an answer without the name is from somebody else.
    const nameless = await awaySignedIn();
    const without = new URL(nameless.wayBack);
    expect(without.searchParams.get("iss")).toBe(world.acme.issuer);
    without.searchParams.delete("iss");
    const end = await nameless.browser.open(without, isArrival);
    expect([end.status, isArrival(end.url)]).toEqual([403, false]);
  });

  test("one subject at two issuers is two accounts", async () => {
    const login = "one-subject";
    const claims = { email_verified: true, groups: ["staff"] };
    await world.acme.setAccount(login, { ...claims, email: "one@acme.test" });
    await world.globex.setAccount(login, { ...claims, email: "one@globex.test" });
    const subjects = [];
    for (const id of ["acme", "globex", "acme"] as const) {
      subjects.push((await world.signIn(id, login)).tokens?.claims()?.sub);
    }
    expect(subjects[0]).toBeDefined();
    expect(subjects[1]).toBeDefined();
    expect(subjects[0]).not.toBe(subjects[1]);
    expect(subjects[2]).toBe(subjects[0]);
  });

  test("a person whom the provider rejects gets a message, and can return to the sign-in", async () => {
    const { browser, page } = await world.begin();
    const there = await world.leaveFor(browser, page, "acme");
    const end = await browser.submit(there, { login: "nobody known" }, isArrival);
    expect(end.status).toBe(403);
    expect(end.text).toContain("Acme refused the sign-in, or you cancelled it there.");
    expect((await browser.open(page.url)).text).toContain("Continue with Acme");
  });

  test("text that an attacker puts into the redirect is not shown", async () => {
    const { browser, wayBack } = await awaySignedIn();
    const url = new URL(wayBack);
    url.searchParams.delete("code");
    url.searchParams.set("error", "access_denied");
    url.searchParams.set("error_description", "Call 555-1234 <b>now</b>");
    const { status, text } = await browser.open(url, isArrival);
    expect(status).toBe(403);
    expect(text).not.toContain("555-1234");
  });

  test("a sign-in at a provider needs a configured provider, and must start on this service", async () => {
    const { browser, page } = await world.begin();
    const link = linkTo(page, "acme");
    expect((await browser.open(new URL(link.href.replace("/with/acme", "/with/other")))).status).toBe(404);
    expect((await new Browser().open(link)).status).toBe(400);
    expect((await browser.open(`${world.service.baseUrl}/oidc/callback/other?state=a.b&code=c`)).status).toBe(400);
  });
});

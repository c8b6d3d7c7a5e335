import { useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { isArrival } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";

onOneStore((home) => {
  const world = useSingleSignOn(home);

  inWholeMatrix(() => {
    // The tests run one after the other, since the second one stops the provider for good.
    test("a provider that does not answer is given up after seconds, and used again when it is back", async () => {
      const { login } = await world.newPersonAt("acme");
      const { browser, begun, page } = await world.begin();
      const now = Math.floor(Date.now() / 1_000);
      const claims = { sub: login, aud: "https://stepwell.acme.test", iat: now, exp: now + 600 };
      const bearer = world.service.client(await world.acme.sign(claims, { typ: "at+jwt" }));
      world.acme.pause();
      const [hanging, refused] = await Promise.all([
        world.leaveFor(browser, page, "acme"),
        bearer.refused("WhoAmI", "UnavailableError"),
      ]).finally(() => world.acme.goOn());
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(hanging.status).toBe(503);
      expect(hanging.text).toContain("Acme cannot be reached. Try again in a moment.");
      await expect
        .poll(async () => (await world.leaveFor(browser, page, "acme")).status, { timeout: 10_000, interval: 500 })
        .toBe(200);
      const there = await world.leaveFor(browser, page, "acme");
      const { url } = await browser.submit(there, { login }, isArrival);
      await begun.finish(url);
    });
  });

  test("a provider that becomes unreachable during a sign-in is reported, and the sign-in fails", async () => {
    const { login } = await world.newPersonAt("acme");
    const { browser, page } = await world.begin();
    const there = await world.leaveFor(browser, page, "acme");
    const back = await browser.submit(there, { login }, (url) => url.pathname.startsWith("/oidc/callback/"));
    await world.acme.stop();
    const end = await browser.open(back.url, isArrival);
    expect([end.status, isArrival(end.url)]).toEqual([503, false]);
    expect(end.text).toContain("Acme cannot be reached");
  });

  test("everything that does not need the provider still works", async () => {
    const person = await newPerson(world.service);
    expect((await world.signInWithPassword(person)).claims()?.sub).toBe(person.userId);
    const { login } = await world.newPersonAt("globex");
    expect((await world.signIn("globex", login)).tokens).toBeDefined();
  });
});

import { Browser } from "@stepwell/testing/browser.ts";
import { newPerson, type Person } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { beginSignIn, commandLine, discover, isArrival } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { issueSignInLink, signInLinkUrl } from "../../../src/auth/passwords/sign-in-link.ts";

onOneStore((home) => {
  const service = useService(home);

  /** Makes a link as `stepwell dev` does, as if it had been made `madeAgoMs` milliseconds ago. */
  async function linkFor({ userId }: Person, madeAgoMs = 0): Promise<string> {
    const { database, engine } = service.running;
    return signInLinkUrl(service.baseUrl, await issueSignInLink(database, userId, engine.now() - madeAgoMs));
  }

  async function begin() {
    return await beginSignIn(await discover(service.baseUrl), service.baseUrl);
  }

  test("a link signs a browser in without a password, once, as its own user", async () => {
    const person = await newPerson(service);
    const link = await linkFor(person);
    const browser = new Browser();
    const opened = await browser.open(link, (url) => url.pathname === "/");
    expect(opened.headers.get("referrer-policy")).toBe("no-referrer");
    expect(opened.headers.get("cache-control")).toBe("no-store");
    const begun = await begin();
    const { url } = await browser.open(begun.url, isArrival);
    const { id_token: idToken } = await begun.finish(url);
    const sessions = await service.client(idToken).call("ListSessions");
    expect(sessions.body).toMatchObject({ sessions: [{ isCurrent: true, signedInBy: "link" }] });

    expect((await new Browser().open(link)).status).toBe(404);
  });

  test("if ten people open one link at the same moment, one is signed in", async () => {
    const link = await linkFor(await newPerson(service));
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(link, { redirect: "manual" })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array.from({ length: 9 }, () => 404)]);
  });

  test("a link ends after ten minutes, and when a newer one exists", async () => {
    const person = await newPerson(service);
    const tooOld = await linkFor(person, 10 * 60_000 + 1_000);
    expect((await fetch(tooOld, { redirect: "manual" })).status).toBe(404);
    const older = await linkFor(person);
    const newer = await linkFor(person, 9 * 60_000);
    expect((await fetch(older, { redirect: "manual" })).status).toBe(404);
    expect((await fetch(newer, { redirect: "manual" })).status).toBe(303);
  });

  test("the cookie of the link is removed by the first sign-in page, and a forged one has no effect", async () => {
    const browser = new Browser();
    await browser.open(await linkFor(await newPerson(service)), (url) => url.pathname === "/");
    const thief = browser.clone();
    await browser.open((await begin()).url, isArrival);
    expect(browser.cookieNames()).not.toContain("stepwell-link");

    const madeUp = await fetch((await begin()).url, { redirect: "manual" });
    const page = new URL(madeUp.headers.get("location") ?? "", service.baseUrl);
    const cookies = madeUp.headers.getSetCookie().map((line) => line.split(";")[0]);
    const shown = await fetch(page, {
      redirect: "manual",
      headers: { cookie: [...cookies, `stepwell-link=${"A".repeat(120)}`].join("; ") },
    });
    expect(shown.status).toBe(200);
    expect(thief.cookieNames()).toContain("stepwell-link");
  });

  test("a link does not replace the password when a device is signed in", async () => {
    const configuration = await discover(service.baseUrl, commandLine);
    const { initiateDeviceAuthorization } = await import("openid-client");
    const device = await initiateDeviceAuthorization(configuration, { scope: "openid" });
    const browser = new Browser();
    await browser.open(await linkFor(await newPerson(service)), (url) => url.pathname === "/");
    const typed = await browser.open(device.verification_uri);
    const confirm = await browser.submit(typed, { user_code: device.user_code });
    const page = await browser.submit(confirm, { confirm: "yes" });
    expect(page.text).toContain('type="password"');
  });
});

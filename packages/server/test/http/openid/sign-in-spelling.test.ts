import { Browser } from "@stepwell/testing/browser.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";

const service = useService(postgresHome);

/** The provider's own router accepts these spellings of an address, so the checks before the router must recognize them, too. */
const otherSpellings = (path: string) => [path.toUpperCase(), `${path}/`, `${path.toUpperCase()}/`];
const guarded = ["/auth", "/device", "/device/auth", "/session/end", "/token"];

test.for(guarded.flatMap(otherSpellings))("the checks before the provider cannot be bypassed by %s", async (path) => {
  for (const method of ["GET", "POST"]) {
    const body = method === "POST" ? new URLSearchParams({ client_id: "stepwell-cli", scope: "openid" }) : null;
    const response = await fetch(`${service.baseUrl}/oidc${path}`, { method, body, redirect: "manual" });
    expect(response.status, method).toBe(404);
  }
});

inWholeMatrix(() => {
  test("a person who tries device codes is slowed down", async () => {
    const { browser } = await signIn(service.baseUrl, await newPerson(service));
    const statuses: number[] = [];
    for (let count = 0; count < 102; count += 1) {
      const page = await browser.open(`${service.baseUrl}/oidc/device`);
      statuses.push((await browser.submit(page, { user_code: "BCDF-GHJK" })).status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  }, 60_000);
});

test("a link with a code submits nothing by itself, however it is spelled", async () => {
  const { text } = await new Browser().open(`${service.baseUrl}/oidc/Device?user_code=BCDF-GHJK`);
  expect(text).not.toContain("<script");
});

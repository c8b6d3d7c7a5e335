import { randomBytes } from "node:crypto";
import { ask } from "@stepwell/testing/audit-rows.ts";
import { Browser } from "@stepwell/testing/browser.ts";
import { Client } from "@stepwell/testing/client.ts";
import { codeOf, newPerson } from "@stepwell/testing/people.ts";
import { beginSignIn, discover, typePassword } from "@stepwell/testing/sign-in.ts";
import { expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

const cluster = useCluster(1);

/** Returns everything in the store as text. Binary columns are in hexadecimal. */
async function dump(): Promise<string> {
  const { database } = cluster.node(0).running;
  const tables = await ask<{ name: string }>(
    database,
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const texts = tables.map(async ({ name }) => {
    const [row] = await ask<{ content: string | null }>(
      database,
      `SELECT string_agg(whole::text, E'\\n') AS content FROM "${name}" AS whole`,
    );
    return row?.content ?? "";
  });
  return (await Promise.all(texts)).join("\n");
}

/** Returns the secret in several forms: as it is, and as a bytea column or an encoder would show it. */
function* spellingsOf(secret: string): Generator<string> {
  const bytes = Buffer.from(secret);
  yield secret;
  yield encodeURIComponent(secret);
  yield bytes.toString("hex");
  yield bytes.toString("base64url");
}

test("neither the store nor the log contains a secret in plain text", async () => {
  const node = await cluster.addProcess({ STEPWELL_LOG_LEVEL: "trace" });
  const { baseUrl } = node.ready;
  const secrets = new Map<string, string>();
  const keep = (name: string, secret: string | undefined): string => {
    expect(secret, name).toMatch(/^\S{6,}/);
    secrets.set(name, secret ?? "");
    return secret ?? "";
  };

  const password = keep("password", `pass-${randomBytes(9).toString("hex")}`);
  const person = await newPerson(cluster.node(0), password);
  const browser = new Browser();
  const begun = await beginSignIn(await discover(baseUrl), baseUrl);
  const page = await browser.open(begun.url);
  const wrong = await typePassword(
    browser,
    page,
    person,
    keep("wrong password", `guess-${randomBytes(9).toString("hex")}`),
  );
  const arrival = await typePassword(browser, wrong, person, password);
  keep("authorization code", arrival.url.searchParams.get("code") ?? undefined);
  const tokens = await begun.finish(arrival.url);
  const idToken = keep("id token", tokens.id_token);
  keep("access token", tokens.access_token);
  keep("refresh token", tokens.refresh_token);
  for (const cookie of browser.cookieHeader(new URL(`${baseUrl}/oidc/auth`)).split("; ")) {
    const [name = "", value] = cookie.split("=");
    // A short value, such as a flag, gives no access.
    if (value !== undefined && value.length > 20) keep(`cookie ${name}`, value);
  }

  const signedIn = new Client(baseUrl, idToken);
  type Organization = { readonly organizationId: string };
  const { organizationId } = (
    await signedIn.call<Organization>("CreateOrganization", { body: { name: "secretive", displayName: "Secretive" } })
  ).body;
  const api = signedIn.bind({ organizationId });
  type Created = Readonly<Record<string, string>>;
  const body = { name: "t", permissions: ["job:list"] };
  const apiToken = (await api.call<Created>("CreateApiToken", { body })).body;
  keep("API token", apiToken.token);
  await api.as(apiToken.token ?? "").call("ListJobs");
  const params = { tokenId: apiToken.tokenId ?? "" };
  keep("rotated API token", (await api.call<Created>("RotateApiToken", { params })).body.token);
  keep("user token", (await api.call<Created>("CreateUserToken", { body: { name: "u", password } })).body.token);
  const invitation = (await api.call<Created>("CreateInvitation", { body: { roles: ["viewer"] } })).body;
  keep("invitation", invitation.code);
  await fetch(invitation.link ?? "");
  const mistyped = keep("mistyped token", `stw_${randomBytes(30).toString("hex")}`);
  expect((await api.as(mistyped).callAny("ListJobs", {})).status).toBe(401);

  const factor = (await api.call<Created>("StartSecondFactor", { body: { password } })).body;
  const code = codeOf(keep("second factor", factor.secret), Date.now());
  type Confirmed = { readonly recoveryCodes: readonly string[] };
  const { recoveryCodes } = (await api.call<Confirmed>("ConfirmSecondFactor", { body: { code } })).body;
  for (const [index, recoveryCode] of recoveryCodes.entries()) keep(`recovery code ${index}`, recoveryCode);

  const device = await fetch(`${baseUrl}/oidc/device/auth`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "stepwell-cli", scope: "openid" }),
  });
  const { device_code: deviceCode, user_code: userCode } = (await device.json()) as Created;
  keep("device code", deviceCode);
  keep("user code", userCode);
  await fetch(`${baseUrl}/oidc/device?user_code=${userCode}`);

  const stored = await dump();
  const logged = node.output;
  // These two texts are found, which shows that the searches below work.
  expect(stored).toContain(person.email);
  expect(logged).toContain('"msg":"listening"');
  for (const [name, secret] of secrets) {
    for (const spelling of spellingsOf(secret)) {
      expect(stored.includes(spelling), `${name} in the store`).toBe(false);
      expect(logged.includes(spelling), `${name} in the log`).toBe(false);
    }
  }
}, 60_000);

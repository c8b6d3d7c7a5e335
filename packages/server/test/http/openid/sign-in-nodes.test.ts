import { Browser } from "@stepwell/testing/browser.ts";
import { Client } from "@stepwell/testing/client.ts";
import { newPerson, type Person, rightPassword } from "@stepwell/testing/people.ts";
import { Splitter } from "@stepwell/testing/proxies/splitter.ts";
import {
  beginSignIn,
  commandLine,
  discover,
  isArrival,
  signedIn,
  signIn,
  type Tokens,
  typePassword,
} from "@stepwell/testing/sign-in.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import * as openid from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

const splitter = await Splitter.listen();
const cluster = useCluster(2, { STEPWELL_BASE_URL: splitter.url });
beforeAll(() => splitter.between([cluster.node(0).port, cluster.node(1).port]));
afterAll(() => splitter.stop());

const baseUrl = splitter.url;

function byWayOf(node: 0 | 1, idToken: string): Client {
  return new Client(`http://localhost:${cluster.node(node).port}`, idToken);
}

async function accessOf(node: 0 | 1, idToken: string): Promise<number> {
  return (await byWayOf(node, idToken).callAny("GetAccount", {})).status;
}

async function refresh(node: 0 | 1, refreshToken: string) {
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: "stepwell-dashboard",
  });
  const response = await fetch(`http://localhost:${cluster.node(node).port}/oidc/token`, { method: "POST", body });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function ageExchanges(seconds: number): Promise<void> {
  await cluster.node(0).running.database.query(
    {
      name: "age_refresh_exchanges",
      scope: "global",
      planned: "each-time",
      text: "UPDATE refresh_exchange SET claimed_at = claimed_at - $1 * interval '1 second'",
    },
    [seconds],
  );
}

async function activityOf(idToken: string): Promise<string[]> {
  const { body } = await byWayOf(0, idToken).call<{ activities: { action: string }[] }>("ListAccountActivity");
  return body.activities.map(({ action }) => action);
}

interface Device {
  readonly code: openid.DeviceAuthorizationResponse;
  readonly poll: () => Promise<Tokens>;
}

async function startDevice(): Promise<Device> {
  const configuration = await discover(baseUrl, commandLine);
  const code = await openid.initiateDeviceAuthorization(configuration, { scope: "openid" });
  const poll = async () => (await openid.pollDeviceAuthorizationGrant(configuration, code)) as Tokens;
  return { code, poll };
}

async function letIn(browser: Browser, { code }: Device, person: Person): Promise<string> {
  const entry = await browser.open(code.verification_uri_complete ?? "");
  const confirmation = await browser.submit(entry, { user_code: code.user_code });
  const after = await browser.submit(confirmation, { confirm: "yes" });
  return after.text.includes("signed in") ? after.text : (await typePassword(browser, after, person)).text;
}

test("a standard client discovers, signs in, refreshes and signs out over two alternating nodes", async () => {
  const person = await newPerson(cluster.node(0));
  const configuration = await discover(baseUrl);
  const metadata = configuration.serverMetadata();
  expect(metadata.issuer).toBe(`${baseUrl}/oidc`);
  for (const endpoint of [metadata.token_endpoint, metadata.jwks_uri, metadata.device_authorization_endpoint]) {
    expect(new URL(endpoint ?? "").origin).toBe(baseUrl);
  }
  const { browser, idToken, refreshToken } = await signIn(baseUrl, person);
  expect([await accessOf(0, idToken), await accessOf(1, idToken)]).toEqual([200, 200]);
  const renewed = await openid.refreshTokenGrant(configuration, refreshToken);
  expect(renewed.claims()).toMatchObject({ sub: person.userId });
  expect(await openid.fetchUserInfo(configuration, renewed.access_token, person.userId)).toMatchObject({
    email: person.email,
  });
  const end = openid.buildEndSessionUrl(configuration, {
    post_logout_redirect_uri: `${baseUrl}/`,
    id_token_hint: renewed.id_token ?? "",
  });
  const after = await browser.submit(await browser.open(end), { logout: "yes" }, isArrival);
  expect(after.url.href).toBe(`${baseUrl}/`);
  await expect.poll(() => accessOf(0, idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  await expect.poll(() => accessOf(1, idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  await expect(openid.refreshTokenGrant(configuration, renewed.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
});

test("50 simultaneous uses of one refresh token, over both nodes, give one successor and end nothing", async () => {
  const { refreshToken } = await signIn(baseUrl, await newPerson(cluster.node(0)));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => refresh(index % 2 === 0 ? 0 : 1, refreshToken)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
  const late = await refresh(1, refreshToken);
  expect(late.body.refresh_token).toBe(answers[0]?.body.refresh_token);
  const next = await refresh(0, late.body.refresh_token ?? "");
  expect(next.status).toBe(200);
  expect(await accessOf(1, next.body.id_token ?? "")).toBe(200);
});

test("a refresh token used again later ends the session with all its tokens on both nodes, and this is recorded", async () => {
  const person = await newPerson(cluster.node(0));
  const { refreshToken, idToken } = await signIn(baseUrl, person);
  const successor = (await refresh(0, refreshToken)).body;
  expect(await accessOf(0, idToken)).toBe(200);
  expect(await accessOf(1, idToken)).toBe(200);
  await ageExchanges(31);
  const reuse = await refresh(1, refreshToken);
  expect([reuse.status, reuse.body.error]).toEqual([400, "invalid_grant"]);
  expect(await accessOf(1, idToken)).toBe(401);
  await expect.poll(() => accessOf(0, idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  expect(await accessOf(0, successor.id_token ?? "")).toBe(401);
  expect((await refresh(0, successor.refresh_token ?? "")).body.error).toBe("invalid_grant");
  const again = await signIn(baseUrl, person);
  expect(await activityOf(again.idToken)).toEqual(["signed-in", "refresh-token-reused", "signed-in"]);
});

test("a code that is exchanged on both nodes at the same time is exchanged once", async () => {
  const begun = await beginSignIn(await discover(baseUrl), baseUrl);
  const browser = new Browser();
  const person = await newPerson(cluster.node(0));
  const arrival = await typePassword(browser, await browser.open(begun.url), person);
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => begun.finish(arrival.url)));
  expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
});

test("a device is signed in from a browser: the page shows which program asks, and the program gets a session of its own", async () => {
  const person = await newPerson(cluster.node(0));
  const device = await startDevice();
  expect(device.code).toMatchObject({ interval: 2, verification_uri: `${baseUrl}/oidc/device` });
  const tokens = device.poll();
  const browser = new Browser();
  const entry = await browser.open(device.code.verification_uri);
  const wrong = await browser.submit(entry, { user_code: "BBBB-BBBB" });
  expect(wrong.text).toContain("This code is wrong");
  const confirmation = await browser.submit(wrong, { user_code: device.code.user_code.toLowerCase() });
  expect(confirmation.text).toContain(device.code.user_code);
  expect(confirmation.text).toContain("Stepwell command line");
  expect(confirmation.text).toMatch(/127\.0\.0\.1|::1/);
  expect(confirmation.text).toContain("openid-client");
  const login = await browser.submit(confirmation, { confirm: "yes" });
  expect(login.text).toContain("Sign in to let the Stepwell command line act for you");
  expect((await typePassword(browser, login, person)).text).toContain("The device is signed in");
  const { idToken, refreshToken } = signedIn(browser, await tokens);
  expect(await accessOf(1, idToken)).toBe(200);
  const { body } = await byWayOf(0, idToken).call<{ sessions: object[] }>("ListSessions");
  expect(body.sessions).toMatchObject([
    { signedInBy: "device", isCurrent: true },
    { signedInBy: "password", isCurrent: false, userAgent: "Test browser" },
  ]);
  // The browser signs out, but the command line stays signed in.
  await browser.submit(await browser.open(`${baseUrl}/oidc/session/end`), { logout: "yes" });
  const configuration = await discover(baseUrl, commandLine);
  const renewed = await openid.refreshTokenGrant(configuration, refreshToken);
  expect(await accessOf(0, renewed.id_token ?? "")).toBe(200);
}, 30_000);

test("a signed-in browser can sign a device in without a password, but never without a question", async () => {
  const person = await newPerson(cluster.node(0));
  const { browser } = await signIn(baseUrl, person);
  const device = await startDevice();
  const tokens = device.poll();
  expect(await letIn(browser, device, person)).toContain("The device is signed in");
  expect((await tokens).claims()?.sub).toBe(person.userId);
}, 30_000);

test("a rejected device gets an error, and a code works once", async () => {
  const person = await newPerson(cluster.node(0));
  const { browser } = await signIn(baseUrl, person);
  const device = await startDevice();
  const refused = expect(device.poll()).rejects.toMatchObject({ error: "access_denied" });
  const entry = await browser.open(device.code.verification_uri_complete ?? "");
  expect(entry.text).toContain(`value="${device.code.user_code}"`);
  const confirmation = await browser.submit(entry, { user_code: device.code.user_code });
  const after = await browser.submit(confirmation, { abort: "yes", confirm: "yes" });
  expect(after.text).toContain("The device is not signed in");
  await refused;
  const again = await browser.open(device.code.verification_uri);
  expect((await browser.submit(again, { user_code: device.code.user_code })).text).toContain("This code is wrong");
}, 30_000);

test("a device that polls too often is told to slow down", async () => {
  const { code } = await startDevice();
  const ask = async () => {
    const body = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: code.device_code,
      client_id: commandLine,
    });
    const url = `http://localhost:${cluster.node(0).port}/oidc/token`;
    return ((await (await fetch(url, { method: "POST", body })).json()) as { error: string }).error;
  };
  expect([await ask(), await ask()]).toEqual(["authorization_pending", "slow_down"]);
});

test("a session that is ended on one node is over on that node at once, and on the other within a second", async () => {
  const { idToken, tokens } = await signIn(baseUrl, await newPerson(cluster.node(0)));
  expect([await accessOf(0, idToken), await accessOf(1, idToken)]).toEqual([200, 200]);
  await byWayOf(0, idToken).call("EndSession", { params: { sessionId: String(tokens.claims()?.sid) } });
  expect(await accessOf(0, idToken)).toBe(401);
  await expect.poll(() => accessOf(1, idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
});

test("a session or a token that has ended creates no user token while the other node still remembers it", async () => {
  const body = { name: "to stay", password: rightPassword };
  const { idToken, tokens } = await signIn(baseUrl, await newPerson(cluster.node(0)));
  expect(await accessOf(1, idToken)).toBe(200);
  const { body: kept } = await byWayOf(0, idToken).call<{ token: string; userTokenId: string }>("CreateUserToken", {
    body,
  });
  expect(await accessOf(1, kept.token)).toBe(200);
  await byWayOf(0, idToken).call("RevokeUserToken", { params: { userTokenId: kept.userTokenId } });
  await byWayOf(1, kept.token).refused("CreateUserToken", "AuthenticationError", { body });
  await byWayOf(0, idToken).call("EndSession", { params: { sessionId: String(tokens.claims()?.sid) } });
  await byWayOf(1, idToken).refused("CreateUserToken", "AuthenticationError", { body });
});

test("a session or a user token that has ended grants nothing while the other node still remembers it", async () => {
  const { idToken, tokens } = await signIn(baseUrl, await newPerson(cluster.node(0)));
  const created = { name: "o", displayName: "O" };
  const { organizationId = "" } = (
    await byWayOf(0, idToken).call<Record<string, string>>("CreateOrganization", {
      body: created,
    })
  ).body;
  const { body: kept } = await byWayOf(0, idToken).call<{ token: string; userTokenId: string }>("CreateUserToken", {
    body: { name: "t", password: rightPassword },
  });
  const there = byWayOf(1, kept.token).bind({ organizationId });
  await there.call("GetOrganization");
  await there.as(idToken).call("GetOrganization");
  await byWayOf(0, idToken).call("RevokeUserToken", { params: { userTokenId: kept.userTokenId } });
  const body = { name: "to stay", permissions: ["organization:read"] };
  await there.refused("CreateApiToken", "AuthenticationError", { body });
  await byWayOf(0, idToken).call("EndSession", { params: { sessionId: String(tokens.claims()?.sid) } });
  await there.as(idToken).refused("CreateApiToken", "AuthenticationError", { body });
  await there.as(idToken).refused("CreateInvitation", "AuthenticationError", { body: { roles: ["owner"] } });
});

test("a disabled user loses all access within a second, on both nodes", async () => {
  const person = await newPerson(cluster.node(0));
  const { idToken, refreshToken } = await signIn(baseUrl, person);
  expect([await accessOf(0, idToken), await accessOf(1, idToken)]).toEqual([200, 200]);
  const text = "UPDATE app_user SET disabled_at = created_at WHERE user_id = $1";
  await cluster
    .node(0)
    .running.database.query({ name: "disable", scope: "global", planned: "each-time", text }, [person.userId]);
  await expect.poll(() => accessOf(0, idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  await expect.poll(() => accessOf(1, idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  expect((await refresh(1, refreshToken)).body.error).toBe("invalid_grant");
});

test("a node that starts later knows the keys and the sessions", async () => {
  const { idToken, refreshToken } = await signIn(baseUrl, await newPerson(cluster.node(0)));
  const node = await cluster.addNode();
  const client = new Client(`http://localhost:${node.port}`, idToken);
  expect((await client.callAny("GetAccount", {})).status).toBe(200);
  await cluster.stopNode(node);
  expect((await refresh(1, refreshToken)).status).toBe(200);
});

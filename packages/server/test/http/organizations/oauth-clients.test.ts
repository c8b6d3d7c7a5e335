import { hash } from "node:crypto";
import { ask, rowsOfAction } from "@stepwell/testing/audit-rows.ts";
import { Browser, type ShownPage } from "@stepwell/testing/browser.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { newPerson, type Person } from "@stepwell/testing/people.ts";
import { type TestOrganization, type TestService, useService } from "@stepwell/testing/service.ts";
import { beginSignIn, discover, isArrival, signIn, type Tokens, typePassword } from "@stepwell/testing/sign-in.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { grantablePermissions } from "../../../src/auth/permissions/permissions.ts";
import { buildWorld, rows } from "../authorization/authorization-rows.ts";

const appUri = "https://app.example.org/signed-in";

interface OAuthClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** A person who is a member of two organizations, the first of which has a client. */
interface Setting {
  readonly person: Person;
  readonly a: TestOrganization;
  readonly b: TestOrganization;
  readonly client: OAuthClient;
}

async function newClient(api: Client, redirectUris: readonly string[] = [appUri]): Promise<OAuthClient> {
  return (await api.call<OAuthClient>("CreateOAuthClient", { body: { name: "Order desk", redirectUris } })).body;
}

async function newSetting(service: TestService, roles: readonly string[] = ["owner"]): Promise<Setting> {
  const person = await newPerson(service);
  const a = await service.newOrganization();
  const b = await service.newOrganization();
  for (const { organizationId } of [a, b]) await service.addMember(organizationId, person.userId, roles);
  return { person, a, b, client: await newClient(a.api) };
}

interface Attempt {
  readonly browser: Browser;
  readonly page: ShownPage;
  readonly finish: (arrival: URL) => Promise<Tokens>;
}

async function begin(
  { baseUrl }: TestService,
  clientId: string,
  parameters: Record<string, string> = {},
  browser = new Browser(),
): Promise<Attempt> {
  const configuration = await discover(baseUrl, clientId);
  const begun = await beginSignIn(configuration, baseUrl, { redirect_uri: appUri, ...parameters });
  return { browser, page: await browser.open(begun.url, isArrival), finish: begun.finish };
}

/** Signs in up to the page that asks the person for consent. */
async function asked(service: TestService, { person, client }: Setting, browser?: Browser): Promise<Attempt> {
  const attempt = await begin(service, client.clientId, {}, browser);
  return { ...attempt, page: await typePassword(attempt.browser, attempt.page, person) };
}

interface Arrived extends Attempt {
  readonly tokens: Tokens;
  readonly idToken: string;
  readonly refreshToken: string;
}

async function arrive(service: TestService, setting: Setting, browser?: Browser): Promise<Arrived> {
  const attempt = await asked(service, setting, browser);
  const { url } = await attempt.browser.submit(attempt.page, { agree: "yes" }, isArrival);
  const tokens = await attempt.finish(url);
  return { ...attempt, tokens, idToken: tokens.id_token, refreshToken: tokens.refresh_token ?? "" };
}

interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, string>;
}

async function askToken(
  { baseUrl }: TestService,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const body = new URLSearchParams(fields);
  const answer = await fetch(`${baseUrl}/oidc/token`, { method: "POST", body, headers });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, string> };
}

function corsHeadersOf({ headers }: TokenAnswer): [string, string][] {
  return [...headers].filter(([name]) => name.startsWith("access-control-"));
}

async function refresh(service: TestService, clientId: string, token: string): Promise<TokenAnswer> {
  return await askToken(service, { grant_type: "refresh_token", client_id: clientId, refresh_token: token });
}

onOneStore((home) => {
  const service = useService(home);

  describe("the OAuth clients of an organization", () => {
    test("can be created, listed, read and deleted, and each change is in the audit trail", async () => {
      const { a, client } = await newSetting(service);
      const second = await newClient(a.api, ["http://localhost:5173/", "http://127.0.0.1:8080/back?x=1"]);
      const list = await a.api.call<{ oauthClients: OAuthClient[] }>("ListOAuthClients");
      expect(list.body.oauthClients).toMatchObject([second, client]);
      const params = { clientId: client.clientId };
      expect((await a.api.call("GetOAuthClient", { params })).body).toMatchObject({ name: "Order desk" });
      expect((await a.api.call("DeleteOAuthClient", { params })).status).toBe(204);
      await a.api.refused("GetOAuthClient", "NotFoundError", { params });
      await a.api.refused("DeleteOAuthClient", "NotFoundError", { params });
      const created = await rowsOfAction(service, a.organizationId, "CreateOAuthClient");
      expect(created.map((row) => row.target_id)).toEqual([client.clientId, second.clientId]);
      const deleted = await rowsOfAction(service, a.organizationId, "DeleteOAuthClient");
      expect(deleted).toMatchObject([
        { target_type: "oauthClient", target_id: client.clientId, details: { redirectUris: [appUri] } },
      ]);
    });

    test("are listed in pages", async () => {
      const { a, client } = await newSetting(service);
      const second = await newClient(a.api);
      type Page = { readonly oauthClients: OAuthClient[]; readonly nextPageToken?: string };
      const first = (await a.api.call<Page>("ListOAuthClients", { query: { pageSize: 1 } })).body;
      expect(first.oauthClients).toEqual([second]);
      const query = { pageSize: 1, pageToken: first.nextPageToken ?? "" };
      const rest = (await a.api.call<Page>("ListOAuthClients", { query })).body;
      expect(rest).toEqual({ oauthClients: [client] });
    });

    test("are answered with the same 404 if they are another organization's, built in or unknown", async () => {
      const { a, b, client } = await newSetting(service);
      const unknown = `${client.clientId.slice(0, -3)}000`;
      const ids = [client.clientId, unknown, "stepwell-dashboard", "stepwell-cli", "x", "\u0000", crypto.randomUUID()];
      for (const operation of ["GetOAuthClient", "DeleteOAuthClient"]) {
        const bodies = [];
        for (const clientId of ids) {
          const answer = await b.api.refused(operation, "NotFoundError", { params: { clientId } });
          bodies.push({ ...answer.body, requestId: "" });
        }
        expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
      }
      expect((await b.api.call("ListOAuthClients")).body).toEqual({ oauthClients: [] });
      await a.api.call("GetOAuthClient", { params: { clientId: client.clientId } });
      expect((await signIn(service.baseUrl, await newPerson(service))).idToken).not.toBe("");
    });

    test.each([
      ["http on another host than this machine", "http://app.example.org/", "must begin with https://"],
      ["no URL", "app.example.org", "not an absolute URL"],
      ["another scheme", "com.example.app:/back", "must begin with https://"],
      ["a script", "javascript:alert(1)", "must begin with https://"],
      ["a user name", "https://somebody@app.example.org/", "must not contain a user name"],
      ["an empty user name", "https://@app.example.org/", "must not contain a user name"],
      ["a fragment", "https://app.example.org/#part", "must not have a fragment"],
      ["an empty fragment", "https://app.example.org/#", "must not have a fragment"],
      ["a wildcard in the path", "https://app.example.org/*", "wildcard"],
      ["a wildcard for the host", "https://*.example.org/", "wildcard"],
      ["no slash after the host", "https://app.example.org", "written as browsers write it: https://app.example.org/"],
      ["a host in capitals", "https://App.Example.org/", "written as browsers write it"],
      ["the scheme's default port", "https://app.example.org:443/", "written as browsers write it"],
      ["a path with `..`", "https://app.example.org/a/../b", "written as browsers write it"],
      ["a path with an encoded `..`", "https://app.example.org/a/%2e%2e/b", "written as browsers write it"],
      ["a backslash", "https://app.example.org\\@evil.example/", "user name"],
      ["a space around it", " https://app.example.org/", "written as browsers write it"],
      ["a host that would end a policy", "https://a;sandbox/", "letters, digits"],
      ["a host that only looks like a loopback address", "http://127.0.0.1.example.org/", "must begin with https://"],
    ])("a redirect URI with %s is rejected, with its place", async (_what, uri, detail) => {
      const { a } = await newSetting(service);
      const body = { name: "n", redirectUris: [appUri, uri] };
      const refused = await a.api.refused("CreateOAuthClient", "ValidationError", { body });
      expect(refused.body.errors).toMatchObject([{ pointer: "/redirectUris/1" }]);
      expect(refused.body.errors?.[0]?.detail).toContain(detail);
    });

    test("a redirect URI on the service's own site is rejected, because the dashboard is there", async () => {
      const { a } = await newSetting(service);
      for (const path of ["/", "/signed-in", "/anything"]) {
        const body = { name: "n", redirectUris: [`${service.baseUrl}${path}`] };
        const refused = await a.api.refused("CreateOAuthClient", "ValidationError", { body });
        expect(refused.body.errors?.[0]?.detail).toContain("own site");
      }
    });
  });

  describe("the first sign-in", () => {
    test("shows a page that names the organization, the client and the host, and asks only once", async () => {
      const setting = await newSetting(service);
      const { body } = await setting.a.api.call<{ displayName: string }>("GetOrganization");
      const { page, browser, finish } = await asked(service, setting);
      for (const text of [body.displayName, "Order desk", "app.example.org", setting.person.email]) {
        expect(page.text).toContain(text);
      }
      expect(page.text).not.toMatch(/<script/);
      expect(page.headers.get("content-security-policy")).toContain("https://app.example.org");
      const { url } = await browser.submit(page, { agree: "yes" }, isArrival);
      expect((await finish(url)).claims()).toMatchObject({ aud: setting.client.clientId, sub: setting.person.userId });
      const again = await begin(service, setting.client.clientId, {}, browser);
      expect(again.page.url.origin).toBe("https://app.example.org");
      const elsewhere = await begin(service, setting.client.clientId);
      const signed = await typePassword(elsewhere.browser, elsewhere.page, setting.person);
      expect(signed.url.searchParams.get("code")).toBeTruthy();
      const consents = await rowsOfAction(service, setting.a.organizationId, "ConsentToOAuthClient");
      expect(consents).toMatchObject([{ target_id: setting.client.clientId, actor: { id: setting.person.userId } }]);
    });

    test("answers access_denied after a refusal, and shows the page again the next time", async () => {
      const setting = await newSetting(service);
      const { page, browser } = await asked(service, setting);
      const { url } = await browser.submit(page, { refuse: "yes" }, isArrival);
      expect(url.searchParams.get("error")).toBe("access_denied");
      expect(url.searchParams.get("code")).toBeNull();
      expect((await begin(service, setting.client.clientId, {}, browser)).page.text).toContain(
        "Allow this application to act for you?",
      );
    });

    test("a client cannot skip the page, but can ask for it again", async () => {
      const setting = await newSetting(service);
      const { browser } = await signIn(service.baseUrl, setting.person);
      const silent = await begin(service, setting.client.clientId, { prompt: "none" }, browser);
      expect(silent.page.url.searchParams.get("error")).toBe("consent_required");
      const { browser: agreed } = await arrive(service, setting);
      const quiet = await begin(service, setting.client.clientId, { prompt: "none" }, agreed);
      expect(quiet.page.url.searchParams.get("code")).toBeTruthy();
      const asking = await begin(service, setting.client.clientId, { prompt: "consent" }, agreed);
      expect(asking.page.text).toContain("Allow this application to act for you?");
    });

    test("another site's form gives no consent", async () => {
      const setting = await newSetting(service);
      const { page, browser } = await asked(service, setting);
      const forged = await browser.submit(page, { agree: "yes" }, isArrival, { origin: "https://evil.example" });
      expect(forged.status).toBe(403);
      const stranger = await new Browser().submit(page, { agree: "yes" }, isArrival);
      expect(stranger.status).toBe(400);
      expect(await rowsOfAction(service, setting.a.organizationId, "ConsentToOAuthClient")).toEqual([]);
    });

    test("a member who is removed while the page is open is not signed in, and the client gets an error", async () => {
      const setting = await newSetting(service);
      const { page, browser } = await asked(service, setting);
      await setting.a.api.call("RemoveMember", { params: { userId: setting.person.userId } });
      const { url } = await browser.submit(page, { agree: "yes" }, isArrival);
      expect(url.searchParams.get("error")).toBe("access_denied");
      expect(await rowsOfAction(service, setting.a.organizationId, "ConsentToOAuthClient")).toEqual([]);
    });

    test("a user who is not a member of the organization gets access_denied, without a question", async () => {
      const setting = await newSetting(service);
      const stranger = await newPerson(service);
      const { page, browser } = await begin(service, setting.client.clientId);
      const { url } = await typePassword(browser, page, stranger);
      expect(url.searchParams.get("error")).toBe("access_denied");
    });
  });

  describe("a token of a client", () => {
    test("works in its organization with the member's permissions, and is a session that the user sees", async () => {
      const setting = await newSetting(service, ["developer"]);
      const { idToken, tokens } = await arrive(service, setting);
      const api = service.client(idToken, { organizationId: setting.a.organizationId });
      const { workflowId } = await deploy(api, straightDefinition);
      const registered = await rowsOfAction(service, setting.a.organizationId, "RegisterWorkflow");
      const { clientId } = setting.client;
      expect(registered).toMatchObject([
        { target_id: workflowId, actor_id: setting.person.userId, details: { clientId } },
      ]);
      const own = await api.call<{ permissions: string[] }>("GetOwnPermissions");
      expect(own.body.permissions).toContain("workflow:create");
      expect(own.body.permissions).not.toContain("apitoken:create");
      expect((await api.call("WhoAmI")).body).toMatchObject({
        type: "user",
        id: setting.person.userId,
        organizationId: setting.a.organizationId,
        clientId,
      });
      const { idToken: dashboard } = await signIn(service.baseUrl, setting.person);
      const { body } = await service.client(dashboard).call("ListSessions");
      expect(body).toMatchObject({
        sessions: [
          { signedInBy: "password", isCurrent: true },
          {
            sessionId: tokens.claims()?.sid,
            signedInBy: "application",
            application: { name: "Order desk", clientId, organizationId: setting.a.organizationId },
          },
          { signedInBy: "password" },
        ],
      });
    });

    test("never sees another organization of the same user, and gets the same answer as for an unknown one", async () => {
      const world = await buildWorld(service);
      const person = await newPerson(service);
      const a = await service.newOrganization();
      await service.addMember(a.organizationId, person.userId, ["owner"]);
      await service.addMember(world.organization.organizationId, person.userId, ["owner"]);
      const setting = { person, a, b: world.organization, client: await newClient(a.api) };
      const { idToken } = await arrive(service, setting);
      const api = service.client(idToken);
      const document = await api.document();
      let count = 0;
      for (const [operationId, row] of Object.entries(rows)) {
        const { path, permission } = document.operation(operationId);
        if (!path.includes("{organizationId}") || permission === "none") continue;
        count += 1;
        const call = row.call(world.ids);
        const within = async (organizationId: string) => {
          const options = { ...call, params: { ...call.params, organizationId } };
          const { status, headers, body } = await api.callAny<{ requestId: string }>(operationId, options);
          expect(status, operationId).toBe(404);
          const kept = [...headers].filter(
            ([name]) => !/^(date|x-request-id|x-amzn-requestid|content-length)$/.test(name),
          );
          return { kept, body: { ...body, requestId: "" } };
        };
        const foreign = await within(world.organization.organizationId);
        expect(foreign, operationId).toEqual(await within("00000000-0000-7000-8000-000000000000"));
      }
      expect(count).toBeGreaterThan(50);
      const list = await api.call<{ organizations: { organizationId: string }[] }>("ListOrganizations");
      expect(list.body.organizations.map(({ organizationId }) => organizationId)).toEqual([a.organizationId]);
    });

    test("manages no credentials, no members and no account, although its user is an owner", async () => {
      const setting = await newSetting(service);
      const { idToken } = await arrive(service, setting);
      const api = service.client(idToken, { organizationId: setting.a.organizationId });
      const document = await api.document();
      const closed = /^(account|apitoken|member|invitation|role|oauthclient):|^organization:(create|update|delete)$/;
      const world = await buildWorld(service);
      const operations = document.operations.filter(({ permission }) => closed.test(permission));
      expect(operations.length).toBeGreaterThan(35);
      for (const { operationId } of operations) {
        const call = rows[operationId]?.call({ ...world.ids, organizationId: setting.a.organizationId });
        const refused = await api.refused(operationId, "AuthorizationError", call);
        expect(refused.body.detail).toContain("You do not have the permission");
      }
      await api.refused("LeaveOrganization", "AuthorizationError");
      const { body } = await api.call<{ permissions: string[] }>("GetOwnPermissions");
      expect(body.permissions).toEqual(grantablePermissions.filter((permission) => !closed.test(permission)));
    });

    test("ends with the membership, and stays ended if the membership returns", async () => {
      const setting = await newSetting(service, ["viewer"]);
      const { idToken, refreshToken, tokens } = await arrive(service, setting);
      const api = service.client(idToken, { organizationId: setting.a.organizationId });
      await api.call("ListJobs");
      await setting.a.api.call("RemoveMember", { params: { userId: setting.person.userId } });
      await api.refused("ListJobs", "AuthenticationError");
      const { clientId } = setting.client;
      expect((await refresh(service, clientId, refreshToken)).body.error).toBe("invalid_grant");
      expect((await userInfo(tokens.access_token)).status).toBe(401);
      await service.addMember(setting.a.organizationId, setting.person.userId, ["viewer"]);
      await api.refused("ListJobs", "AuthenticationError");
      expect((await refresh(service, clientId, refreshToken)).body.error).toBe("invalid_grant");
      const again = await asked(service, setting);
      expect(again.page.text).toContain("Allow this application to act for you?");
    });

    test("ends when its client is deleted, even if it was used just before, and a repeated refresh is rejected", async () => {
      const setting = await newSetting(service);
      const { clientId } = setting.client;
      const { idToken, refreshToken, tokens, browser } = await arrive(service, setting);
      const api = service.client(idToken, { organizationId: setting.a.organizationId });
      const renewed = await refresh(service, clientId, refreshToken);
      expect(renewed.status).toBe(200);
      await api.call("ListJobs");
      await setting.a.api.call("DeleteOAuthClient", { params: { clientId } });
      await api.refused("ListJobs", "AuthenticationError");
      await service.client(renewed.body.id_token).refused("WhoAmI", "AuthenticationError");
      for (const token of [refreshToken, renewed.body.refresh_token ?? ""]) {
        const { status, body } = await refresh(service, clientId, token);
        expect([status >= 400, body.id_token]).toEqual([true, undefined]);
      }
      expect((await userInfo(tokens.access_token)).status).toBe(401);
      const gone = await begin(service, clientId, {}, browser);
      expect([gone.page.status, gone.page.text.includes("does not know the program that sent you here")]).toEqual([
        400,
        true,
      ]);
      const { idToken: dashboard } = await signIn(service.baseUrl, setting.person);
      const { body } = await service.client(dashboard).call<{ sessions: object[] }>("ListSessions");
      expect(body.sessions).not.toContainEqual(expect.objectContaining({ signedInBy: "application" }));
    });

    test("ends with the organization", async () => {
      const setting = await newSetting(service);
      const { clientId } = setting.client;
      const { idToken, refreshToken, browser } = await arrive(service, setting);
      await newClient(setting.a.api, ["https://gone.example.org/"]);
      const known = await askFrom("OPTIONS", "/organizations", "https://gone.example.org");
      expect(known.headers.get("access-control-allow-origin")).toBe("https://gone.example.org");
      await setting.a.api.call("DeleteOrganization");
      await service.client(idToken).refused("WhoAmI", "AuthenticationError");
      expect((await refresh(service, clientId, refreshToken)).status).toBeGreaterThanOrEqual(400);
      expect((await begin(service, clientId, {}, browser)).page.status).toBe(400);
      const allowed = async () =>
        (await askFrom("OPTIONS", "/organizations", "https://gone.example.org")).headers.get(
          "access-control-allow-origin",
        );
      await expect.poll(allowed, { timeout: secondWithSlackMs, interval: 50 }).toBeNull();
    });

    test("ends no other session of the user when its client revokes it", async () => {
      const setting = await newSetting(service);
      const { browser, idToken: dashboard } = await signIn(service.baseUrl, setting.person);
      const attempt = await begin(service, setting.client.clientId, {}, browser);
      const { url } = await browser.submit(attempt.page, { agree: "yes" }, isArrival);
      const tokens = await attempt.finish(url);
      const body = new URLSearchParams({ client_id: setting.client.clientId, token: tokens.refresh_token ?? "" });
      expect((await fetch(`${service.baseUrl}/oidc/token/revocation`, { method: "POST", body })).status).toBe(200);
      await service.client(tokens.id_token).refused("WhoAmI", "AuthenticationError");
      await service.client(dashboard).call("WhoAmI");
    });

    test("ends when its user ends its session, in every browser, and the client has to ask for consent again", async () => {
      const setting = await newSetting(service);
      const { idToken, refreshToken, tokens, browser } = await arrive(service, setting);
      const elsewhere = await begin(service, setting.client.clientId);
      const { url } = await typePassword(elsewhere.browser, elsewhere.page, setting.person);
      const other = await elsewhere.finish(url);
      const { idToken: dashboard } = await signIn(service.baseUrl, setting.person, browser);
      const params = { sessionId: String(tokens.claims()?.sid) };
      await service.client(dashboard).call("EndSession", { params });
      for (const token of [idToken, other.id_token]) {
        await service.client(token).refused("WhoAmI", "AuthenticationError");
      }
      for (const token of [refreshToken, other.refresh_token ?? ""]) {
        expect((await refresh(service, setting.client.clientId, token)).body.error).toBe("invalid_grant");
      }
      await service.client(dashboard).call("WhoAmI");
      const silent = await begin(service, setting.client.clientId, { prompt: "none" }, browser);
      expect(silent.page.url.searchParams.get("error")).toBe("consent_required");
    });

    test("also ends when the user signs out in the browser", async () => {
      const setting = await newSetting(service);
      const { browser, idToken, refreshToken } = await arrive(service, setting);
      const page = await browser.open(`${service.baseUrl}/oidc/session/end`);
      await browser.submit(page, { logout: "yes" });
      await service.client(idToken).refused("WhoAmI", "AuthenticationError");
      expect((await refresh(service, setting.client.clientId, refreshToken)).body.error).toBe("invalid_grant");
    });
  });

  describe("attacks on the sign-in of a client", () => {
    let setting: Setting;
    beforeAll(async () => {
      setting = await newSetting(service);
    });

    test.each([
      ["an extra slash", "https://app.example.org/signed-in/"],
      ["another port", "https://app.example.org:8443/signed-in"],
      ["other capitals", "https://app.example.org/Signed-in"],
      ["a path with `..`", "https://app.example.org/x/../signed-in"],
      ["an encoded character", "https://app.example.org/%73igned-in"],
      ["a user name", "https://app.example.org@evil.example/signed-in"],
      ["a fragment", "https://app.example.org/signed-in#x"],
      ["an extra query", "https://app.example.org/signed-in?x=1"],
      ["another host", "https://evil.example/signed-in"],
      ["http for https", "http://app.example.org/signed-in"],
      ["the dashboard's address", "own"],
    ])("a redirect URI with %s leads to an error page, and nothing is sent to it", async (_what, uri) => {
      const redirect_uri = uri === "own" ? `${service.baseUrl}/signed-in` : uri;
      const { page } = await begin(service, setting.client.clientId, { redirect_uri });
      expect(page.status).toBe(400);
      expect(page.text).toContain("not registered");
    });

    test("a loopback address needs exactly the port that it was registered with", async () => {
      const client = await newClient(setting.a.api, ["http://127.0.0.1:8080/signed-in"]);
      const other = await begin(service, client.clientId, { redirect_uri: "http://127.0.0.1:8081/signed-in" });
      expect(other.page.status).toBe(400);
      const right = await begin(service, client.clientId, { redirect_uri: "http://127.0.0.1:8080/signed-in" });
      expect(right.page.status).toBe(200);
    });

    test.each([
      ["plain PKCE", { code_challenge_method: "plain" }],
      ["a challenge without a method", { code_challenge_method: "" }],
      ["no PKCE", { code_challenge_method: "", code_challenge: "" }],
      ["the implicit flow", { response_type: "id_token" }],
      ["a response in the fragment", { response_mode: "fragment" }],
    ])("%s is rejected", async (_what, parameters) => {
      const configuration = await discover(service.baseUrl, setting.client.clientId);
      const { url } = await beginSignIn(configuration, service.baseUrl, { redirect_uri: appUri });
      for (const [name, value] of Object.entries(parameters)) {
        if (value === "") url.searchParams.delete(name);
        else url.searchParams.set(name, value);
      }
      const page = await new Browser().open(url, isArrival);
      const error = page.url.searchParams.get("error") ?? new URLSearchParams(page.url.hash.slice(1)).get("error");
      expect(page.url.searchParams.get("code")).toBeNull();
      expect([error, page.status]).not.toEqual([null, 200]);
    });

    test("a code works once, and its repetition ends the tokens of the first use", async () => {
      const own = await newSetting(service);
      const fields = await codeOf(own);
      const first = await askToken(service, fields);
      await service.client(first.body.id_token).call("WhoAmI");
      expect((await askToken(service, fields)).body.error).toBe("invalid_grant");
      await service.client(first.body.id_token).refused("WhoAmI", "AuthenticationError");
      const renewed = await refresh(service, own.client.clientId, first.body.refresh_token ?? "");
      expect(renewed.body.error).toBe("invalid_grant");
    });

    test("a code is useless to another client, without its verifier, or for another redirect URI", async () => {
      const own = await newSetting(service);
      const other = await newClient(own.a.api);
      const foreign = await newClient(own.b.api);
      const wrong = [
        { client_id: other.clientId },
        { client_id: foreign.clientId },
        { client_id: "stepwell-dashboard" },
        { code_verifier: "x".repeat(43) },
        { redirect_uri: "https://app.example.org/signed-in/" },
      ];
      for (const change of wrong) {
        const answer = await askToken(service, { ...(await codeOf(own)), ...change });
        expect(answer.body, JSON.stringify(change)).toMatchObject({ error: "invalid_grant" });
      }
      expect((await askToken(service, await codeOf(own))).status).toBe(200);
    });

    test("a refresh token is useless to another client, and a later second use ends the session", async () => {
      const own = await newSetting(service);
      const { refreshToken, idToken } = await arrive(service, own);
      for (const clientId of [(await newClient(own.a.api)).clientId, (await newClient(own.b.api)).clientId]) {
        expect((await refresh(service, clientId, refreshToken)).body.error).toBe("invalid_grant");
      }
      expect((await refresh(service, "stepwell-dashboard", refreshToken)).body.error).toBe("invalid_grant");
      expect((await refresh(service, own.client.clientId, refreshToken)).status).toBe(200);
      await service.client(idToken).call("WhoAmI");
      const { database } = service.running;
      await ask(database, "UPDATE refresh_exchange SET claimed_at = claimed_at - interval '1 minute'");
      expect((await refresh(service, own.client.clientId, refreshToken)).body.error).toBe("invalid_grant");
      await service.client(idToken).refused("WhoAmI", "AuthenticationError");
    });

    test("neither a scope nor an audience can be widened", async () => {
      const own = await newSetting(service);
      const configuration = await discover(service.baseUrl, own.client.clientId);
      const begun = await beginSignIn(configuration, service.baseUrl, { redirect_uri: appUri, scope: "openid" });
      const browser = new Browser();
      const consent = await typePassword(browser, await browser.open(begun.url, isArrival), own.person);
      const { url } = await browser.submit(consent, { agree: "yes" }, isArrival);
      const tokens = await begun.finish(url);
      const fields = {
        grant_type: "refresh_token",
        client_id: own.client.clientId,
        refresh_token: tokens.refresh_token ?? "",
      };
      const wider = await askToken(service, { ...fields, scope: "openid email" });
      expect(wider.body.error).toBe("invalid_scope");
      const aimed = await askToken(service, {
        ...fields,
        audience: "stepwell-dashboard",
        resource: "https://x.example/",
      });
      const [, payload = ""] = (aimed.body.id_token ?? "").split(".");
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Record<string, unknown>;
      expect(claims.aud).toBe(own.client.clientId);
      expect(claims).not.toHaveProperty("email");
    });

    test("a client of an organization cannot use the device sign-in, and the built-in clients cannot be copied", async () => {
      const body = new URLSearchParams({ client_id: setting.client.clientId, scope: "openid" });
      const device = await fetch(`${service.baseUrl}/oidc/device/auth`, { method: "POST", body });
      expect(device.status).toBe(400);
      const create = { name: "Stepwell dashboard", redirectUris: [appUri] };
      const withId = { ...create, clientId: "stepwell-dashboard" };
      await setting.a.api.refused("CreateOAuthClient", "ValidationError", { body: withId });
      const { body: made } = await setting.a.api.call<OAuthClient>("CreateOAuthClient", { body: create });
      expect(made.clientId).toMatch(/^stc_[0-9A-Za-z]{22}_[0-9A-Za-z]{22}$/);
    });
  });

  describe("a page of another origin", () => {
    test("can call the API if it belongs to a client, and request tokens of that client alone", async () => {
      const setting = await newSetting(service);
      const { organizationId } = setting.a;
      const other = await newClient(setting.a.api, ["https://other.example.org/"]);
      const { refreshToken, idToken } = await arrive(service, setting);
      const fields = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: setting.client.clientId };
      const foreign = await askToken(service, fields, { origin: "https://other.example.org" });
      expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([400, null]);
      const own = await askToken(service, fields, { origin: "https://app.example.org" });
      expect([own.status, own.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example.org"]);
      for (const origin of ["https://app.example.org", "https://other.example.org"]) {
        const asked = await askFrom("OPTIONS", `/organizations/${organizationId}/jobs`, origin);
        expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
      }
      const called = await askFrom("GET", `/organizations/${organizationId}/jobs`, "https://app.example.org", idToken);
      expect([called.status, called.headers.get("access-control-allow-origin")]).toEqual([
        200,
        "https://app.example.org",
      ]);
      expect(called.headers.get("access-control-allow-credentials")).toBeNull();
      await setting.a.api.call("DeleteOAuthClient", { params: { clientId: other.clientId } });
      const gone = await askFrom("OPTIONS", "/organizations", "https://other.example.org");
      expect(gone.headers.get("access-control-allow-origin")).toBeNull();
    });

    test("can read the answer to a repeated refresh like the first answer, if it belongs to the client", async () => {
      const setting = await newSetting(service);
      const { refreshToken } = await arrive(service, setting);
      const fields = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: setting.client.clientId };
      const own = { origin: "https://app.example.org" };
      const atOnce = await Promise.all([askToken(service, fields, own), askToken(service, fields, own)]);
      const answers = [...atOnce, await askToken(service, fields, own)];
      for (const answer of answers) {
        expect([answer.status, answer.body.refresh_token]).toEqual([200, atOnce[0].body.refresh_token]);
        expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example.org");
        expect(answer.headers.get("access-control-expose-headers")).toBe("WWW-Authenticate");
      }
      await newClient(setting.a.api, ["https://other.example.org/"]);
      for (const origin of ["https://other.example.org", "https://evil.example", "null", service.baseUrl]) {
        expect(corsHeadersOf(await askToken(service, fields, { origin })), origin).toEqual([]);
      }
    });

    test("can read the answer to a repeated refresh of the dashboard only at the dashboard's origin", async () => {
      const { refreshToken } = await signIn(service.baseUrl, await newPerson(service));
      const fields = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: "stepwell-dashboard" };
      const own = { origin: service.baseUrl };
      const [first, second] = [await askToken(service, fields, own), await askToken(service, fields, own)];
      expect(second.body.refresh_token).toBe(first.body.refresh_token);
      expect(corsHeadersOf(second)).toEqual(corsHeadersOf(first));
      expect(second.headers.get("access-control-allow-origin")).toBe(service.baseUrl);
      expect(corsHeadersOf(await askToken(service, fields, { origin: "https://app.example.org" }))).toEqual([]);
    });

    test("can read that it asks for a device's tokens too often, if it belongs to the client", async () => {
      const { client } = await newSetting(service);
      const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: client.clientId };
      const fields = { ...grant, client_id: client.clientId };
      const own = { origin: "https://app.example.org" };
      const [first, second] = [await askToken(service, fields, own), await askToken(service, fields, own)];
      expect([first.body.error, second.body.error]).toEqual(["invalid_request", "slow_down"]);
      expect(corsHeadersOf(second)).toEqual(corsHeadersOf(first));
      expect(second.headers.get("access-control-allow-origin")).toBe("https://app.example.org");
      for (const client_id of [client.clientId, "stepwell-cli", "nobody", ""]) {
        const foreign = await askToken(service, { ...grant, client_id }, { origin: "https://evil.example" });
        expect([foreign.body.error, corsHeadersOf(foreign)], client_id).toEqual(["slow_down", []]);
      }
    });

    test("cannot read that its request is too large, because the client is not known then", async () => {
      const { client } = await newSetting(service);
      const fields = { client_id: client.clientId, refresh_token: "x".repeat(20_000) };
      const answer = await askToken(service, fields, { origin: "https://app.example.org" });
      expect([answer.status, corsHeadersOf(answer)]).toEqual([413, []]);
    });

    test("gets no CORS headers if its origin is unknown, whatever it requests", async () => {
      const setting = await newSetting(service);
      const evil = ["https://evil.example", "null", "https://app.example.org.evil.example", "http://app.example.org"];
      const paths = ["/oidc/token", "/oidc/token/revocation", "/oidc/me", "/organizations", "/whoami"];
      for (const origin of evil) {
        for (const path of paths) {
          for (const method of ["OPTIONS", "POST", "GET"]) {
            const answer = await askFrom(method, path, origin);
            expect(answer.headers.get("access-control-allow-origin"), `${method} ${path}`).toBeNull();
          }
        }
        const clients = ["", "nobody", "stepwell-cli", "stepwell-dashboard", setting.client.clientId];
        for (const client_id of clients) {
          const fields = { grant_type: "refresh_token", refresh_token: "x", client_id };
          const answer = await askToken(service, fields, { origin });
          expect(answer.headers.get("access-control-allow-origin"), client_id).toBeNull();
        }
      }
    });

    test("can always read public data: the service's addresses and its public keys", async () => {
      for (const path of ["/oidc/.well-known/openid-configuration", "/oidc/jwks"]) {
        const answer = await askFrom("GET", path, "https://anybody.example");
        expect(answer.headers.get("access-control-allow-origin")).toBe("https://anybody.example");
      }
    });
  });

  /** Signs the person in to the client, with consent. Returns the parameters that exchange the new code for tokens. */
  async function codeOf({ person, client: { clientId } }: Setting): Promise<Record<string, string>> {
    const code_verifier = "v".repeat(43);
    const code_challenge = hash("sha256", code_verifier, "base64url");
    const { browser, page } = await begin(service, clientId, { code_challenge });
    const asking = await typePassword(browser, page, person);
    const { url } = isArrival(asking.url) ? asking : await browser.submit(asking, { agree: "yes" }, isArrival);
    const code = url.searchParams.get("code") ?? "";
    return { grant_type: "authorization_code", client_id: clientId, redirect_uri: appUri, code, code_verifier };
  }

  async function userInfo(accessToken: string): Promise<Response> {
    return await fetch(`${service.baseUrl}/oidc/me`, { headers: { authorization: `Bearer ${accessToken}` } });
  }

  async function askFrom(method: string, path: string, origin: string, bearer?: string): Promise<Response> {
    const beforehand = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
    const headers = {
      origin,
      ...(method === "OPTIONS" && beforehand),
      ...(bearer && { authorization: `Bearer ${bearer}` }),
    };
    return await fetch(service.baseUrl + path, { method, headers });
  }
});

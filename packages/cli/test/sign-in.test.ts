import { readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "@stepwell/testing/browser.ts";
import { ScriptedServer } from "@stepwell/testing/functions/scripted-server.ts";
import { newPerson, type Person } from "@stepwell/testing/people.ts";
import type { Ended } from "@stepwell/testing/processes/shell.ts";
import { useService } from "@stepwell/testing/service.ts";
import { typePassword } from "@stepwell/testing/sign-in.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Conversation, converse, endAll, run } from "./process.ts";

interface StoredSignIn {
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
  readonly organizationId?: string;
}

/** A person at a terminal, with an organization and a file of sign-ins of their own. */
interface Terminal {
  readonly person: Person;
  readonly organizationId: string;
  readonly credentials: string;
  readonly environment: Record<string, string>;
}

const service = useService(postgresHome);
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-sign-in-"));
});

afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

// The tests run side by side, since the command line may have to wait two seconds before it asks whether the person has confirmed the sign-in.
test.concurrent("a user who signs in with a browser uses the command line with their own permissions, in their only organization", async () => {
  const terminal = await newTerminal();
  const done = await signIn(terminal);
  expect(done).toMatchObject({ code: 0, complaint: "" });
  expect(done.output).toContain(`Signed in at ${service.baseUrl} as ${terminal.person.email}.`);
  expect(done.output).toContain(`(${terminal.organizationId})`);
  expect(statSync(terminal.credentials).mode & 0o777).toBe(0o600);
  const who = await run(terminal.environment, "whoami");
  expect(who.output).toMatch(/^A person \(Person-/);
  expect(who.output).toContain(terminal.organizationId);
  const answer = JSON.parse((await run(terminal.environment, "whoami", "--json")).output);
  expect(answer).toMatchObject({ type: "user", id: terminal.person.userId, email: terminal.person.email });
  const missing = await run(terminal.environment, "submit", "nothing");
  expect(missing).toMatchObject({ code: 3, complaint: "stepwell: There is no workflow named nothing.\n" });
});

inWholeMatrix(() => {
  test.concurrent("a user with several organizations chooses one by its name or its id", async () => {
    const terminal = await newTerminal();
    const otherId = await newMembership(terminal.person);
    const open = await signIn(terminal);
    expect(open).toMatchObject({ code: 0, output: expect.stringContaining("Choose one") });
    expect(open.output).toContain(terminal.organizationId);
    expect(open.output).toContain(otherId);
    expect(await run(terminal.environment, "job", "show", "x")).toMatchObject({
      code: 2,
      complaint: expect.stringContaining("No organization is chosen"),
    });
    await signIn(terminal, "--organization", otherId);
    expect(stored(terminal).organizationId).toBe(otherId);
    const unknown = await signIn(terminal, "--organization", "nobody's");
    expect(unknown).toMatchObject({
      code: 3,
      complaint: expect.stringContaining("none of your organizations has the name, key or id nobody's"),
    });
    expect(stored(terminal).organizationId).toBeUndefined();
  });

  test.concurrent("a sign-in finds an organization by its name, even if the user is a member of more than fit on one page", async () => {
    const terminal = await newTerminal();
    const { person } = terminal;
    const { organizationId, api } = await service.newOrganization();
    await service.addMember(organizationId, person.userId, ["developer"]);
    const { name } = (await api.call<{ name: string }>("GetOrganization", {})).body;
    // The list begins with the newest organization, so these organizations fill the first page.
    for (let count = 0; count < 100; count += 1) await newMembership(person);
    const done = await signIn(terminal, "--organization", name);
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining(`${name} (${organizationId})`) });
    expect(stored(terminal).organizationId).toBe(organizationId);
  });

  test.concurrent("a new sign-in ends the session before it", async () => {
    const terminal = await newTerminal();
    await signIn(terminal);
    const { idToken } = stored(terminal);
    await signIn(terminal);
    expect(await accessOf(idToken)).toBe(401);
    expect(await accessOf(stored(terminal).idToken)).toBe(200);
  });
});

inWholeMatrix(() => {
  test.concurrent("a sign-in that is about to expire is renewed and stored, once for all commands that run at the same time", async () => {
    const terminal = await newTerminal();
    await signIn(terminal);
    const before = age(terminal);
    const both = await Promise.all([
      run(terminal.environment, "whoami"),
      run(terminal.environment, "whoami"),
      run(terminal.environment, "whoami"),
    ]);
    expect(both.map(({ code, complaint }) => [code, complaint])).toEqual([
      [0, ""],
      [0, ""],
      [0, ""],
    ]);
    const first = stored(terminal);
    expect(first.refreshToken).not.toBe(before.refreshToken);
    expect(first.expiresAt).toBeGreaterThan(Date.now() + 3_000_000);
    // If the file still had an earlier refresh token, the service would take its use for theft.
    await ageExchanges(60);
    age(terminal);
    expect((await run(terminal.environment, "whoami")).code).toBe(0);
    expect(stored(terminal).refreshToken).not.toBe(first.refreshToken);
    expect(await accessOf(stored(terminal).idToken)).toBe(200);
  });
});

test.concurrent("a sign-in that the service rejects ends with the service's reason, and one to a busy proxy says when to try again", async () => {
  const { environment } = await newTerminal();
  const reason = "Too many sign-ins were begun from your address. Try again in a minute.";
  await using service = await ScriptedServer.start((response, { path }) => {
    const issuer = `${service.endpoint.origin}/oidc`;
    const isBegun = path === "/oidc/device/auth";
    response.writeHead(isBegun ? 429 : 200, { "content-type": "application/json" });
    const refusal = { error: "temporarily_unavailable", error_description: reason };
    response.end(
      JSON.stringify(isBegun ? refusal : { issuer, device_authorization_endpoint: `${issuer}/device/auth` }),
    );
  });
  await using proxy = await ScriptedServer.start((response) => response.writeHead(429).end("Slow down."));
  for (const [{ origin }, complaint] of [
    [service.endpoint, `answered: ${reason}`],
    [proxy.endpoint, "gets too many requests (it answered 429). Try again in a minute."],
  ] as const) {
    const refused = { code: 1, complaint: `stepwell: The service at ${origin} ${complaint}\n` };
    expect(await run(environment, "login", "--url", origin)).toMatchObject(refused);
  }
});

test.concurrent("logout ends the session at the service and deletes the local tokens", async () => {
  const terminal = await newTerminal();
  await signIn(terminal);
  const { idToken, refreshToken } = stored(terminal);
  expect(await run(terminal.environment, "logout")).toMatchObject({
    code: 0,
    output: `Signed out at ${service.baseUrl}, where you were signed in as ${terminal.person.email}.\n`,
  });
  expect(await accessOf(idToken)).toBe(401);
  expect(readFileSync(terminal.credentials, "utf8")).not.toContain(refreshToken);
  expect(await run(terminal.environment, "logout")).toMatchObject({
    code: 0,
    output: "Nobody is signed in on this machine.\n",
  });
  expect(await run(terminal.environment, "whoami")).toMatchObject({
    code: 4,
    complaint: expect.stringContaining("stepwell login"),
  });
});

inWholeMatrix(() => {
  test.concurrent("logout deletes the local tokens even if the service is unreachable, and says that the session is not ended", async () => {
    const terminal = await newTerminal();
    await signIn(terminal);
    const content = readFileSync(terminal.credentials, "utf8").replaceAll(service.baseUrl, "http://localhost:9");
    writeFileSync(terminal.credentials, content);
    const { code, complaint } = await run(terminal.environment, "logout");
    expect([code, complaint]).toEqual([
      1,
      expect.stringMatching(/removed from this machine, but .* cannot be reached/),
    ]);
    expect(readFileSync(terminal.credentials, "utf8")).not.toContain("refreshToken");
  });

  test.concurrent("login and logout mean the service of the profile in use, and leave a sign-in at another service alone", async () => {
    const terminal = await newTerminal();
    const environment = { ...terminal.environment, XDG_CONFIG_HOME: await mkdtemp(join(directory, "profiles-")) };
    await run(environment, "profile", "set", "prod", "--url", "http://127.0.0.1:9");
    await run(environment, "profile", "set", "here", "--url", service.baseUrl);
    await signIn(terminal);
    await run(environment, "profile", "use", "prod");
    const nobody = "Nobody is signed in at http://127.0.0.1:9 on this machine.\n";
    expect(await run(environment, "logout")).toMatchObject({ code: 0, output: nobody });
    expect(
      await run({ ...environment, STEPWELL_URL: service.baseUrl, STEPWELL_PROFILE: "prod" }, "logout"),
    ).toMatchObject({
      output: nobody,
    });
    expect(await accessOf(stored(terminal).idToken)).toBe(200);
    expect((await run(environment, "login")).complaint).toContain(
      "The service at http://127.0.0.1:9 cannot be reached",
    );
    await run(environment, "profile", "use", "here");
    expect((await run(environment, "logout")).output).toContain(`Signed out at ${service.baseUrl}`);
  });

  test.concurrent("a command says what to do if its session was ended elsewhere, both at once and when the sign-in is renewed", async () => {
    const terminal = await newTerminal();
    await signIn(terminal);
    const { sessions } = (await service.client(stored(terminal).idToken).call<SessionList>("ListSessions")).body;
    const sessionId = sessions.find(({ isCurrent }) => isCurrent)?.sessionId ?? "";
    await service.client(stored(terminal).idToken).call("EndSession", { params: { sessionId } });
    const complaint = expect.stringContaining("Sign in with `stepwell login`");
    expect(await run(terminal.environment, "whoami")).toMatchObject({ code: 4, complaint });
    age(terminal);
    expect(await run(terminal.environment, "whoami")).toMatchObject({
      code: 4,
      complaint: `stepwell: The sign-in at ${service.baseUrl} has ended. Sign in again with \`stepwell login --url ${service.baseUrl}\`.\n`,
    });
  });

  test.concurrent("a declined sign-in gives no tokens, and the page showed which program asked", async () => {
    const terminal = await newTerminal();
    const asking = converse(terminal.environment, ["login", "--url", service.baseUrl]);
    const browser = new Browser();
    const page = await confirmation(browser, asking);
    expect(page.text).toContain("stepwell on ");
    await browser.submit(page, { abort: "yes", confirm: "yes" });
    expect(await asking.ended).toMatchObject({
      code: 1,
      complaint: expect.stringContaining("declined in the browser"),
    });
  });
});

inWholeMatrix(() => {
  test.concurrent("a sign-in over http to another machine is rejected before anything is sent", async () => {
    const terminal = await newTerminal();
    for (const url of ["http://stepwell.example.com", "http://10.0.0.1:8080", "http://localhost.example.com"]) {
      expect(await run(terminal.environment, "login", "--url", url)).toMatchObject({
        code: 2,
        complaint: expect.stringContaining("is not encrypted"),
      });
    }
    for (const url of ["localhost:8080", "ftp://localhost", "http://ada:secret@localhost", "http://localhost?a=b"]) {
      expect(await run(terminal.environment, "login", "--url", url)).toMatchObject({
        code: 2,
        complaint: expect.stringContaining("is not the address of a service"),
      });
    }
  });
});

inWholeMatrix(() => {
  test.concurrent("a sign-in distinguishes an unreachable service, another kind of server, and a service with another address", async () => {
    const terminal = await newTerminal();
    const away = await run(terminal.environment, "login", "--url", "http://localhost:9");
    expect(away.complaint).toBe(
      "stepwell: The service at http://localhost:9 cannot be reached. Is it running, and is this its address?\n",
    );
    const other = createServer((_request, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
    await new Promise((ready) => other.once("listening", ready));
    const { port } = other.address() as { port: number };
    const wrong = await run(terminal.environment, "login", "--url", `http://127.0.0.1:${port}/`);
    expect(wrong.complaint).toContain("there is no Stepwell service with sign-in (it answered 404)");
    other.close();
    const spelled = await run(terminal.environment, "login", "--url", `http://127.0.0.1:${service.port}`);
    expect(spelled.complaint).toContain(`stepwell login --url ${service.baseUrl}`);
  });

  test.concurrent("STEPWELL_TOKEN has priority over the sign-in, and the sign-in over the token of stepwell dev; each is sent only to its own address", async () => {
    const terminal = await newTerminal();
    await signIn(terminal);
    const { token } = await service.newUser();
    const explicit = await run({ ...terminal.environment, STEPWELL_TOKEN: token }, "whoami");
    expect(explicit.output).toMatch(/^A user/);

    const dataDirectory = await mkdtemp(join(directory, "dev-"));
    const inDirectory = { ...terminal.environment, STEPWELL_DATA_DIR: dataDirectory };
    const leaveDevFile = (baseUrl: string) =>
      writeFileSync(
        join(dataDirectory, "dev.json"),
        JSON.stringify({ baseUrl, token, organizationId: terminal.organizationId }),
      );
    leaveDevFile(service.baseUrl);
    expect((await run(inDirectory, "whoami")).output).toMatch(/^A person/);
    await run(inDirectory, "logout");
    expect((await run(inDirectory, "whoami")).output).toMatch(/^A user/);

    leaveDevFile("http://localhost:9");
    const elsewhere = await run({ ...inDirectory, STEPWELL_URL: service.baseUrl }, "whoami");
    expect(elsewhere.complaint).toContain(`Nobody is signed in at ${service.baseUrl}`);
  });

  test.concurrent("a sign-in at another service than that of the profile in use or of STEPWELL_URL says where commands go", async () => {
    const terminal = await newTerminal();
    const config = { XDG_CONFIG_HOME: await mkdtemp(join(directory, "profiles-")) };
    const environment = { ...terminal.environment, ...config };
    await run(environment, "profile", "set", "prod", "--url", "http://127.0.0.1:9");
    await run(environment, "profile", "use", "prod");
    const { complaint } = await signIn({ ...terminal, environment });
    expect(complaint).toContain("Commands go to http://127.0.0.1:9, the service of the profile in use.");
    expect(complaint).toContain(`\`stepwell profile set NAME --url ${service.baseUrl}\``);
    const elsewhere = { ...terminal.environment, STEPWELL_URL: "http://127.0.0.1:9" };
    expect((await signIn({ ...terminal, environment: elsewhere })).complaint).toContain("which STEPWELL_URL names");
    const same = { ...terminal.environment, STEPWELL_URL: service.baseUrl };
    expect((await signIn({ ...terminal, environment: same })).complaint).not.toContain("Commands go to");
  });

  test.concurrent("a sign-in to another service does not take over a directory where stepwell dev started a service", async () => {
    const dataDirectory = await mkdtemp(join(directory, "dev-"));
    writeFileSync(join(dataDirectory, "dev.json"), JSON.stringify({ baseUrl: "http://localhost:9", token: "t" }));
    const terminal = await newTerminal(dataDirectory);
    const done = await signIn(terminal);
    expect(done.complaint).toContain(`In this directory, commands go to http://localhost:9`);
    expect(await run(terminal.environment, "whoami")).toMatchObject({
      code: 5,
      complaint: expect.stringContaining("http://localhost:9 cannot be reached"),
    });
  });

  // This test runs alone, since it deletes the codes of all tests.
  test("an expired code is reported", async () => {
    const terminal = await newTerminal();
    const asking = converse(terminal.environment, ["login", "--url", service.baseUrl]);
    await asking.said("Waiting");
    await query("DELETE FROM oidc_record WHERE kind = 'DeviceCode'");
    expect(await asking.ended).toMatchObject({ code: 1, complaint: expect.stringContaining("The code has expired") });
  });
});

interface SessionList {
  readonly sessions: readonly { readonly sessionId: string; readonly isCurrent: boolean }[];
}

async function newTerminal(dataDirectory = join(directory, "nothing")): Promise<Terminal> {
  const credentials = join(directory, crypto.randomUUID(), "credentials.json");
  const person = await newPerson(service);
  return {
    person,
    organizationId: await newMembership(person),
    credentials,
    environment: { STEPWELL_CREDENTIALS_FILE: credentials, STEPWELL_DATA_DIR: dataDirectory },
  };
}

/** Runs `login`, and does what a person does for it in a browser. */
async function signIn({ person, environment }: Terminal, ...options: string[]): Promise<Ended> {
  const asking = converse(environment, ["login", "--url", service.baseUrl, ...options]);
  const browser = new Browser();
  const page = await confirmation(browser, asking);
  const next = await browser.submit(page, { confirm: "yes" });
  expect((await typePassword(browser, next, person)).text).toContain("The device is signed in");
  return await asking.ended;
}

/** Opens the printed address and submits the code. The next page shows the code and asks for a decision. */
async function confirmation(browser: Browser, asking: Conversation) {
  const output = await asking.said("compare the code");
  const code = /enter the code {2}(\S+)/.exec(output)?.[1] ?? "";
  const entry = await browser.open(/or open {2}(\S+)/.exec(output)?.[1] ?? "");
  const page = await browser.submit(entry, { user_code: code });
  expect(page.text).toContain(code);
  return page;
}

async function newMembership({ userId }: Person): Promise<string> {
  const organization = await service.newOrganization();
  await service.addMember(organization.organizationId, userId, ["developer"]);
  return organization.organizationId;
}

async function accessOf(idToken: string): Promise<number> {
  return (await service.client(idToken).callAny("GetAccount", {})).status;
}

function stored({ credentials }: Terminal): StoredSignIn {
  return JSON.parse(readFileSync(credentials, "utf8")).signIns[service.baseUrl];
}

/** Changes the stored sign-in as if its id token ended in a minute. */
function age(terminal: Terminal): StoredSignIn {
  const { credentials } = terminal;
  const content = JSON.parse(readFileSync(credentials, "utf8"));
  content.signIns[service.baseUrl].expiresAt = Date.now() + 60_000;
  writeFileSync(credentials, JSON.stringify(content));
  return stored(terminal);
}

/** Changes the stored renewals as if each of them had happened this many seconds earlier. */
async function ageExchanges(seconds: number): Promise<void> {
  await query("UPDATE refresh_exchange SET claimed_at = claimed_at - $1 * interval '1 second'", [seconds]);
}

async function query(text: string, values: unknown[] = []): Promise<void> {
  const { database } = service.running;
  await database.query({ name: text.slice(0, 30), scope: "global", planned: "each-time", text }, values);
}

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "@stepwell/testing/browser.ts";
import { newPerson, type Person } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { typePassword } from "@stepwell/testing/sign-in.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Conversation, converse, type Ended, endAll, run } from "./process.ts";

interface StoredSignIn {
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
  readonly organizationId?: string;
}

const service = useService(postgresHome);
let directory: string;
let credentials: string;
let environment: Record<string, string>;
let person: Person;
let organizationId: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-sign-in-"));
});

beforeEach(async () => {
  credentials = join(directory, crypto.randomUUID(), "credentials.json");
  environment = { STEPWELL_CREDENTIALS_FILE: credentials, STEPWELL_DATA_DIR: join(directory, "nothing") };
  person = await newPerson(service);
  organizationId = await newMembership(person);
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true, force: true }));

test("who signs in in a browser works from the command line as themselves, in the one organization that they have", async () => {
  const done = await signIn(person);
  expect(done).toMatchObject({ code: 0, complaint: "" });
  expect(done.output).toContain(`Signed in at ${service.baseUrl} as ${person.email}.`);
  expect(done.output).toContain(`(${organizationId})`);
  expect(statSync(credentials).mode & 0o777).toBe(0o600);
  const who = await run(environment, "whoami");
  expect(who.output).toMatch(/^A person \(Person-/);
  expect(who.output).toContain(organizationId);
  const answer = JSON.parse((await run(environment, "whoami", "--json")).output);
  expect(answer).toMatchObject({ type: "user", id: person.userId, email: person.email });
  const missing = await run(environment, "submit", "nothing");
  expect(missing).toMatchObject({ code: 1, complaint: "stepwell: There is no workflow named nothing.\n" });
});

test("who has several organizations chooses one by its name or its id", async () => {
  const otherId = await newMembership(person);
  const open = await signIn(person);
  expect(open).toMatchObject({ code: 0, output: expect.stringContaining("Choose one") });
  expect(open.output).toContain(organizationId);
  expect(open.output).toContain(otherId);
  expect(await run(environment, "job", "x")).toMatchObject({
    code: 1,
    complaint: expect.stringContaining("No organization is chosen"),
  });
  await signIn(person, "--organization", otherId);
  expect(stored().organizationId).toBe(otherId);
  const unknown = await signIn(person, "--organization", "nobody's");
  expect(unknown).toMatchObject({
    code: 1,
    complaint: expect.stringContaining("none of your organizations is nobody's"),
  });
  expect(stored().organizationId).toBeUndefined();
});

test("signing in again ends the session before", async () => {
  await signIn(person);
  const { idToken } = stored();
  await signIn(person);
  expect(await accessOf(idToken)).toBe(401);
  expect(await accessOf(stored().idToken)).toBe(200);
});

test("a sign-in that is about to end is renewed and stored, once for commands that run at once", async () => {
  await signIn(person);
  const before = age();
  const both = await Promise.all([run(environment, "whoami"), run(environment, "whoami"), run(environment, "whoami")]);
  expect(both.map(({ code, complaint }) => [code, complaint])).toEqual([
    [0, ""],
    [0, ""],
    [0, ""],
  ]);
  const first = stored();
  expect(first.refreshToken).not.toBe(before.refreshToken);
  expect(first.expiresAt).toBeGreaterThan(Date.now() + 3_000_000);
  // Had the file kept an earlier refresh token, this would be taken for theft.
  await ageExchanges(60);
  age();
  expect((await run(environment, "whoami")).code).toBe(0);
  expect(stored().refreshToken).not.toBe(first.refreshToken);
  expect(await accessOf(stored().idToken)).toBe(200);
});

test("logout ends the session at the service and leaves nothing here", async () => {
  await signIn(person);
  const { idToken, refreshToken } = stored();
  expect(await run(environment, "logout")).toMatchObject({
    code: 0,
    output: `Signed out at ${service.baseUrl}, where you were ${person.email}.\n`,
  });
  expect(await accessOf(idToken)).toBe(401);
  expect(readFileSync(credentials, "utf8")).not.toContain(refreshToken);
  expect(await run(environment, "logout")).toMatchObject({ code: 0, output: "Nobody is signed in here.\n" });
  expect(await run(environment, "whoami")).toMatchObject({
    code: 1,
    complaint: expect.stringContaining("stepwell login"),
  });
});

test("logging out removes the tokens here even when the service is away, and says what is left", async () => {
  await signIn(person);
  const content = readFileSync(credentials, "utf8").replaceAll(service.baseUrl, "http://localhost:9");
  writeFileSync(credentials, content);
  const { code, complaint } = await run(environment, "logout");
  expect([code, complaint]).toEqual([1, expect.stringMatching(/removed here, but .* cannot be reached/)]);
  expect(readFileSync(credentials, "utf8")).not.toContain("refreshToken");
});

test("a session that was ended elsewhere is told with what to do, at once and when the sign-in is to be renewed", async () => {
  await signIn(person);
  const { sessions } = (await service.client(stored().idToken).call<SessionList>("ListSessions")).body;
  const sessionId = sessions.find(({ isCurrent }) => isCurrent)?.sessionId ?? "";
  await service.client(stored().idToken).call("EndSession", { params: { sessionId } });
  const complaint = expect.stringContaining("Sign in with `stepwell login`");
  expect(await run(environment, "whoami")).toMatchObject({ code: 1, complaint });
  age();
  expect(await run(environment, "whoami")).toMatchObject({
    code: 1,
    complaint: `stepwell: The sign-in at ${service.baseUrl} has ended. Sign in again with \`stepwell login --url ${service.baseUrl}\`.\n`,
  });
});

test("what is declined in the browser gives nothing away; the page said what asked", async () => {
  const asking = converse(environment, ["login", "--url", service.baseUrl]);
  const browser = new Browser();
  const page = await confirmation(browser, asking);
  expect(page.text).toContain("stepwell on ");
  await browser.submit(page, { abort: "yes", confirm: "yes" });
  expect(await asking.ended).toMatchObject({ code: 1, complaint: expect.stringContaining("declined in the browser") });
});

test("a code that got too old is said to be", async () => {
  const asking = converse(environment, ["login", "--url", service.baseUrl]);
  await asking.said("Waiting");
  await query("DELETE FROM oidc_record WHERE kind = 'DeviceCode'");
  expect(await asking.ended).toMatchObject({ code: 1, complaint: expect.stringContaining("The code is too old") });
});

test("a sign-in over http to another machine is refused before anything is sent", async () => {
  for (const url of ["http://stepwell.example.com", "http://10.0.0.1:8080", "http://localhost.example.com"]) {
    expect(await run(environment, "login", "--url", url)).toMatchObject({
      code: 1,
      complaint: expect.stringContaining("is not encrypted"),
    });
  }
  for (const url of ["localhost:8080", "ftp://localhost", "http://ada:secret@localhost", "http://localhost?a=b"]) {
    expect(await run(environment, "login", "--url", url)).toMatchObject({
      code: 1,
      complaint: expect.stringContaining("is not the address of a service"),
    });
  }
});

test("a service that is away, is something else, or has another address is told from each other", async () => {
  const away = await run(environment, "login", "--url", "http://localhost:9");
  expect(away.complaint).toBe(
    "stepwell: The service at http://localhost:9 cannot be reached. Is it running, and is this its address?\n",
  );
  const other = createServer((_request, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
  await new Promise((ready) => other.once("listening", ready));
  const { port } = other.address() as { port: number };
  const wrong = await run(environment, "login", "--url", `http://127.0.0.1:${port}/`);
  expect(wrong.complaint).toContain("there is no Stepwell service with sign-in (it answered 404)");
  other.close();
  const spelled = await run(environment, "login", "--url", `http://127.0.0.1:${service.port}`);
  expect(spelled.complaint).toContain(`Use --url ${service.baseUrl}`);
});

test("STEPWELL_TOKEN comes before the sign-in, and the sign-in before what stepwell dev left; each goes to its own address only", async () => {
  await signIn(person);
  const { token } = await service.newUser();
  const explicit = await run({ ...environment, STEPWELL_TOKEN: token }, "whoami");
  expect(explicit.output).toMatch(/^A user/);

  const dataDirectory = await mkdtemp(join(directory, "dev-"));
  const inDirectory = { ...environment, STEPWELL_DATA_DIR: dataDirectory };
  const leaveDevFile = (baseUrl: string) =>
    writeFileSync(join(dataDirectory, "dev.json"), JSON.stringify({ baseUrl, token, organizationId }));
  leaveDevFile(service.baseUrl);
  expect((await run(inDirectory, "whoami")).output).toMatch(/^A person/);
  await run(inDirectory, "logout");
  expect((await run(inDirectory, "whoami")).output).toMatch(/^A user/);

  leaveDevFile("http://localhost:9");
  const elsewhere = await run({ ...inDirectory, STEPWELL_URL: service.baseUrl }, "whoami");
  expect(elsewhere.complaint).toContain(`Nobody is signed in at ${service.baseUrl}`);
});

test("in a directory where stepwell dev started a service, a sign-in elsewhere does not take over", async () => {
  const dataDirectory = await mkdtemp(join(directory, "dev-"));
  writeFileSync(join(dataDirectory, "dev.json"), JSON.stringify({ baseUrl: "http://localhost:9", token: "t" }));
  environment = { ...environment, STEPWELL_DATA_DIR: dataDirectory };
  const done = await signIn(person);
  expect(done.output).toContain(`In this directory commands go to http://localhost:9`);
  expect(await run(environment, "whoami")).toMatchObject({
    code: 1,
    complaint: expect.stringContaining("http://localhost:9 cannot be reached"),
  });
});

interface SessionList {
  readonly sessions: readonly { readonly sessionId: string; readonly isCurrent: boolean }[];
}

/** `login`, and what a person does for it in a browser. */
async function signIn(who: Person, ...options: string[]): Promise<Ended> {
  const asking = converse(environment, ["login", "--url", service.baseUrl, ...options]);
  const browser = new Browser();
  const page = await confirmation(browser, asking);
  const next = await browser.submit(page, { confirm: "yes" });
  expect((await typePassword(browser, next, who)).text).toContain("The device is signed in");
  return await asking.ended;
}

/** Opens the printed address: the code came with it, and is on the page where one decides. */
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

function stored(): StoredSignIn {
  return JSON.parse(readFileSync(credentials, "utf8")).signIns[service.baseUrl];
}

/** As if its id token ended in a minute. */
function age(): StoredSignIn {
  const content = JSON.parse(readFileSync(credentials, "utf8"));
  content.signIns[service.baseUrl].expiresAt = Date.now() + 60_000;
  writeFileSync(credentials, JSON.stringify(content));
  return stored();
}

/** As if every renewal was that long ago. */
async function ageExchanges(seconds: number): Promise<void> {
  await query("UPDATE refresh_exchange SET claimed_at = claimed_at - $1 * interval '1 second'", [seconds]);
}

async function query(text: string, values: unknown[] = []): Promise<void> {
  const { database } = service.running;
  await database.query({ name: text.slice(0, 30), scope: "global", planned: "each-time", text }, values);
}

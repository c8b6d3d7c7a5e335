import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Shell } from "@stepwell/testing/processes/shell.ts";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { changeProfiles } from "../src/connection/stored-profiles.ts";
import { cut, inOneLine, table, withoutControls } from "../src/output/table.ts";
import { endAll, entry, run } from "./process.ts";

// The command line with values, files, directories and answers that occur only by mistake.
const organizationId = "00000000-0000-4000-8000-000000000000";
let directory: string;
let nowhere: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-odd-"));
  nowhere = {
    XDG_CONFIG_HOME: join(directory, "config"),
    STEPWELL_DATA_DIR: join(directory, "data"),
    STEPWELL_URL: "http://127.0.0.1:9",
    STEPWELL_TOKEN: "none",
    STEPWELL_ORGANIZATION: organizationId,
  };
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

/** Returns the address of a service that answers each request with this function. */
async function serviceThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((ready) => server.once("listening", ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  [["job", "show", ""], "argument 'jobId' is empty."],
  [["validate", "a.json", ""], "argument 'files' is empty."],
  [["job", "list", "--organization", ""], "option '--organization <name>' is empty."],
  [["job", "list", "--workflow", ""], "option '--workflow <workflow>' is empty."],
  [["submit", "a", "--idempotency-key", ""], "option '--idempotency-key <key>' is empty."],
  [
    ["token", "create", "a", "--permission", "job:read,,job:list"],
    "option '--permission <permission>' argument 'job:read,,job:list' is invalid. The list has an empty part.",
  ],
])("an empty value, such as an unset shell variable gives, is wrong usage: %j", async (words, complaint) => {
  const ended = await run(nowhere, ...words);
  expect({ ...ended, complaint: ended.complaint.split("\n")[0] }).toEqual({
    code: 2,
    output: "",
    complaint: `stepwell: ${complaint}`,
  });
});

test("an empty environment variable counts as not set", async () => {
  const unset = { ...nowhere, STEPWELL_URL: "", STEPWELL_TOKEN: "", STEPWELL_PROFILE: "" };
  expect(await run(unset, "whoami")).toMatchObject({
    code: 4,
    complaint: expect.stringContaining("No service is chosen."),
  });
  expect(await run({ ...nowhere, STEPWELL_TOKEN: "" }, "whoami")).toMatchObject({
    code: 4,
    complaint: expect.stringContaining("Nobody is signed in at http://127.0.0.1:9."),
  });
});

test("an invalid address in the environment is named with its variable", async () => {
  expect(await run({ ...nowhere, STEPWELL_URL: "example" }, "whoami")).toMatchObject({
    code: 2,
    complaint: expect.stringMatching(/^stepwell: "example" \(STEPWELL_URL\) is not the address of a service\./),
  });
});

test.each(["stw_a\nb", "stw_\u2713"])("text that cannot be a token is rejected, and not shown: %j", async (token) => {
  const { code, complaint } = await run({ ...nowhere, STEPWELL_TOKEN: token }, "whoami");
  expect({ code, complaint }).toEqual({
    code: 4,
    complaint:
      "stepwell: STEPWELL_TOKEN contains spaces, line breaks or other characters that never occur in a token. Set it to the token alone.\n",
  });
});

test.each(["constructor", "__proto__"])("the profile %s exists only if a user created it", async (name) => {
  const home = { ...nowhere, XDG_CONFIG_HOME: join(directory, `home-${name}`) };
  for (const words of [
    ["whoami", "--profile", name],
    ["profile", "use", name],
    ["profile", "remove", name],
  ]) {
    expect(await run(home, ...words)).toMatchObject({
      code: 3,
      complaint: expect.stringContaining(`There is no profile ${name}.`),
    });
  }
  expect(await run(home, "profile", "set", name, "--url", "http://127.0.0.1:9")).toMatchObject({ code: 0 });
  expect((await run(home, "profile", "list", "--quiet")).output).toBe(`${name}\n`);
});

test("a command that changes profiles while another one does so loses none of them", async () => {
  vi.stubEnv("XDG_CONFIG_HOME", join(directory, "at-once"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const kept = join(directory, "at-once", "stepwell", "profiles.json");
  const [mine, other] = [{ url: "http://127.0.0.1:9" }, { url: "http://127.0.0.1:10" }];
  mkdirSync(dirname(kept), { recursive: true });
  await writeFile(`${kept}.lock`, "");
  const changed = changeProfiles(({ profiles }) => ({ profiles: { ...profiles, mine } }));
  await writeFile(kept, JSON.stringify({ profiles: { other } }));
  await rm(`${kept}.lock`);
  await changed;
  expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({ profiles: { mine, other } });
});

test("a profile's name with spaces is rejected, and a broken file of profiles is named", async () => {
  const home = { ...nowhere, XDG_CONFIG_HOME: join(directory, "broken") };
  for (const name of ["a b", "a\nb"]) {
    expect(await run(home, "profile", "set", name, "--url", "http://127.0.0.1:9")).toMatchObject({
      code: 2,
      complaint: expect.stringContaining("contains no spaces"),
    });
  }
  mkdirSync(join(directory, "broken", "stepwell"), { recursive: true });
  for (const profile of ["null", '{"url":"nowhere"}', '{"url":["http://127.0.0.1:9/"]}']) {
    await writeFile(join(directory, "broken", "stepwell", "profiles.json"), `{"profiles":{"x":${profile}}}`);
    expect(await run(home, "profile", "list")).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(
        /profiles\.json cannot be read: the profile x has no address\. Correct or delete it\.\n$/,
      ),
    });
  }
});

test("the command line names each of its own files that is broken", async () => {
  const credentials = join(directory, "credentials.json");
  await writeFile(credentials, '{"signIns":{"http://127.0.0.1:9":{}}}');
  const kept = { ...nowhere, STEPWELL_TOKEN: "", STEPWELL_CREDENTIALS_FILE: credentials };
  expect(await run(kept, "whoami")).toMatchObject({
    code: 1,
    complaint: expect.stringMatching(/credentials\.json cannot be read: the sign-in at \S+ is incomplete\. Delete it/),
  });
  mkdirSync(join(directory, "dev"));
  await writeFile(join(directory, "dev", "dev.json"), '{"baseUrl":"http://127.0.0.1:9","token":5}');
  expect(await run({ ...nowhere, STEPWELL_DATA_DIR: join(directory, "dev") }, "whoami")).toMatchObject({
    code: 1,
    complaint: expect.stringMatching(/dev\.json cannot be read: token is not a text\. Delete the file/),
  });
});

test("a lock with a time in the future, left after the clock was set back, stops no command", async () => {
  const credentials = join(directory, "locked.json");
  const signIn = { baseUrl: "http://127.0.0.1:9", email: "a@example.com", idToken: "a", refreshToken: "b" };
  await writeFile(credentials, JSON.stringify({ signIns: { [signIn.baseUrl]: { ...signIn, expiresAt: 0 } } }));
  await writeFile(`${credentials}.lock`, "");
  await utimes(`${credentials}.lock`, new Date("2100-01-01"), new Date("2100-01-01"));
  await run({ ...nowhere, STEPWELL_CREDENTIALS_FILE: credentials }, "logout");
  expect(JSON.parse(readFileSync(credentials, "utf8"))).toEqual({ signIns: {} });
});

test("an empty HOME counts as not set, and does not mean the working directory", async () => {
  const kept = join(directory, ".config", "stepwell");
  mkdirSync(kept, { recursive: true });
  await writeFile(join(kept, "profiles.json"), '{"profiles":{"of-a-stranger":{"url":"http://127.0.0.1:9"}}}');
  const shell = new Shell(directory).with({ ...nowhere, XDG_CONFIG_HOME: "", HOME: "" });
  expect(await shell.succeed(`'${process.execPath}' '${entry}' profile list`)).not.toContain("of-a-stranger");
});

test("in an invalid home directory nothing can be stored, and a command says so only if it has to store something", async () => {
  const home = { ...nowhere, XDG_CONFIG_HOME: "", HOME: "/dev/null" };
  expect((await run(home, "profile", "list")).output).toBe(
    "There is no profile yet. Create one with `stepwell profile set`.\n",
  );
  // The command asks the service, although nothing can be kept in this home directory.
  expect(await run(home, "whoami")).toMatchObject({ code: 5 });
  expect(await run(home, "profile", "set", "a", "--url", "http://127.0.0.1:9")).toMatchObject({
    code: 1,
    complaint: expect.stringMatching(
      /profiles\.json cannot be written \(ENOTDIR\)\. Set XDG_CONFIG_HOME to a directory/,
    ),
  });
});

test.runIf(existsSync("/proc/self"))(
  "a command ends at once if nothing can be created in the home directory",
  async () => {
    const home = { ...nowhere, XDG_CONFIG_HOME: "", HOME: "/proc" };
    expect(await run(home, "profile", "set", "a", "--url", "http://127.0.0.1:9")).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(
        /profiles\.json cannot be written \(ENOENT\)\. Set XDG_CONFIG_HOME to a directory/,
      ),
    });
  },
);

test("a file that is not UTF-8 is rejected and not changed", async () => {
  const file = join(directory, "latin.json");
  await writeFile(file, Buffer.from('{"name":"Ren\u00e9"}', "latin1"));
  for (const words of [
    ["validate", file],
    ["submit", "a", "--input", `@${file}`],
  ]) {
    expect(await run(nowhere, ...words)).toMatchObject({
      code: 2,
      complaint: expect.stringContaining(`The file ${file} is not encoded in UTF-8.`),
    });
  }
});

test("standard input that another program made non-blocking is read completely", async () => {
  // The second half is written only when the command line has read the first half.
  const script = `
import array, fcntl, os, subprocess, sys, termios, time
there, here = os.pipe()
os.set_blocking(there, False)
os.write(here, b"{ ")
child = subprocess.Popen(sys.argv[1:], stdin=there)
left = array.array("i", [1])
while left[0] > 0 and child.poll() is None:
    time.sleep(0.01)
    fcntl.ioctl(there, termios.FIONREAD, left)
os.write(here, b"oops")
os.close(here)
sys.exit(child.wait())
`;
  const words = ["-c", script, process.execPath, entry, "validate", "-"];
  const { code, complaint } = await new Shell(directory, nowhere).start("python3", ...words).ended;
  expect({ code, complaint }).toEqual({ code: 1, complaint: expect.stringContaining("-:1:3: error: is not JSON") });
});

test("an export that is cut off exits with 5, and says that entries are missing", async () => {
  const url = await serviceThat((_, response) => {
    response.writeHead(200, { "content-type": "application/jsonl", "content-length": "1000" });
    response.write('{"entryId":"1"}\n', () => response.destroy());
  });
  expect(await run({ ...nowhere, STEPWELL_URL: url }, "audit", "export")).toEqual({
    code: 5,
    output: '{"entryId":"1"}\n',
    complaint: "stepwell: The export was interrupted: entries are missing at its end. Export again.\n",
  });
});

test.each([
  ["<h1>Welcome</h1>", "a text that is not JSON"],
  ["null", "JSON that is not an answer of Stepwell"],
  ['{"status":"ok"}', "JSON that is not an answer of Stepwell"],
  ["", "nothing"],
])("an answer that does not come from Stepwell is reported as such: %j", async (answer, what) => {
  const url = await serviceThat((_, response) => response.end(answer));
  const told = {
    code: 1,
    output: "",
    complaint: `stepwell: The service answered 200 with ${what}. Is this the address of the service?\n`,
  };
  const there = { ...nowhere, STEPWELL_URL: url };
  const commands = [["job", "list"], ["job", "show", "j"], ["queue", "list"], ["submit", "a"], ["whoami"]];
  for (const words of commands) expect(await run(there, ...words)).toEqual(told);
  expect(await run({ ...there, STEPWELL_ORGANIZATION: "" }, "org", "show")).toEqual(told);
});

test.each(["null", "{}", "<h1>Welcome</h1>"])(
  "a sign-in fails with a clear message if the address offers no sign-in: %j",
  async (answer) => {
    const url = await serviceThat((_, response) => response.setHeader("content-type", "application/json").end(answer));
    expect(await run(nowhere, "login", "--url", url)).toMatchObject({
      code: 1,
      complaint: expect.stringContaining(`At ${url} there is no Stepwell service with sign-in`),
    });
  },
);

test("`job watch` ends at once at an address without streams, and reports the answer of that address", async () => {
  const url = await serviceThat((_, response) => response.end("<h1>Welcome</h1>"));
  expect(await run({ ...nowhere, STEPWELL_URL: url }, "job", "watch", "j")).toEqual({
    code: 1,
    output: "",
    complaint:
      "stepwell: The service answered 200 with something that is not a stream of events. Is this the address of the service?\n",
  });
});

test("`job watch` reports a lost connection, and continues when the service is back", async () => {
  const entry = (sequence: number, type: string) =>
    `data: ${JSON.stringify({ sequence, type, at: "2026-11-23T12:00:00.000Z" })}\n\n`;
  const answers: RequestListener[] = [
    (_, response) => response.write(entry(1, "job.submitted"), () => response.destroy()),
    (_, response) => response.destroy(),
    (_, response) => response.end(entry(2, "job.succeeded")),
    (_, response) => response.end('{"jobId":"j","status":"SUCCEEDED"}'),
  ];
  const url = await serviceThat((request, response) => {
    if (request.url?.endsWith("/stream")) response.setHeader("content-type", "text/event-stream");
    answers.shift()?.(request, response);
  });
  expect(await run({ ...nowhere, STEPWELL_URL: url }, "job", "watch", "j")).toEqual({
    code: 0,
    output: "2026-11-23T12:00:00.000Z  job.submitted\n2026-11-23T12:00:00.000Z  job.succeeded\n",
    complaint: "stepwell: The connection was lost during the stream. Connecting again, for up to 2 minutes …\n",
  });
});

test("an organization is found on every page by its name or its key, and an ambiguous name shows all organizations that have it", async () => {
  const idOf = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`;
  const organizations = Array.from({ length: 230 }, (_, index) => {
    return { organizationId: idOf(index), name: index % 110 === 5 ? "twice" : `name-${index}`, key: `key-${index}` };
  });
  const answerTo = ({ pathname, searchParams }: URL) => {
    if (pathname === "/whoami") return { type: "user", id: "u" };
    if (pathname !== "/organizations")
      return organizations.find(({ organizationId }) => pathname.endsWith(organizationId));
    const begin = Number(searchParams.get("pageToken") ?? 0);
    const end = begin + Number(searchParams.get("pageSize"));
    const next = end < organizations.length ? { nextPageToken: String(end) } : {};
    return { organizations: organizations.slice(begin, end), ...next };
  };
  const url = await serviceThat((request, response) => {
    response.end(JSON.stringify(answerTo(new URL(request.url ?? "", "http://localhost"))));
  });
  const show = async (...words: string[]) =>
    await run({ ...nowhere, STEPWELL_URL: url, STEPWELL_ORGANIZATION: "" }, "org", "show", "--quiet", ...words);
  for (const wanted of ["name-229", "key-229"])
    expect(await show("--organization", wanted)).toEqual({ code: 0, output: `${idOf(229)}\n`, complaint: "" });
  const several = "stepwell: Several organizations are named twice. Name one by its id:";
  expect(await show("--organization", "twice")).toEqual({
    code: 2,
    output: "",
    complaint: [several, ...[5, 115, 225].map((index) => `  ${idOf(index)}  twice`), ""].join("\n"),
  });
  const { code, complaint } = await show();
  expect({ code, lines: complaint.trimEnd().split("\n") }).toMatchObject({ code: 2, lines: { length: 102 } });
  expect(complaint).toMatch(/\n {2}and 130 more: `stepwell org list --limit 230`\n$/);
});

test("text from other users cannot control the terminal", async () => {
  const problem = { title: "No", status: 400, code: "ValidationError", detail: "two\nlines \u001b]0;owned\u0007" };
  const url = await serviceThat((_, response) => {
    response.writeHead(400, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
  });
  expect((await run({ ...nowhere, STEPWELL_URL: url }, "whoami")).complaint).toBe(
    "stepwell: two\nlines \\u001b]0;owned\\u0007\n",
  );
  expect(inOneLine("a\nb\u001b[2Kc\u202ed \u00e9 \u4e16")).toBe("a\\u000ab\\u001b[2Kc\\u202ed \u00e9 \u4e16");
  expect(withoutControls("a\n\tb\u009bc\r")).toBe("a\n\tb\\u009bc\\u000d");
});

test("columns are aligned even if names contain wide characters, emoji or combining marks", () => {
  const rows = [
    ["\u6ce8\u6587", "1"],
    ["\ud83d\udc69\u200d\ud83d\ude80", "2"],
    ["e\u0301te\u0301", "3"],
    ["order", "4"],
  ];
  expect(table(["NAME", "N"], rows).split("\n")).toEqual([
    "NAME   N",
    "\u6ce8\u6587   1",
    "\ud83d\udc69\u200d\ud83d\ude80     2",
    "e\u0301te\u0301    3",
    "order  4",
  ]);
  expect(["\u6ce8\u6587x", "a\u0301b", "ab\ud83d\udc69\u200d\ud83d\ude80"].map((text) => cut(text, 3))).toEqual([
    "\u6ce8",
    "a\u0301b",
    "ab",
  ]);
});

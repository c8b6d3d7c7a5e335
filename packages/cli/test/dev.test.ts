import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, watch, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { openStore, readConfig } from "@stepwell/server";
import { definitionOf, httpStep, straightDefinition } from "@stepwell/testing/definitions.ts";
import { findChromium } from "@stepwell/testing/find-chromium.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { testSecretKey } from "@stepwell/testing/service.ts";
import { layEmbeddedStore, type PreparedStore, postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { converse, endAll, printed, run, start, stop } from "./process.ts";

interface DevFile {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly token: string;
  readonly email: string;
  readonly password: string;
  readonly workflowId: string;
  readonly jobId: string;
}

const sampleFile = resolve(import.meta.dirname, "../../../examples/order-approval/workflow.json");
const wholeDevFile = Object.fromEntries(
  ["baseUrl", "organizationId", "token", "email", "password", "workflowId", "jobId"].map((key) => [
    key,
    expect.stringMatching(/./),
  ]),
);

let directory: string;
let port: string;
let store: PreparedStore;
/**
 * Most tests here use PostgreSQL, because a process starts faster on it than on the embedded store. The tests in first-five-minutes.test.ts use the
 * embedded store.
 */
let environment: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-cli-"));
  port = String(await findFreePort());
  store = await postgresHome.prepare();
  environment = { ...store.environment, ...embedded("data"), STEPWELL_SECRET_KEY: testSecretKey };
});

afterEach(endAll);
afterAll(async () => {
  await store.remove();
  await rm(directory, { recursive: true, force: true });
});

inWholeMatrix(() => {
  test("the first five minutes work: a sample job waits, the printed lines approve it, and one line deploys a changed definition", async () => {
    const service = start(environment, "dev");
    const welcome = await printed(service, "npx stepwell submit");
    const seeded = devFile();
    expect(seeded).toMatchObject({ email: "owner@localhost", password: expect.stringMatching(/^[0-9A-Za-z]{24}$/) });
    expect(welcome).toContain(seeded.password);

    const address = pageIn(welcome);
    expect(address).toBe(`${seeded.baseUrl}/app/organizations/${seeded.organizationId}/jobs/${seeded.jobId}`);
    expect(welcome.indexOf(address)).toBeLessThan(welcome.indexOf("curl "));
    await seeJobPage(address, welcome);

    // Looks at the job, approves it and sees it succeed, with exactly the lines that were printed.
    const [look, approve, see] = welcome.match(/curl .*/g) ?? [];
    expect(await answerTo(look)).toMatchObject({ status: "RUNNING", currentStep: { name: "approve" } });
    expect(await answerTo(approve)).toMatchObject({ outcome: "matched" });
    expect(await answerTo(see)).toMatchObject({ status: "SUCCEEDED", output: { sku: "STEP-1", count: 3 } });

    const unchanged = await run(environment, "deploy", sampleFile);
    expect(unchanged).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        /^unchanged: the definition is the same as in version 1 \([0-9a-f-]{36}\), which is \$LIVE already$/m,
      ),
    });
    expect((await run(environment, "deploy", sampleFile, "--tag", "beta")).output).toContain("which is beta now");
    const changed = join(directory, "changed.json");
    await writeFile(changed, readFileSync(sampleFile, "utf8").replace('"minimum": 1', '"minimum": 0'));
    const deployed = await run(environment, "deploy", changed);
    expect(deployed).toMatchObject({ code: 0, output: expect.stringMatching(/^version 2 \(/m) });
    const wrong = join(directory, "wrong.json");
    await writeFile(
      wrong,
      readFileSync(sampleFile, "utf8").replace(/"transitionToStep": "ship"/, '"transitionToStep": "shipp"'),
    );
    expect(await run(environment, "deploy", wrong)).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(
        /wrong\.json:\d+:\d+: error: \/steps\/\d\/transitionToStep there is no step `shipp`/,
      ),
    });
    const input = JSON.stringify({ sku: "STEP-2", count: 1 });
    const submitted = await run(environment, "submit", "order-approval", "--input", input, "--wait", "20", "--json");
    expect(submitted.code).toBe(0);
    const job = JSON.parse(submitted.output);
    expect(job).toMatchObject({ workflowVersion: { versionNumber: 2 } });
    await run(environment, "event", job.jobId, "manager-approved");
    expect(JSON.parse((await run(environment, "job", job.jobId)).output)).toMatchObject({ status: "SUCCEEDED" });

    const declined = JSON.parse(
      (await run(environment, "submit", "order-approval", "--input", input, "--wait", "20", "--json")).output,
    );
    const decision = JSON.stringify({ approved: false, comment: "out of stock" });
    await run(
      environment,
      "event",
      declined.jobId,
      "manager-approved",
      "--payload",
      decision,
      "--step",
      "approve",
      "--visit",
      "1",
    );
    expect(JSON.parse((await run(environment, "job", declined.jobId)).output)).toMatchObject({
      status: "SUCCEEDED",
      output: { sku: "STEP-2", approved: false, comment: "out of stock" },
      steps: [{}, {}, { name: "ship", status: "failure" }, { name: "decline", status: "success" }],
    });

    // `stepwell dev` lets a step call any loopback address, for example that of the service itself.
    const calling = join(directory, "calling.json");
    await writeFile(calling, definitionOf(httpStep({ url: `${seeded.baseUrl}/health/live` })));
    expect(await run(environment, "deploy", calling)).toMatchObject({ code: 0 });
    const called = await run(environment, "submit", "test", "--wait", "20", "--json");
    expect(JSON.parse(called.output)).toMatchObject({ status: "SUCCEEDED", output: { status: 200 } });

    expect(await stop(service, "SIGTERM")).toBe(0);
    const again = start(environment, "dev");
    const secondWelcome = await printed(again, "npx stepwell deploy");
    expect(secondWelcome).toContain("has ended: it is SUCCEEDED");
    expect(secondWelcome).not.toContain("Approve it");
    expect(pageIn(secondWelcome)).toBe(address);
    expect(secondWelcome.indexOf(address)).toBeLessThan(secondWelcome.indexOf("curl "));
    expect(devFile()).toEqual(seeded);
    expect(statSync(join(environment.STEPWELL_DATA_DIR ?? "", "dev.json")).mode & 0o777).toBe(0o600);
    const list = `${seeded.baseUrl}/organizations/${seeded.organizationId}/workflows`;
    const workflows = await answerTo(`curl '${list}' -H 'Authorization: Bearer ${seeded.token}'`);
    expect(workflows).toMatchObject({
      workflows: expect.arrayContaining([expect.objectContaining({ name: "order-approval" })]),
    });
    await stop(again, "SIGKILL");
  });
});

test("dev deploys the given definitions when they change or are saved again after a failure, reports their problems, and shows jobs live", async () => {
  const definitions = await mkdtemp(join(directory, "definitions-"));
  const file = join(definitions, "orders.json");
  const definition = JSON.stringify({ ...JSON.parse(straightDefinition), workflowName: "orders" });
  await writeFile(file, definition);
  const dev = converse(environment, ["dev", definitions]);
  await dev.said(`${file}: version 1 `);
  await dev.said("the progress of jobs is shown");
  await writeFile(file, definition.replace('"second"', '"secnd"'));
  await dev.complained(/orders\.json:1:\d+: error: .*there is no step/);
  await writeFile(file, definition.replaceAll('"second"', '"next"'));
  await dev.said(`${file}: version 2 `);
  const setMaximum = ["organization", "limits", devFile().organizationId, "--max"];
  await run(environment, ...setMaximum, "versionsPerWorkflow=2");
  await writeFile(file, definition.replaceAll('"second"', '"last"'));
  await dev.complained(/A workflow has at most 2 versions/);
  await run(environment, ...setMaximum, "versionsPerWorkflow=default");
  await writeFile(file, definition.replaceAll('"second"', '"last"'));
  await dev.said(`${file}: version 3 `);
  await run(environment, "submit", "orders");
  await dev.said(/orders {2}\S+ {2}SUCCEEDED/);
  dev.end("SIGTERM");
  expect((await dev.ended).code).toBe(0);
});

inWholeMatrix(() => {
  test("dev never leaves a half-written dev.json when it is killed, and the next start prints the lines that approve the job", async () => {
    await layEmbeddedStore(interrupted().STEPWELL_DATA_DIR);
    for (const moment of ["lock", "dev.json.unfinished"]) {
      const service = start(interrupted(), "dev");
      await appears(interrupted().STEPWELL_DATA_DIR, moment, service);
      await stop(service, "SIGKILL");
      const left = join(interrupted().STEPWELL_DATA_DIR, "dev.json");
      if (existsSync(left)) expect(JSON.parse(readFileSync(left, "utf8"))).toMatchObject(wholeDevFile);
    }
    const service = start(interrupted(), "dev");
    const [look, approve] = (await printed(service, "npx stepwell deploy")).match(/curl .*/g) ?? [];
    expect(await answerTo(look)).toMatchObject({ status: "RUNNING", currentStep: { name: "approve" } });
    expect(await answerTo(approve)).toMatchObject({ outcome: "matched" });

    // One press of Ctrl+C arrives as two signals, one from the terminal and one from npm. The service must stop as it does after one signal.
    service.kill("SIGINT");
    expect(await stop(service, "SIGINT")).toBe(0);
  });

  test("if dev.json cannot be read, dev ends with one sentence", async () => {
    writeFileSync(join(interrupted().STEPWELL_DATA_DIR, "dev.json"), "{");
    expect(await run(interrupted(), "dev")).toEqual({
      code: 1,
      output: "",
      complaint: expect.stringMatching(
        /^stepwell: .*dev\.json cannot be read: .* Delete the file; `stepwell dev` then writes a new one\.\n$/,
      ),
    });
  });
});

test("the printed sample can be deployed unchanged, under its own name or another", async () => {
  const sample = JSON.parse(readFileSync(sampleFile, "utf8"));
  expect(JSON.parse((await run({}, "sample")).output)).toEqual(sample);
  const { output } = await run({}, "sample", "--name", "billing");
  expect(JSON.parse(output)).toEqual({ ...sample, workflowName: "billing" });
});

inWholeMatrix(() => {
  test("dev creates a new token for the same data if dev.json is lost", async () => {
    const before = devFile();
    await rm(join(environment.STEPWELL_DATA_DIR ?? "", "dev.json"));
    const service = start(environment, "dev");
    await printed(service, "npx stepwell submit");
    const after = devFile();
    expect(after).toMatchObject({ organizationId: before.organizationId, workflowId: before.workflowId });
    expect(after.token).not.toBe(before.token);
    expect(after.password).not.toBe(before.password);
    const activity = await fetch(`${after.baseUrl}/account/activity`, {
      headers: { Authorization: `Bearer ${after.token}` },
    });
    expect(JSON.stringify(await activity.json())).toContain("user-token-created");
    await stop(service, "SIGTERM");
  });
});

inWholeMatrix(() => {
  test("on a store from an earlier version, dev gives the user a password, which ends the old token and changes nothing else; if the sample job is gone, dev shows an existing job", async () => {
    const { email, password, ...earlier } = devFile();
    const goneId = crypto.randomUUID();
    const left = JSON.stringify({ ...earlier, jobId: goneId });
    await writeFile(join(environment.STEPWELL_DATA_DIR ?? "", "dev.json"), left);
    const service = start(environment, "dev");
    const [look] = (await printed(service, "npx stepwell deploy")).match(/curl .*/g) ?? [];
    const made = { password: expect.stringMatching(/^[0-9A-Za-z]{24}$/), token: expect.stringMatching(/^stu_/) };
    const { jobId, ...file } = devFile();
    expect({ ...file, jobId: earlier.jobId }).toEqual({ ...earlier, email, ...made });
    expect(jobId).not.toBe(goneId);
    expect(file.password).not.toBe(password);
    expect(file.token).not.toBe(earlier.token);
    expect(await answerTo(look)).toMatchObject({ jobId, workflowId: earlier.workflowId });
    await stop(service, "SIGTERM");
  });
});

inWholeMatrix(() => {
  test("if the address of the service is no loopback address, the commands that dev prints contain the address and the token, so that they reach the service", async () => {
    // On Linux, this address leads to this machine too.
    const baseUrl = `http://0.0.0.0:${port}`;
    const service = start({ ...environment, STEPWELL_BASE_URL: baseUrl }, "dev");
    const welcome = await printed(service, "npx stepwell deploy");
    const { token } = devFile();
    expect(welcome).toContain(`  STEPWELL_URL='${baseUrl}' STEPWELL_TOKEN='${token}' npx stepwell deploy `);
    const named = { ...environment, STEPWELL_URL: baseUrl, STEPWELL_TOKEN: token };
    expect((await run(named, "workflow", "list", "--quiet")).output).toContain("order-approval\n");
    await stop(service, "SIGTERM");
  });
});

inWholeMatrix(() => {
  describe("on a store that init makes", () => {
    let ownStore: PreparedStore;
    let own: Record<string, string>;
    let token: string;
    let firstLink: string;

    beforeAll(async () => {
      ownStore = await postgresHome.prepare();
      own = { ...ownStore.environment, STEPWELL_PORT: port, STEPWELL_SECRET_KEY: testSecretKey };
    });
    afterAll(() => ownStore.remove());

    test("init creates the first owner only once", async () => {
      const first = await run(own, "init", "--email", "ada@example.org", "--organization", "acme");
      expect(first.code).toBe(0);
      token = /stu_\w+/.exec(first.output)?.[0] ?? "";
      firstLink = linkIn(first.output);
      expect(await run(own, "init", "--email", "eve@example.org", "--organization", "acme")).toMatchObject({
        code: 1,
        complaint: expect.stringMatching(/already has an owner.*`stepwell user reset-link EMAIL`/),
      });
      expect(await run(own, "dev")).toMatchObject({
        code: 1,
        complaint: expect.stringMatching(/^stepwell: `stepwell init` made this store.*`stepwell serve`\.\n$/),
      });
    });

    test("the owner's token works unless the owner is disabled; the first link and a link for a forgotten password each set a password once", async () => {
      const service = start(own, "serve");
      const baseUrl = /"baseUrl":"([^"]+)"/.exec(await printed(service, '"msg":"listening"'))?.[1];
      const ask = () => fetch(`${baseUrl}/organizations`, { headers: { Authorization: `Bearer ${token}` } });
      const status = async () => (await ask()).status;
      expect(await (await ask()).json()).toMatchObject({ organizations: [{ name: "acme" }] });
      expect(await run(own, "user", "disable", "ada@example.org")).toMatchObject({ code: 0 });
      await expect.poll(status).toBe(401);
      expect(await run(own, "user", "enable", "ada@example.org")).toMatchObject({ code: 0 });
      await expect.poll(status).toBe(200);

      expect(await (await fetch(firstLink)).text()).toContain("ada@example.org");
      expect(await setPassword(firstLink)).toBe(200);
      expect(await setPassword(firstLink)).toBe(404);
      const { output } = await run(own, "user", "reset-link", "Ada@example.org");
      expect(await setPassword(linkIn(output))).toBe(200);
      expect(await run(own, "user", "reset-link", "eve@example.org")).toMatchObject({
        code: 3,
        complaint: "stepwell: No account in this store has the e-mail address eve@example.org.\n",
      });
      await stop(service, "SIGTERM");
    });
  });
});

inWholeMatrix(() => {
  test("the operator's commands say what to do while a process holds the embedded store", async () => {
    const held = embedded("held");
    await layEmbeddedStore(held.STEPWELL_DATA_DIR);
    const database = await openStore(readConfig(held));
    onTestFinished(() => database.close());
    expect(await run(held, "user", "reset-link", "ada@example.org")).toMatchObject({
      code: 1,
      complaint: expect.stringContaining("Stop the service, run this command again"),
    });
    expect(await run(held, "organization", "limits", crypto.randomUUID(), "--requests-per-minute", "7")).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(/^stepwell: A running service holds the embedded store\. Stop it, [^\n]*\n$/),
    });
    const known = { ...held, STEPWELL_SECRET_KEY: testSecretKey };
    expect(await run(known, "audit", "verify")).toMatchObject({
      code: 4,
      complaint: expect.stringContaining("STEPWELL_URL"),
    });
  });

  test("a mistake is reported in one sentence that says what to do, without a stack trace", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((ready) => taken.once("listening", ready));
    const port = String((taken.address() as { port: number }).port);
    const refused = await run({ ...environment, STEPWELL_PORT: port }, "dev");
    expect(refused).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(/^stepwell: Port \d+ is taken\. .*STEPWELL_PORT/),
    });
    taken.close();

    const wrong = await run({ ...environment, STEPWELL_PORT: "http", STEPWELL_LEASE_MS: "1" }, "serve");
    expect(wrong.complaint).toMatch(/STEPWELL_PORT must be a whole number[\s\S]*STEPWELL_LEASE_MS/);

    const file = join(directory, "broken.json");
    await writeFile(file, '{\n  "workflowName": orders\n}');
    const broken = await run(
      { ...environment, STEPWELL_URL: "http://127.0.0.1:9", STEPWELL_TOKEN: "t", STEPWELL_ORGANIZATION: "o" },
      "deploy",
      file,
    );
    expect(broken).toMatchObject({
      code: 1,
      complaint: expect.stringMatching(
        /^stepwell: The definition is not valid: 1 error\.\n.*broken\.json:2:19: error: /,
      ),
    });
  });
});

/** Returns the first printed address of a page of the dashboard. */
function pageIn(welcome: string): string {
  return /http\S+\/app\/\S+/.exec(welcome)?.[0] ?? "";
}

/** Opens the printed link, which signs the browser in, and then the page of the job, as a new user does. */
async function seeJobPage(address: string, welcome: string): Promise<void> {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
  await answer.body?.cancel();
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("There is no Chromium. Run `node scripts/chromium.ts`.");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(/http\S+\/sign-in\/link\/\S+/.exec(welcome)?.[0] ?? "");
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await page.goto(address);
  await page.getByRole("button", { name: "Send manager-approved", exact: true }).waitFor();
  await browser.close();
}

/** Sends the request that the form at this link sends. */
async function setPassword(link: string): Promise<number> {
  const [page, secret = ""] = link.split("?link=");
  const password = "a long enough password";
  const body = new URLSearchParams({ link: secret, password, repeated: password });
  return (await fetch(page ?? "", { method: "POST", body })).status;
}

function linkIn(output: string): string {
  return /http\S+set-password\S+/.exec(output)?.[0] ?? "";
}

function interrupted() {
  return embedded("interrupted");
}

/** Returns settings with this data directory. The store is in it if DATABASE_URL is not set. */
function embedded(name: string) {
  return { STEPWELL_DATA_DIR: join(directory, name), STEPWELL_PORT: port };
}

/** Waits until an entry of this name is created, changed or removed in the directory. */
async function appears(directory: string, name: string, service: ChildProcess): Promise<void> {
  const ended = once(service, "exit").then(() => Promise.reject(new Error(`It ended before it made ${name}.`)));
  ended.catch(() => undefined);
  // The mode avoids the warning about a directory that others may read.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const changes = watch(directory, { signal: AbortSignal.timeout(60_000) });
  const seen = async () => {
    for await (const { filename } of changes) if (filename === name) return;
  };
  await Promise.race([seen(), ended]);
}

function devFile(): DevFile {
  return JSON.parse(readFileSync(join(environment.STEPWELL_DATA_DIR ?? "", "dev.json"), "utf8"));
}

/** Sends the request of a printed curl line. */
async function answerTo(line: string | undefined): Promise<unknown> {
  const words = [...(line ?? "").matchAll(/'([^']*)'/g)].map(([, word]) => word ?? "");
  const headers = Object.fromEntries(
    words.filter((word) => /^[\w-]+: /.test(word)).map((word) => word.split(": ") as [string, string]),
  );
  const url = words.find((word) => word.startsWith("http")) ?? "";
  const body = words.find((word) => word.startsWith("{"));
  // Opens a new connection: a pooled one may lead to a service that used this port before and has ended.
  const sent = request(url, { agent: false, headers, method: body === undefined ? "GET" : "POST" }).end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return await json(answer);
}

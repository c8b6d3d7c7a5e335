import { existsSync, globSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { outputsIn, printedExamplesIn, programOf } from "@stepwell/testing/api/printed-examples.ts";
import { programPermissions } from "@stepwell/testing/api/program-permissions.ts";
import { Browser } from "@stepwell/testing/browser.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { endShells, type Running, Shell } from "@stepwell/testing/processes/shell.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { pack } from "../../../scripts/pack.ts";
import { deployFirst, deploySample, submitSample } from "../../dashboard/src/parts/words/first-commands.ts";
import type { DevFile } from "../src/connection/dev-file.ts";
import { commandsIn } from "./readme.ts";

// The first five minutes of a new user, with real programs: npm, the packages, a shell. Each test continues where the one before it ended.
vi.setConfig({ testTimeout: 600_000 });

const root = resolve(import.meta.dirname, "../../..");
let directory: string;
let clone: Shell;
let project: Shell;
let service: Running;
/** The directory with other versions of Node.js, once npm has installed them. */
let otherNodes: Promise<string>;
/** The service is tested on the Node.js that runs the tests, and on this other version. */
const otherMajor = process.versions.node.startsWith("24.") ? 26 : 24;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-first-"));
  if (scope === "all") otherNodes = installOtherNodes();
  project = new Shell(join(directory, "project"), {
    STEPWELL_PORT: String(await findFreePort()),
    STEPWELL_METRICS_PORT: "0",
    npm_config_loglevel: "error",
  });
  clone = new Shell(join(directory, "clone"), {
    STEPWELL_PORT: String(await findFreePort()),
    STEPWELL_METRICS_PORT: "0",
    STEPWELL_CREDENTIALS_FILE: join(directory, "credentials.json"),
  });
});

afterAll(async () => {
  await endShells();
  await rm(directory, { recursive: true, force: true });
});

test("a clone, npm ci and npm start end with a job that one line approves", async () => {
  await new Shell(directory).succeed(`git clone --quiet '${root}' clone`);
  const begun = performance.now();
  await install();
  expect(await clone.run("npx stepwell dev")).toEqual({
    code: 1,
    output: "",
    complaint: expect.stringMatching(/^stepwell: [^\n]*npm run build[^\n]*npm start[^\n]*\n$/),
  });

  await build();
  if (scope !== "all") clone = clone.with({ PATH: await writeShortNpx() });
  service = clone.start("npm", "start");
  const [look = "", approve = "", see = ""] = (await service.printed("npx stepwell submit")).match(/curl .*/g) ?? [];
  const job = JSON.parse(await clone.succeed(look));
  expect(job).toMatchObject({ status: "RUNNING", currentStep: { name: "approve" } });
  expect(approve).toContain('{"eventId":"manager-approved"}');
  await clone.succeed(`npx stepwell event ${job.jobId} manager-approved`);
  expect(JSON.parse(await clone.succeed(see))).toMatchObject({ status: "SUCCEEDED" });
  const seconds = Math.round((performance.now() - begun) / 1_000);
  process.stdout.write(`From an empty clone to an approved job: ${seconds} s\n`);
});

test("every command of the README works as described, and the README has no other command", async () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  expect(commandsIn(readme)).toEqual([...readmeWalk.keys()]);
  realShell = clone.with({ STEPWELL_PORT: String(await findFreePort()) });
  for (const step of readmeWalk.values()) await step();
});

test("every command that npm start or an empty dashboard shows can be run unchanged", async () => {
  const printed = (await service.printed("npx stepwell submit")).match(/npx stepwell .*/g) ?? [];
  expect(printed).toHaveLength(3);
  const offered = [...deploySample.split("\n"), submitSample, ...deployFirst("it's new").split("\n")];
  // Some lines are both printed and offered.
  for (const line of new Set([...printed, ...offered])) await clone.succeed(line);
  const { baseUrl, organizationId, token } = devFileIn("clone");
  const list = `curl -s -H 'Authorization: Bearer ${token}' '${baseUrl}/organizations/${organizationId}/workflows'`;
  expect(JSON.parse(await clone.succeed(list))).toMatchObject({
    workflows: expect.arrayContaining([
      expect.objectContaining({ name: "order-approval", tags: [expect.objectContaining({ tag: "$LIVE" })] }),
      expect.objectContaining({ name: "it's new", tags: [expect.objectContaining({ tag: "$LIVE" })] }),
    ]),
  });
});

test("SIGTERM to npm start ends the service", async () => {
  const { baseUrl } = devFileIn("clone");
  const { complaint } = await service.terminate();
  await expect(fetch(baseUrl)).rejects.toThrow();
  // By now the service has signed somebody in, and its OpenID library has printed no warning about this version of Node.js.
  expect(complaint).not.toContain("oidc-provider");
});

inWholeMatrix(() => {
  test("the packages work in the same way when they are installed in an empty project elsewhere", async () => {
    const packages = join(directory, "packages");
    await mkdir(packages);
    const files = Object.values(pack(packages, join(directory, "clone")));
    await mkdir(join(directory, "project"));
    await writeFile(join(directory, "project/package.json"), '{ "private": true }');
    await project.succeed(`npm install --no-audit --no-fund ${files.join(" ")}`);
    for (const name of ["stepwell", "@stepwell/client", "@stepwell/server"]) {
      const installed = join(directory, "project/node_modules", name);
      expect(existsSync(join(installed, "README.md")) && existsSync(join(installed, "LICENSE"))).toBe(true);
      expect(await project.succeed(`find '${installed}' -name '*.tsbuildinfo'`)).toBe("");
    }
    await beginInProject(onOwnNode());
  });

  test("SIGTERM also ends a service that runs on the clone's own Node.js because the user's Node.js is too old", async () => {
    const { baseUrl } = devFileIn("clone");
    const old = clone.with({ PATH: await nodeOf(20) }).start("node", "packages/cli/bin/stepwell.js", "dev");
    await old.printed("npx stepwell submit");
    expect((await fetch(`${baseUrl}/health/ready`)).status).toBe(200);
    expect(await old.terminate()).toMatchObject({ code: 0 });
    await expect(fetch(baseUrl)).rejects.toThrow();
  });

  test("the packages work in the same way on the other supported version of Node.js", async () => {
    await beginInProject(project.with({ PATH: await nodeOf(otherMajor) }));
  });

  test("a Node.js that is too old for the service is reported in one sentence", async () => {
    for (const major of [20, 22]) {
      const ended = await project.with({ PATH: await nodeOf(major) }).run("npx stepwell dev");
      expect(ended).toEqual({
        code: 1,
        output: "",
        complaint: expect.stringMatching(new RegExp(`^stepwell: [^\\n]*24 or newer[^\\n]*${major}\\.[^\\n]*\\n$`)),
      });
    }
  });

  test("the client library works on Node.js 20, as a module and from CommonJS, with types for both", async () => {
    const running = onOwnNode().start("npx", "stepwell", "dev");
    await running.printed("npx stepwell submit");
    const program = `
    const { baseUrl, token, organizationId, workflowId } = JSON.parse(readFileSync(".stepwell/dev.json", "utf8"));
    const client = createClient({ baseUrl, token });
    const run = async (): Promise<Job> => {
      const body = { workflowId, workflowVersion: { tag: "$LIVE" }, inputJson: { sku: "STEP-3", count: 1 } };
      const { jobId } = await client.submitJob(organizationId, body);
      await client.sendEvent(organizationId, jobId, { eventId: "manager-approved" });
      return await client.waitForJob(organizationId, jobId);
    };
    run().then(({ status }) => process.stdout.write(status));
  `;
    const at = (name: string) => join(directory, "project", name);
    await writeFile(
      at("module.mts"),
      `import { readFileSync } from "node:fs";\nimport { createClient, type Job } from "@stepwell/client";\n${program}`,
    );
    await writeFile(
      at("common.cts"),
      `import fs = require("node:fs");\nimport stepwell = require("@stepwell/client");\ntype Job = stepwell.Job;\n
    const { readFileSync } = fs;\nconst { createClient } = stepwell;\n${program}`,
    );
    const types = [
      "--module nodenext",
      "--strict",
      "--types node",
      `--typeRoots '${join(root, "node_modules/@types")}'`,
    ];
    const compiler = `'${process.execPath}' '${join(root, "node_modules/typescript/bin/tsc")}'`;
    await project.succeed(`${compiler} ${types.join(" ")} module.mts common.cts`);
    const old = project.with({ PATH: await nodeOf(20) });
    expect(await old.succeed("node module.mjs")).toBe("SUCCEEDED");
    expect(await old.succeed("node common.cjs")).toBe("SUCCEEDED");

    const examples = printedExamplesIn(readFileSync(join(root, "docs/client.md"), "utf8"));
    await writeFile(at("page.mts"), programOf(examples));
    await project.succeed(`${compiler} ${types.join(" ")} --target es2022 page.mts`);
    const permissions = [...programPermissions, "task:work", "metrics:read"].join(",");
    const { baseUrl } = devFileIn("project");
    for (const major of [20, otherMajor]) {
      // The first examples of docs/client.md show an organization in which nothing has happened yet.
      const name = `node-${major}`;
      const organizationId = (await onOwnNode().succeed(`npx stepwell org create ${name} --quiet`)).trim();
      const create = `npx stepwell token create page --organization ${organizationId} --permission ${permissions} --quiet`;
      const program = project.with({
        PATH: await nodeOf(major),
        STEPWELL_URL: baseUrl,
        STEPWELL_TOKEN: (await onOwnNode().succeed(create)).trim(),
      });
      expect(outputsIn(await program.succeed("node page.mjs"))).toEqual(examples.map(({ output }) => output));
    }
    await running.interrupt();
  });
});

/** Each key is a line of the README, and its value tests that line. If the value does nothing, a comment beside it names the test of the line. */
const readmeWalk = new Map<string, () => Promise<void>>([
  ["npm ci && npm start", async () => {}], // The test before this one tests this line.
  [
    "npm ci && npm test",
    // `npm test` includes this test, so this test cannot run it. But the check of each change runs just these two commands.
    async () => expect(readFileSync(join(root, ".ci/run"), "utf8")).toMatch(/\nnpm ci\nnpm test\n$/),
  ],
  ["npx stepwell sample > order-approval.json", () => succeeds("npx stepwell sample > order-approval.json")],
  [
    "npx stepwell deploy order-approval.json",
    async () => {
      const deploy = () => clone.succeed("npx stepwell deploy order-approval.json");
      expect(await deploy()).toMatch(/^unchanged: .* version 1 .* \$LIVE already$/m);
      const file = join(directory, "clone/order-approval.json");
      await writeFile(file, readFileSync(file, "utf8").replace('"minimum": 1', '"minimum": 0'));
      expect(await deploy()).toMatch(/^version 2 .*\$LIVE/m);
    },
  ],
  [
    `npx stepwell submit order-approval --input '{"sku":"STEP-2","count":1}' --wait 5`,
    async () => {
      const line = `npx stepwell submit order-approval --input '{"sku":"STEP-2","count":1}' --wait 5`;
      submitted = JSON.parse(await clone.succeed(`${line} --json`));
      expect(submitted).toMatchObject({ status: "RUNNING", currentStep: { name: "approve" } });
    },
  ],
  [
    "npx stepwell event send JOB_ID manager-approved",
    async () => {
      const answer = await clone.succeed(`npx stepwell event send ${submitted.jobId} manager-approved --json`);
      expect(JSON.parse(answer)).toMatchObject({ outcome: "matched" });
    },
  ],
  [
    "npx stepwell job show JOB_ID",
    async () => {
      const answer = await clone.succeed(`npx stepwell job show ${submitted.jobId} --json`);
      expect(JSON.parse(answer)).toMatchObject({ status: "SUCCEEDED" });
    },
  ],
  ["npx stepwell login --url https://stepwell.example.com", () => signIn()],
  ["npx stepwell whoami", async () => expect(await clone.succeed("npx stepwell whoami")).toContain("owner@localhost")],
  ["npx stepwell logout", async () => expect(await clone.succeed("npx stepwell logout")).toContain("Signed out at")],
  ["export DATABASE_URL=postgres://…", () => setForReal("DATABASE_URL", emptyDatabase)],
  [
    "export STEPWELL_SECRET_KEY=…",
    () => setForReal("STEPWELL_SECRET_KEY", async () => (await clone.succeed("openssl rand -base64 32")).trim()),
  ],
  [
    "export STEPWELL_BASE_URL=https://stepwell.example.com",
    () => setForReal("STEPWELL_BASE_URL", async () => "https://stepwell.example.com"),
  ],
  ["npx stepwell init --email you@example.com --organization your-company", initForReal],
  ["npx stepwell serve", serveForReal],
]);

let submitted: { readonly jobId: string };

async function succeeds(line: string): Promise<void> {
  await clone.succeed(line);
}

/**
 * Installs the packages. The whole matrix uses `npm ci`, as users do. `npm test` reuses the packages of this workspace: installing them again takes
 * 20 s of processor time and shows nothing new.
 */
async function install(): Promise<void> {
  if (scope !== "all") {
    const places = globSync("{,packages/*/}node_modules", { cwd: root });
    for (const place of places) await clone.succeed(`cp -al '${join(root, place)}' ${place}`);
    return;
  }
  const installed = await clone.run("npm ci");
  expect(installed).toMatchObject({ code: 0, complaint: "" });
  expect(installed.output).not.toContain("EBADENGINE");
}

/**
 * Prepares the build. In the whole matrix, `npm start` builds everything. `npm test` reuses its own build, so `npm start` builds only what differs
 * from it: compiling the rest again takes 6 s of processor time and shows nothing new.
 */
async function build(): Promise<void> {
  if (scope === "all") return;
  for (const place of globSync("packages/*/dist", { cwd: root })) {
    await clone.succeed(`cp -a '${join(root, place)}' ${place}`);
  }
}

/**
 * Writes a script that runs a program of the clone as `npx` does, and returns its directory. `npm test` uses the real `npx` once and then this script:
 * each start of `npx` takes 0.6 s of processor time and shows nothing new. The whole matrix always uses `npx`.
 */
async function writeShortNpx(): Promise<string> {
  const place = join(directory, "short-npx");
  await mkdir(place);
  await writeFile(join(place, "npx"), '#!/bin/sh\nprogram="$1"\nshift\nexec "node_modules/.bin/$program" "$@"\n');
  await chmod(join(place, "npx"), 0o755);
  return place;
}

/** Goes through the story of `npm start` again, with the installed packages. */
async function beginInProject(shell: Shell): Promise<void> {
  const running = shell.start("npx", "stepwell", "dev");
  const printed = await running.printed("npx stepwell submit");
  const [sample = "", deploy = "", submit = ""] = printed.match(/npx stepwell .*/g) ?? [];
  await shell.succeed(sample);
  await shell.succeed(deploy);
  const { jobId } = JSON.parse(await shell.succeed(`${submit} --wait 5 --json`));
  await shell.succeed(`npx stepwell event ${jobId} manager-approved`);
  expect(JSON.parse(await shell.succeed(`npx stepwell job ${jobId}`))).toMatchObject({ status: "SUCCEEDED" });
  const { baseUrl } = devFileIn("project");
  expect(await (await fetch(`${baseUrl}/docs/api`)).text()).toContain('id="SubmitJob"');
  await running.interrupt();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(await shell.succeed("npx stepwell version")).toBe(`${version}\n`);
  const empty = shell.with({ STEPWELL_DATA_DIR: await mkdtemp(join(directory, "store-")) });
  const owner = await empty.succeed("npx stepwell init --email you@example.com --organization your-company");
  expect(owner).toMatch(/\bstu_\w+/);
}

/** The project with the Node.js that runs the tests. The Node.js of the machine may be too old for the command line. */
function onOwnNode(): Shell {
  return project.with({ PATH: dirname(process.execPath) });
}

/** Returns the directory of a Node.js of this major version, which npm installs as a package. */
async function nodeOf(major: number): Promise<string> {
  return join(await otherNodes, "node_modules", `node-${major}`, "bin");
}

async function installOtherNodes(): Promise<string> {
  const place = join(directory, "nodes");
  await mkdir(place);
  await writeFile(join(place, "package.json"), '{ "private": true }');
  const name = bundledNodeName();
  const aliases = [20, 22, otherMajor].map((major) => `node-${major}@npm:${name}@${major}.x`);
  await new Shell(place).succeed(`npm install --no-audit --no-fund ${aliases.join(" ")}`);
  return place;
}

/** The name of this machine's Node.js package in the dependencies of the workspace. */
function bundledNodeName(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const system = process.platform === "win32" ? "win" : process.platform;
  const name = Object.keys(optionalDependencies).find((key) => key.endsWith(`-${system}-${process.arch}`));
  if (name === undefined) throw new Error(`No Node.js comes with the workspace for ${system} on ${process.arch}.`);
  return name;
}

/** Signs in at the service that runs here, and does what a person does in a browser meanwhile. */
async function signIn(): Promise<void> {
  const { baseUrl, email, password } = devFileIn("clone");
  const asking = clone.start("npx", "stepwell", "login", "--url", baseUrl);
  const output = await asking.printed("compare the code");
  const browser = new Browser();
  const entry = await browser.open(/or open {2}(\S+)/.exec(output)?.[1] ?? "");
  const page = await browser.submit(entry, { user_code: /enter the code {2}(\S+)/.exec(output)?.[1] ?? "" });
  await browser.submit(await browser.submit(page, { confirm: "yes" }), { email, password });
  expect(await asking.ended).toMatchObject({ code: 0, output: expect.stringContaining(`Signed in at ${baseUrl}`) });
}

/** Sets a variable in the shell for the README's section "Run it for real". The section has a shell of its own, which keeps these settings. */
async function setForReal(variable: string, value: () => Promise<string>): Promise<void> {
  realShell = realShell.with({ [variable]: await value() });
}

let realShell: Shell;
let realToken: string;

async function emptyDatabase(): Promise<string> {
  const { environment, remove } = await postgresHome.prepare();
  onTestFinished(remove);
  return environment.DATABASE_URL ?? "";
}

async function initForReal(): Promise<void> {
  const printed = await realShell.succeed("npx stepwell init --email you@example.com --organization your-company");
  expect(printed).toContain("https://stepwell.example.com/");
  realToken = /stu_\w+/.exec(printed)?.[0] ?? "";
}

async function serveForReal(): Promise<void> {
  const running = realShell.start("npx", "stepwell", "serve");
  await running.printed('"msg":"listening"');
  const ask = `curl -s -H 'Authorization: Bearer ${realToken}' "http://localhost:$STEPWELL_PORT/organizations"`;
  expect(JSON.parse(await realShell.succeed(ask))).toMatchObject({ organizations: [{ name: "your-company" }] });
  await running.interrupt();
}

function devFileIn(place: string): DevFile {
  return JSON.parse(readFileSync(join(directory, place, ".stepwell/dev.json"), "utf8"));
}

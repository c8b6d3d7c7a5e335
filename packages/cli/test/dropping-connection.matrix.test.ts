import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createClient, isUnreachable } from "@stepwell/client";
import { programPermissions } from "@stepwell/testing/api/program-permissions.ts";
import { noopStep } from "@stepwell/testing/definitions.ts";
import type { Ended } from "@stepwell/testing/processes/shell.ts";
import { DroppingProxy } from "@stepwell/testing/proxies/dropping-proxy.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { endAll, run } from "./process.ts";
import { shellLinesIn } from "./readme.ts";

// Runs the stories of the documentation over connections that break at random moments. Nothing may happen twice.
const service = useService(postgresHome);
/** The whole matrix uses a random seed, so that the connections break at other moments each time. */
const seed = scope === "all" ? Math.floor(Math.random() * 2 ** 31) : 20_261_123;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-dropping-"));
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

/** Makes an organization whose owner has a good connection. A token with these permissions is used over a bad connection. */
async function world(permissions: readonly string[]) {
  const { organizationId, owner, api } = await service.newOrganization();
  const { body } = await api.call<{ token: string }>("CreateApiToken", { body: { name: "pipeline", permissions } });
  const proxy = await DroppingProxy.before(service.baseUrl, seed);
  onTestFinished(() => proxy.stop());
  const direct = createClient({ baseUrl: service.baseUrl, token: owner.token });
  return { organizationId, direct, proxy, token: body.token };
}

test(`a pipeline that repeats the documented commands over a dropping connection creates no duplicate (seed ${seed})`, async () => {
  const lines = shellLinesIn(document("cli.md", "## In a pipeline"));
  const remarks = lines.map(({ remark }) => remark).join(" ");
  const { organizationId, direct, proxy, token } = await world(permissionsIn(remarks));
  const file = join(directory, "order.json");
  const environment = { STEPWELL_URL: proxy.url, STEPWELL_TOKEN: token, XDG_CONFIG_HOME: directory };
  const commands = lines.map(({ command }) => command).filter((command) => /^stepwell (deploy|submit) /.test(command));
  expect(commands).toHaveLength(2);
  const submitted: string[] = [];
  for (const build of [1, 2]) {
    await writeFile(file, JSON.stringify(definitionOf("order", build)));
    // A pipeline that is run again begins with the first line.
    for (const repetition of ["first", "again"]) {
      for (const command of commands) {
        const line = command.replace("workflows/order.json", file).replace("@order.json", `{"build":${build}}`);
        const words = line.replace('"build-$BUILD"', `build-${build}`).split(" ").slice(1);
        const { code, output, complaint } = await untilReached(environment, words);
        expect({ repetition, words, code, complaint }).toEqual({ repetition, words, code: 0, complaint: "" });
        if (words[0] === "submit") submitted.push(output.trim());
      }
    }
  }
  expectBroken(proxy);
  const [workflow, ...others] = await direct.listWorkflows(organizationId).toArray();
  expect([workflow?.name, others]).toEqual(["order", []]);
  const path = { organizationId, workflowId: workflow?.workflowId ?? "" };
  const versions = await direct.listVersions(organizationId, path.workflowId).toArray();
  expect(versions.map(({ versionNumber, tags }) => [versionNumber, tags])).toEqual([
    [2, ["$LIVE"]],
    [1, []],
  ]);
  expect(await direct.list("ListTagHistory", { path: { ...path, tag: "$LIVE" } }).toArray()).toHaveLength(2);
  const jobs = await direct.listJobs(organizationId, { order: "oldest" }).toArray();
  expect(jobs.map(({ jobId, status }) => [jobId, status])).toEqual(
    [...new Set(submitted)].map((jobId) => [jobId, "SUCCEEDED"]),
  );
  expect([jobs.length, submitted.length]).toEqual([2, 4]);
});

test(`a program with the client completes the first five minutes over a dropping connection, and creates nothing twice (seed ${seed})`, async () => {
  const { organizationId, direct, proxy, token } = await world(programPermissions);
  const client = createClient({ baseUrl: proxy.url, token });
  const sample = JSON.parse((await run({}, "sample")).output);
  const jobIds: string[] = [];
  for (const round of [1, 2, 3]) {
    const definition = { ...sample, description: `Round ${round}.` };
    const { workflowId, versionNumber } = await untilAnswered(() => client.deploy(organizationId, definition));
    expect(versionNumber).toBe(round);
    for (const order of [1, 2, 3]) {
      const body = { workflowId, inputJson: { sku: `STEP-${order}`, count: order } };
      const once = { idempotencyKey: `order-${round}-${order}` };
      const approval = { idempotencyKey: `approval-${round}-${order}` };
      const { jobId } = await untilAnswered(() => client.submitJob(organizationId, body, { ...once, waitSeconds: 30 }));
      jobIds.push(jobId);
      const event = { eventId: "manager-approved", payload: { approved: true } };
      await untilAnswered(() => client.sendEvent(organizationId, jobId, event, approval));
      expect(await client.waitForJob(organizationId, jobId)).toMatchObject({ status: "SUCCEEDED" });
      const types: string[] = [];
      for await (const { type } of client.watchJob(organizationId, jobId)) types.push(type);
      expect(types).toEqual((await direct.listHistory(organizationId, jobId).toArray()).map(({ type }) => type));
      expect(types.filter((type) => type === "event.received")).toHaveLength(1);
    }
    expect(await direct.listVersions(organizationId, workflowId).toArray()).toHaveLength(round);
  }
  expectBroken(proxy);
  const jobs = await direct.listJobs(organizationId, { order: "oldest" }).toArray();
  expect(jobs.map(({ jobId }) => jobId)).toEqual(jobIds);
  expect(await direct.listWorkflows(organizationId).toArray()).toHaveLength(1);
});

function expectBroken({ broken }: DroppingProxy): void {
  expect(broken.client, "connections to the client that were broken").toBeGreaterThan(0);
  expect(broken.server, "connections to the service that were broken").toBeGreaterThan(0);
}

/** Repeats a command as long as it exits with the code for a service that cannot be reached. docs/cli.md promises that this is allowed. */
async function untilReached(environment: Record<string, string>, words: readonly string[]): Promise<Ended> {
  for (let runs = 1; runs <= maxRuns; runs += 1) {
    const ended = await run(environment, ...words);
    if (ended.code !== 5) return ended;
  }
  throw new Error(`\`stepwell ${words.join(" ")}\` did not reach the service in ${maxRuns} runs.`);
}

/** Repeats the same call until an answer arrives, but at most `maxRuns` times. */
async function untilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (let calls = 1; ; calls += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isUnreachable(error) || calls === maxRuns) throw error;
    }
  }
}

const maxRuns = 20;

/** Returns the part of a page below a heading. */
function document(name: string, heading: string): string {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs", name), "utf8");
  const [, part = ""] = page.split(`${heading}\n`);
  return part.split(/^## /m)[0] ?? "";
}

function permissionsIn(text: string): readonly string[] {
  const permissions = text.match(/\b(workflow|job)(:[a-z]+)+/g) ?? [];
  expect(permissions.length).toBeGreaterThan(3);
  return permissions;
}

function definitionOf(workflowName: string, build: number) {
  const any = { type: "object" };
  return {
    workflowName,
    description: `Build ${build}.`,
    steps: [noopStep("finish", null)],
    definitions: { any },
  };
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programPermissions } from "@stepwell/testing/api/program-permissions.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { failingDefinition, noopStep, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import type { Ended } from "@stepwell/testing/processes/shell.ts";
import { Shell } from "@stepwell/testing/processes/shell.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { converse, endAll, entry, run } from "./process.ts";

const service = useService(postgresHome);
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-commands-"));
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

/** Makes an organization, and a command line with an API token of it. The commands do not name the organization. */
async function world() {
  const { organizationId, api } = await service.newOrganization();
  const { token, tokenId } = await apiToken(api, programPermissions);
  const environment = {
    STEPWELL_URL: service.baseUrl,
    STEPWELL_TOKEN: token,
    XDG_CONFIG_HOME: directory,
    STEPWELL_DATA_DIR: directory,
  };
  const stepwell = async (...words: string[]) => await run(environment, ...words);
  const json = async (...words: string[]) => {
    const ended = await stepwell(...words, "--json");
    if (ended.output === "") throw new Error(`\`${words.join(" ")}\` printed nothing: ${ended.complaint}`);
    return JSON.parse(ended.output);
  };
  return { organizationId, api, tokenId, environment, stepwell, json };
}

async function apiToken(api: Client, permissions: readonly string[]) {
  const made = await api.call("CreateApiToken", { body: { name: "the command line", permissions } });
  return made.body as { readonly token: string; readonly tokenId: string };
}

/** The output of a command without the ids of this run. */
function shown({ output }: Ended): string {
  return output.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID");
}

test.concurrent("a job can be submitted, listed, explained and shown, and continues when its event is sent", async () => {
  const { api, stepwell, json } = await world();
  await deploy(api, waitingDefinition, "approval");
  const submitted = await stepwell("submit", "approval", "--input", '{"n":7}', "--wait", "30");
  expect(submitted).toMatchObject({ code: 0, complaint: "" });
  expect(submitted.output).toMatch(/^Job \S+\n {2}status +RUNNING in approve, which waits for approved\n/);
  expect(submitted.output).toContain('input      {"n":7}');
  const [job] = await json("job", "list", "--status", "running", "--workflow", "approval");
  expect(job).toMatchObject({ status: "RUNNING", stepName: "approve", awaitingEventIds: ["approved"] });
  expect((await stepwell("job", "list", "--quiet", "--waiting")).output).toBe(`${job.jobId}\n`);
  expect(shown(await stepwell("job", "list"))).toMatch(
    /^JOB .*\nID +approval +RUNNING +approve: waits for approved +\d+ s\n$/,
  );
  expect((await stepwell("job", "explain", job.jobId)).output).toMatch(/approved/);
  expect((await stepwell("event", "send", job.jobId, "approved")).output).toMatch(
    /^approved: the job received the event/,
  );
  const ended = await stepwell("job", "show", job.jobId, "--wait", "30");
  expect(ended).toMatchObject({ code: 0, output: expect.stringMatching(/status +SUCCEEDED/) });
  expect(ended.output).toMatch(/STEP +VISIT +STATUS +ATTEMPTS +TIME\nprepare +1 +succeeded +1 +\d+ ms\n/);
  const types = (await json("job", "history", job.jobId)).map(({ type }: { type: string }) => type);
  expect(types).toEqual(expect.arrayContaining(["job.submitted", "step.waiting", "event.received", "job.succeeded"]));
});

inWholeMatrix(() => {
  test.concurrent("`job watch` prints each entry as it comes and ends with the job; `cancel` and `resume` change the job", async () => {
    const { api, environment, stepwell, json } = await world();
    await deploy(api, waitingDefinition, "approval");
    const { jobId } = await json("submit", "approval");
    const watch = converse(environment, ["job", "watch", jobId]);
    await watch.said("step.waiting");
    expect(shown(await stepwell("job", "cancel", jobId))).toBe("The job ID is CANCELLED.\n");
    const { code, output } = await watch.ended;
    // A script that follows a job learns from the exit code that the job did not succeed.
    expect({ code, last: output.trimEnd().split("\n").at(-1) }).toEqual({
      code: 1,
      last: expect.stringMatching(/^\S+Z {2}job\.cancelled/),
    });
    expect(shown(await stepwell("job", "resume", jobId))).toMatch(/^The job ID continues: it is /);
    await stepwell("event", "send", jobId, "approved");
    const again = await stepwell("job", "watch", jobId, "--json");
    expect(again.code).toBe(0);
    const entries = again.output
      .trimEnd()
      .split("\n")
      .map((line: string) => JSON.parse(line));
    expect(entries[0]).toMatchObject({ sequence: 1, type: "job.submitted" });
    expect(entries.at(-1)).toMatchObject({ type: "job.succeeded" });
  });
});

inWholeMatrix(() => {
  test.concurrent("a value that the service or the client library rejects is wrong usage, whatever the command", async () => {
    const { organizationId, api, owner } = await service.newOrganization();
    const environment = {
      STEPWELL_URL: service.baseUrl,
      STEPWELL_TOKEN: owner.token,
      STEPWELL_ORGANIZATION: organizationId,
      XDG_CONFIG_HOME: directory,
    };
    const stepwell = async (...words: string[]) => await run(environment, ...words);
    await deploy(api, waitingDefinition, "approval");
    const wrong = [
      ["job", "show", ".."],
      ["job", "show", "x".repeat(40_000)],
      ["queue", "show", "."],
      ["queue", "pause", "a b"],
      ["tag", "set", "approval", "a b", "--version", "1"],
      ["submit", "approval", "--input", "[]"],
      ["token", "create", "mine", "--permission", "none"],
      ["audit", "list", "--after", "2026-02-30"],
      ["api", "/whoami", "--method", "DELETE"],
    ];
    const ended = await Promise.all(wrong.map(async (words) => ({ words, ...(await stepwell(...words)) })));
    for (const { words, code, output, complaint } of ended) {
      expect({ words, code, output }).toEqual({ words, code: 2, output: "" });
      expect(complaint).toMatch(/^stepwell: /);
    }
    // An invalid name of a tag is refused before the version is registered, and also with `--dry-run`, which registers nothing.
    const file = join(directory, "other.json");
    await writeFile(file, waitingDefinition);
    for (const words of [[], ["--dry-run"]]) {
      const { code, complaint } = await run(environment, "deploy", file, "--tag", "a b", ...words);
      expect({ code, complaint }).toEqual({
        code: 2,
        complaint: expect.stringContaining("Give 1 to 64 of the characters"),
      });
    }
    expect((await stepwell("workflow", "list", "--quiet")).output).toBe("approval\n");
  });
});

test.concurrent("exit codes distinguish a failed job, a missing resource and a missing permission", async () => {
  const { api, environment, stepwell } = await world();
  await deploy(api, failingDefinition, "failing");
  const failed = await stepwell("submit", "failing", "--wait", "30");
  expect(failed).toMatchObject({
    code: 1,
    complaint: "",
    output: expect.stringMatching(/status +FAILED[\s\S]*error /),
  });
  expect(await stepwell("submit", "nothing")).toMatchObject({
    code: 3,
    complaint: "stepwell: There is no workflow named nothing.\n",
  });
  expect((await stepwell("job", "show", "00000000-0000-4000-8000-000000000000")).code).toBe(3);
  expect((await stepwell("token", "list")).code).toBe(4);
  expect((await run({ ...environment, STEPWELL_TOKEN: "none" }, "job", "list")).code).toBe(4);
});

inWholeMatrix(() => {
  test.concurrent("the input of a job comes from the command line, a file or standard input", async () => {
    const { api, environment, json } = await world();
    await deploy(api, waitingDefinition, "approval");
    const file = join(directory, "input.json");
    await writeFile(file, '{"from":"a file"}');
    const fromFile = await json("submit", "approval", "--input", `@${file}`);
    const shell = new Shell(directory, environment);
    const line = `echo '{"from":"a pipe"}' | '${process.execPath}' '${entry}' submit approval --input - --json`;
    const fromPipe = JSON.parse(await shell.succeed(line));
    const inputs = await Promise.all(
      [fromFile, fromPipe].map(async ({ jobId }) => (await json("job", "show", jobId)).input),
    );
    expect(inputs).toEqual([{ from: "a file" }, { from: "a pipe" }]);
  });

  test.concurrent("a list, an export and a watch end without a message when the reader closes the pipe", async () => {
    const { organizationId, owner, api } = await service.newOrganization();
    const environment = {
      STEPWELL_URL: service.baseUrl,
      STEPWELL_TOKEN: owner.token,
      STEPWELL_ORGANIZATION: organizationId,
    };
    const unread = { code: 141, complaint: "" };
    await deploy(api, waitingDefinition, "approval");
    const { jobId } = JSON.parse((await run(environment, "submit", "approval", "--json")).output);
    for (const words of [
      ["job", "list", "--json"],
      ["audit", "export"],
    ]) {
      const command = converse(environment, words);
      command.stopReading();
      expect(await command.ended).toMatchObject(unread);
    }
    const watch = converse(environment, ["job", "watch", jobId]);
    await watch.said("step.waiting");
    watch.stopReading();
    await run(environment, "event", "send", jobId, "approved");
    expect(await watch.ended).toMatchObject(unread);
  });
});

test.concurrent("deploy with --dry-run changes nothing and prints the planned changes, and --strict deploys nothing that has a warning", async () => {
  const { api, stepwell, json } = await world();
  const file = join(directory, "dry.json");
  const definition = JSON.stringify({ ...JSON.parse(waitingDefinition), workflowName: "dry" });
  await writeFile(file, definition);
  expect((await stepwell("deploy", file, "--dry-run")).output).toBe(
    "Nothing was changed. The definition would become version 1, with the tag $LIVE.\n",
  );
  expect(await json("workflow", "list")).toEqual([]);
  expect(await stepwell("deploy", file)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^version 1 .* is \$LIVE\n$/),
  });
  expect(await json("deploy", file, "--dry-run", "--tag", "next")).toMatchObject({
    wouldCreate: false,
    wouldMoveTag: true,
  });
  expect(shown(await stepwell("workflow", "list"))).toMatch(/^WORKFLOW .*\ndry +ID +\$LIVE → 1 +\d+ s\n$/);
  expect((await stepwell("workflow", "show", "dry", "--definition")).output).toBe(`${definition}\n`);
  // In other systems, a text such as `$.sku` is an expression, so here it is usually a mistake.
  const { steps, ...rest } = JSON.parse(definition);
  const finish = { ...noopStep("finish", null), input: { sku: "$.sku" } };
  await writeFile(file, JSON.stringify({ ...rest, steps: [...steps.slice(0, -1), finish] }));
  const strict = await stepwell("deploy", file, "--strict");
  expect(strict).toMatchObject({ code: 1, output: "" });
  expect(strict.complaint).toMatch(/warning: [\s\S]*1 warning, which --strict does not allow/);
  expect((await json("workflow", "versions", "dry")).length).toBe(1);
  const { workflows } = (await api.call("ListWorkflows", {})).body as { workflows: unknown[] };
  expect(workflows.length).toBe(1);
});

test.concurrent("a tag can be moved back to an earlier version, and its history shows the move", async () => {
  const { api, stepwell, json } = await world();
  const { versionId: firstId } = await deploy(api, waitingDefinition, "approval");
  const file = join(directory, "second.json");
  const { steps, ...rest } = JSON.parse(waitingDefinition);
  await writeFile(file, JSON.stringify({ ...rest, workflowName: "approval", description: "The second one.", steps }));
  expect((await stepwell("deploy", file)).output).toMatch(/^version 2 /);
  const back = ["tag", "set", "approval", "$LIVE", "--version", "1"];
  expect(shown(await stepwell(...back))).toBe("$LIVE is version 1 (ID); it was version 2.\n");
  expect(shown(await stepwell(...back))).toBe("unchanged: $LIVE is version 1 (ID) already.\n");
  expect(shown(await stepwell("tag", "set", "approval", "next", "--version", firstId))).toBe(
    "next is version 1 (ID).\n",
  );
  expect(shown(await stepwell("tag", "list", "approval"))).toMatch(
    /^TAG +VERSION +ID +SINCE +BY\n\$LIVE +1 +ID +\d+ s +apiToken ID\nnext +1 +ID +\d+ s +apiToken ID\n$/,
  );
  const versions = (await json("tag", "history", "approval", "$LIVE")).map(
    ({ versionNumber }: { versionNumber: number }) => versionNumber,
  );
  expect(versions).toEqual([1, 2, 1]);
  expect((await stepwell("tag", "delete", "approval", "next")).code).toBe(0);
  expect((await stepwell("tag", "list", "approval", "--quiet")).output).toBe("$LIVE\n");
  // A version to which no tag points can be run and read by its number.
  const { jobId, versionNumber } = await json("submit", "approval", "--version", "2");
  expect([versionNumber, (await json("job", "show", jobId)).workflowVersion.versionNumber]).toEqual([2, 2]);
  expect((await stepwell("workflow", "show", "approval", "--version", "2")).output).toContain("The second one.");
  expect(await stepwell("tag", "set", "approval", "$LIVE", "--version", "3")).toMatchObject({
    code: 3,
    complaint: "stepwell: The workflow has no version 3.\n",
  });
  for (const words of [
    ["tag", "set", "approval", "$LIVE"],
    ["tag", "set", "approval", "$LIVE", "--version", "0"],
    ["submit", "approval", "--tag", "next", "--version", "2"],
  ])
    expect((await stepwell(...words)).code).toBe(2);
});

inWholeMatrix(() => {
  test.concurrent("`api` can call the operations that have no command, and exits as other commands do", async () => {
    const { organizationId, stepwell } = await world();
    const workflows = "/organizations/{organizationId}/workflows";
    const made = await stepwell("api", workflows, "--input", '{"name":"by path"}', "--idempotency-key", "once");
    expect(JSON.parse(made.output)).toMatchObject({ name: "by path" });
    expect(await stepwell("api", workflows, "--input", '{"name":"by path"}', "--idempotency-key", "once")).toEqual(
      made,
    );
    const listed = await stepwell("api", `/organizations/${organizationId}/workflows?pageSize=1&name=by%20path`);
    expect(JSON.parse(listed.output).workflows).toHaveLength(1);
    expect((await stepwell("api", "/health/live")).code).toBe(0);
    expect(await stepwell("api", workflows, "--input", "{}")).toMatchObject({
      code: 2,
      complaint: expect.stringContaining("/name"),
    });
    expect((await stepwell("api", `${workflows}/${organizationId}`)).code).toBe(3);
    expect((await stepwell("api", workflows, "--method", "DELETE")).code).toBe(2);
    for (const path of ["organizations", "//example.com/organizations", `${workflows}/{workflowId}`])
      expect((await stepwell("api", path)).code).toBe(2);
  });
});

inWholeMatrix(() => {
  test.concurrent("an API token decides the organization, and a user chooses an organization by name or id", async () => {
    const { organizationId, stepwell } = await world();
    expect((await stepwell("org", "show", "--quiet")).output).toBe(`${organizationId}\n`);
    const first = await service.newOrganization();
    const owner = { STEPWELL_URL: service.baseUrl, STEPWELL_TOKEN: first.owner.token, XDG_CONFIG_HOME: directory };
    const as = async (...words: string[]) => await run({ ...owner, STEPWELL_DATA_DIR: directory }, ...words);
    expect((await as("org", "show", "--quiet")).output).toBe(`${first.organizationId}\n`);
    const made = JSON.parse((await as("org", "create", `second-${first.organizationId.slice(-8)}`, "--json")).output);
    expect(await as("org", "show")).toMatchObject({
      code: 2,
      complaint: expect.stringMatching(/No organization is chosen.*--organization NAME[\s\S]*second-/),
    });
    expect((await as("org", "show", "--organization", made.name, "--quiet")).output).toBe(`${made.organizationId}\n`);
    expect(await as("org", "show", "--organization", "nobody's")).toMatchObject({ code: 3 });
  });
});

inWholeMatrix(() => {
  test.concurrent("an owner creates tokens, roles and invitations, changes members' roles, and finds all of it in the audit trail", async () => {
    const { organizationId, owner } = await service.newOrganization();
    const environment = {
      STEPWELL_URL: service.baseUrl,
      STEPWELL_TOKEN: owner.token,
      STEPWELL_ORGANIZATION: organizationId,
    };
    const as = async (...words: string[]) => await run(environment, ...words);
    const secret = await as("token", "create", "ci", "--permission", "job:submit,job:read", "--expires-in-days", "7");
    expect(secret).toMatchObject({ code: 0, complaint: expect.stringContaining("shown only now") });
    const who = await run({ STEPWELL_URL: service.baseUrl, STEPWELL_TOKEN: secret.output.trim() }, "whoami");
    expect(who.output).toMatch(/^the API token ci[\s\S]*permissions .*job:submit, job:read/);
    const [token] = JSON.parse((await as("token", "list", "--json")).output);
    expect((await as("token", "rotate", token.tokenId, "--quiet")).output.trim()).not.toBe(secret.output.trim());
    expect((await as("token", "revoke", token.tokenId)).code).toBe(0);
    expect((await as("role", "create", "watcher", "--permission", "job:read,job:list")).output).toMatch(
      /job:read, job:list/,
    );
    expect((await as("role", "list", "--quiet")).output.split("\n")).toEqual(
      expect.arrayContaining(["owner", "watcher"]),
    );
    expect((await as("member", "invite", "ann@example.com", "--role", "watcher")).output).toMatch(/^http\S+\n$/);
    const [member] = JSON.parse((await as("member", "list", "--json")).output);
    expect((await as("member", "update", member.email, "--role", "owner,watcher")).output).toMatch(
      /is owner, watcher now/,
    );
    const actions = (await as("audit", "list")).output;
    for (const action of ["apiToken", "role", "invitation", "member"]) expect(actions).toContain(action);
    const exported = (await as("audit", "export")).output.trimEnd().split("\n");
    expect(exported.map((line: string) => JSON.parse(line)).length).toBeGreaterThan(4);
  });
});

inWholeMatrix(() => {
  test.concurrent("the action that the help of `audit list` names as an example is one that the audit trail has", async () => {
    const { organizationId, owner } = await service.newOrganization();
    const environment = {
      STEPWELL_URL: service.baseUrl,
      STEPWELL_TOKEN: owner.token,
      STEPWELL_ORGANIZATION: organizationId,
    };
    await run(environment, "role", "create", "watcher", "--permission", "job:list");
    await run(environment, "role", "update", "watcher", "--permission", "job:read");
    const help = await run({}, "audit", "list", "--help");
    const [, example = ""] = /only this action, such\s+as\s+(\S+)/.exec(help.output) ?? [];
    const { output } = await run(environment, "audit", "list", "--action", example, "--json");
    expect(JSON.parse(output)).toMatchObject([{ action: "UpdateRole" }]);
  });
});

inWholeMatrix(() => {
  test.concurrent("a waiting command updates one line on a terminal, and prints no such line into a pipe", async () => {
    const { organizationId, owner, api } = await service.newOrganization();
    const environment = {
      STEPWELL_URL: service.baseUrl,
      STEPWELL_TOKEN: owner.token,
      STEPWELL_ORGANIZATION: organizationId,
    };
    const onTerminal = new Shell(directory, environment).start(
      "python3",
      "-c",
      "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))",
      ...[process.execPath, entry, "queue", "submit", "nobody-works-here", "--wait", "600"],
    );
    // No worker asks for tasks of this queue, so the job stays RUNNING until it is cancelled.
    await onTerminal.printed("\r\u001b[KRUNNING in ");
    const listed = await run(environment, "job", "list", "--quiet");
    const jobId = listed.output.trim();
    const inPipe = converse(environment, ["job", "show", jobId, "--wait", "600"]);
    await api.call("CancelJob", { params: { jobId } });
    expect(await onTerminal.ended).toMatchObject({ code: 1, output: expect.stringMatching(/status +CANCELLED/) });
    const { code, output, complaint } = await inPipe.ended;
    expect({ code, complaint }).toEqual({ code: 1, complaint: "" });
    expect([output.includes("\r"), output.includes("\u001b")]).toEqual([false, false]);
  });
});

import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { Shell } from "@stepwell/testing/processes/shell.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { type ShellLine, shellLinesIn } from "./readme.ts";

// Runs the `curl` commands of docs/api.md in a shell, with the variables that a reader sets from the answers.
const root = resolve(import.meta.dirname, "../../..");
const page = readFileSync(resolve(root, "docs/api.md"), "utf8").replaceAll(/ \\\n\s*/g, " ");
const definition = readFileSync(resolve(root, "examples/order-approval/workflow.json"), "utf8");
const service = useService(postgresHome);

/** The variables of the shell into which a reader copies the ids of the answers. */
const variables: Readonly<Record<string, string>> = {
  organizationId: "O",
  workflowId: "W",
  versionId: "V",
  jobId: "JOB",
  taskId: "TASK",
};

test("the requests of a whole deployment make an organization, deploy a workflow and approve a job", async () => {
  const [settings, ...lines] = linesBelow("A whole deployment with curl");
  const reader = await newReader(settings);
  const answers: unknown[] = [];
  for (const line of lines) answers.push(await reader.follow(line));
  expect(answers).toEqual([
    expect.objectContaining({ name: "acme" }),
    expect.objectContaining({ name: "pipeline", token: expect.any(String) }),
    expect.objectContaining({ name: "order-approval" }),
    expect.objectContaining({ versionNumber: 1 }),
    expect.objectContaining({ versionNumber: 1, tag: "$LIVE" }),
    expect.objectContaining({ versionNumber: 1, status: "PENDING" }),
    // If the event arrives before the job has reached its wait step, it is buffered.
    expect.objectContaining({ outcome: expect.stringMatching(/^(matched|buffered)$/) }),
    expect.objectContaining({ workflowName: "order-approval", status: "SUCCEEDED" }),
  ]);
});

test("the requests with an ETag change a role only once", async () => {
  const [settings] = linesBelow("A whole deployment with curl");
  const [read, change] = linesBelow("Changing what others change too");
  const { organizationId, owner, api } = await service.newOrganization();
  await api.call("CreateRole", { body: { name: "release-manager", permissions: ["job:read", "job:submit"] } });
  const reader = await newReader(settings, { TOKEN: owner.token, O: organizationId });
  const [, tag = ""] = /^etag: (".+")\s*$/.exec(await reader.run(read?.command ?? "")) ?? [];
  expect(read?.remark).toBe('etag: "Zk1u…"');
  const command = change?.command.replace('"Zk1u…"', tag) ?? "";
  expect(JSON.parse(await reader.run(command))).toMatchObject({ name: "release-manager", permissions: ["job:read"] });
  await expect(reader.run(command)).rejects.toThrow("PreconditionFailedError");
});

test("the requests of a worker take a task and complete it", async () => {
  const [settings] = linesBelow("A whole deployment with curl");
  const [poll, complete] = linesBelow("Tasks");
  const { organizationId, owner, api } = await service.newOrganization();
  const { body: job } = await api.call<{ jobId: string }>("SubmitTask", {
    params: { queue: "thumbnails" },
    body: { input: {} },
  });
  const reader = await newReader(settings, { TOKEN: owner.token, O: organizationId });
  expect(await reader.follow(poll)).toMatchObject({ tasks: [{ jobId: job.jobId }] });
  await reader.run(complete?.command ?? "");
  const { body: ended } = await api.call("GetJob", { params: { jobId: job.jobId }, query: { waitSeconds: "30" } });
  expect(ended).toMatchObject({ status: "SUCCEEDED", output: { count: 3 } });
});

test("the request that registers an OAuth client makes one", async () => {
  const [register] = linesBelow("OAuth clients of an organization");
  const { organizationId, owner } = await service.newOrganization();
  const own = { TOKEN: owner.token, ORGANIZATION: organizationId, STEPWELL: service.baseUrl };
  const reader = await newReader(undefined, own);
  expect(await reader.follow(register)).toMatchObject({ name: "Order desk", clientId: expect.any(String) });
});

function linesBelow(heading: string): readonly ShellLine[] {
  const section = page.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  return shellLinesIn(section ?? "");
}

async function newReader(settings: ShellLine | undefined, own?: Record<string, string>): Promise<Reader> {
  const variables = own ?? { TOKEN: (await service.newUser()).token };
  return new Reader(settings?.command.replace("http://localhost:8080", service.baseUrl) ?? ":", variables);
}

/** A person who follows the page, and copies the ids of the answers into variables. */
class Reader {
  readonly #settings: string;
  #shell: Shell;

  constructor(settings: string, own: Record<string, string>) {
    this.#settings = settings;
    this.#shell = new Shell(tmpdir(), own);
  }

  /** Runs a command whose requests must all succeed. */
  async run(command: string): Promise<string> {
    // Not every machine that runs the tests has jq, so this fills in what jq would print.
    const filled = command.replace(/"\$\(jq -Rs '\{definition: \.\}' < workflow\.json\)"/, '"$BODY"');
    expect(filled).not.toContain("jq");
    const shell = this.#shell.with({ BODY: JSON.stringify({ definition }) });
    return await shell.succeed(`${this.#settings}; ${filled.replace(/^curl /, "curl --fail-with-body ")}`);
  }

  /** Runs a command, and keeps the id that the remark after it names. */
  async follow(line: ShellLine | undefined): Promise<unknown> {
    const answer = JSON.parse(await this.run(line?.command ?? ""));
    const [, field] = /^→ (\w+)$/.exec(line?.remark ?? "") ?? [];
    if (field === undefined) return answer;
    const { [field]: id } = "tasks" in answer ? answer.tasks[0] : answer;
    this.#shell = this.#shell.with({ [variables[field] ?? field]: id });
    return answer;
  }
}

import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { type Script, ScriptedServer } from "@stepwell/testing/functions/scripted-server.ts";
import { endShells, Shell } from "@stepwell/testing/processes/shell.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { layEmbeddedStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorker, submitTask } from "../../dashboard/src/parts/words/first-commands.ts";
import { sampleName, sampleNames } from "../src/commands/sample.ts";
import { endAll, entry, printed, start } from "./process.ts";
import { shellLinesIn } from "./readme.ts";
import { comparable, tutorialStepsIn } from "./tutorial.ts";

// Runs each command of the examples' READMEs against the service that `npm start` starts. Each must end as the remark behind it says. The commands of
// the tutorial must print what stands below them.
const examples = resolve(import.meta.dirname, "../../../examples");
let directory: string;
let shell: Shell;
let greeting: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-examples-"));
  await cp(examples, join(directory, "examples"), { recursive: true });
  // The client library is found in the same place as in a clone.
  await symlink(resolve(examples, "../node_modules"), join(directory, "node_modules"));
  const environment = { STEPWELL_DATA_DIR: join(directory, ".stepwell"), STEPWELL_PORT: String(await findFreePort()) };
  shell = new Shell(directory, environment);
  await layEmbeddedStore(environment.STEPWELL_DATA_DIR);
  greeting = await printed(start(environment, "dev"), "npx stepwell submit");
});

afterAll(async () => {
  await endShells();
  endAll();
  await rm(directory, { recursive: true, force: true });
});

/** Outside of the whole matrix, only the example with a worker is tried. The tests of definitions and of executors try what the other examples do. */
const triedNames = scope === "all" ? sampleNames.filter((name) => name !== sampleName) : ["worker"];

test.concurrent.for(triedNames)("the commands of examples/%s do what its README says", async (name) => {
  await moveToFreePort(join(directory, "examples", name));
  const lines = shellLinesIn(await textOf(directory, "examples", name, "README.md"));
  let jobId = "";
  for (const { command, remark } of lines) {
    const [, language, program] = /^(node|python3) (\S+) &$/.exec(command) ?? [];
    if (program !== undefined) {
      await shell.start(language === "node" ? process.execPath : "python3", program).printed(" at http");
      continue;
    }
    const isOfJob = / (submit|job show) /.test(command);
    const output = await stepwell(command.replace("JOB_ID", jobId) + (isOfJob ? " --json" : ""));
    if (command.includes(" deploy ")) expect(output).toMatch(/^version 1 .*\$LIVE\n$/);
    if (command.includes(" submit ")) ({ jobId } = JSON.parse(output));
    if (remark !== "") expect(command.startsWith("curl ") ? output : describeJob(output)).toBe(remark);
  }
  expect(await stepwell(`npx stepwell sample ${name}`)).toBe(await textOf(examples, name, "workflow.json"));
  expect(lines.filter(({ remark }) => remark.startsWith("SUCCEEDED ")).length).toBeGreaterThan(1);
});

inWholeMatrix(() => {
  test.concurrent("the first commands on an empty page of task queues start a worker, which executes the job of the next command", async () => {
    const [printWorker = "", startIt] = startWorker.split("\n");
    await stepwell(printWorker);
    expect(startIt).toBe("node worker.ts");
    await shell.start(process.execPath, "worker.ts").printed(" at http");
    const job = JSON.parse(await stepwell(`${submitTask} --wait 20 --json`));
    expect(job).toMatchObject({ status: "SUCCEEDED", output: { image: "cat.png", thumbnails: { length: 2 } } });
    expect(await stepwell("npx stepwell sample worker.py")).toBe(await textOf(examples, "worker", "worker.py"));
  });
});

test.concurrent("worker.py fails a task with a text that the service accepts, whatever the exception says", async () => {
  const work = "def work(task): raise worker.Failure(chr(task['input'][0]) * task['input'][1], retryable=False)";
  await shell
    .start("python3", "-B", "-c", workerWith(`worker.QUEUE = 'odd'\n${work}\nworker.write_caption = work`))
    .printed(" at http");
  const messageOf = async (character: number, length: number) => {
    const line = `npx stepwell queue submit odd --input '[${character},${length}]' --wait 20 --json`;
    return JSON.parse((await shell.run(asBuilt(line))).output).error?.message;
  };
  const half = 0xd800;
  expect(await messageOf(120, 0)).toBe("The work gave no reason.");
  expect(await messageOf(120, 20_000)).toMatch(/^x{1000}/);
  // If such a task ended the thread that does it, none of the four threads would be left for the fifth task.
  for (let count = 0; count < 5; count += 1) expect(await messageOf(half, 1)).toContain("cannot be sent");
});

test.concurrent("worker.py asks and answers again after an answer that broke off or came from another program", async () => {
  const json =
    (status: number, body: object): Script =>
    (response) =>
      response.writeHead(status).end(JSON.stringify(body));
  const tasks = [{ taskId: "t", input: { image: "cat.png", thumbnails: [1] }, heartbeatSeconds: 60 }];
  const answers: Script[] = [
    (response) => response.writeHead(200, { "content-length": 100 }).write('{"tasks":[', () => response.destroy()),
    json(200, { tasks }),
    (response) => response.end("<html>"),
    json(409, {}),
    json(401, {}),
  ];
  await using service = await ScriptedServer.start((...exchange) => answers.shift()?.(...exchange));
  const environment = { STEPWELL_URL: service.endpoint.origin, STEPWELL_ORGANIZATION: "o", STEPWELL_TOKEN: "stw_1" };
  const worker = shell.with(environment).start("python3", "-B", "-c", workerWith("worker.CONCURRENCY = 1"));
  expect(await worker.ended).toMatchObject({ code: 0, output: expect.stringContaining("does not accept this worker") });
  const [poll, complete] = [
    "/organizations/o/task-queues/captions/poll?waitSeconds=20",
    "/organizations/o/tasks/t/complete",
  ];
  expect(service.requests.map(({ path }) => path)).toEqual([poll, poll, complete, complete, poll]);
});

test.concurrent("the commands of docs/tutorial.md print what the page says", async () => {
  const page = await textOf(examples, "../docs/tutorial.md");
  const [, definition = ""] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
  await writeFile(join(directory, "refund.json"), definition);
  const [begin, ...steps] = tutorialStepsIn(page);
  expect(begin?.commands).toEqual(["npx stepwell dev"]);
  expect(comparable(greeting)).toContain(begin?.output);
  let waitingJobId = "";
  for (const { commands, output } of steps) {
    let shown = "";
    for (const command of commands) {
      const ended = await shell.run(asBuilt(command.replace("JOB_ID", waitingJobId)));
      shown += ended.output + ended.complaint;
    }
    expect(comparable(shown), commands.join("\n")).toBe(output);
    [, waitingJobId = waitingJobId] = /^Job (\S+)\n {2}status +RUNNING/m.exec(shown) ?? [];
  }
  expect(steps.length).toBeGreaterThan(7);
});

async function stepwell(line: string): Promise<string> {
  return await shell.succeed(asBuilt(line));
}

/** The program of examples/worker/worker.py with other values or other work. */
function workerWith(changes: string): string {
  return `import sys\nsys.path.insert(0, "examples/worker")\nimport worker\n${changes}\nworker.main()`;
}

function asBuilt(line: string): string {
  return line.replace(/^npx stepwell/, `'${process.execPath}' '${entry}'`);
}

async function textOf(...path: readonly string[]): Promise<string> {
  return await readFile(join(...path), "utf8");
}

/** Writes a free port into the files of an example, because the port in them may be in use on this machine. */
async function moveToFreePort(example: string): Promise<void> {
  const texts = new Map<string, string>();
  for (const file of await readdir(example)) texts.set(join(example, file), await textOf(example, file));
  const [, port] = /localhost:(\d+)/.exec([...texts.values()].join("")) ?? [];
  if (port === undefined) return;
  const freePort = String(await findFreePort());
  for (const [file, text] of texts) await writeFile(file, text.replaceAll(port, freePort));
}

/** The job in the words of the remarks: "RUNNING in approve", or "SUCCEEDED with {…}". */
function describeJob(output: string): string {
  const { status, currentStep, output: value } = JSON.parse(output);
  return status === "RUNNING" ? `RUNNING in ${currentStep.name}` : `${status} with ${JSON.stringify(value)}`;
}

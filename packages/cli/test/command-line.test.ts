import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Shell } from "@stepwell/testing/processes/shell.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { candidatesFor } from "../src/commands/completion.ts";
import { withCurrentNames } from "../src/old-names.ts";
import { declareProgram, leavesOf } from "../src/program.ts";
import { converse, endAll, entry, run } from "./process.ts";

// The parts of the command line that need no service, such as help and completion.
let directory: string;
let nowhere: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-frame-"));
  nowhere = {
    XDG_CONFIG_HOME: directory,
    STEPWELL_DATA_DIR: join(directory, "data"),
    STEPWELL_URL: "http://127.0.0.1:9",
    STEPWELL_TOKEN: "none",
    STEPWELL_ORGANIZATION: "00000000-0000-4000-8000-000000000000",
  };
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

test.concurrent.each([
  [["jbo"], "stepwell: unknown command 'jbo'\n(Did you mean job?)\nUsage: stepwell [options] [command]\n"],
  [["job", "lst"], "stepwell: unknown command 'lst'\n(Did you mean list?)\nUsage: stepwell job [options] [command]\n"],
  [
    ["job", "list", "--limt", "3"],
    "stepwell: unknown option '--limt'\n(Did you mean --limit?)\nUsage: stepwell job list [options]\n",
  ],
  [
    ["submit", "a", "--wait", "abc"],
    "stepwell: option '--wait <seconds>' argument 'abc' is invalid. Give a whole number from 0 to 86400.\nUsage: stepwell submit [options] <workflow>\n",
  ],
  [
    ["submit", "a", "--input", "{n}"],
    /^stepwell: option '--input <json>' argument '\{n\}' is invalid\. It is not JSON: .*\nUsage: stepwell submit .*\n$/,
  ],
  [["submit", "a", "--input", "@/nowhere/input.json"], "stepwell: There is no file /nowhere/input.json.\n"],
  [["deploy", "/nowhere/order.json"], "stepwell: There is no file /nowhere/order.json.\n"],
  [["validate", "/dev/zero"], "stepwell: The file /dev/zero is longer than 256 MiB, which no service accepts.\n"],
  [["api", "whoami"], /^stepwell: 'whoami' is invalid for argument 'path'\. Give a path .*\nUsage: .*\n$/],
  [["validate", tmpdir()], `stepwell: ${tmpdir()} is a directory. Name a file in it.\n`],
])("wrong usage, %j, exits with 2 and prints a few lines", async (words, complaint) => {
  expect(await run(nowhere, ...words)).toEqual({
    code: 2,
    output: "",
    complaint: typeof complaint === "string" ? complaint : expect.stringMatching(complaint),
  });
});

test("a command exits with 5 if the service cannot be reached, and with 4 if nothing exists at the path", async () => {
  expect(await run({ ...nowhere }, "whoami")).toMatchObject({
    code: 5,
    complaint: expect.stringContaining("cannot be reached"),
  });
  const unknown = await run(
    { XDG_CONFIG_HOME: directory, HOME: directory, STEPWELL_DATA_DIR: directory },
    "job",
    "list",
  );
  expect(unknown).toMatchObject({ code: 4, complaint: expect.stringContaining("stepwell login --url ADDRESS") });
});

test("the program without a command prints the next three steps, which depend on whether a service is known", async () => {
  const first = await run({ XDG_CONFIG_HOME: directory, HOME: directory, STEPWELL_DATA_DIR: directory });
  expect(first).toMatchObject({ code: 0, complaint: "" });
  expect(first.output.match(/^ {2}stepwell .*$/gm)).toEqual([
    expect.stringContaining("stepwell dev "),
    expect.stringContaining("stepwell login --url ADDRESS "),
    expect.stringContaining("stepwell sample "),
  ]);
  const later = await run(nowhere);
  expect(later.output).toContain("Commands go to http://127.0.0.1:9.");
  expect(later.output.match(/^ {2}stepwell \w+ /gm)).toEqual([
    "  stepwell deploy ",
    "  stepwell submit ",
    "  stepwell job ",
  ]);
});

test("a group without a command is wrong usage and prints its help, and a request for help succeeds", async () => {
  expect(await run({}, "job")).toMatchObject({ code: 2, complaint: expect.stringContaining("explain") });
  const asked = await run({}, "job", "--help");
  expect(asked).toMatchObject({ code: 0, complaint: "" });
  expect(asked.output).toMatch(/list .*\n *show .*\n *watch [\s\S]*\n *explain /);
});

test("the program and a command below a group have help, by --help and by `help`", async () => {
  const listHelp = await run({}, "job", "list", "--help");
  expect(listHelp.output).toContain("Usage: stepwell job list [options]\n");
  expect(await run({}, "help", "job", "list")).toEqual(listHelp);
  expect(await run({}, "help")).toEqual(await run({}, "--help"));
  expect(await run({}, "help", "job", "lst")).toEqual({
    code: 2,
    output: "",
    complaint: "stepwell: unknown command 'lst'\nUsage: stepwell job [options] [command]\n",
  });
});

inWholeMatrix(() => {
  test("`stepwell --version` and `stepwell version` print the version", async () => {
    const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, "../package.json"), "utf8"));
    for (const words of [["--version"], ["-V"], ["version"], ["version", "-q"]])
      expect(await run({}, ...words)).toEqual({ code: 0, output: `${version}\n`, complaint: "" });
    expect(JSON.parse((await run({}, "version", "--json")).output)).toEqual({ version });
    // After the name of a command, `--version` is an option of that command.
    expect(await run(nowhere, "tag", "set", "order", "next", "--version")).toMatchObject({ code: 2 });
  });
});

test.each([[["sample"]], [["completion", "bash"]], [["sample", "--json"]]])(
  "%j ends without a message when the reader of its output closes the pipe",
  async (words) => {
    const command = converse(nowhere, words);
    command.stopReading();
    expect(await command.ended).toEqual({ code: 141, output: "", complaint: "" });
  },
);

test.runIf(existsSync("/dev/full"))("output that a full disk cannot store is an error", async () => {
  const { code, complaint } = await new Shell(directory).run(`'${process.execPath}' '${entry}' sample > /dev/full`);
  expect({ code, complaint }).toEqual({
    code: 1,
    complaint: expect.stringMatching(/^stepwell: The output cannot be written: ENOSPC.*\n$/),
  });
});

test("every command except completion and help takes --json and --quiet, and has a description", () => {
  const program = declareProgram();
  // Completion prints for a shell, and help for people, so neither needs these options.
  const leaves = leavesOf(program).filter((leaf) => !["completion", "complete", "help"].includes(leaf.name()));
  expect(leaves.length).toBeGreaterThan(40);
  for (const leaf of leaves) {
    expect({ name: leaf.name(), options: leaf.options.map(({ long }) => long) }).toEqual({
      name: leaf.name(),
      options: expect.arrayContaining(["--json", "--quiet"]),
    });
    expect(leaf.description()).not.toBe("");
  }
});

test("docs/cli.md names every command except those of `user`, and only options that exist", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/cli.md"), "utf8");
  const program = declareProgram();
  const groups = program.commands.filter(({ commands }) => commands.length > 0);
  const documented = leavesOf(program).filter((leaf) => leaf.parent?.name() !== "user" && leaf.name() !== "complete");
  for (const leaf of documented) {
    const name = groups.includes(leaf.parent ?? program) ? `${leaf.parent?.name()} ${leaf.name()}` : leaf.name();
    expect(page).toMatch(new RegExp(`\`${name}[ \`]`));
  }
  const options = new Set(leavesOf(program).flatMap((leaf) => leaf.options.map(({ long }) => long)));
  for (const [option] of page.matchAll(/--[a-z][a-z-]*/g)) expect([...options, "--help"]).toContain(option);
});

test("commands keep working under their former names, with their former output", () => {
  const jobId = "01985a4c-7f00-7000-8000-000000000001";
  expect([
    withCurrentNames(["job", jobId]),
    withCurrentNames(["event", jobId, "approved", "--step", "approve"]),
    withCurrentNames(["task-queues", "--json"]),
    withCurrentNames(["task-queue", "pause", "mails"]),
    withCurrentNames(["submit-task", "mails"]),
    withCurrentNames(["organization", "limits", "x"]),
    withCurrentNames(["job", "list"]),
  ]).toEqual([
    ["job", "show", jobId, "--json"],
    ["event", "send", jobId, "approved", "--step", "approve", "--json"],
    ["queue", "list", "--json"],
    ["queue", "pause", "mails"],
    ["queue", "submit", "mails", "--json"],
    ["org", "limits", "x"],
    ["job", "list"],
  ]);
});

test("completion offers the commands, options and values that fit the typed text", () => {
  const program = declareProgram();
  expect(candidatesFor(program, ["wor"])).toEqual(["workflow"]);
  expect(candidatesFor(program, ["job", ""])).toEqual(
    expect.arrayContaining(["list", "show", "watch", "explain", "cancel", "resume", "history"]),
  );
  expect(candidatesFor(program, ["job", "list", "--status", "F"])).toEqual(["FAILED"]);
  expect(candidatesFor(program, ["job", "list", "--status=F"])).toEqual(["--status=FAILED"]);
  expect(candidatesFor(program, ["job", "list", "--status", "=", "F"])).toEqual(["FAILED"]);
  expect(candidatesFor(program, ["help", "job", "expl"])).toEqual(["explain"]);
  // The value of an option does not count as an argument.
  expect(candidatesFor(program, ["sample", "--name", "mine", "order-a"])).toEqual(["order-approval"]);
  expect(candidatesFor(program, ["deploy", "a.json", "--d"])).toEqual(["--dry-run"]);
  expect(candidatesFor(program, ["completion", ""])).toEqual(["bash", "zsh", "fish"]);
  // The command that only the shells' scripts call is not offered to people.
  expect(candidatesFor(program, ["compl"])).toEqual(["completion"]);
});

inWholeMatrix(() => {
  test("the completion for bash completes commands, options and their values when the user presses the Tab key", async () => {
    // This program types at a terminal as a person does, and prints everything that bash shows there.
    const terminal = `
import os, pty, sys
pid, bash = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
os.write(bash, sys.argv[1].encode())
printed = b""
try:
    while part := os.read(bash, 65536):
        printed += part
except OSError:
    pass
sys.stdout.buffer.write(printed)
`;
    const typed = [
      "PS1=; bind 'set enable-bracketed-paste off'",
      `stepwell() { '${process.execPath}' '${entry}' "$@"; }`,
      "source <(stepwell completion bash)",
      "stepwell job expl\t --he\t",
      "said() { printf 'typed: <%s>\\n' \"$*\"; }; complete -o default -F _stepwell said",
      "said job list --status=F\t --status C\t",
      "said help wor\t sh\t",
      "said deploy ord\t",
      "exit",
    ];
    await writeFile(join(directory, "order.json"), "{}");
    const shell = new Shell(directory, { TERM: "dumb" });
    const { output } = await shell.start("python3", "-c", terminal, `${typed.join("\n")}\n`).ended;
    expect(output).toContain("Usage: stepwell job explain [options] <jobId>");
    expect(output.match(/^typed: <.*>/gm)).toEqual([
      "typed: <job list --status=FAILED --status CANCELLED>",
      "typed: <help workflow show>",
      "typed: <deploy order.json>",
    ]);
  });
});

inWholeMatrix(() => {
  test("a profile names a service and an organization, and contains no secret", async () => {
    const home = {
      HOME: directory,
      XDG_CONFIG_HOME: join(directory, "profiles"),
      STEPWELL_DATA_DIR: join(directory, "none"),
    };
    const set = ["profile", "set", "prod", "--url", "http://127.0.0.1:9/", "--organization", "acme"];
    expect(await run(home, ...set)).toMatchObject({ code: 0 });
    expect(JSON.parse((await run(home, "profile", "list", "--json")).output)).toEqual([
      { name: "prod", url: "http://127.0.0.1:9", organization: "acme", isCurrent: false },
    ]);
    // Without a command, `stepwell` names the service to which commands go.
    expect((await run({ ...home, STEPWELL_PROFILE: "prod" })).output).toContain("Commands go to http://127.0.0.1:9.");
    expect(await run({ ...home, STEPWELL_TOKEN: "none" }, "whoami", "--profile", "test")).toMatchObject({
      code: 3,
      complaint: expect.stringMatching(/There is no profile test\. The profiles are: prod\./),
    });
    expect((await run(home)).output).toContain("No service is chosen yet.");
    await run(home, "profile", "use", "prod");
    expect((await run(home)).output).toContain("Commands go to http://127.0.0.1:9.");
  });
});

import { globSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type Command, CommanderError } from "commander";
import { expect, test } from "vitest";
import { declareProgram, leavesOf } from "../src/program.ts";

// Parses each command that a document, a page, a help text or a message shows, with the command line's own parser.
const root = resolve(import.meta.dirname, "../../..");
const documents = ["*.md", "docs/**/*.md", "examples/*/README.md", "packages/*/README.md"];
// This reference is generated from the declaration of the commands, and its lines are usage lines, not commands.
const reference = "docs/cli-reference.md";
// In these files, commands stand in systemd units, in comments, in the notes of the Helm chart, and after the name of a container.
const deployment = ["deploy/**/*.{service,yaml,txt}", "deploy/Dockerfile"];
const programs = ["packages/{cli,dashboard,server}/src/**/*.{ts,tsx}"];

/** What the documents show on purpose although the command line rejects it. */
const wrongOnPurpose = ["docs/internals/manners.md: stepwell job lst"];

interface Shown {
  readonly file: string;
  readonly command: string;
}

test("every command that Stepwell shows to a user is a valid command of the command line", async () => {
  const shown = [
    ...shownIn(documents, /(?:^|`|npx )stepwell (?=([a-z-]+\b[^`\n]*))/gm),
    ...shownIn(deployment, /(?:^[ #]+|`|-- |run --rm |\/bin\/)stepwell(?:\.js)? (?=([a-z-]+\b[^`\n]*))/gm),
    // The list of sessions shows a sign-in of the command line as `stepwell on HOST`, which is not a command.
    ...shownIn(programs, /(?:\\`|`|npx |: )stepwell (?!on \$)([a-z-]+\b[^`\n]*)/g),
    // Finds strings that are a whole command, as in `next-steps.ts`. The server is left out, because some of its strings have this form but are not
    // commands.
    ...shownIn(["packages/{cli,dashboard}/src/**/*.{ts,tsx}"], /["']stepwell ([a-z-]+\b[^"\n]*)/g),
  ];
  expect(shown.length).toBeGreaterThan(150);
  for (const file of ["deploy/stepwell.service", "deploy/compose.yaml", "deploy/helm/stepwell/templates/NOTES.txt"]) {
    expect(shown.map((one) => one.file)).toContain(file);
  }
  const wrong: string[] = [];
  for (const { file, command } of shown) {
    for (const words of alternativesOf(wordsIn(command))) {
      const complaint = await complaintOf(words);
      const place = `${file}: stepwell ${words.join(" ")}`;
      if (complaint !== undefined && !wrongOnPurpose.includes(place)) wrong.push(`${place}: ${complaint}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("an unknown command, an unknown option and a missing argument are noticed", async () => {
  expect(await complaintOf(wordsIn("submit-task mails"))).toMatch(/unknown command/);
  expect(await complaintOf(wordsIn("job lst"))).toMatch(/unknown command/);
  expect(await complaintOf(wordsIn("job list --limt 3"))).toMatch(/unknown option/);
  expect(await complaintOf(wordsIn("event send JOB_ID --step approve"))).toMatch(/missing required argument/);
  expect(await complaintOf(wordsIn("submit order --wait abc"))).toMatch(/whole number/);
  expect(await complaintOf(wordsIn("job lst; npx stepwell job list"))).toMatch(/unknown command/);
  expect(alternativesOf(wordsIn("job list|show JOB_ID"))).toEqual([
    ["job", "list", "JOB_ID"],
    ["job", "show", "JOB_ID"],
  ]);
});

function shownIn(patterns: readonly string[], command: RegExp): readonly Shown[] {
  return globSync([...patterns], { cwd: root, exclude: [reference] }).flatMap((name) => {
    const file = resolve(root, name);
    const commands = [...readFileSync(file, "utf8").matchAll(command)];
    return commands.map(([, words = ""]) => ({ file: relative(root, file), command: words }));
  });
}

/** Returns the words of a command in a shell or in a text, up to the first that does not belong to the command: a remark, a pipe, a redirection. */
function wordsIn(command: string): readonly string[] {
  const text = command.replaceAll(/<\w+>|\$\{[^}]*\}|\$\w+/g, "PLACEHOLDER").replace(/\\.*$/, "");
  const words: string[] = [];
  for (const [, single, double, plain = ""] of text.matchAll(/'([^']*)'|"([^"]*)"|([^\s"']+)/g)) {
    if (/^([#>|&…(]|\d?>)/.test(plain)) break;
    words.push(single ?? double ?? plain.replace(/[).,;:]+$/, ""));
    if (plain.endsWith(";")) break;
  }
  return words;
}

/** Returns each command of a text that names several commands at once, as in `tag list|set WORKFLOW`. */
function alternativesOf(words: readonly string[]): readonly (readonly string[])[] {
  const index = words.findIndex((word) => /^[a-z-]+(\|[a-z-]+)+$/.test(word));
  if (index === -1) return [words];
  return words[index]?.split("|").map((word) => words.with(index, word)) ?? [];
}

/** Returns the parser's complaint about these words. If a text names only a command without its arguments, it is enough that the command exists. */
async function complaintOf(words: readonly string[]): Promise<string | undefined> {
  const program = declareProgram();
  const isNamedOnly = words.every((word) => /^[a-z-]+$/.test(word) && !word.startsWith("-"));
  if (isNamedOnly && isCommand(program, words)) return undefined;
  for (const leaf of leavesOf(program)) takePlaceholders(leaf).action(() => {});
  for (const command of [program, ...program.commands, ...leavesOf(program)]) {
    command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? undefined : error.message;
  }
}

function isCommand(program: Command, words: readonly string[]): boolean {
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((one) => one.name() === word);
  return command !== undefined;
}

/** Accepts a word in capitals, or `@` with the name of any file, as an argument and as the value of an option. */
function takePlaceholders(command: Command): Command {
  for (const part of [...command.options, ...command.registeredArguments]) {
    const { parseArg } = part;
    if (parseArg === undefined) continue;
    part.parseArg = (text: string, before: unknown) =>
      /^([A-Z:=_]+|@.*)$/.test(text) ? (text as never) : parseArg(text, before as never);
  }
  return command;
}

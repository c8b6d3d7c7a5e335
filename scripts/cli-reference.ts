/** Writes docs/cli-reference.md from the commands themselves. With `--check` it only reports whether the file is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { declareProgram, leavesOf } from "../packages/cli/src/program.ts";

type Command = ReturnType<typeof declareProgram>;
type Option = Command["options"][number];
type Argument = Command["registeredArguments"][number];

const file = "docs/cli-reference.md";
const program = declareProgram();
const sharedOptions = findSharedOptions();
const text = `# Reference of the command line

This page lists every command of \`stepwell\` with its arguments and options, as \`stepwell COMMAND --help\` prints them. [The command line](cli.md) is the guide: it describes the output, the exit codes, and where commands go.
\`node scripts/cli-reference.ts\` generates this page from \`packages/cli/src/program.ts\`. In a usage line, a word in angle brackets is required, a word in square brackets may be left out, and three dots mean that the word may be repeated.

${remarksOf(program)}
## Shared options

Most commands take these options. Each command says which of them it takes.

${optionTable([...sharedOptions.values()])}

${sectionsOf(program)}`;

if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== text) {
    process.stderr.write(`${file} is out of date: run node scripts/cli-reference.ts\n`);
    process.exitCode = 1;
  }
} else writeFileSync(file, text);

/** Returns the options that most commands declare with the same words, so that the page explains them only once. */
function findSharedOptions(): ReadonlyMap<string, Option> {
  const leaves = leavesOf(program);
  const all = leaves.flatMap(({ options }) => options);
  const isShared = (option: Option) => all.filter((one) => isSame(one, option)).length > leaves.length / 2;
  return new Map(all.filter(isShared).map((option) => [option.flags, option]));
}

function isSame(one: Option, other: Option): boolean {
  return one.flags === other.flags && one.description === other.description;
}

/** The commands are divided as in `stepwell --help`. */
function sectionsOf(command: Command): string {
  const groups = Map.groupBy(visible(command), (one) => one.helpGroup());
  return [...groups]
    .map(([heading, members]) => `## ${heading.replace(/:$/, "")}\n\n${members.map(entryOf).join("\n")}`)
    .join("\n");
}

/** Leaves out hidden commands, and the command `help` that the parser adds to each group. */
function visible(command: Command): readonly Command[] {
  const shown = command.createHelp().visibleCommands(command);
  return command.commands.filter((one) => shown.includes(one));
}

function entryOf(command: Command): string {
  const heading = `### ${nameOf(command)}\n\n${sentence(command.description())}\n`;
  const members = visible(command);
  if (members.length === 0) return [heading, ...detailsOf(command)].join("\n");
  const links = members.map((one) => `- [${nameOf(one)}](#${nameOf(one).replaceAll(" ", "-")})\n`);
  return [heading, links.join(""), ...members.map(entryOf)].join("\n");
}

function detailsOf(command: Command): readonly string[] {
  const described = command.registeredArguments.filter(isExplained);
  const shared = command.options.filter(isSharedOption);
  const own = command.options.filter((option) => !option.hidden && !isSharedOption(option));
  const parts = [
    `\`\`\`\nstepwell ${nameOf(command)} ${command.usage()}\n\`\`\`\n`,
    described.length > 0 ? `${argumentTable(described)}\n` : "",
    own.length > 0 ? `${optionTable(own)}\n` : "",
    shared.length > 0 ? `Shared options: ${shared.map(({ long }) => `\`${long}\``).join(", ")}.\n` : "",
    remarksOf(command),
  ];
  return parts.filter((part) => part !== "");
}

function isSharedOption(option: Option): boolean {
  const shared = sharedOptions.get(option.flags);
  return shared !== undefined && isSame(shared, option);
}

/** The usage line already names each argument, so an argument without further words needs no row. */
function isExplained({ description, argChoices, defaultValue }: Argument): boolean {
  return description !== "" || argChoices !== undefined || defaultValue !== undefined;
}

function argumentTable(shown: readonly Argument[]): string {
  const rows = shown.map((argument) => [
    code(argument.name()),
    cell(argument.description),
    choicesOf(argument),
    code(defaultOf(argument)),
  ]);
  return table(["argument", "meaning", "choices", "default"], rows);
}

function optionTable(shown: readonly Option[]): string {
  const rows = shown.map((option) => [
    `${code(option.flags)}${option.mandatory ? " (required)" : ""}`,
    cell(option.description),
    choicesOf(option),
    code(defaultOf(option)),
  ]);
  return table(["option", "meaning", "choices", "default"], rows);
}

/** A column that would be empty in each row is left out. */
function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const isUsed = (_: unknown, index: number) => rows.some((row) => row[index] !== "");
  const shown = headings.filter(isUsed);
  const lines = rows.map((row) => `| ${row.filter(isUsed).join(" | ")} |`);
  return [`| ${shown.join(" | ")} |`, `|${"---|".repeat(shown.length)}`, ...lines].join("\n");
}

function choicesOf({ argChoices = [] }: Option | Argument): string {
  return argChoices.map(code).join(", ");
}

function defaultOf({ defaultValue, defaultValueDescription }: Option | Argument): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  if (typeof defaultValue === "string") return defaultValue;
  return defaultValue === undefined ? "" : JSON.stringify(defaultValue);
}

/** Returns the text that `--help` prints below the options. */
function remarksOf(command: Command): string {
  let printed = "";
  command.configureOutput({ ...command.configureOutput(), writeOut: (part) => (printed += part) }).outputHelp();
  const remarks = printed.slice(command.helpInformation().length).trim();
  return remarks === "" ? "" : `\`\`\`\n${remarks}\n\`\`\`\n`;
}

function nameOf(command: Command): string {
  return command.parent === null || command.parent === program
    ? command.name()
    : `${nameOf(command.parent)} ${command.name()}`;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${words.endsWith(".") ? "" : "."}`;
}

function code(words: string): string {
  return words === "" ? "" : `\`${cell(words)}\``;
}

function cell(words: string): string {
  return words.replaceAll("|", "\\|");
}

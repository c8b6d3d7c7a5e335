import type { Argument, Command, Option } from "commander";
import { expect, test } from "vitest";
import { declareProgram, leavesOf } from "../src/program.ts";
import { run } from "./process.ts";

// Gives values of the wrong kind to arguments and options. The command line is parsed, and no command runs except in the last test.

/** Wrong values by the kind that the help names, as in `--limit <number>`. */
const wrongValues: Readonly<Record<string, readonly string[]>> = {
  number: ["abc", "-1000000", "1.5", "1e3", "0x10", "99999999999999999999", " 1", "1,000", "NaN"],
  seconds: ["abc", "-1", "1.5", "1e3", "99999999999999999999", "5s"],
  json: ["{", "undefined", "'a'", '{"a":1,}', "@/nowhere/input.json"],
  version: ["abc", "0", "-1", "1.5", "99999999999", "00000000-0000-4000-8000"],
};

/**
 * Options whose values are checked only when the command runs, because the limits are in the code of the service. organization-limits.test.ts tests
 * them.
 */
const readLater = ["user organizations --max", "org limits --requests-per-minute", "org limits --submits-per-minute"];

const leaves = leavesOf(declareProgram()).filter((leaf) => !["complete", "completion", "help"].includes(leaf.name()));

/** Reads a command line, and returns what is wrong with it; undefined if the command would run. */
async function complaintAbout(words: readonly string[]): Promise<string | undefined> {
  const program = declareProgram();
  let complaint = "";
  for (const leaf of leavesOf(program)) {
    leaf.action(() => {}).configureOutput({ writeErr: (text) => (complaint += text) });
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    // Files are read while the line is parsed. The error of a missing file is thrown, and not written by the parser.
    return complaint || (error as Error).message;
  }
}

function nameOf(leaf: Command): readonly string[] {
  return leaf.parent === null ? [] : [...nameOf(leaf.parent), leaf.name()];
}

/** A value that the command line accepts here. */
function rightFor({ argChoices, flags }: Option): string {
  if (argChoices !== undefined) return argChoices[0] ?? "";
  return flags.includes("<version>") ? "1" : "a";
}

/** Returns a command line with everything that the command requires, except the option `without`. The argument `at` gets `value`. */
function lineOf(leaf: Command, { without, value, at }: { without?: Option; value?: string; at?: Argument }): string[] {
  const required = leaf.options.filter((option) => option.mandatory && option !== without);
  const options = required.map((option) => `${option.long}=${rightFor(option)}`);
  const places = leaf.registeredArguments.filter((argument) => argument.required || argument === at);
  const values = places.map((place) => (place === at ? (value ?? "") : (right[place.name()] ?? "a")));
  return [...nameOf(leaf), ...options, "--", ...values];
}

const right: Readonly<Record<string, string>> = { path: "/whoami" };

function kindOf(option: Option): string {
  return /<(.+)>/.exec(option.flags)?.[1] ?? "";
}

test.each(leaves.map((leaf) => ({ name: nameOf(leaf).join(" "), leaf })))(
  "`stepwell $name` refuses every value of the wrong kind",
  async ({ name, leaf }) => {
    expect(await complaintAbout(lineOf(leaf, {}))).toBeUndefined();
    for (const at of leaf.registeredArguments) {
      const values = at.argChoices === undefined ? [""] : ["", "no such choice"];
      for (const value of values) expect(await complaintAbout(lineOf(leaf, { at, value }))).toContain(at.name());
    }
    for (const option of leaf.options.filter(({ required }) => required)) {
      const { long, argChoices } = option;
      const empty = long === "--description" ? [] : [""];
      const wrong = readLater.includes(`${name} ${long}`) ? [] : (wrongValues[kindOf(option)] ?? []);
      const values = [...empty, ...wrong, ...(argChoices === undefined ? [] : ["no such choice"])];
      for (const value of values) {
        const [command = [], rest = []] = parted(lineOf(leaf, { without: option }));
        const words = [...command, `${long}=${value}`, ...rest];
        expect({ words, complaint: await complaintAbout(words) }).toEqual({ words, complaint: expect.any(String) });
      }
      // Here the option is the last word, so it has no value.
      const [command = []] = parted(lineOf(leaf, { without: option }));
      expect(await complaintAbout([...command, long ?? ""])).toContain("argument missing");
    }
    expect(await complaintAbout([...(parted(lineOf(leaf, {}))[0] ?? []), "--no-such-option"])).toContain(
      "unknown option",
    );
    for (const other of leaf.options.flatMap((option) => exclusiveWith(option, leaf)))
      expect(await complaintAbout(other)).toContain("cannot be used with");
  },
);

/** The words before and after `--`. */
function parted(words: readonly string[]): readonly [string[], string[]] {
  const end = words.indexOf("--");
  return [words.slice(0, end), words.slice(end)];
}

/** Command lines with both of two options that exclude each other. */
function exclusiveWith(option: Option, leaf: Command): readonly string[][] {
  const { conflictsWith } = option as unknown as { readonly conflictsWith: readonly string[] };
  const [command, rest] = parted(lineOf(leaf, { without: option }));
  return conflictsWith.map((other) => [...command, `${option.long}=${rightFor(option)}`, `--${other}=a`, ...rest]);
}

test.each(["/organizations/..", "/organizations/%2e%2E/whoami", "/organizations/.", "/a/..?b=c", "/a\\..\\b"])(
  "`stepwell api` refuses a path that would lead to another one: %s",
  async (path) => {
    expect(await complaintAbout(["api", path])).toContain("leads to another path");
  },
);

test("before `stepwell dev` starts a service, it refuses a definition file that does not exist", async () => {
  const environment = { STEPWELL_DATA_DIR: "/dev/null/never-made" };
  expect(await run(environment, "dev", "/nowhere/order.json")).toEqual({
    code: 2,
    output: "",
    complaint: "stepwell: There is no file or directory /nowhere/order.json.\n",
  });
});

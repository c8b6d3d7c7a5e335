import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parseBenchOptions } from "../bench/options.ts";
import { parseChaosOptions } from "./options.ts";

// Checks each `npm run` and `vitest run` that a document shows: its script or path must exist, and a bench or campaign must take its options.
const root = resolve(import.meta.dirname, "..");
const documents = globSync(["*.md", "docs/**/*.md", "examples/*/README.md", "packages/*/README.md"], { cwd: root });
const command = /\b(npm|vitest) run\b([^`\n]*)/g;

test("the documents run only scripts, benches, campaigns and tests that exist", () => {
  const shown = documents.flatMap((file) => {
    const found = readFileSync(join(root, file), "utf8").matchAll(command);
    return [...found].map(([text, program = "", rest = ""]) => ({ file, text, program, words: wordsIn(rest) }));
  });
  expect(shown.length).toBeGreaterThan(70);
  const wrong = shown.flatMap(({ file, text, program, words }) => {
    const complaint = complaintOf(program, words);
    return complaint === undefined ? [] : [`${file}: ${text}: ${complaint}`];
  });
  expect(wrong).toEqual([]);
});

test("an unknown script, bench, campaign, option or path is noticed", () => {
  expect(complaintOf("npm", ["tests"])).toBe("There is no such script.");
  expect(complaintOf("npm", ["bench", "--", "noop4"])).toMatch(/no bench named/);
  expect(complaintOf("npm", ["bench", "--", "noop3", "--stores", "embedded"])).toMatch(/--stores/);
  expect(complaintOf("npm", ["chaos", "--", "crashes"])).toMatch(/Give one campaign/);
  expect(complaintOf("npm", ["chaos", "--", "crash", "--tenant", "watchers"])).toMatch(/does not take --tenant/);
  expect(complaintOf("vitest", ["packages/server/tests"])).toMatch(/no packages\/server\/tests/);
  expect(complaintOf("npm", ["bench", "--", "noop3", "--store", "postgres"])).toBeUndefined();
});

/** Returns the words up to the first that does not belong to the command, such as a pipe or a remark. */
function wordsIn(text: string): readonly string[] {
  const words = text.split(/\s+/).filter(Boolean);
  const end = words.findIndex((word) => /^[#>|&;("]/.test(word));
  return words.slice(0, end === -1 ? undefined : end).map((word) => word.replace(/[).,;:"]+$/, ""));
}

function complaintOf(program: string, words: readonly string[]): string | undefined {
  if (program === "vitest") {
    const missing = words.filter((word) => !word.startsWith("-") && !existsSync(join(root, word)));
    return missing.length > 0 ? `There is no ${missing.join(" and no ")}.` : undefined;
  }
  const [script = "", separator, ...options] = words;
  const workspace = /--workspace (\S+)/.exec(words.join(" "))?.[1];
  if (!(script in scriptsOf(workspace))) return "There is no such script.";
  // Options with brackets, or with placeholders such as NAME, explain the usage. They are not checked, because the parsers would refuse them.
  if (separator !== "--" || options.some((word) => /^(NAME|CAMPAIGN|…)$|^\[/.test(word))) return undefined;
  const filled = options.map((word) => ({ STORE: "postgres", N: "1" })[word] ?? word);
  try {
    if (script === "bench") parseBenchOptions(filled);
    if (script === "chaos") parseChaosOptions(filled);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function scriptsOf(workspace: string | undefined): object {
  const folder = workspace === undefined ? "." : join("packages", workspace.replace("@stepwell/", ""));
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")).scripts;
}

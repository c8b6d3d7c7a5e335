/**
 * Runs one of three sets of checks. `npm test` must pass before a change is accepted: types, lint, unused code, generated files, a browser, and the
 * tests. `npm run test:quick` is for the daily loop: types, lint, and the quick tests of `core`, `store`, `engine`, `management` and of everything
 * that needs no service, on one home of the store. `npm run test:all` is the whole matrix: all that `npm test` does, but on both homes; the tests
 * that `npm test` leaves out; the check of the published packages; and the tests of the service, of the client and of the command line once more
 * without `__proto__`. CONTRIBUTING.md says which test belongs where. Each set ends with a line `N passed, N failed`, in which every check counts
 * as one.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";

const scopes = ["quick", "usual", "all"] as const;
type Scope = (typeof scopes)[number];

const scope = readScope(process.argv[2] ?? "usual");
const report = join(tmpdir(), `stepwell-tests-${process.pid}.json`);

// Each checker of the compiler checks the shared types anew. So the compiler has only one here: two checks run at a time anyway.
const compiler = ["node_modules/typescript/bin/tsc", "--checkers", "1"] as const;
const quickChecks = [
  ["types", "node_modules/typescript/bin/tsc", "-b"],
  ["test types", ...compiler, "--noEmit", "-p", "tsconfig.test.json"],
  ["lint", "node_modules/@biomejs/biome/bin/biome", "check", "."],
] as const;
const otherChecks = [
  ["dashboard types", ...compiler, "--noEmit", "-p", "packages/dashboard"],
  ["dashboard test types", ...compiler, "--noEmit", "-p", "packages/dashboard/test"],
  ["client types", "scripts/generate-client.ts", "--check"],
  ["settings page", "scripts/configuration-doc.ts", "--check"],
  ["reference of the command line", "scripts/cli-reference.ts", "--check"],
  ["browser", "scripts/chromium.ts"],
  ["unused code", "node_modules/knip/bin/knip.js"],
] as const;
const checksOfMatrix = [["packages", "scripts/packages.ts"]] as const;
const checksOf = {
  quick: quickChecks,
  usual: [...quickChecks, ...otherChecks],
  all: [...quickChecks, ...otherChecks, ...checksOfMatrix],
} as const;

/**
 * A test name that is longer than this contains a whole value, and hides the rest of the report. The longest of the useful names contain two schemas.
 */
const maxNameLength = 500;

/** Selects the tests of the service, of the client and of the command line. They run again without `__proto__`. */
const withoutProto = ["--project=service", "packages/server/", "packages/client/", "packages/cli/"];

let passed = 0;
let failed = 0;
const checks = checksOf[scope].values();
// Two checks run at a time, since most of them keep one processor busy.
await Promise.all([checkAll(), checkAll()]);

const { slowest, triedTwice, longNames } = testing("tests", []);
// In these tests, code that reads or writes `__proto__` fails, even in a dependency. Such code could let a key in a user's JSON change all objects.
if (scope === "all")
  testing("tests without __proto__", withoutProto, {
    NODE_OPTIONS: "--disable-proto=throw",
    // Without a scope, the files that `npm test` leaves out run too, except `*.matrix.test.ts`. All tests run on the same homes as in `npm test`.
    STEPWELL_TEST_SCOPE: undefined,
  });

process.stdout.write(`\n== slowest files\n${slowest.join("\n")}\n`);
if (triedTwice.length > 0) process.stdout.write(`\n== passed only when tried again\n${triedTwice.join("\n")}\n`);
if (longNames.length > 0) {
  failed += 1;
  process.stdout.write(`\n== names with more than ${maxNameLength} characters\n${longNames.join("\n")}\n`);
}
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && slowest.length > 0 ? 0 : 1;

/** Runs one check after the other, until none is left. The output of each is printed in one piece. */
async function checkAll(): Promise<void> {
  for (const [name, ...command] of checks) {
    const child = spawn(process.execPath, command, { env: environmentWith({}) });
    const [output, complaint, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    process.stdout.write(`\n== ${name}\n${output}${complaint}`);
    if (status === 0) passed += 1;
    else failed += 1;
  }
}

/** Runs the tests and returns the facts for the last lines of the report. */
function testing(
  name: string,
  options: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Omit<Report, "passed" | "failed"> {
  process.stdout.write(`\n== ${name}\n`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const status = run(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...options], environment);
  const tests = readReport();
  passed += tests.passed;
  failed += tests.failed;
  // A run that fails outside of any test (a file that does not load, an unhandled rejection) must not count as passed.
  if (status !== 0 && tests.failed === 0) failed += 1;
  return tests;
}

function run(command: readonly string[], environment: NodeJS.ProcessEnv = {}): number {
  return spawnSync(process.execPath, command, { stdio: "inherit", env: environmentWith(environment) }).status ?? 1;
}

/**
 * All processes share one cache of compiled modules, and so does the next run: without the cache, half of the time to load the service goes into
 * removing types and compiling.
 */
function environmentWith(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const compiled = join(process.cwd(), "node_modules/.cache/compiled");
  return { NODE_COMPILE_CACHE: compiled, ...process.env, STEPWELL_TEST_SCOPE: scope, ...environment };
}

interface FileReport {
  readonly name: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly {
    readonly title: string;
    readonly fullName: string;
    readonly status: string;
    /** The messages of all tries. */
    readonly failureMessages: readonly string[];
  }[];
}

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly slowest: readonly string[];
  readonly triedTwice: readonly string[];
  readonly longNames: readonly string[];
}

function readReport(): Report {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(
      readFileSync(report, "utf8"),
    ) as Record<"numPassedTests" | "numFailedTests" | "numFailedTestSuites", number> & { testResults: FileReport[] };
    const failed = numFailedTests === 0 ? numFailedTestSuites : numFailedTests;
    return {
      passed: numPassedTests,
      failed,
      slowest: slowestOf(testResults),
      triedTwice: triedTwiceOf(testResults),
      longNames: longNamesOf(testResults),
    };
  } catch {
    return { passed: 0, failed: 1, slowest: [], triedTwice: [], longNames: [] };
  } finally {
    rmSync(report, { force: true });
  }
}

function triedTwiceOf(files: readonly FileReport[]): string[] {
  return files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
      .map(({ fullName, failureMessages: [why = ""] }) => {
        const [firstLine = ""] = why.split("\n");
        return `  ${relative(process.cwd(), name)}: ${fullName} (${firstLine})`;
      }),
  );
}

function longNamesOf(files: readonly FileReport[]): string[] {
  return files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ title }) => title.length > maxNameLength)
      .map(({ title }) => `  ${relative(process.cwd(), name)}: ${title.slice(0, 100)}… (${title.length} characters)`),
  );
}

function slowestOf(files: readonly FileReport[]): string[] {
  return files
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, 10)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${relative(process.cwd(), name)}`);
}

function readScope(text: string): Scope {
  const found = scopes.find((scope) => scope === text);
  if (found === undefined) throw new Error(`"${text}" is no set of tests. The sets are ${scopes.join(", ")}.`);
  return found;
}

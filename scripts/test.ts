/**
 * The checks. `npm test` is the one that must pass: types, lint, unused code and every test, the pages on one home of the store. `npm run test:quick` is for the
 * daily loop: types, lint, and the tests of `core`, `store`, `engine`, `management` and of all that needs no service, on one home of the store.
 * `npm run test:all` tries the pages on both homes. Each ends with a line `N passed, N failed`, in which every check counts as one.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const scopes = ["quick", "usual", "all"] as const;
type Scope = (typeof scopes)[number];

const scope = readScope(process.argv[2] ?? "usual");
const report = join(tmpdir(), `stepwell-tests-${process.pid}.json`);

const quickChecks = [
  ["types", "node_modules/typescript/bin/tsc", "-b"],
  ["test types", "node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.test.json"],
  ["lint", "node_modules/@biomejs/biome/bin/biome", "check", "."],
] as const;
const otherChecks = [
  ["dashboard types", "node_modules/typescript/bin/tsc", "--noEmit", "-p", "packages/dashboard"],
  ["dashboard test types", "node_modules/typescript/bin/tsc", "--noEmit", "-p", "packages/dashboard/test"],
  ["client types", "scripts/generate-client.ts", "--check"],
  ["settings page", "scripts/configuration-doc.ts", "--check"],
  ["packages", "scripts/packages.ts"],
  ["browser", "scripts/chromium.ts"],
  ["unused code", "node_modules/knip/bin/knip.js"],
] as const;

/** Without the tests of the HTTP interface, of the command line and of the pages. */
const quickTests = [
  "--exclude=packages/server/test/http/**",
  "--exclude=packages/cli/**",
  "--exclude=packages/dashboard/test/browser/**",
];

let passed = 0;
let failed = 0;
for (const [name, ...command] of scope === "quick" ? quickChecks : [...quickChecks, ...otherChecks]) {
  process.stdout.write(`\n== ${name}\n`);
  if (run(command) === 0) passed += 1;
  else failed += 1;
}

process.stdout.write("\n== tests\n");
const status = run([
  "node_modules/vitest/vitest.mjs",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...(scope === "quick" ? quickTests : []),
]);
const tests = readReport();
passed += tests.passed;
failed += tests.failed;
// A run that breaks outside of any test (a file that does not load, an unhandled rejection) must not look well.
if (status !== 0 && tests.failed === 0) failed += 1;

process.stdout.write(`\n== slowest files\n${tests.slowest.join("\n")}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && tests.passed > 0 ? 0 : 1;

function run(command: readonly string[]): number {
  const env = { ...process.env, STEPWELL_TEST_SCOPE: scope };
  return spawnSync(process.execPath, command, { stdio: "inherit", env }).status ?? 1;
}

interface FileReport {
  readonly name: string;
  readonly startTime: number;
  readonly endTime: number;
}

function readReport(): { passed: number; failed: number; slowest: readonly string[] } {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(
      readFileSync(report, "utf8"),
    ) as Record<"numPassedTests" | "numFailedTests" | "numFailedTestSuites", number> & { testResults: FileReport[] };
    const failed = numFailedTests === 0 ? numFailedTestSuites : numFailedTests;
    return { passed: numPassedTests, failed, slowest: slowestOf(testResults) };
  } catch {
    return { passed: 0, failed: 1, slowest: [] };
  } finally {
    rmSync(report, { force: true });
  }
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
  if (found === undefined) throw new Error(`"${text}" is no set of tests; there are ${scopes.join(", ")}.`);
  return found;
}

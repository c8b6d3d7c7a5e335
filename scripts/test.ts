/**
 * The whole check, as `npm test` runs it: build and types, lint, unused code, every test. Ends with a line `N passed, N failed`, in
 * which each check counts as one.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const report = join(tmpdir(), `stepwell-tests-${process.pid}.json`);
const checks: readonly (readonly [string, readonly string[]])[] = [
  ["types", ["node_modules/typescript/bin/tsc", "-b"]],
  ["test types", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.test.json"]],
  ["dashboard types", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "packages/dashboard"]],
  ["dashboard test types", ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "packages/dashboard/test"]],
  ["lint", ["node_modules/@biomejs/biome/bin/biome", "check", "."]],
  ["client types", ["scripts/generate-client.ts", "--check"]],
  ["settings page", ["scripts/configuration-doc.ts", "--check"]],
  ["packages", ["scripts/packages.ts"]],
  ["browser", ["scripts/chromium.ts"]],
  ["unused code", ["node_modules/knip/bin/knip.js"]],
];

let passed = 0;
let failed = 0;
for (const [name, command] of checks) {
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
]);
const tests = readReport();
passed += tests.passed;
failed += tests.failed;
// A run that breaks outside of any test (a file that does not load, an unhandled rejection) must not look well.
if (status !== 0 && tests.failed === 0) failed += 1;

process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && tests.passed > 0 ? 0 : 1;

function run(command: readonly string[]): number {
  return spawnSync(process.execPath, command, { stdio: "inherit" }).status ?? 1;
}

function readReport(): { passed: number; failed: number } {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, "utf8"));
    return { passed: numPassedTests, failed: numFailedTests === 0 ? numFailedTestSuites : numFailedTests };
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(report, { force: true });
  }
}

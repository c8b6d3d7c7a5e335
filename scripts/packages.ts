/** Packs the packages as `npm publish` would, and checks them with publint and attw, which find what would not work for some users. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "./pack.ts";

const attw = "node_modules/@arethetypeswrong/cli/dist/index.js";
const publint = "node_modules/publint/src/cli.js";
const directory = mkdtempSync(join(tmpdir(), "stepwell-packages-"));
try {
  const { client, server, cli } = pack(directory);
  for (const file of [client, server, cli]) check(publint, "run", file, "--strict");
  check(attw, client, "--format", "ascii");
  check(attw, cli, "--format", "ascii");
  // The server package consists only of ES modules.
  check(attw, server, "--format", "ascii", "--profile", "esm-only");
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function check(...command: readonly string[]): void {
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

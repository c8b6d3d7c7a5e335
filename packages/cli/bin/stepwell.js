#!/usr/bin/env node
// This file is JavaScript and in Git, for two reasons. npm links a bin only if its file exists during the install, and a clone is built only later.
// And even a Node.js that is too old for Stepwell must be able to run this file, which then finds a newer Node.js or says that one is needed.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const oldestMajor = 24;
const main = new URL("../dist/main.js", import.meta.url);

if (!existsSync(main))
  complain("Stepwell is not built yet. Run `npm run build`, or `npm start`, which builds and starts it.");
else if (majorOf(process.versions.node) >= oldestMajor) await import(main.href);
else {
  const node = bundledNode();
  if (node !== undefined) runUnder(node);
  else {
    const { node: present } = process.versions;
    complain(
      `Stepwell needs Node.js ${oldestMajor} or newer, and this is ${present}. Install a newer one and run the command again.`,
    );
  }
}

/** Finds the Node.js that a clone, or a project with Stepwell in it, has installed as a package. */
function bundledNode() {
  const isWindows = process.platform === "win32";
  const system = isWindows ? "win" : process.platform;
  for (const name of [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`]) {
    try {
      const manifest = require.resolve(`${name}/package.json`);
      const { version } = JSON.parse(readFileSync(manifest, "utf8"));
      const executable = new URL(isWindows ? "bin/node.exe" : "bin/node", pathToFileURL(manifest));
      if (majorOf(version) >= oldestMajor) return fileURLToPath(executable);
    } catch {
      // This package is not installed, so the next name is tried.
    }
  }
  return undefined;
}

/** Before Node.js 22.15 a process cannot replace itself with another program, so this process stays and forwards signals. */
function runUnder(node) {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function majorOf(version) {
  return Number.parseInt(version, 10);
}

function complain(sentence) {
  process.stderr.write(`stepwell: ${sentence}\n`);
  process.exitCode = 1;
}

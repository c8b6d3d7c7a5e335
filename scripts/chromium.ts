/**
 * Provides a Chromium for the tests of the dashboard. If there is none and this runs as root on Debian, installs it. If there is still none, prints
 * what to do.
 */
import { spawnSync } from "node:child_process";
import { findChromium } from "@stepwell/testing/find-chromium.ts";

if (findChromium() === undefined) install();
const found = findChromium();
if (found === undefined) {
  process.stderr.write(
    "No Chromium was found. Install it (Debian: apt-get install chromium; macOS: brew install --cask chromium), or set CHROMIUM_PATH to its executable.\n",
  );
  process.exitCode = 1;
} else {
  process.stdout.write(`Chromium: ${found}\n`);
}

function install(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  const options = { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } } as const;
  if (installChromium() !== 0) {
    // The lists of packages may be missing or old.
    spawnSync("apt-get", ["update"], options);
    installChromium();
  }

  function installChromium(): number | null {
    return spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], options).status;
  }
}

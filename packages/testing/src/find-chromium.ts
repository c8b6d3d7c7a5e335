import { existsSync } from "node:fs";

/** Where the browser is that the tests of the dashboard use; undefined when there is none. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  return [...(named === undefined ? [] : [named]), ...usualPlaces].find((path) => existsSync(path));
}

const usualPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

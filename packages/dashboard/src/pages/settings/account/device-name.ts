import { texts } from "../../../texts/texts.ts";

const browsers = [
  ["Edge", /Edg\//],
  ["Opera", /OPR\//],
  ["Firefox", /Firefox\//],
  ["Chrome", /Chrome\//],
  ["Safari", /Safari\//],
] as const;

const systems = [
  ["Android", /Android/],
  ["iOS", /iPhone|iPad/],
  ["Windows", /Windows/],
  ["macOS", /Mac OS X/],
  ["Linux", /Linux/],
] as const;

/** Returns the usual names of the browser and the system in a user agent. An unknown user agent is returned unchanged, except an empty one. */
export function deviceName(userAgent: string): string {
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser !== undefined && system !== undefined) return texts.sessions.browserOn(browser, system);
  return userAgent === "" ? texts.sessions.unknownDevice : userAgent;
}

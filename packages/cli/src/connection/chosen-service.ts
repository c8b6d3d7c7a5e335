import { resolve } from "node:path";
import { warn } from "../output/terminal.ts";
import { isLoopback, parseAddress } from "./address.ts";
import { type DevFile, devFilePath, readDevFile } from "./dev-file.ts";
import { currentProfile, namedProfile, type Profile } from "./stored-profiles.ts";

/** The service to which commands go, and what names it. If nothing names a service, commands go to that of the last sign-in. */
export type ChosenService =
  | { readonly by: "profile"; readonly baseUrl: string; readonly profile: Profile }
  | { readonly by: "STEPWELL_URL" | "stepwell dev"; readonly baseUrl: string; readonly profile?: undefined }
  | { readonly by: "nothing"; readonly baseUrl?: undefined; readonly profile?: undefined };

/**
 * Finds the service by the first of these that names one: the named profile, STEPWELL_URL, the file of `stepwell dev` in this directory, the profile
 * in use. The file comes before the profile in use, so that a command that tries something out in this directory does not change a service elsewhere.
 * A file whose address is not a loopback address is ignored with a warning.
 */
export function chooseService(namedProfileName: string | undefined): ChosenService {
  const named = namedProfile(namedProfileName);
  if (named !== undefined) return { by: "profile", baseUrl: named.url, profile: named };
  const { STEPWELL_URL: url } = process.env;
  if (url) return { by: "STEPWELL_URL", baseUrl: parseAddress(url, "STEPWELL_URL") };
  const started = devFileHere()?.baseUrl;
  if (started !== undefined && isLoopback(started)) return { by: "stepwell dev", baseUrl: started };
  if (started !== undefined) warn(notOfThisMachine(started));
  const current = currentProfile();
  return current === undefined ? { by: "nothing" } : { by: "profile", baseUrl: current.url, profile: current };
}

/**
 * Returns the file of `stepwell dev` in this directory if it names this address. The file may come from somebody else, for example with a cloned
 * repository. So the file counts only if the address is one of this machine.
 */
export function devServiceAt(baseUrl: string): Partial<DevFile> | undefined {
  const file = devFileHere();
  return file?.baseUrl === baseUrl && isLoopback(baseUrl) ? file : undefined;
}

/** The path of the file that `stepwell dev` leaves in its data directory: STEPWELL_DATA_DIR, or else `.stepwell` in this directory. */
export function devFilePathHere(): string {
  return devFilePath(dataDir());
}

function devFileHere(): Partial<DevFile> | undefined {
  const file = readDevFile(dataDir());
  return file?.baseUrl === undefined ? file : { ...file, baseUrl: parseAddress(file.baseUrl, devFilePathHere()) };
}

function dataDir(): string {
  return resolve(process.env.STEPWELL_DATA_DIR || ".stepwell");
}

function notOfThisMachine(baseUrl: string): string {
  return `stepwell: ${devFilePathHere()} is ignored, because its address ${baseUrl} is not a loopback address, such as 127.0.0.1. If you trust this address, set STEPWELL_URL to it.`;
}

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandError } from "./exit-code.ts";

/** A place to work in, under a name. It holds no secret: commands show STEPWELL_TOKEN there, or the sign-in at its address. */
export interface Profile {
  readonly url: string;
  /** Name or id. */
  readonly organization?: string | undefined;
}

export interface StoredProfiles {
  /** The name of the profile that commands use when nothing else names a service. */
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** The profile that the option names, else STEPWELL_PROFILE. */
export function namedProfile(named: string | undefined): Profile | undefined {
  const wanted = named ?? (process.env.STEPWELL_PROFILE || undefined);
  return wanted === undefined ? undefined : profileIn(readProfiles(), wanted);
}

export function currentProfile(): Profile | undefined {
  const { current, profiles } = readProfiles();
  return current === undefined ? undefined : profiles[current];
}

export function profileIn({ profiles }: StoredProfiles, name: string): Profile {
  const profile = profiles[name];
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  const known = names.length === 0 ? "There is none yet." : `There are: ${names.join(", ")}.`;
  throw new CommandError("notFound", `There is no profile ${name}. ${known} \`stepwell profile set\` makes one.`);
}

export function readProfiles(): StoredProfiles {
  try {
    const content = JSON.parse(readFileSync(path(), "utf8")) as Partial<StoredProfiles>;
    return { ...content, profiles: content.profiles ?? {} };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { profiles: {} };
    throw new Error(`${path()} cannot be read: ${error instanceof Error ? error.message : error}. Mend or delete it.`);
  }
}

/** Writes the file whole or not at all. */
export function writeProfiles(content: StoredProfiles): void {
  mkdirSync(dirname(path()), { recursive: true, mode: 0o700 });
  const unfinished = `${path()}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, path());
}

function path(): string {
  const { XDG_CONFIG_HOME: configHome } = process.env;
  const home = configHome === undefined || configHome === "" ? join(homedir(), ".config") : configHome;
  return join(home, "stepwell", "profiles.json");
}

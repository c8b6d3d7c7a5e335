import { renameSync, writeFileSync } from "node:fs";
import { CommandError } from "../exit-code.ts";
import { aloneWith, keep, keptPath, readKept } from "./kept-file.ts";

/** A service and an organization. A profile holds no secret: commands use STEPWELL_TOKEN, or the sign-in at the profile's address. */
export interface Profile {
  readonly url: string;
  /** Name, key or id. */
  readonly organization?: string | undefined;
}

export interface StoredProfiles {
  /** The name of the profile that commands use when nothing else names a service. */
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** The profile that the option names, or else the one that STEPWELL_PROFILE names. */
export function namedProfile(named: string | undefined): Profile | undefined {
  const wanted = named ?? (process.env.STEPWELL_PROFILE || undefined);
  return wanted === undefined ? undefined : profileIn(readProfiles(), wanted);
}

export function currentProfile(): Profile | undefined {
  const { current, profiles } = readProfiles();
  return current !== undefined && Object.hasOwn(profiles, current) ? profiles[current] : undefined;
}

export function profileIn({ profiles }: StoredProfiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  const known = names.length === 0 ? "No profile exists yet." : `The profiles are: ${names.join(", ")}.`;
  throw new CommandError("notFound", `There is no profile ${name}. ${known} Create one with \`stepwell profile set\`.`);
}

export function readProfiles(): StoredProfiles {
  try {
    return storedIn(readKept(path()) ?? "{}");
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new Error(
      `${path()} cannot be read: ${error instanceof Error ? error.message : error}. Correct or delete it.`,
    );
  }
}

function storedIn(text: string): StoredProfiles {
  const content = JSON.parse(text) as Partial<StoredProfiles> | null;
  const profiles: StoredProfiles["profiles"] = content?.profiles ?? {};
  for (const [name, profile] of Object.entries(profiles) as [string, Partial<Profile> | null][])
    if (typeof profile?.url !== "string" || !/^https?:\/\/[^/]/.test(profile.url))
      throw new Error(`the profile ${name} has no address`);
  return { ...content, profiles };
}

/** Changes the stored profiles. The file is written completely or not at all. */
export async function changeProfiles(next: (stored: StoredProfiles) => StoredProfiles): Promise<void> {
  await aloneWith(path(), () => {
    const content = next(readProfiles());
    keep(path(), () => {
      const unfinished = `${path()}.${process.pid}`;
      writeFileSync(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
      renameSync(unfinished, path());
    });
  });
}

function path(): string {
  return keptPath("profiles.json");
}

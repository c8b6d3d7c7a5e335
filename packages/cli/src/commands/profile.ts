import type { Command } from "commander";
import { parseAddress } from "../connection/address.ts";
import { changeProfiles, profileIn, readProfiles } from "../connection/stored-profiles.ts";
import { CommandError } from "../exit-code.ts";
import { table } from "../output/table.ts";
import { show } from "../output/terminal.ts";

export function declareProfile(program: Command): void {
  const profile = program.command("profile").description("named services and organizations to work in");
  profile.command("list").description("list the profiles").action(listProfiles);
  profile
    .command("set")
    .argument("<name>")
    .requiredOption("--url <address>", "the service")
    .option("--organization <name>", "name, key or id of the organization; by default that of the token or the sign-in")
    .description("create or change a profile; --profile NAME or STEPWELL_PROFILE chooses it for a command")
    .action(set);
  profile
    .command("use")
    .argument("<name>")
    .description("let later commands use this profile, unless the environment or `stepwell dev` names a service")
    .action(use);
  profile.command("remove").argument("<name>").description("remove a profile, but not its sign-in").action(remove);
}

function listProfiles(): void {
  const { current, profiles } = readProfiles();
  const value = Object.entries(profiles).map(([name, profile]) => ({ name, ...profile, isCurrent: name === current }));
  const rows = value.map(({ name, url, organization, isCurrent }) => [
    name,
    url,
    organization ?? "-",
    isCurrent ? "in use" : "",
  ]);
  const text =
    rows.length === 0
      ? "There is no profile yet. Create one with `stepwell profile set`."
      : table(["PROFILE", "SERVICE", "ORGANIZATION", ""], rows);
  show({ value, text, quiet: value.map(({ name }) => name) });
}

async function set(
  name: string,
  { url, organization }: { readonly url: string; readonly organization?: string },
): Promise<void> {
  if (!/^[^\s\p{C}-][^\s\p{C}]{0,99}$/u.test(name)) {
    throw new CommandError(
      "usage",
      "The name of a profile has 1 to 100 characters, contains no spaces or control characters, and does not begin with a hyphen.",
    );
  }
  const profile = { url: parseAddress(url), ...(organization !== undefined && { organization }) };
  await changeProfiles((stored) => ({ ...stored, profiles: { ...stored.profiles, [name]: profile } }));
  show({
    value: { name, ...profile },
    text: `The profile ${name} is stored. Choose it with --profile ${name}.`,
    quiet: name,
  });
}

async function use(name: string): Promise<void> {
  const { url } = profileIn(readProfiles(), name);
  await changeProfiles((stored) => ({ ...stored, current: name }));
  show({
    value: { name, url },
    text: `Commands go to ${url} (profile ${name}), unless the environment or \`stepwell dev\` names another service.`,
    quiet: name,
  });
}

async function remove(name: string): Promise<void> {
  profileIn(readProfiles(), name);
  await changeProfiles(({ current, profiles: { [name]: _, ...profiles } }) => ({
    ...(current !== name && { current }),
    profiles,
  }));
  show({ value: { name, removed: true }, text: `The profile ${name} is removed.`, quiet: name });
}

import {
  type Config,
  DirectoryLockedError,
  disableUser,
  enableUser,
  limitOrganizations,
  makePasswordLink,
  openStore,
  passwordLinkUrl,
  readConfig,
  settings,
} from "@stepwell/server";
import { CommandError } from "../exit-code.ts";
import { type Result, show } from "../output/terminal.ts";

type Database = Awaited<ReturnType<typeof openStore>>;

/** Prints a link with which a user sets a new password. With `removeSecondFactor`, also removes the user's second factor, at once. */
export async function resetLink(email: string, options: { removeSecondFactor?: boolean }): Promise<void> {
  const removesSecondFactor = options.removeSecondFactor === true;
  await withUser(email, async (database, config) => {
    const link = await makePasswordLink(database, email, { removesSecondFactor });
    if (link === undefined) return undefined;
    const url = passwordLinkUrl(clientUrl(config), link.secret);
    const expiresAt = new Date(link.expiresAt).toISOString();
    const text = `${url}\nWith this link the user can set a new password. It works once, until ${expiresAt}.`;
    return { value: { email, link: url, expiresAt }, text, quiet: url };
  });
}

export async function disable(email: string): Promise<void> {
  await withUser(email, async (database) => {
    if ((await disableUser(database, email)) === undefined) return undefined;
    const text = `${email} is disabled. Within a second, sign-in, user tokens and sessions stop working. API tokens keep working.`;
    return { value: { email, isDisabled: true }, text };
  });
}

export async function enable(email: string): Promise<void> {
  await withUser(email, async (database) => {
    if ((await enableUser(database, email)) === undefined) return undefined;
    const text = `${email} is enabled: the user can sign in again, and the user's tokens are valid again.`;
    return { value: { email, isDisabled: false }, text };
  });
}

export async function organizations(email: string, options: { readonly max?: string }): Promise<void> {
  const wanted = options.max === undefined ? undefined : parseMaximum(options.max);
  await withUser(email, async (database, { maxOrganizationsPerAccount }) => {
    const limited = await limitOrganizations(database, email, wanted);
    if (limited === undefined) return undefined;
    const { maximum, usedCount } = limited;
    const many = maximum ?? `${maxOrganizationsPerAccount} (as configured here)`;
    const text = `Organizations of ${email}: at most ${many}, ${usedCount} created.`;
    return { value: { email, maximum, usedCount }, text, quiet: String(maximum ?? maxOrganizationsPerAccount) };
  });
}

/** Parses a maximum; null stands for the configuration's maximum. */
function parseMaximum(text: string): number | null {
  if (text === "default") return null;
  try {
    return settings.maxOrganizationsPerAccount.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError("usage", `--max ${reason}. To use the configured value again, write "default".`);
  }
}

/** The address at which people reach the service that this configuration describes. */
export function clientUrl({ baseUrl, port }: Config): string {
  return baseUrl?.href.replace(/\/+$/, "") ?? `http://localhost:${port}`;
}

/** Opens the store and shows the result of `work`. Throws if there is no such user. */
async function withUser(
  email: string,
  work: (database: Database, config: Config) => Promise<Result | undefined>,
): Promise<void> {
  const config = readConfig(process.env);
  const database = await openUnlocked(config);
  try {
    const done = await work(database, config);
    if (done === undefined)
      throw new CommandError("notFound", `No account in this store has the e-mail address ${email}.`);
    show(done);
  } finally {
    await database.close();
  }
}

/** Only one process can open the embedded store. A PostgreSQL server accepts connections of this process beside those of the service. */
async function openUnlocked(config: Config): Promise<Database> {
  try {
    return await openStore(config);
  } catch (error) {
    if (!(error instanceof DirectoryLockedError)) throw error;
    throw new Error(
      `The service runs on the embedded store in ${config.dataDir}, which only one process can open. Stop the service, run this command again, and start the service. A link to set a password usually needs no stop: an owner of the user's organization can make one with CreatePasswordLink, unless the user belongs to other organizations, too.`,
      { cause: error },
    );
  }
}

import { createClient } from "@stepwell/client";
import * as openid from "openid-client";
import { parseAddress } from "./address.ts";
import { addressHere, devFileHere } from "./connection.ts";
import { discover, explained, type IssuedTokens, isPassing, type Provider, tokensIn } from "./open-id.ts";
import { findSignIn, type SignIn, storeSignIn } from "./stored-sign-ins.ts";
import { print } from "./terminal.ts";

export interface LoginOptions {
  readonly url?: string;
  /** Name or id. */
  readonly organization?: string;
  readonly insecure?: boolean;
}

/** By the device flow: the person signs in in a browser, here or on another machine, and no password is typed into a terminal. */
export async function login({ url, organization, insecure }: LoginOptions): Promise<void> {
  const baseUrl = parseAddress(url ?? addressHere() ?? "http://localhost:8080");
  const isInsecure = insecure === true;
  const provider = await discover(baseUrl, isInsecure);
  const before = findSignIn(baseUrl);
  const tokens = await letIn(provider, baseUrl);
  const signIn = { baseUrl, isInsecure, ...tokens };
  // At once: whatever fails below, nobody has to sign in again.
  await storeSignIn(signIn);
  if (before !== undefined) await endQuietly(provider, before);
  print(`Signed in at ${baseUrl} as ${tokens.email}.`);
  await chooseOrganization(signIn, organization);
  warnOfDevFile(baseUrl);
}

async function letIn(provider: Provider, baseUrl: string): Promise<IssuedTokens> {
  const scope = "openid profile email";
  const code = await openid.initiateDeviceAuthorization(provider, { scope }).catch((error: unknown) => {
    throw explained(error, baseUrl);
  });
  print(`Open  ${addressIn(code.verification_uri)}`);
  print(`and enter the code  ${code.user_code.replace(/[^\w-]/g, "")}`);
  if (code.verification_uri_complete !== undefined) {
    print(`or open  ${addressIn(code.verification_uri_complete)}  and compare the code.`);
  }
  print(`Waiting until you let this command line in, for ${Math.floor(code.expires_in / 60)} minutes …`);
  const signal = AbortSignal.timeout(code.expires_in * 1_000);
  for (;;) {
    try {
      return tokensIn(await openid.pollDeviceAuthorizationGrant(provider, code, undefined, { signal }));
    } catch (error) {
      // People take minutes; the network may be away for some of them.
      if (!signal.aborted && isPassing(error)) continue;
      throw refusal(error, signal) ?? explained(error, baseUrl);
    }
  }
}

function refusal(error: unknown, { aborted }: AbortSignal): Error | undefined {
  const reason = error instanceof openid.ResponseBodyError ? error.error : undefined;
  if (reason === "access_denied")
    return new Error("It was declined in the browser. Nothing was given to this machine.");
  if (aborted || reason === "expired_token" || reason === "invalid_grant") {
    return new Error("The code is too old, and nobody let this command line in. Run `stepwell login` again.");
  }
  return undefined;
}

/** What a terminal shows must be an address and nothing else. */
function addressIn(text: string): string {
  return new URL(text).href;
}

async function endQuietly(provider: Provider, { refreshToken }: SignIn): Promise<void> {
  // It may have ended long ago, and ends by itself when nobody uses it.
  await openid.tokenRevocation(provider, refreshToken).catch(() => undefined);
}

async function chooseOrganization(signIn: SignIn, wanted: string | undefined): Promise<void> {
  const client = createClient({ baseUrl: signIn.baseUrl, token: signIn.idToken });
  const { organizations, nextPageToken } = await client.listOrganizations();
  const isWanted = ({ organizationId, name }: (typeof organizations)[number]) =>
    wanted === undefined || name === wanted || organizationId === wanted.toLowerCase();
  const [chosen, ...others] = organizations.filter(isWanted);
  if (chosen !== undefined && others.length === 0) {
    await storeSignIn({ ...signIn, organizationId: chosen.organizationId });
    print(`Commands work in the organization ${chosen.name} (${chosen.organizationId}).`);
    return;
  }
  print(organizations.length === 0 ? "You are a member of no organization yet." : "Your organizations:");
  for (const { name, organizationId } of organizations) print(`  ${organizationId}  ${name}`);
  if (nextPageToken !== undefined) print("  and more");
  if (wanted !== undefined) {
    const count = chosen === undefined ? "none" : "more than one";
    throw new Error(
      `You are signed in, but ${count} of your organizations is ${wanted}. Set STEPWELL_ORGANIZATION to an id.`,
    );
  }
  if (chosen !== undefined)
    print("Choose one: set STEPWELL_ORGANIZATION to its id, or sign in with --organization NAME.");
}

/** What `stepwell dev` started in this directory comes before a service that is somewhere else. */
function warnOfDevFile(baseUrl: string): void {
  const started = devFileHere()?.baseUrl;
  if (process.env.STEPWELL_URL !== undefined || started === undefined || parseAddress(started) === baseUrl) return;
  print(
    `In this directory commands go to ${started}, which \`stepwell dev\` started. Set STEPWELL_URL=${baseUrl} here.`,
  );
}

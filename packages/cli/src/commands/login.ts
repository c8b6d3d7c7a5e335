import { createClient } from "@stepwell/client";
import * as openid from "openid-client";
import { parseAddress } from "../connection/address.ts";
import { type ChosenService, chooseService } from "../connection/chosen-service.ts";
import { discover, explained, type IssuedTokens, isPassing, type Provider, tokensIn } from "../connection/open-id.ts";
import { isNamed, linesOf } from "../connection/organization.ts";
import { findSignIn, type SignIn, storeSignIn } from "../connection/stored-sign-ins.ts";
import { CommandError } from "../exit-code.ts";
import { ask, show, warn } from "../output/terminal.ts";

export interface LoginOptions {
  readonly url?: string;
  /** Name, key or id. */
  readonly organization?: string;
  readonly insecure?: boolean;
  readonly profile?: string;
}

/** Signs in by the device flow: in a browser, here or on another machine, so that no password is typed into a terminal. */
export async function login({ url, organization, insecure, profile }: LoginOptions): Promise<void> {
  const service = chooseService(profile);
  const baseUrl = parseAddress(url ?? service.baseUrl ?? "http://localhost:8080");
  const isInsecure = insecure === true;
  const provider = await discover(baseUrl, isInsecure);
  const before = findSignIn(baseUrl);
  const tokens = await letIn(provider, baseUrl);
  const signIn = { baseUrl, isInsecure, ...tokens };
  // The sign-in is stored first, so that nobody has to sign in again when something fails below.
  await storeSignIn(signIn);
  if (before !== undefined) await endQuietly(provider, before);
  const chosen = await chooseOrganization(signIn, organization);
  const { email } = tokens;
  show({
    value: { baseUrl, email, organizationId: chosen.organizationId },
    text: `Signed in at ${baseUrl} as ${email}.\n${chosen.text}`,
    quiet: chosen.organizationId ?? [],
  });
  if (service.baseUrl !== undefined && parseAddress(service.baseUrl) !== baseUrl)
    warn(whereCommandsGo(service, baseUrl));
}

async function letIn(provider: Provider, baseUrl: string): Promise<IssuedTokens> {
  const scope = "openid profile email";
  const code = await openid.initiateDeviceAuthorization(provider, { scope }).catch((error: unknown) => {
    throw explained(error, baseUrl);
  });
  ask(`Open  ${addressIn(code.verification_uri)}`);
  ask(`and enter the code  ${code.user_code.replace(/[^\w-]/g, "")}`);
  if (code.verification_uri_complete !== undefined) {
    ask(`or open  ${addressIn(code.verification_uri_complete)}  and compare the code.`);
  }
  ask(`Waiting for you to authorize this command line, for up to ${Math.floor(code.expires_in / 60)} minutes …`);
  const signal = AbortSignal.timeout(code.expires_in * 1_000);
  for (;;) {
    try {
      return tokensIn(await openid.pollDeviceAuthorizationGrant(provider, code, undefined, { signal }));
    } catch (error) {
      // A person takes minutes to sign in, and the network may fail meanwhile.
      if (!signal.aborted && isPassing(error)) continue;
      throw rejectionOf(error, signal) ?? explained(error, baseUrl);
    }
  }
}

function rejectionOf(error: unknown, { aborted }: AbortSignal): Error | undefined {
  const reason = error instanceof openid.ResponseBodyError ? error.error : undefined;
  if (reason === "access_denied")
    return new Error("The sign-in was declined in the browser, so this machine got no access.");
  if (aborted || reason === "expired_token" || reason === "invalid_grant") {
    return new Error("The code has expired, and nobody authorized this command line. Run `stepwell login` again.");
  }
  return undefined;
}

/** Returns an address in its normalized spelling, which has no control characters. A terminal would obey those that a service sends. */
function addressIn(text: string): string {
  return new URL(text).href;
}

async function endQuietly(provider: Provider, { refreshToken }: SignIn): Promise<void> {
  // The earlier session may have ended long ago. If not, it ends by itself when nobody uses it. So an error does not matter.
  await openid.tokenRevocation(provider, refreshToken).catch(() => undefined);
}

interface Chosen {
  readonly organizationId?: string;
  readonly text: string;
}

async function chooseOrganization(signIn: SignIn, wanted: string | undefined): Promise<Chosen> {
  const client = createClient({ baseUrl: signIn.baseUrl, token: signIn.idToken });
  const organizations = await client.list("ListOrganizations").toArray();
  const found = organizations.filter((organization) => wanted === undefined || isNamed(organization, wanted));
  const [chosen, ...others] = found;
  if (chosen !== undefined && others.length === 0) {
    const { organizationId, name } = chosen;
    await storeSignIn({ ...signIn, organizationId });
    return { organizationId, text: `Commands work in the organization ${name} (${organizationId}).` };
  }
  if (organizations.length === 0 && wanted === undefined)
    return { text: "You are not a member of any organization yet." };
  if (wanted === undefined) {
    const how =
      "Choose one: sign in with --organization NAME or, if no profile is in use, set STEPWELL_ORGANIZATION to its name or id.";
    return { text: ["Your organizations:", ...linesOf(organizations), how].join("\n") };
  }
  const begin = "You are signed in, but";
  if (chosen === undefined) {
    const none = `${begin} none of your organizations has the name, key or id ${wanted}. Your organizations:`;
    throw new CommandError("notFound", [none, ...linesOf(organizations)].join("\n"));
  }
  const several = `${begin} more than one of your organizations has the name ${wanted}. Sign in with the id of one of them:`;
  throw new CommandError("usage", [several, ...linesOf(found)].join("\n"));
}

/** Says why later commands do not go to the service of this sign-in, and what to do about it. */
function whereCommandsGo({ by, baseUrl: address }: ChosenService, baseUrl: string): string {
  if (by === "profile")
    return `Commands go to ${address}, the service of the profile in use. To use ${baseUrl}, create a profile with \`stepwell profile set NAME --url ${baseUrl}\`, and choose it with --profile NAME or, unless STEPWELL_PROFILE is set, with \`stepwell profile use NAME\`.`;
  if (by === "STEPWELL_URL")
    return `Commands go to ${address}, which STEPWELL_URL names. To use ${baseUrl}, set STEPWELL_URL to it.`;
  return `In this directory, commands go to ${address}, which \`stepwell dev\` started. To use ${baseUrl} here, set STEPWELL_URL to it.`;
}

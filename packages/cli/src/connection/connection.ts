import { resolve } from "node:path";
import { createClient, type StepwellClient } from "@stepwell/client";
import { CommandError } from "../exit-code.ts";
import { parseAddress } from "./address.ts";
import { type DevFile, readDevFile } from "./dev-file.ts";
import { organizationIdOf } from "./organization.ts";
import { currentProfile, namedProfile, type Profile } from "./stored-profiles.ts";
import { findSignIn, type SignIn } from "./stored-sign-ins.ts";

/** Options of every command that asks a service. */
export interface Place {
  /** Name or id. */
  readonly organization?: string;
  readonly profile?: string;
}

export interface Connection extends Access {
  readonly organizationId: string;
}

/** A service, and the token with which commands call it. */
export interface Access {
  readonly client: StepwellClient;
  readonly baseUrl: string;
  readonly token: string;
  readonly from: "STEPWELL_TOKEN" | "stepwell login" | "stepwell dev";
  /** The name or the id of the chosen organization; undefined if it follows from the token. */
  readonly organization: string | undefined;
}

/** Connects for work in an organization: the named one, or else the only one to which the token belongs. */
export async function connect(place: Place): Promise<Connection> {
  const access = await reach(place);
  return { ...access, organizationId: await organizationIdOf(access.client, access.organization) };
}

/**
 * Finds the service and the token. The service is the first of these: the named profile, STEPWELL_URL, the service that `stepwell dev` started in
 * this directory, the profile in use, the last sign-in. With this order, a command that tries something out in this directory does not change a
 * service elsewhere. The token is STEPWELL_TOKEN, or else the sign-in, or else the token of `stepwell dev`. The last two are sent only to the address
 * to which they belong.
 */
export async function reach(place: Place): Promise<Access> {
  const profile = chosenProfile(place.profile);
  const baseUrl = chosenAddress(profile) ?? findSignIn()?.baseUrl;
  if (baseUrl === undefined) throw new CommandError("notAllowed", `No service is chosen. ${whatToDo}`);
  const known = devFileHere();
  const started = known?.baseUrl !== undefined && parseAddress(known.baseUrl) === baseUrl ? known : undefined;
  // Containers often have a home directory that cannot be read. With a token in the environment, nothing needs to be read from it.
  const signIn = tokenHere() === undefined ? findSignIn(baseUrl) : undefined;
  const { token, from } = await credential(baseUrl, signIn, started);
  const organization = place.organization ?? organizationHere(profile) ?? remembered(from, signIn, started);
  return { client: createClient({ baseUrl, token }), baseUrl, token, from, organization };
}

/** The profile whose service commands use: the named one, or the one in use if neither this environment nor this directory names a service. */
export function chosenProfile(named: string | undefined): Profile | undefined {
  return namedProfile(named) ?? (addressHere() === undefined ? currentProfile() : undefined);
}

/** The service to which commands go; undefined if it follows from the last sign-in only. */
export function chosenAddress(profile: Profile | undefined): string | undefined {
  return profile?.url ?? addressHere();
}

/** The service that this environment or this directory names. */
function addressHere(): string | undefined {
  const { STEPWELL_URL: named } = process.env;
  if (named) return parseAddress(named, "STEPWELL_URL");
  const started = devFileHere()?.baseUrl;
  return started === undefined ? undefined : parseAddress(started);
}

/** The token of this environment. An empty variable counts as not set, like every other variable of the command line. */
function tokenHere(): string | undefined {
  const { STEPWELL_TOKEN: token } = process.env;
  if (!token) return undefined;
  // The error that `fetch` throws for such a token would show it.
  if (/^[!-~]+$/.test(token)) return token;
  throw new CommandError(
    "notAllowed",
    "STEPWELL_TOKEN contains spaces, line breaks or other characters that never occur in a token. Set it to the token alone.",
  );
}

function devFileHere(): Partial<DevFile> | undefined {
  return readDevFile(resolve(process.env.STEPWELL_DATA_DIR || ".stepwell"));
}

/** A profile names the service and the organization, so with a profile STEPWELL_ORGANIZATION is not read. */
function organizationHere(profile: Profile | undefined): string | undefined {
  const named = profile === undefined ? process.env.STEPWELL_ORGANIZATION : profile.organization;
  return named === "" ? undefined : named;
}

/**
 * The organization that was stored with the credential. There is none for a token in STEPWELL_TOKEN, since that token may belong to another
 * organization than the sign-in.
 */
function remembered(from: Access["from"], signIn: SignIn | undefined, started: Partial<DevFile> | undefined) {
  if (from === "stepwell login") return signIn?.organizationId;
  return from === "stepwell dev" ? started?.organizationId : undefined;
}

async function credential(
  baseUrl: string,
  signIn: SignIn | undefined,
  started: Partial<DevFile> | undefined,
): Promise<Pick<Access, "token" | "from">> {
  const token = tokenHere();
  if (token !== undefined) return { token, from: "STEPWELL_TOKEN" };
  if (signIn !== undefined) {
    const { renewed } = await import("./renewal.ts");
    return { token: (await renewed(signIn)).idToken, from: "stepwell login" };
  }
  if (started?.token !== undefined) return { token: started.token, from: "stepwell dev" };
  throw new CommandError("notAllowed", `Nobody is signed in at ${baseUrl}. ${whatToDo}`);
}

const whatToDo =
  "Sign in with `stepwell login --url ADDRESS`, set STEPWELL_URL and STEPWELL_TOKEN, or start a service with `stepwell dev`.";

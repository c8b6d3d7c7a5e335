import { type ClientOptions, createClient, type StepwellClient } from "@stepwell/client";
import { CommandError } from "../exit-code.ts";
import { chooseService, devFilePathHere, devServiceAt } from "./chosen-service.ts";
import type { DevFile } from "./dev-file.ts";
import { organizationIdOf } from "./organization.ts";
import type { Profile } from "./stored-profiles.ts";
import { findSignIn, type SignIn } from "./stored-sign-ins.ts";

/** Options of every command that calls a service. */
export interface Place {
  /** Name, key or id. */
  readonly organization?: string;
  readonly profile?: string;
}

export interface Connection extends Access {
  readonly organizationId: string;
}

/** A service, and the client with which commands call it. */
export interface Access {
  readonly client: StepwellClient;
  readonly baseUrl: string;
  /** Where the client's token comes from. */
  readonly from: "STEPWELL_TOKEN" | "stepwell login" | "stepwell dev";
  /** The name, the key or the id of the chosen organization; undefined if none is chosen. */
  readonly organization: string | undefined;
}

/** Connects for work in an organization: the chosen one, or else the only one to which the token belongs. */
export async function connect(place: Place): Promise<Connection> {
  const access = await reach(place);
  return { ...access, organizationId: await organizationIdOf(access.client, access.organization) };
}

/**
 * Finds the service and the token. The service is the one that `chooseService` finds, or else that of the last sign-in. The token is STEPWELL_TOKEN,
 * or else that of the sign-in, or else that of `stepwell dev`. STEPWELL_TOKEN is sent only to an address that the user has named, or at which the
 * user has signed in. The other two tokens are sent only to their own service.
 */
export async function reach(place: Place): Promise<Access> {
  const service = chooseService(place.profile);
  const baseUrl = service.baseUrl ?? findSignIn()?.baseUrl;
  if (baseUrl === undefined) throw new CommandError("notAllowed", `No service is chosen. ${whatToDo}`);
  const started = devServiceAt(baseUrl);
  const token = tokenHere();
  if (token !== undefined && service.by === "stepwell dev") throw tokenWithoutAddress(baseUrl);
  // Containers often have a home directory that cannot be read. With an address and a token in the environment, no file there needs to be read.
  const signIn = token === undefined ? findSignIn(baseUrl) : undefined;
  const credential = await credentialOf(token, signIn, started);
  if (credential === undefined) throw new CommandError("notAllowed", `Nobody is signed in at ${baseUrl}. ${whatToDo}`);
  const { from } = credential;
  const organization = place.organization ?? organizationHere(service.profile) ?? remembered(from, signIn, started);
  return { client: createClient({ baseUrl, token: credential.token }), baseUrl, from, organization };
}

/** Returns the token of this environment. An empty variable counts as not set. */
function tokenHere(): string | undefined {
  const { STEPWELL_TOKEN: token } = process.env;
  if (!token) return undefined;
  // For some characters outside of this pattern, such as a line break, `fetch` would throw an error that shows the token.
  if (/^[!-~]+$/.test(token)) return token;
  throw new CommandError(
    "notAllowed",
    "STEPWELL_TOKEN contains spaces, line breaks or other characters that never occur in a token. Set it to the token alone.",
  );
}

/**
 * The error when STEPWELL_TOKEN is set and the address comes from the file of `stepwell dev`. If the command went on to the profile in use or the
 * last sign-in, it would change a service elsewhere, although the user tries something out in this directory.
 */
function tokenWithoutAddress(baseUrl: string): CommandError {
  const why = `STEPWELL_TOKEN is set, but STEPWELL_URL is not. The token is not sent to ${baseUrl}, the address in ${devFilePathHere()}, because that file may come from somebody else.`;
  const how = `Set STEPWELL_URL to the address of the token's service, or unset STEPWELL_TOKEN to use the token that \`stepwell dev\` made.`;
  return new CommandError("notAllowed", `${why} ${how}`);
}

/** Returns the organization that the profile names, if any. Without a profile, returns that of STEPWELL_ORGANIZATION. */
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

interface Credential {
  readonly token: ClientOptions["token"];
  readonly from: Access["from"];
}

async function credentialOf(
  token: string | undefined,
  signIn: SignIn | undefined,
  started: Partial<DevFile> | undefined,
): Promise<Credential | undefined> {
  if (token !== undefined) return { token, from: "STEPWELL_TOKEN" };
  if (signIn !== undefined) {
    const { idTokenOf } = await import("./renewal.ts");
    return { token: idTokenOf(signIn), from: "stepwell login" };
  }
  return started?.token === undefined ? undefined : { token: started.token, from: "stepwell dev" };
}

const whatToDo =
  "Sign in with `stepwell login --url ADDRESS`, set STEPWELL_URL and STEPWELL_TOKEN, or start a service with `stepwell dev`.";

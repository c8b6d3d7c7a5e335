import { resolve } from "node:path";
import { createClient, type StepwellClient } from "@stepwell/client";
import { parseAddress } from "./address.ts";
import { type DevFile, readDevFile } from "./dev-file.ts";
import { renewed } from "./renewal.ts";
import { findSignIn, type SignIn } from "./stored-sign-ins.ts";

export interface Connection extends Access {
  readonly organizationId: string;
}

/** A service, and what one shows it. */
export interface Access {
  readonly client: StepwellClient;
  readonly baseUrl: string;
  readonly token: string;
  readonly from: "STEPWELL_TOKEN" | "stepwell login" | "stepwell dev";
  readonly organizationId: string | undefined;
}

/** For work in an organization. */
export async function connect(): Promise<Connection> {
  const { organizationId, ...access } = await reach();
  if (organizationId === undefined) {
    throw new Error("No organization is chosen. Set STEPWELL_ORGANIZATION, or sign in with `--organization NAME`.");
  }
  return { ...access, organizationId };
}

/**
 * The service is the one that STEPWELL_URL names, else the one that `stepwell dev` started in this directory, else that of the last
 * sign-in: who tries something out here must not change what runs elsewhere. What is shown there is STEPWELL_TOKEN, else the sign-in,
 * else the token of `stepwell dev`, and each only at its own address.
 */
export async function reach(): Promise<Access> {
  const baseUrl = addressHere() ?? findSignIn()?.baseUrl;
  if (baseUrl === undefined) throw new Error(`No service is known here. ${whatToDo}`);
  const known = devFileHere();
  const started = known?.baseUrl !== undefined && parseAddress(known.baseUrl) === baseUrl ? known : undefined;
  const signIn = findSignIn(baseUrl);
  const { token, from } = await credential(baseUrl, signIn, started);
  const organizationId = process.env.STEPWELL_ORGANIZATION ?? signIn?.organizationId ?? started?.organizationId;
  return { client: createClient({ baseUrl, token }), baseUrl, token, from, organizationId };
}

/** The service that this environment or this directory names. */
export function addressHere(): string | undefined {
  const named = process.env.STEPWELL_URL ?? devFileHere()?.baseUrl;
  return named === undefined ? undefined : parseAddress(named);
}

export function devFileHere(): Partial<DevFile> | undefined {
  return readDevFile(resolve(process.env.STEPWELL_DATA_DIR ?? ".stepwell"));
}

async function credential(
  baseUrl: string,
  signIn: SignIn | undefined,
  started: Partial<DevFile> | undefined,
): Promise<Pick<Access, "token" | "from">> {
  const { STEPWELL_TOKEN: token } = process.env;
  if (token !== undefined) return { token, from: "STEPWELL_TOKEN" };
  if (signIn !== undefined) return { token: (await renewed(signIn)).idToken, from: "stepwell login" };
  if (started?.token !== undefined) return { token: started.token, from: "stepwell dev" };
  throw new Error(`Nobody is signed in at ${baseUrl}. ${whatToDo}`);
}

const whatToDo =
  "Sign in with `stepwell login --url ADDRESS`, set STEPWELL_URL and STEPWELL_TOKEN, or start a service with `stepwell dev`.";

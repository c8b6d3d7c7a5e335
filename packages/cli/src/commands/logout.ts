import * as openid from "openid-client";
import { parseAddress } from "../connection/address.ts";
import { chooseService } from "../connection/chosen-service.ts";
import { discover, explained } from "../connection/open-id.ts";
import { findSignIn, removeSignIn, type SignIn } from "../connection/stored-sign-ins.ts";
import { show } from "../output/terminal.ts";

/**
 * Ends the session at the service, then removes the sign-in from this machine, even if the service cannot be reached. The service is the one at
 * `url`, or else the one that a profile, STEPWELL_URL or `stepwell dev` in this directory names. If nothing names a service, or if nobody is signed
 * in at the service of `stepwell dev`, the last sign-in is ended.
 */
export async function logout({ url }: { readonly url?: string }): Promise<void> {
  const { by, baseUrl: address } =
    url === undefined ? chooseService(undefined) : { by: "--url", baseUrl: parseAddress(url) };
  const isNamed = by === "--url" || by === "profile" || by === "STEPWELL_URL";
  const there = address === undefined ? undefined : findSignIn(address);
  const signIn = isNamed ? there : (there ?? findSignIn());
  if (signIn === undefined) {
    const text = `Nobody is signed in ${isNamed ? `at ${address} ` : ""}on this machine.`;
    return show({ value: { signedOut: false }, text });
  }
  const { baseUrl, email } = signIn;
  try {
    await end(signIn);
  } catch (error) {
    throw new Error(
      `The tokens are removed from this machine, but the session could not be ended: ${(error as Error).message} End the session in the list of your sessions, or wait until it ends by itself.`,
      { cause: error },
    );
  } finally {
    await removeSignIn(signIn);
  }
  const text = `Signed out at ${baseUrl}, where you were signed in as ${email}.`;
  show({ value: { signedOut: true, baseUrl, email }, text });
}

/** Revoking a refresh token ends its session, with every token that was issued in it. */
async function end({ baseUrl, isInsecure, refreshToken }: SignIn): Promise<void> {
  const provider = await discover(baseUrl, isInsecure);
  await openid.tokenRevocation(provider, refreshToken).catch((error: unknown) => {
    throw explained(error, baseUrl);
  });
}

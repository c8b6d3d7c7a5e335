import * as openid from "openid-client";
import { CommandError } from "../exit-code.ts";
import { discover, explained, type IssuedTokens, isPassing, tokensIn } from "./open-id.ts";
import { findSignIn, replaceSignIn, type SignIn } from "./stored-sign-ins.ts";

/** A sign-in is renewed this long before its end. This is long enough for a command that waits, and still most commands renew nothing. */
const renewBeforeMs = 120_000;

/**
 * Returns the sign-in with an id token that stays valid for a while. Two commands may renew it at the same time: for 30 seconds the service gives
 * both of them the same successor. After that, the earlier refresh token counts as stolen, so each command continues with the newest one that is
 * stored.
 */
export async function renewed(signIn: SignIn): Promise<SignIn> {
  if (signIn.expiresAt - Date.now() > renewBeforeMs) return signIn;
  const tokens = await exchange(signIn);
  if (tokens !== undefined) return (await replaceSignIn(signIn, { ...signIn, ...tokens })) ?? ended(signIn);
  const stored = findSignIn(signIn.baseUrl);
  const isRenewedByOther = stored !== undefined && stored.refreshToken !== signIn.refreshToken;
  return isRenewedByOther ? stored : ended(signIn);
}

/** If an answer was lost, the request can be repeated: the service then gives the same tokens. */
const maxAttempts = 4;

/** Exchanges the refresh token for new tokens. Returns undefined when the refresh token is no longer valid. */
async function exchange({ baseUrl, isInsecure, refreshToken }: SignIn): Promise<IssuedTokens | undefined> {
  const provider = await discover(baseUrl, isInsecure);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return tokensIn(await openid.refreshTokenGrant(provider, refreshToken));
    } catch (error) {
      if (error instanceof openid.ResponseBodyError && error.error === "invalid_grant") return undefined;
      if (attempt === maxAttempts || !isPassing(error)) throw explained(error, baseUrl);
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
    }
  }
}

function ended({ baseUrl }: SignIn): never {
  const detail = `The sign-in at ${baseUrl} has ended. Sign in again with \`stepwell login --url ${baseUrl}\`.`;
  throw new CommandError("notAllowed", detail);
}

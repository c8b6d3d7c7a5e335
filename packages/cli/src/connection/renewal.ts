import { StepwellError } from "@stepwell/client";
import * as openid from "openid-client";
import { CommandError } from "../exit-code.ts";
import { discover, explained, type IssuedTokens, isPassing, tokensIn } from "./open-id.ts";
import { findSignIn, replaceSignIn, type SignIn } from "./stored-sign-ins.ts";

/**
 * A sign-in is renewed this long before its id token ends. This is long enough for a request that the service holds, and short enough that most
 * commands renew nothing.
 */
const renewBeforeMs = 120_000;

/**
 * Returns the function that gives the id token of this sign-in for each attempt of a request. It renews the sign-in when the token is about to end,
 * so that a command can wait for hours. Calls that come during a renewal share it, because a refresh token that is used again after more than 30
 * seconds counts as stolen. The function rejects when the sign-in has ended. While the service cannot be reached or is too busy, the function gives
 * the present token as long as that is valid.
 */
export function idTokenOf(signIn: SignIn): () => Promise<string> {
  let current = signIn;
  let renewal: Promise<SignIn> | undefined;
  return async () => {
    renewal ??= renewedIfReachable(current).finally(() => {
      renewal = undefined;
    });
    current = await renewal;
    return current.idToken;
  };
}

/**
 * Returns the sign-in, renewed if necessary. While the service cannot be reached or is too busy, returns the present sign-in as long as its token is
 * valid. After that, throws a transient error of the client library, so that the request waits through the outage as every other request does.
 */
async function renewedIfReachable(signIn: SignIn): Promise<SignIn> {
  try {
    return await renewed(signIn);
  } catch (error) {
    if (!(error instanceof CommandError) || !isPassing(error.cause)) throw error;
    if (signIn.expiresAt > Date.now()) return signIn;
    const problem = { title: "Unreachable", status: 0, detail: error.message, code: "UnavailableError" };
    throw new StepwellError(problem, error);
  }
}

/**
 * Returns the sign-in with an id token that stays valid for a while. Another command may have renewed the sign-in while this command waited for
 * hours. If this command then used its old refresh token, the service would take the token for stolen and end the session. So each renewal begins
 * with the newest sign-in that is stored. If two commands use the same refresh token within 30 seconds, the service gives both the same new tokens.
 */
async function renewed(signIn: SignIn): Promise<SignIn> {
  if (isLasting(signIn)) return signIn;
  const stored = findSignIn(signIn.baseUrl) ?? ended(signIn);
  if (isLasting(stored)) return stored;
  const tokens = await exchange(stored);
  if (tokens !== undefined) return (await replaceSignIn(stored, { ...stored, ...tokens })) ?? ended(stored);
  const newest = findSignIn(stored.baseUrl);
  const isRenewedByOther = newest !== undefined && newest.refreshToken !== stored.refreshToken;
  return isRenewedByOther ? newest : ended(stored);
}

function isLasting({ expiresAt }: SignIn): boolean {
  return expiresAt - Date.now() > renewBeforeMs;
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

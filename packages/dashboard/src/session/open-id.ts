import * as oauth from "oauth4webapi";
import { baseUrl } from "../base-url.ts";

/** The result of a sign-in. It exists only in the memory of the page. */
export interface Tokens {
  readonly idToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresAt: number;
  readonly user: SignedInUser;
}

export interface SignedInUser {
  readonly userId: string;
  readonly sessionId: string;
  readonly name: string;
  readonly email: string;
}

/** The values that must survive the redirect to the sign-in page and back, in this tab. They give no access. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The page that the person wanted to open: path, query and fragment. */
  readonly returnTo: string;
}

const issuer = `${baseUrl}/oidc`;
/** The page and the provider are built together, so nothing has to be discovered. This saves one request at each start. */
const provider: oauth.AuthorizationServer = {
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
};
const client: oauth.Client = { client_id: "stepwell-dashboard" };
const redirectUri = `${baseUrl}/signed-in`;
/** Requests without TLS are allowed. Without TLS, browsers allow the sign-in only at a service on the same machine (see `canSignIn`). */
const options = { [oauth.allowInsecureRequests]: baseUrl.startsWith("http:") };

/** PKCE needs cryptography. Browsers give it to a page without TLS only if the page comes from the same machine. */
export const canSignIn: boolean = window.isSecureContext;

/** Returns the address of the provider's page, with the values that must be kept until the browser returns. */
export async function authorizationRequest(returnTo: string): Promise<{ url: URL; pending: PendingSignIn }> {
  const pending = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    codeVerifier: oauth.generateRandomCodeVerifier(),
    returnTo,
  };
  const url = new URL(`${issuer}/auth`);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    response_type: "code",
    redirect_uri: redirectUri,
    scope: "openid profile email offline_access",
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
    code_challenge_method: "S256",
    state: pending.state,
    nonce: pending.nonce,
  }).toString();
  return { url, pending };
}

/**
 * Gets the tokens for the code that the browser brought back from the provider. Throws when the provider reported an error, or the code belongs to
 * another sign-in.
 */
export async function exchangeCode(callback: URL, pending: PendingSignIn): Promise<Tokens> {
  const parameters = oauth.validateAuthResponse(provider, client, callback, pending.state);
  const response = await oauth.authorizationCodeGrantRequest(
    provider,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    pending.codeVerifier,
    options,
  );
  const answer = await oauth.processAuthorizationCodeResponse(provider, client, response, {
    expectedNonce: pending.nonce,
    requireIdToken: true,
  });
  return tokensOf(answer, undefined);
}

/**
 * Renews the tokens. Throws an `oauth.ResponseBodyError` if the provider answers with an error, and another error if the renewal fails for another
 * reason.
 */
export async function refresh({ refreshToken, user }: Tokens): Promise<Tokens> {
  if (refreshToken === undefined) throw new Error("The answer to the sign-in has no refresh token.");
  const response = await oauth.refreshTokenGrantRequest(provider, client, oauth.None(), refreshToken, options);
  const answer = await oauth.processRefreshTokenResponse(provider, client, response);
  return { ...tokensOf(answer, refreshToken), user: userOf(answer) ?? user };
}

/** Tells whether the provider has rejected the request, so that another attempt cannot help. */
export function isRefusal(error: unknown): boolean {
  return error instanceof oauth.ResponseBodyError && error.status < 500 && error.status !== 429;
}

/** Returns the name of the error with which the provider sent the browser back, for example `access_denied`. */
export function rejectionOf(error: unknown): string | undefined {
  return error instanceof oauth.AuthorizationResponseError ? error.error : undefined;
}

function tokensOf(answer: oauth.TokenEndpointResponse, refreshToken: string | undefined): Tokens {
  const user = userOf(answer);
  const idToken = answer.id_token;
  if (user === undefined || idToken === undefined) throw new Error("The answer to the sign-in has no id token.");
  const expiresAt = Date.now() + (answer.expires_in ?? 3_600) * 1_000;
  return { idToken, refreshToken: answer.refresh_token ?? refreshToken, expiresAt, user };
}

function userOf(answer: oauth.TokenEndpointResponse): SignedInUser | undefined {
  const claims = oauth.getValidatedIdTokenClaims(answer);
  if (claims === undefined) return undefined;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const { sub, sid, name, email } = claims;
  return { userId: sub, sessionId: text(sid), name: text(name), email: text(email) };
}

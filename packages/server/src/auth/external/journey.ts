import type * as OpenIdClient from "openid-client";
import type { Timestamp } from "../../core/time.ts";
import { type ExternalClaims, type RawClaims, readClaims, roleValuesOf } from "./claims.ts";
import { type DiscoveredIssuer, maxSkewSeconds } from "./issuer.ts";
import { verifySigned } from "./signed-token.ts";
import type { JoinedProvider } from "./single-sign-on.ts";

/** The content of a browser's cookie while the person is at an external issuer, so that an answer counts only in the browser that asked for it. */
export interface Journey {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface Departure {
  /** The id of the sign-in to which the journey belongs. The state begins with it, since all sign-ins with one provider come back to one address. */
  readonly interactionId: string;
  readonly redirectUri: string;
  readonly loginHint: string | undefined;
  /** True when the issuer must ask the person again even if they are signed in there. */
  readonly asksAgain: boolean;
}

/** For this long, a proof of identity at an issuer counts as the person's confirmation of a change to their own account. */
export const freshSignInSeconds = 10 * 60;

/** Returns the address to which the browser is sent, and the journey with which the answer is checked. */
export async function depart(
  { issuer, provider }: JoinedProvider,
  { interactionId, redirectUri, loginHint, asksAgain }: Departure,
): Promise<{ readonly url: URL; readonly journey: Journey }> {
  const { configuration } = await issuer.discover();
  const openid = await import("openid-client");
  const journey = {
    state: `${interactionId}.${openid.randomState()}`,
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
  };
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    response_type: "code",
    scope: provider.scopes.join(" "),
    state: journey.state,
    nonce: journey.nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(journey.verifier),
    code_challenge_method: "S256",
    ...(loginHint !== undefined && { login_hint: loginHint }),
    // An issuer that receives a `max_age` must say when it asked the person (OpenID Connect Core, section 3.1.2.1).
    ...(asksAgain && { prompt: "login", max_age: String(freshSignInSeconds) }),
  });
  return { url, journey };
}

/** Returns the id of the sign-in, with which the state begins. Nothing in the state is verified yet. */
export function interactionIdOf(state: string | null): string | undefined {
  return /^([\w-]{1,64})\./.exec(state ?? "")?.[1];
}

export type Return =
  | {
      readonly outcome: "proven";
      readonly claims: ExternalClaims;
      /** The time when the issuer asked the person to prove who they are; undefined if the issuer does not say. */
      readonly authenticatedAt: Timestamp | undefined;
    }
  /**
   * `cancelled`: the person or the issuer declined. `not-valid`: the answer proves nothing for another reason, for example because it does not belong
   * to the request.
   */
  | { readonly outcome: "rejected"; readonly reason: "cancelled" | "not-valid"; readonly cause: unknown };

/** Checks the answer that the browser brought back. Throws `ServiceError` UnavailableError when the issuer cannot be reached. */
export async function comeBack(
  joined: JoinedProvider,
  arrival: URL,
  { state, nonce, verifier }: Journey,
  now: Timestamp,
): Promise<Return> {
  const openid = await import("openid-client");
  const { issuer, provider } = joined;
  const discovered = await issuer.discover();
  const checks = {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  };
  try {
    const tokens = await openid.authorizationCodeGrant(discovered.configuration, arrival, checks);
    // The answer comes over TLS from the issuer itself, so it could be trusted without a signature. A signature is safer: it also shows a change by a
    // proxy that decrypts the TLS connection on the way.
    const idToken = await verifySigned(issuer, tokens.id_token ?? "", provider.clientId, now);
    if (idToken === undefined) return notValid(new Error("The id token's signature or claims are not valid."));
    const others = await userInfoFor(openid, joined, discovered, { ...idToken.claims }, tokens.access_token);
    const claims = readClaims(provider, together(others, idToken.claims));
    if (claims === undefined) return notValid(new Error("The id token names no usable subject."));
    // Many issuers leave out the claim that gives roles when a person is in no group, so a missing claim means no roles.
    const named = { ...claims, roleValues: claims.roleValues ?? [] };
    // The time is taken only from the signed token: a userinfo endpoint may report the time of another sign-in.
    return { outcome: "proven", claims: named, authenticatedAt: timeOf(idToken.claims.auth_time, now) };
  } catch (error) {
    if (error instanceof openid.AuthorizationResponseError) {
      const isCancelled = error.error === "access_denied";
      return { outcome: "rejected", reason: isCancelled ? "cancelled" : "not-valid", cause: error };
    }
    if (isOutOfReach(openid, error)) throw issuer.unreachable(error);
    if (isOpenIdError(openid, error)) return notValid(error);
    throw error;
  }
}

/** Returns undefined for a value that is no time, and for a time that is in the future by more than the clocks may differ. */
function timeOf(authTime: unknown, now: Timestamp): Timestamp | undefined {
  if (typeof authTime !== "number" || !Number.isFinite(authTime) || authTime < 0) return undefined;
  const at = Math.floor(authTime) * 1_000;
  return at > now + maxSkewSeconds * 1_000 ? undefined : Math.min(at, now);
}

/** Fetches the claims that the id token lacks: many issuers put the address and the groups only into the userinfo answer. */
async function userInfoFor(
  openid: typeof OpenIdClient,
  { provider }: JoinedProvider,
  { configuration }: DiscoveredIssuer,
  claims: RawClaims,
  accessToken: string,
): Promise<RawClaims> {
  const hasAll = claims.email !== undefined && roleValuesOf(provider, claims) !== undefined;
  if (hasAll || configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return await openid.fetchUserInfo(configuration, accessToken, String(claims.sub));
}

/** Merges the claims; those of the id token take precedence. `email_verified` is taken only from the same source as the address. */
function together(others: RawClaims, idToken: RawClaims): RawClaims {
  const { email, email_verified } = idToken.email === undefined ? others : idToken;
  return { ...others, ...idToken, email, email_verified };
}

function notValid(cause: unknown): Return {
  return { outcome: "rejected", reason: "not-valid", cause };
}

/** Tells whether the issuer did not answer, or answered with a server error. */
function isOutOfReach(openid: typeof OpenIdClient, error: unknown): boolean {
  if (!(error instanceof openid.ClientError)) return error instanceof TypeError;
  const { cause, code } = error;
  const isServerError = cause instanceof Response && cause.status >= 500;
  return isServerError || code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT";
}

function isOpenIdError(openid: typeof OpenIdClient, error: unknown): boolean {
  const kinds = [openid.ClientError, openid.ResponseBodyError, openid.WWWAuthenticateChallengeError];
  return kinds.some((kind) => error instanceof kind);
}

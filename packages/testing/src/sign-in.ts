import * as openid from "openid-client";
import { Browser, type ShownPage } from "./browser.ts";
import { type Person, rightPassword } from "./people.ts";

const dashboard = "stepwell-dashboard";
export const commandLine = "stepwell-cli";

export type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers & { readonly id_token: string };

export interface SignedIn {
  readonly browser: Browser;
  readonly tokens: Tokens;
  readonly idToken: string;
  readonly refreshToken: string;
}

/** Makes a standard OpenID client, which finds the endpoints of the service at `baseUrl`. */
export async function discover(baseUrl: string, clientId = dashboard): Promise<openid.Configuration> {
  const options = { execute: [openid.allowInsecureRequests] };
  return await openid.discovery(new URL(`${baseUrl}/oidc`), clientId, undefined, openid.None(), options);
}

/** Tells whether this is the page with which the dashboard continues after a sign-in. */
export function isArrival(url: URL): boolean {
  return url.pathname.endsWith("/signed-in") || url.pathname === "/";
}

export interface BegunSignIn {
  readonly url: URL;
  /** Gets the tokens for the code with which the browser returned. */
  finish(arrival: URL): Promise<Tokens>;
}

/** The dashboard's side of a sign-in: authorization code with PKCE. */
export async function beginSignIn(
  configuration: openid.Configuration,
  baseUrl: string,
  parameters: Record<string, string> = {},
): Promise<BegunSignIn> {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: `${baseUrl}/signed-in`,
    scope: "openid profile email",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...parameters,
  });
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  return {
    url,
    finish: async (arrival) => (await openid.authorizationCodeGrant(configuration, arrival, checks)) as Tokens,
  };
}

/** Types the e-mail address and the password into one page, or into two pages if the service has external providers. */
export async function typePassword(
  browser: Browser,
  page: ShownPage,
  { email }: Pick<Person, "email">,
  password = rightPassword,
) {
  const whole = page.text.includes('name="password"') ? page : await browser.submit(page, { email });
  return await browser.submit(whole, { email, password }, isArrival);
}

/** Signs a person in through the real pages, as the dashboard would. */
export async function signIn(
  baseUrl: string,
  person: Pick<Person, "email">,
  browser = new Browser(),
  password = rightPassword,
): Promise<SignedIn> {
  const configuration = await discover(baseUrl);
  const begun = await beginSignIn(configuration, baseUrl);
  const page = await browser.open(begun.url, isArrival);
  const { url } = isArrival(page.url) ? page : await typePassword(browser, page, person, password);
  return signedIn(browser, await begun.finish(url));
}

export function signedIn(browser: Browser, tokens: Tokens): SignedIn {
  const { id_token: idToken, refresh_token: refreshToken } = tokens;
  if (refreshToken === undefined) throw new Error("There is no refresh token.");
  return { browser, tokens, idToken, refreshToken };
}

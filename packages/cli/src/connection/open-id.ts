import { hostname } from "node:os";
import * as openid from "openid-client";
import { CommandError } from "../exit-code.ts";
import { isPrivate } from "./address.ts";

export type Provider = openid.Configuration;

export interface IssuedTokens {
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  /** The time when the id token ends, in milliseconds of this machine's clock, which may be wrong. */
  readonly expiresAt: number;
}

const clientId = "stepwell-cli";

/** Reads how to sign in at the service at this address. The errors that it throws say what to do. */
export async function discover(baseUrl: string, isInsecure: boolean): Promise<Provider> {
  if (!isPrivate(baseUrl) && !isInsecure) {
    throw new CommandError(
      "usage",
      `${baseUrl} is not encrypted: anybody who sees the traffic could act for you. Use the https address, or --insecure if you trust the network.`,
    );
  }
  const isPlain = new URL(baseUrl).protocol === "http:";
  const options = {
    ...(isPlain && { execute: [openid.allowInsecureRequests] }),
    [openid.customFetch]: fetchAsCommandLine,
  };
  try {
    return await openid.discovery(new URL(`${baseUrl}/oidc`), clientId, undefined, openid.None(), options);
  } catch (error) {
    throw explained(error, baseUrl);
  }
}

/** The name of this command line on the page where the person decides whether to let it in, and later in the list of sessions. */
const userAgent = `stepwell on ${hostname()}`.replace(/[^\x20-\x7e]/g, "");

const fetchAsCommandLine: openid.CustomFetch = (url, { headers, ...options }) => {
  return fetch(url, { ...options, headers: { ...headers, "user-agent": userAgent } } as RequestInit);
};

export function tokensIn(answer: Awaited<ReturnType<typeof openid.refreshTokenGrant>>): IssuedTokens {
  const { id_token: idToken, refresh_token: refreshToken } = answer;
  const claims = answer.claims();
  if (idToken === undefined || refreshToken === undefined || claims === undefined) {
    throw new Error("The service answered without the tokens that a sign-in needs.");
  }
  const { email, exp, iat } = claims;
  return { email: String(email ?? ""), idToken, refreshToken, expiresAt: Date.now() + (exp - iat) * 1_000 };
}

/** Tells whether the same request may soon succeed: no answer came, the server failed, or there were too many requests. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TypeError || codeOf(error) === "OAUTH_TIMEOUT") return true;
  const status = statusOf(error) ?? 0;
  return status >= 500 || status === 429;
}

/**
 * Replaces an error of the protocol by an error with a message for people. If the same request may soon succeed, returns a `CommandError` whose
 * `cause` is the error of the protocol.
 */
export function explained(error: unknown, baseUrl: string): Error {
  const { cause } = error as { readonly cause?: unknown };
  const issuer = (cause as { readonly body?: { readonly issuer?: unknown } } | undefined)?.body?.issuer;
  if (codeOf(error) === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED" && typeof issuer === "string") {
    const named = issuer.replace(/\/oidc$/, "");
    return new Error(
      `The service at ${baseUrl} says that its address is ${named}. Sign in with \`stepwell login --url ${named}\`. If that address is wrong, correct STEPWELL_BASE_URL of the service.`,
    );
  }
  if (error instanceof openid.ResponseBodyError) {
    const detail = `The service at ${baseUrl} answered: ${error.error_description ?? error.error}`;
    return new CommandError("failed", detail, { cause: error });
  }
  const status = statusOf(error);
  if (status === 429) {
    const detail = `The service at ${baseUrl} gets too many requests (it answered 429). Try again in a minute.`;
    return new CommandError("failed", detail, { cause: error });
  }
  if (status !== undefined && status < 500) {
    return new Error(`At ${baseUrl} there is no Stepwell service with sign-in (it answered ${status}).`);
  }
  if (["OAUTH_INVALID_RESPONSE", "OAUTH_PARSE_ERROR"].includes(String(codeOf(error))))
    return new Error(
      `At ${baseUrl} there is no Stepwell service with sign-in (its answer does not describe a sign-in).`,
    );
  if (isPassing(error)) {
    const detail = `The service at ${baseUrl} cannot be reached. Is it running, and is this its address?`;
    return new CommandError("unreachable", detail, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}

/** The status of the answer that the error is about. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof openid.ResponseBodyError) return error.status;
  const cause = (error as { readonly cause?: unknown } | undefined)?.cause;
  return cause instanceof Response ? cause.status : undefined;
}

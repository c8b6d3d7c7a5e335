import type { paths } from "@stepwell/client";
import createFetchClient from "openapi-fetch";
import { baseUrl } from "../base-url.ts";
import { session } from "../session/session.ts";
import { changedMeanwhile, problemOf, unreachable } from "./problem.ts";

/** Every operation of the service, with the types of the API document, called as the user who is signed in. */
export const api = createFetchClient<paths>({ baseUrl, fetch: signedInFetch });

type Call<Data> = Promise<{ data?: Data; error?: unknown; response: Response }>;

/** Returns the result of a call, or throws its problem. */
export async function resultOf<Data>(call: Call<Data>): Promise<Data> {
  const { data, error, response } = await call;
  if (!response.ok) throw problemOf(error, response);
  return data as Data;
}

/** An answer, and the ETag of the state that it shows. */
export interface WithEtag<Data> {
  readonly data: Data;
  readonly etag: string | undefined;
}

export async function resultWithEtag<Data>(call: Call<Data>): Promise<WithEtag<Data>> {
  const data = await resultOf(call);
  const { response } = await call;
  return { data, etag: response.headers.get("etag") ?? undefined };
}

/**
 * Returns the header with which the service makes a change only if the state still has this ETag. So nobody undoes the change of somebody else
 * unknowingly. If a proxy removed the ETag, the change is made in any state.
 */
export function ifMatch(etag: string | undefined): { readonly "If-Match"?: string } {
  return etag === undefined ? {} : { "If-Match": etag };
}

/**
 * Returns the precondition for a change of something that was shown from a list. Lists have no ETags, so the present state and its ETag are read now.
 * Throws the problem of `changedMeanwhile` if this state differs from the one that was shown.
 */
export async function ifStill<Data>(call: Call<Data>, isAsShown: (present: Data) => boolean) {
  const { data, etag } = await resultWithEtag(call);
  if (!isAsShown(data)) throw changedMeanwhile();
  return ifMatch(etag);
}

export interface IdempotencyHeader {
  readonly "Idempotency-Key": string;
}

/** Returns a header with a new key. Several requests with the same key have only one effect. A form keeps its key for repetitions: see `useOnce`. */
export function idempotencyKey(): IdempotencyHeader {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { "Idempotency-Key": Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/**
 * Sends a request with the token of the sign-in. If the service rejects the token, the token is renewed once. If that fails, or the new token is
 * rejected too, the caller gets the answer 401.
 */
export async function signedInFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const token = await session.bearer();
  const response = await send(request, token);
  if (response.status !== 401) return response;
  const renewed = await session.renewInsteadOf(token);
  return renewed === undefined ? response : await send(again, renewed);
}

async function send(request: Request, token: string | undefined): Promise<Response> {
  if (token !== undefined) request.headers.set("Authorization", `Bearer ${token}`);
  try {
    return await fetch(request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable(request.method);
  }
}

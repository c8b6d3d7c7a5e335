import type { paths } from "@stepwell/client";
import createFetchClient from "openapi-fetch";
import { baseUrl } from "../base-url.ts";
import { session } from "../session/session.ts";
import { problemOf, unreachable } from "./problem.ts";

/** Every operation of the service, with the types of the API document, called as the user who is signed in. */
export const api = createFetchClient<paths>({ baseUrl, fetch: signedInFetch });

/** Returns the result of a call, or throws its problem. */
export async function resultOf<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await call;
  if (!response.ok) throw problemOf(error, response);
  return data as Data;
}

export interface IdempotencyHeader {
  readonly "Idempotency-Key": string;
}

/** Writes with the same key have one effect. A form keeps its key until there is an answer: see `useOnce`. */
export function idempotencyKey(): IdempotencyHeader {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { "Idempotency-Key": Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/** Sends the token of the sign-in. If the service rejects the token, it is renewed once. If the new one is rejected too, the session is over. */
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

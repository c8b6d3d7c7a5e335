import { createRequire } from "node:module";
import type { JsonObject, JsonValue } from "../../../core/json/json.ts";
import { bounded } from "../call-failure.ts";
import type { CallRequest } from "../executor.ts";
import type { HttpConfig, HttpMethod } from "./http-config.ts";

export interface HttpRequest {
  readonly method: HttpMethod;
  readonly url: URL;
  /** The headers, with their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The statuses with which the step succeeds. A redirect status in this list makes the redirect itself the answer. */
  readonly successStatus: readonly (number | string)[];
}

/** Makes the request of a config in which `configProblems` found nothing. */
export function requestOf({ config, idempotencyKey }: CallRequest): HttpRequest {
  const {
    url,
    method = "GET",
    headers = {},
    query = {},
    body,
    successStatus = ["2xx"],
  } = config as JsonObject & HttpConfig;
  return {
    method,
    url: withQuery(new URL(String(url)), query as JsonObject),
    headers: withoutNulls({
      "user-agent": userAgent,
      // The service does not ask for a compressed answer, but unpacks it if it comes anyway.
      "accept-encoding": "identity",
      // A step's name may hold characters that a header may not.
      "idempotency-key": encodeURI(idempotencyKey),
      ...(body !== undefined && {
        "content-type": typeof body === "string" ? "text/plain;charset=utf-8" : "application/json",
      }),
      ...givenHeaders(headers as JsonObject),
    }),
    body: textOf(body),
    successStatus,
  };
}

export function isSuccess(status: number, successStatus: readonly (number | string)[]): boolean {
  return successStatus.includes(status) || successStatus.includes(`${Math.floor(status / 100)}xx`);
}

/** Makes the name under which messages show a request. The query is left out because it may hold secrets. */
export function placeOf({ method, url }: HttpRequest): string {
  return bounded(`${method} ${url.origin}${url.pathname}`, maxPlaceLength);
}

const maxPlaceLength = 300;

const { version } = createRequire(import.meta.url)("../../../../package.json") as { readonly version: string };
const userAgent = `stepwell/${version}`;

function textOf(body: JsonValue | undefined): string | undefined {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

function givenHeaders(headers: JsonObject): Record<string, string | null> {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), value === null ? null : String(value).trim()]),
  );
}

/** Removes the headers that are null. Null also removes a header that the service sends by itself. */
function withoutNulls(headers: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

function withQuery(url: URL, query: JsonObject): URL {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  // The URL's own query stays as it is written, because a signature may depend on it. The other parameters are added all at once, because each
  // addition to a `URL` would write the whole URL anew.
  if (parameters.size > 0) url.search = url.search === "" ? `${parameters}` : `${url.search}&${parameters}`;
  return url;
}

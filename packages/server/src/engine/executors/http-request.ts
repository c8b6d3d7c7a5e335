import { createRequire } from "node:module";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { bounded } from "./call-failure.ts";
import type { CallRequest } from "./executor.ts";
import type { HttpConfig, HttpMethod } from "./http-config.ts";

/** One message to one address, ready to be sent. */
export interface HttpRequest {
  readonly method: HttpMethod;
  readonly url: URL;
  /** Their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Statuses by which the step succeeds: a redirect that is among them is the answer. */
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
    headers: {
      "user-agent": userAgent,
      // A packed answer is not asked for, and is unpacked when it comes all the same.
      "accept-encoding": "identity",
      // A step's name may hold any character, and a header may not.
      "idempotency-key": encodeURI(idempotencyKey),
      ...(body !== undefined && {
        "content-type": typeof body === "string" ? "text/plain;charset=utf-8" : "application/json",
      }),
      ...givenHeaders(headers as JsonObject),
    },
    body: textOf(body),
    successStatus,
  };
}

export function isSuccess(status: number, successStatus: readonly (number | string)[]): boolean {
  return successStatus.includes(status) || successStatus.includes(`${Math.floor(status / 100)}xx`);
}

/** A request in messages: its query is left out, which may hold secrets. */
export function placeOf({ method, url }: HttpRequest): string {
  return bounded(`${method} ${url.origin}${url.pathname}`, maxPlaceLength);
}

const maxPlaceLength = 300;

const { version } = createRequire(import.meta.url)("../../../package.json") as { readonly version: string };
const userAgent = `stepwell/${version}`;

function textOf(body: JsonValue | undefined): string | undefined {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

function givenHeaders(headers: JsonObject): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
}

function withQuery(url: URL, query: JsonObject): URL {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  // The url's own query stays as it is written, since a signature may count on that. The others are added all at once: the address would be written
  // anew with each of them.
  if (parameters.size > 0) url.search = url.search === "" ? `${parameters}` : `${url.search}&${parameters}`;
  return url;
}

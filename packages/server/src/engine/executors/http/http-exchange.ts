import type { Agent, Dispatcher } from "undici";
import type { AddressRule } from "../../outbound/address-rule.ts";
import { type HttpRequest, isSuccess } from "./http-request.ts";

/** An answer whose body is not read yet, and the request to which it belongs. After redirects, this is the last request. */
export interface HttpAnswer {
  readonly request: HttpRequest;
  readonly response: Dispatcher.ResponseData;
}

export interface Surroundings {
  readonly rule: AddressRule;
  readonly signal: AbortSignal;
  readonly agentOf: () => Promise<Agent>;
}

/** Sends the request and follows its redirects. Throws errors that `failureOf` reads. */
export async function exchange(first: HttpRequest, surroundings: Surroundings): Promise<HttpAnswer> {
  let request = first;
  for (let redirectCount = 0; ; redirectCount++) {
    const response = await send(request, surroundings);
    const location = locationOf(request, response);
    if (location === undefined) return { request, response };
    // The rest of this answer is read if it is short, so that the connection can be used for the next request.
    await response.body.dump({ limit: maxDumpedBytes, signal: surroundings.signal });
    if (redirectCount === maxRedirects)
      throw new RedirectError("TooManyRedirects", `redirected more than ${maxRedirects} times`);
    request = redirected(request, location, surroundings.rule);
  }
}

/** Thrown when the other side redirects too often, or to an address that the service does not call. */
export class RedirectError extends Error {
  readonly type: "TooManyRedirects" | "RedirectRefused";

  constructor(type: RedirectError["type"], message: string) {
    super(message);
    this.type = type;
  }
}

/** Thrown when more than `maxInterimAnswers` interim answers (1xx) come, because such answers could go on forever. */
export class InterimAnswersError extends Error {}

const maxRedirects = 5;
const maxInterimAnswers = 20;
const maxDumpedBytes = 16 * 1024;

async function send(request: HttpRequest, { signal, agentOf }: Surroundings): Promise<Dispatcher.ResponseData> {
  const { method, url, headers, body } = request;
  let interimCount = 0;
  const agent = await agentOf();
  return await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers,
    body: body ?? null,
    signal,
    onInfo: () => {
      interimCount++;
      if (interimCount > maxInterimAnswers) throw new InterimAnswersError();
    },
  });
}

/**
 * Finds the address to which an answer redirects. Undefined when the redirect is not followed. A status that counts as success is never followed.
 * Otherwise, status 303 is followed after any method, and 301, 302, 307 and 308 only after GET and HEAD.
 */
function locationOf(
  { method, successStatus }: HttpRequest,
  { statusCode, headers }: Dispatcher.ResponseData,
): string | undefined {
  if (isSuccess(statusCode, successStatus)) return undefined;
  const isFollowed = statusCode === 303 || ([301, 302, 307, 308].includes(statusCode) && /^(GET|HEAD)$/.test(method));
  const { location } = headers;
  return isFollowed && typeof location === "string" ? location : undefined;
}

function redirected(request: HttpRequest, location: string, rule: AddressRule): HttpRequest {
  const { method, url } = request;
  const target = URL.parse(location, url.href);
  if (target === null) throw new RedirectError("RedirectRefused", "redirected to something that is not an address");
  const problem = redirectProblem(url, target, rule);
  if (problem !== undefined)
    throw new RedirectError("RedirectRefused", `redirected to an address that is refused: it ${problem}`);
  const isKept = (name: string) =>
    target.origin === url.origin ? !name.startsWith("content-") : harmlessHeaders.has(name);
  const kept = Object.entries(request.headers).filter(([name]) => isKept(name));
  return {
    ...request,
    method: method === "HEAD" ? "HEAD" : "GET",
    url: target,
    headers: Object.fromEntries(kept),
    body: undefined,
  };
}

/** The headers that another origin may receive. Any other header could be a credential, whatever its name. */
const harmlessHeaders = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);

function redirectProblem(from: URL, to: URL, rule: AddressRule): string | undefined {
  if (from.protocol === "https:" && to.protocol === "http:")
    return "is not encrypted, although the redirecting address is";
  return rule.problemOf(to);
}
